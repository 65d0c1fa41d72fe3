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

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $name:literal,)*) => {
        /// What a parameter does in its layer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Role {
            $($(#[$doc])* $role,)*
        }

        /// The roles' names, one after another, and how long each is: half of what a board would have
        /// for a pointer to each.
        static NAMES: &str = concat!($($name,)*);
        static LENGTHS: [u8; [$($name,)*].len()] = [$($name.len() as u8,)*];
    };
}

roles! {
    /// Embedding of the token on a square, `[13, D]`.
    Piece = "piece.weight",
    /// Embedding of the square, `[64, D]`.
    Square = "square.weight",
    /// Projection of the scalars, `[D, 7]`.
    Aux = "aux.weight",
    /// Weight of the RMSNorm before attention or state space, `[D]`.
    Norm1 = "norm1.weight",
    /// Bias on the attention scores, `[heads, 64, 64]` (query square, key square).
    AttentionBias = "attn.bias",
    /// Queries, `[D, D]`.
    Query = "attn.q.weight",
    /// Keys, `[D, D]`.
    Key = "attn.k.weight",
    /// Values of the attention, `[D, D]`.
    AttentionValue = "attn.v.weight",
    /// Output projection of the attention, `[D, D]`.
    Output = "attn.o.weight",
    /// Logarithm of the decay rates, `[inner, N]`.
    DecayLog = "ssm.a_log",
    /// Skip connection of the state space, `[inner]`.
    Skip = "ssm.skip",
    /// Input projection to u and z, `[2·inner, D]`.
    InProj = "ssm.in_proj.weight",
    /// Depthwise taps, `[inner, 1, K]`.
    ConvWeight = "ssm.conv.weight",
    /// Bias of the convolution, `[inner]`.
    ConvBias = "ssm.conv.bias",
    /// Projection to step (low rank), B and C, `[R + 2N, inner]`.
    XProj = "ssm.x_proj.weight",
    /// Step-size projection, `[inner, R]`.
    StepWeight = "ssm.step_proj.weight",
    /// Its bias, `[inner]`.
    StepBias = "ssm.step_proj.bias",
    /// Output projection of the state space, `[D, inner]`.
    OutProj = "ssm.out_proj.weight",
    /// Weight of the RMSNorm before the feed-forward layer, `[D]`.
    Norm2 = "norm2.weight",
    /// Gate of the feed-forward layer, `[H, D]`.
    Gate = "ffn.gate.weight",
    /// Up projection, `[H, D]`.
    Up = "ffn.up.weight",
    /// Down projection, `[D, H]`.
    Down = "ffn.down.weight",
    /// Weight of a final RMSNorm, `[D]`.
    FinalNorm = "norm.weight",
    /// The pooled policy, `[4672, D]`.
    PolicyWeight = "policy.weight",
    /// Its bias, `[4672]`.
    PolicyBias = "policy.bias",
    /// Projection of the trunk's output that is added to every square, `[D, D]`.
    Context = "policy.context.weight",
    /// From vectors, `[P, D]`.
    FromWeight = "policy.from_square.weight",
    /// Their bias, `[P]`.
    FromBias = "policy.from_square.bias",
    /// To vectors, `[P, D]`.
    ToWeight = "policy.to_square.weight",
    /// Their bias, `[P]`.
    ToBias = "policy.to_square.bias",
    /// Underpromotion scores, `[9, D]`.
    PromotionWeight = "policy.promotion.weight",
    /// Their bias, `[9]`.
    PromotionBias = "policy.promotion.bias",
    /// Hidden layer of the value head, `[D/2, D]`.
    Value1Weight = "value1.weight",
    /// Its bias, `[D/2]`.
    Value1Bias = "value1.bias",
    /// Output of the value head, `[1, D/2]`.
    Value2Weight = "value2.weight",
    /// Its bias, `[1]`.
    Value2Bias = "value2.bias",
}

impl Role {
    /// The name of the parameter within its place, as PyTorch has it.
    pub fn suffix(self) -> &'static str {
        let mut lengths = LENGTHS.iter().map(|&length| usize::from(length));
        let start = lengths.by_ref().take(self as usize).sum();
        let length = lengths.next().unwrap_or(0);
        NAMES.get(start..start + length).unwrap_or("")
    }
}

/// A shape of one to three dimensions, outermost first; row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    dims: [u32; 3],
    rank: u8,
}

impl Shape {
    /// The sizes that are not absent, in a layer.
    fn of(sizes: [Size; 3], layer: Layer, config: &Config) -> Shape {
        let dims = sizes.map(|size| size.of(layer, config));
        let rank = sizes.iter().filter(|&&size| size != Size::Absent).count() as u8;
        Shape { dims: dims.map(|size| size.max(1)), rank }
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

/// The parts of a parameter's name: before a block's number, the number, and what follows.
fn name(place: Place, role: Role) -> (&'static str, Option<u8>, &'static str) {
    let (before, block) = match place {
        Place::Encoder => ("encoder.", None),
        Place::EncoderBlock(block) => ("encoder.blocks.", Some(block)),
        Place::TrunkBlock(block) => ("trunk.", Some(block)),
        Place::Head => ("", None),
    };
    (before, block, role.suffix())
}

/// The parameter's name in PyTorch, as in `encoder.blocks.0.attn.q.weight`.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match name(self.place, self.role) {
            (before, None, name) => write!(f, "{before}{name}"),
            (before, Some(block), name) => write!(f, "{before}{block}.{name}"),
        }
    }
}

/// The layers of the network, in order of execution.
pub fn layers(config: &Config) -> impl Iterator<Item = Layer> + '_ {
    (0..).map_while(|index| layer(config, index))
}

/// Layer number `index`. A function of its own: many walk the layers, and a board has it once.
#[inline(never)]
fn layer(config: &Config, index: usize) -> Option<Layer> {
    let Some(index) = index.checked_sub(1) else { return Some(Layer::Embedding) };
    let halves = 2 * config.encoder_blocks as usize;
    let Some(index) = index.checked_sub(halves) else {
        let place = Place::EncoderBlock((index / 2) as u8);
        return Some(half_of_a_block(config, TrunkBlock::Attention, place, index));
    };
    let after = match index {
        0 => return Some(Layer::EncoderNorm),
        1 => return Some(Layer::Pool),
        _ => index - 2,
    };
    if let Some(block) = config.trunk_blocks().nth(after / 2) {
        let place = Place::TrunkBlock((after / 2) as u8);
        return Some(half_of_a_block(config, block, place, after));
    }
    match after - 2 * config.trunk.len() {
        0 => Some(Layer::TrunkNorm),
        1 => Some(Layer::Policy(config.policy_head)),
        2 => Some(Layer::Value),
        _ => None,
    }
}

/// The first layer of a block if `index` is even, else its feed-forward layer.
const fn half_of_a_block(c: &Config, block: TrunkBlock, place: Place, index: usize) -> Layer {
    match (block, index % 2) {
        (TrunkBlock::Attention, 0) => Layer::Attention(place),
        (TrunkBlock::Attention, _) => Layer::FeedForward(place, c.ffn_mult * c.width),
        (TrunkBlock::Ssm, 0) => Layer::Ssm(place),
        (TrunkBlock::Ssm, _) => Layer::FeedForward(place, c.ssm_ffn_mult * c.width),
    }
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
    pub fn parameters(self, c: &Config) -> impl Iterator<Item = (Role, Shape)> + '_ {
        let has_bias = c.attention_bias && self.place().on_squares();
        let rows = self.table().iter();
        let rows = rows.filter(move |row| has_bias || row.0 != Role::AttentionBias);
        rows.map(move |&(role, sizes)| (role, Shape::of(sizes, self, c)))
    }

    /// What the layer's parameters do, and their sizes in words: data, so that a board has them for
    /// four bytes each. The bias on the attention is there if the configuration has it.
    const fn table(self) -> &'static [(Role, [Size; 3])] {
        use Size::*;
        match self {
            Layer::Embedding => &[
                (Role::Piece, [Tokens, Width, Absent]),
                (Role::Square, [Squares, Width, Absent]),
                (Role::Aux, [Width, Scalars, Absent]),
            ],
            Layer::Attention(_) => &[
                (Role::Norm1, [Width, Absent, Absent]),
                (Role::AttentionBias, [Heads, Squares, Squares]),
                (Role::Query, [Width, Width, Absent]),
                (Role::Key, [Width, Width, Absent]),
                (Role::AttentionValue, [Width, Width, Absent]),
                (Role::Output, [Width, Width, Absent]),
            ],
            Layer::Ssm(_) => &[
                (Role::Norm1, [Width, Absent, Absent]),
                (Role::DecayLog, [Inner, States, Absent]),
                (Role::Skip, [Inner, Absent, Absent]),
                (Role::InProj, [InnerAndGate, Width, Absent]),
                (Role::ConvWeight, [Inner, One, Taps]),
                (Role::ConvBias, [Inner, Absent, Absent]),
                (Role::XProj, [StepAndStates, Inner, Absent]),
                (Role::StepWeight, [Inner, Rank, Absent]),
                (Role::StepBias, [Inner, Absent, Absent]),
                (Role::OutProj, [Width, Inner, Absent]),
            ],
            Layer::FeedForward(..) => &[
                (Role::Norm2, [Width, Absent, Absent]),
                (Role::Gate, [Hidden, Width, Absent]),
                (Role::Up, [Hidden, Width, Absent]),
                (Role::Down, [Width, Hidden, Absent]),
            ],
            Layer::EncoderNorm | Layer::TrunkNorm => &[(Role::FinalNorm, [Width, Absent, Absent])],
            Layer::Pool => &[],
            Layer::Policy(PolicyHead::Pooled) => &[
                (Role::PolicyWeight, [Moves, Width, Absent]),
                (Role::PolicyBias, [Moves, Absent, Absent]),
            ],
            Layer::Policy(PolicyHead::FromTo) => &[
                (Role::Context, [Width, Width, Absent]),
                (Role::FromWeight, [Vector, Width, Absent]),
                (Role::FromBias, [Vector, Absent, Absent]),
                (Role::ToWeight, [Vector, Width, Absent]),
                (Role::ToBias, [Vector, Absent, Absent]),
                (Role::PromotionWeight, [Promotions, Width, Absent]),
                (Role::PromotionBias, [Promotions, Absent, Absent]),
            ],
            Layer::Value => &[
                (Role::Value1Weight, [HalfWidth, Width, Absent]),
                (Role::Value1Bias, [HalfWidth, Absent, Absent]),
                (Role::Value2Weight, [One, HalfWidth, Absent]),
                (Role::Value2Bias, [One, Absent, Absent]),
            ],
        }
    }
}

/// A size of a parameter, by what it follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Absent,
    One,
    Width,
    HalfWidth,
    Heads,
    Hidden,
    Inner,
    InnerAndGate,
    States,
    StepAndStates,
    Rank,
    Taps,
    Vector,
    Tokens,
    Squares,
    Scalars,
    Moves,
    Promotions,
}

impl Size {
    /// The size in a layer; 0 if it is absent.
    #[inline(never)] // for flash: a shape has three
    const fn of(self, layer: Layer, c: &Config) -> u32 {
        match self {
            Size::Absent => 0,
            Size::One => 1,
            Size::Width => c.width,
            Size::HalfWidth => c.width / 2,
            Size::Heads => c.heads,
            Size::Hidden => match layer {
                Layer::FeedForward(_, hidden) => hidden,
                _ => 0,
            },
            Size::Inner => c.ssm_inner(),
            Size::InnerAndGate => 2 * c.ssm_inner(),
            Size::States => c.ssm_state,
            Size::StepAndStates => c.ssm_rank + 2 * c.ssm_state,
            Size::Rank => c.ssm_rank,
            Size::Taps => c.ssm_conv,
            Size::Vector => c.policy_dim,
            Size::Tokens => TOKENS as u32,
            Size::Squares => SQUARES as u32,
            Size::Scalars => AUX as u32,
            Size::Moves => MOVES as u32,
            Size::Promotions => UNDERPROMOTION_PLANES as u32,
        }
    }
}

/// Every parameter of the network, in the order of the flat parameter vector.
pub fn tensors(config: &Config) -> impl Iterator<Item = Tensor> + '_ {
    let mut offset = 0;
    layers(config).flat_map(|layer| layer.parameters(config).map(move |p| (layer, p))).map(
        move |(layer, (role, shape))| {
            let tensor = Tensor { layer, place: layer.place(), role, shape, offset };
            offset += shape.len();
            tensor
        },
    )
}

/// Number of parameters.
pub fn parameter_count(config: &Config) -> usize {
    tensors(config).map(|t| t.shape.len()).sum()
}

/// A digest of text. Numbers are written by hand: a board has no other use for formatting.
struct Text(u64);

impl Text {
    fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    #[inline(never)] // for flash: it is called from a dozen places
    fn push_bytes(&mut self, text: &[u8]) {
        self.0 = fnv::bytes(self.0, text.iter().copied());
    }

    /// A number's decimal digits.
    fn push_number(&mut self, number: u32) {
        let (mut digits, mut rest, mut first) = ([b'0'; 10], number, 9);
        for (place, digit) in digits.iter_mut().enumerate().rev() {
            if rest > 0 {
                first = place;
            }
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        self.push_bytes(digits.get(first..).unwrap_or(&[]));
    }
}

/// Hash of the architecture: every parameter's name and shape, and what changes the meaning of
/// equal shapes (heads, perspective). It stands in every file that holds a network, and a file
/// with another hash is refused.
///
/// It is that of a text, `heads 4 mover true;`, then for each parameter its name and its shape, as in
/// `encoder.blocks.0.attn.q.weight [64, 64];`.
pub fn hash(config: &Config) -> u64 {
    let mut text = Text(fnv::START);
    text.push("heads ");
    text.push_number(config.heads);
    let mover = config.perspective == Perspective::Mover;
    text.push(if mover { " mover true;" } else { " mover false;" });
    for layer in layers(config) {
        for (role, shape) in layer.parameters(config) {
            let (before, block, name) = name(layer.place(), role);
            text.push(before);
            if let Some(block) = block {
                text.push_number(block.into());
                text.push(".");
            }
            text.push(name);
            let mut separator = " [";
            for &size in shape.dims() {
                text.push(separator);
                text.push_number(size);
                separator = ", ";
            }
            text.push("];");
        }
    }
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::PRESETS;

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
    fn the_hash_is_that_of_the_names_and_shapes() {
        extern crate std;
        use std::{format, string::String};
        let shapes = |config: &Config| -> String {
            tensors(config).map(|t| format!("{t} {:?};", t.shape.dims())).collect()
        };
        for preset in PRESETS {
            let config = preset.config();
            let mover = config.perspective == Perspective::Mover;
            let text = format!("heads {} mover {mover};{}", config.heads, shapes(&config));
            assert_eq!(hash(&config), fnv::bytes(fnv::START, text.bytes()), "{}", preset.name);
        }
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
