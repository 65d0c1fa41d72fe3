//! The table of layers and the table of parameters, both derived from a [`Config`].
//!
//! Everything that touches the network (initialisation, forward and backward passes, optimizer,
//! checkpoints, quantizer, integer inference) iterates [`layers`] and [`tensors`] and matches on
//! [`Layer`] without a wildcard, so that a new layer does not compile until all of them know it.
use core::fmt;

use super::config::{Config, PolicyHead, TrunkBlock};
use crate::{
    fnv,
    inputs::{AUX, Perspective, SQUARES, TOKENS},
    moves::{MOVES, UNDERPROMOTION_PLANES},
};

/// Where a layer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The encoder's embeddings and final norm.
    Encoder,
    /// A block of the encoder.
    EncoderBlock(u8),
    /// A block of the trunk.
    TrunkBlock(u8),
    /// After the trunk: final norm and heads.
    Head,
}

impl Place {
    /// Whether what stands here works on the 64 squares; all else works on the trunk's vector.
    pub const fn on_squares(self) -> bool {
        match self {
            Place::Encoder | Place::EncoderBlock(_) => true,
            Place::TrunkBlock(_) | Place::Head => false,
        }
    }
}

/// A step of the network, in order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Piece and square embeddings plus the projected scalars: `[64] -> [64, D]`.
    Embedding,
    /// `x += o(attention(norm1(x)))`; over the squares in the encoder, causal over the
    /// positions of a sequence in the trunk.
    Attention(Place),
    /// `x += ssm(norm1(x))`.
    Ssm(Place),
    /// `x += down(silu(gate(norm2(x))) * up(norm2(x)))`; the hidden width is the payload.
    FeedForward(Place, u32),
    /// The encoder's final norm, on every square.
    EncoderNorm,
    /// Mean over the squares: `[64, D] -> [D]`.
    Pool,
    /// The trunk's final norm.
    TrunkNorm,
    /// Move logits.
    Policy(PolicyHead),
    /// `tanh(value2(gelu(value1(x))))`.
    Value,
}

/// As in `encoder 2 attention`.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place() {
            Place::EncoderBlock(block) => write!(f, "encoder {block} ")?,
            Place::TrunkBlock(block) => write!(f, "trunk {block} ")?,
            Place::Encoder | Place::Head => {}
        }
        f.write_str(match self {
            Layer::Embedding => "embedding",
            Layer::Attention(_) => "attention",
            Layer::Ssm(_) => "state space",
            Layer::FeedForward(..) => "feed-forward",
            Layer::EncoderNorm => "encoder norm",
            Layer::Pool => "pool",
            Layer::TrunkNorm => "trunk norm",
            Layer::Policy(_) => "policy head",
            Layer::Value => "value head",
        })
    }
}

/// What a parameter does in its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Embedding of the token on a square, `[13, D]`.
    Piece,
    /// Embedding of the square, `[64, D]`.
    Square,
    /// Projection of the scalars, `[D, 7]`.
    Aux,
    /// Weight of the RMSNorm before attention or state space, `[D]`.
    Norm1,
    /// Bias on the attention scores, `[heads, 64, 64]` (query square, key square).
    AttentionBias,
    /// Queries, `[D, D]`.
    Query,
    /// Keys, `[D, D]`.
    Key,
    /// Values of the attention, `[D, D]`.
    AttentionValue,
    /// Output projection of the attention, `[D, D]`.
    Output,
    /// Logarithm of the decay rates, `[inner, N]`.
    DecayLog,
    /// Skip connection of the state space, `[inner]`.
    Skip,
    /// Input projection to u and z, `[2·inner, D]`.
    InProj,
    /// Depthwise taps, `[inner, 1, K]`.
    ConvWeight,
    /// Bias of the convolution, `[inner]`.
    ConvBias,
    /// Projection to step (low rank), B and C, `[R + 2N, inner]`.
    XProj,
    /// Step-size projection, `[inner, R]`.
    StepWeight,
    /// Its bias, `[inner]`.
    StepBias,
    /// Output projection of the state space, `[D, inner]`.
    OutProj,
    /// Weight of the RMSNorm before the feed-forward layer, `[D]`.
    Norm2,
    /// Gate of the feed-forward layer, `[H, D]`.
    Gate,
    /// Up projection, `[H, D]`.
    Up,
    /// Down projection, `[D, H]`.
    Down,
    /// Weight of a final RMSNorm, `[D]`.
    FinalNorm,
    /// The pooled policy, `[4672, D]`.
    PolicyWeight,
    /// Its bias, `[4672]`.
    PolicyBias,
    /// Projection of the trunk's output that is added to every square, `[D, D]`.
    Context,
    /// From vectors, `[P, D]`.
    FromWeight,
    /// Their bias, `[P]`.
    FromBias,
    /// To vectors, `[P, D]`.
    ToWeight,
    /// Their bias, `[P]`.
    ToBias,
    /// Underpromotion scores, `[9, D]`.
    PromotionWeight,
    /// Their bias, `[9]`.
    PromotionBias,
    /// Hidden layer of the value head, `[D/2, D]`.
    Value1Weight,
    /// Its bias, `[D/2]`.
    Value1Bias,
    /// Output of the value head, `[1, D/2]`.
    Value2Weight,
    /// Its bias, `[1]`.
    Value2Bias,
}

impl Role {
    /// The name of the parameter within its place, as PyTorch has it.
    pub const fn suffix(self) -> &'static str {
        match self {
            Role::Piece => "piece.weight",
            Role::Square => "square.weight",
            Role::Aux => "aux.weight",
            Role::Norm1 => "norm1.weight",
            Role::AttentionBias => "attn.bias",
            Role::Query => "attn.q.weight",
            Role::Key => "attn.k.weight",
            Role::AttentionValue => "attn.v.weight",
            Role::Output => "attn.o.weight",
            Role::DecayLog => "ssm.a_log",
            Role::Skip => "ssm.skip",
            Role::InProj => "ssm.in_proj.weight",
            Role::ConvWeight => "ssm.conv.weight",
            Role::ConvBias => "ssm.conv.bias",
            Role::XProj => "ssm.x_proj.weight",
            Role::StepWeight => "ssm.step_proj.weight",
            Role::StepBias => "ssm.step_proj.bias",
            Role::OutProj => "ssm.out_proj.weight",
            Role::Norm2 => "norm2.weight",
            Role::Gate => "ffn.gate.weight",
            Role::Up => "ffn.up.weight",
            Role::Down => "ffn.down.weight",
            Role::FinalNorm => "norm.weight",
            Role::PolicyWeight => "policy.weight",
            Role::PolicyBias => "policy.bias",
            Role::Context => "policy.context.weight",
            Role::FromWeight => "policy.from_square.weight",
            Role::FromBias => "policy.from_square.bias",
            Role::ToWeight => "policy.to_square.weight",
            Role::ToBias => "policy.to_square.bias",
            Role::PromotionWeight => "policy.promotion.weight",
            Role::PromotionBias => "policy.promotion.bias",
            Role::Value1Weight => "value1.weight",
            Role::Value1Bias => "value1.bias",
            Role::Value2Weight => "value2.weight",
            Role::Value2Bias => "value2.bias",
        }
    }
}

/// A shape of one to three dimensions, outermost first; row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    dims: [u32; 3],
    rank: u8,
}

impl Shape {
    const fn new<const R: usize>(dims: [u32; R]) -> Shape {
        let mut all = [1; 3];
        let mut i = 0;
        while i < R {
            all[i] = dims[i];
            i += 1;
        }
        Shape { dims: all, rank: R as u8 }
    }

    /// The dimensions.
    pub fn dims(&self) -> &[u32] {
        // The rank is at most the room.
        self.dims.get(..self.rank as usize).unwrap_or(&self.dims)
    }

    /// Rows of the tensor seen as a matrix: the first dimension.
    pub const fn rows(&self) -> usize {
        self.dims[0] as usize
    }

    /// Columns of the tensor seen as a matrix: all other dimensions together.
    pub const fn columns(&self) -> usize {
        self.dims[1] as usize * self.dims[2] as usize
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.rows() * self.columns()
    }

    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One parameter of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tensor {
    /// The layer it belongs to.
    pub layer: Layer,
    /// Where that layer stands.
    pub place: Place,
    /// What it does there.
    pub role: Role,
    /// Its shape.
    pub shape: Shape,
    /// Its first element in the flat vector of all parameters.
    pub offset: usize,
}

impl Tensor {
    /// The elements' range in the flat vector of all parameters.
    pub const fn range(&self) -> core::ops::Range<usize> {
        self.offset..self.offset + self.shape.len()
    }
}

/// The parameter's name in PyTorch, as in `encoder.blocks.0.attn.q.weight`.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Encoder => f.write_str("encoder.")?,
            Place::EncoderBlock(i) => write!(f, "encoder.blocks.{i}.")?,
            Place::TrunkBlock(i) => write!(f, "trunk.{i}.")?,
            Place::Head => {}
        }
        f.write_str(self.role.suffix())
    }
}

/// The layers of the network, in order of execution.
pub fn layers(config: &Config) -> impl Iterator<Item = Layer> + '_ {
    let attention_block = |place| {
        [Layer::Attention(place), Layer::FeedForward(place, config.ffn_mult * config.width)]
    };
    let encoder =
        (0..config.encoder_blocks as u8).flat_map(move |i| attention_block(Place::EncoderBlock(i)));
    let trunk = config.trunk_blocks().zip(0u8..).flat_map(move |(block, i)| {
        let place = Place::TrunkBlock(i);
        match block {
            TrunkBlock::Attention => attention_block(place),
            TrunkBlock::Ssm => {
                [Layer::Ssm(place), Layer::FeedForward(place, config.ssm_ffn_mult * config.width)]
            }
        }
    });
    core::iter::once(Layer::Embedding)
        .chain(encoder)
        .chain([Layer::EncoderNorm, Layer::Pool])
        .chain(trunk)
        .chain([Layer::TrunkNorm, Layer::Policy(config.policy_head), Layer::Value])
}

impl Layer {
    /// The place of the layer's parameters.
    pub const fn place(self) -> Place {
        match self {
            Layer::Embedding | Layer::EncoderNorm => Place::Encoder,
            Layer::Attention(place) | Layer::Ssm(place) | Layer::FeedForward(place, _) => place,
            Layer::Pool | Layer::TrunkNorm | Layer::Policy(_) | Layer::Value => Place::Head,
        }
    }

    /// The layer's parameters: what each does, and its shape.
    pub fn parameters(self, c: &Config) -> heapless::Vec<(Role, Shape), 12> {
        let d = c.width;
        let inner = c.ssm_inner();
        let square = Shape::new([d, d]);
        let mut list = heapless::Vec::new();
        let mut add = |items: &[(Role, Shape)]| {
            list.extend_from_slice(items).expect("no layer has more than twelve parameters");
        };
        match self {
            Layer::Embedding => add(&[
                (Role::Piece, Shape::new([TOKENS as u32, d])),
                (Role::Square, Shape::new([SQUARES as u32, d])),
                (Role::Aux, Shape::new([d, AUX as u32])),
            ]),
            Layer::Attention(place) => {
                add(&[(Role::Norm1, Shape::new([d]))]);
                if c.attention_bias && place.on_squares() {
                    let squares = SQUARES as u32;
                    add(&[(Role::AttentionBias, Shape::new([c.heads, squares, squares]))]);
                }
                add(&[
                    (Role::Query, square),
                    (Role::Key, square),
                    (Role::AttentionValue, square),
                    (Role::Output, square),
                ]);
            }
            Layer::Ssm(_) => add(&[
                (Role::Norm1, Shape::new([d])),
                (Role::DecayLog, Shape::new([inner, c.ssm_state])),
                (Role::Skip, Shape::new([inner])),
                (Role::InProj, Shape::new([2 * inner, d])),
                (Role::ConvWeight, Shape::new([inner, 1, c.ssm_conv])),
                (Role::ConvBias, Shape::new([inner])),
                (Role::XProj, Shape::new([c.ssm_rank + 2 * c.ssm_state, inner])),
                (Role::StepWeight, Shape::new([inner, c.ssm_rank])),
                (Role::StepBias, Shape::new([inner])),
                (Role::OutProj, Shape::new([d, inner])),
            ]),
            Layer::FeedForward(_, hidden) => add(&[
                (Role::Norm2, Shape::new([d])),
                (Role::Gate, Shape::new([hidden, d])),
                (Role::Up, Shape::new([hidden, d])),
                (Role::Down, Shape::new([d, hidden])),
            ]),
            Layer::EncoderNorm | Layer::TrunkNorm => add(&[(Role::FinalNorm, Shape::new([d]))]),
            Layer::Pool => {}
            Layer::Policy(PolicyHead::Pooled) => add(&[
                (Role::PolicyWeight, Shape::new([MOVES as u32, d])),
                (Role::PolicyBias, Shape::new([MOVES as u32])),
            ]),
            Layer::Policy(PolicyHead::FromTo) => {
                let p = c.policy_dim;
                let promotions = UNDERPROMOTION_PLANES as u32;
                add(&[
                    (Role::Context, square),
                    (Role::FromWeight, Shape::new([p, d])),
                    (Role::FromBias, Shape::new([p])),
                    (Role::ToWeight, Shape::new([p, d])),
                    (Role::ToBias, Shape::new([p])),
                    (Role::PromotionWeight, Shape::new([promotions, d])),
                    (Role::PromotionBias, Shape::new([promotions])),
                ]);
            }
            Layer::Value => add(&[
                (Role::Value1Weight, Shape::new([d / 2, d])),
                (Role::Value1Bias, Shape::new([d / 2])),
                (Role::Value2Weight, Shape::new([1, d / 2])),
                (Role::Value2Bias, Shape::new([1])),
            ]),
        }
        list
    }
}

/// Every parameter of the network, in the order of the flat parameter vector.
pub fn tensors(config: &Config) -> impl Iterator<Item = Tensor> + '_ {
    let mut offset = 0;
    layers(config)
        .flat_map(|layer| layer.parameters(config).into_iter().map(move |p| (layer, p)))
        .map(move |(layer, (role, shape))| {
            let tensor = Tensor { layer, place: layer.place(), role, shape, offset };
            offset += shape.len();
            tensor
        })
}

/// Number of parameters.
pub fn parameter_count(config: &Config) -> usize {
    tensors(config).map(|t| t.shape.len()).sum()
}

/// A digest fed by anything that can be formatted.
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = fnv::bytes(self.0, text.bytes());
        Ok(())
    }
}

/// Hash of the architecture: every parameter's name and shape, and what changes the meaning of
/// equal shapes (heads, perspective). It stands in every file that holds a network, and a file
/// with another hash is refused.
pub fn hash(config: &Config) -> u64 {
    use fmt::Write as _;
    let mut fnv = Fnv(fnv::START);
    let mover = config.perspective == Perspective::Mover;
    let mut written = write!(fnv, "heads {} mover {mover};", config.heads);
    for tensor in tensors(config) {
        written = written.and(write!(fnv, "{tensor} {:?};", tensor.shape.dims()));
    }
    debug_assert!(written.is_ok(), "hashing does not fail");
    fnv.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_network_counts_as_the_reference_by_part() {
        let config = Config::default();
        let count = |pick: &dyn Fn(&Tensor) -> bool| -> usize {
            tensors(&config).filter(|t| pick(t)).map(|t| t.shape.len()).sum()
        };
        let encoder = |t: &Tensor| t.place.on_squares();
        assert_eq!(count(&encoder), 4_944_320);
        assert_eq!(count(&|t| matches!(t.place, Place::TrunkBlock(_))), 25_633_280);
        assert_eq!(count(&|t| t.layer == Layer::TrunkNorm), 320);
        assert_eq!(count(&|t| matches!(t.layer, Layer::Policy(_))), 1_499_712);
        assert_eq!(count(&|t| t.layer == Layer::Value), 51_521);
        assert_eq!(parameter_count(&config), 32_129_153);
    }

    #[test]
    fn the_hash_tells_architectures_apart() {
        let full = Config::default();
        let heads = Config { heads: 4, ..full.clone() };
        let mover = Config { perspective: Perspective::Mover, ..full.clone() };
        assert_ne!(hash(&full), hash(&heads));
        assert_ne!(hash(&full), hash(&mover));
    }
}
