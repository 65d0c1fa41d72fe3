//! The network as a user of burn writes it, for sequences of one position.
//!
//! At that length the trunk's attention is its value and output projections, and the state space
//! starts from zero, so that only the convolution's last tap and `u · (step · B·C + skip)` are
//! left. What such a sequence cannot use (the trunk's queries and keys, the other taps, the decay
//! rates) is left out here; Kibitzer's step carries it along with a zero gradient.
use burn::{
    module::{Module, Param},
    nn::{Embedding, Linear, RmsNorm, SwiGlu},
    tensor::{
        Tensor,
        activation::{gelu, silu, softmax, softplus, tanh},
    },
};
use kibitzer_core::{
    inputs::SQUARES,
    net::{Config, PolicyHead, TrunkBlock},
};

use crate::{batch::Tensors, parameters::Parameters};

/// Square attention with as many heads and, perhaps, a learned bias on the scores.
#[derive(Module, Debug)]
struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    /// `[1, heads, 64, 64]`.
    bias: Option<Param<Tensor<4>>>,
    heads: usize,
}

impl Attention {
    fn new(p: &Parameters<'_>, name: &str, heads: usize) -> Attention {
        let bias = format!("{name}.bias");
        let shape = [1, heads, SQUARES, SQUARES];
        Attention {
            query: p.linear(&format!("{name}.q")),
            key: p.linear(&format!("{name}.k")),
            value: p.linear(&format!("{name}.v")),
            output: p.linear(&format!("{name}.o")),
            bias: p.has(&bias).then(|| p.tensor(&bias, shape)),
            heads,
        }
    }

    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let [n, squares, width] = x.dims();
        let size = width / self.heads;
        let split = |x: Tensor<3>| x.reshape([n, squares, self.heads, size]).swap_dims(1, 2);
        let query = split(self.query.forward(x.clone()));
        let key = split(self.key.forward(x.clone()));
        let value = split(self.value.forward(x));
        let mut scores = query.matmul(key.transpose()) / (size as f64).sqrt();
        if let Some(bias) = &self.bias {
            scores = scores + bias.val();
        }
        let mixed = softmax(scores, 3).matmul(value);
        self.output.forward(mixed.swap_dims(1, 2).reshape([n, squares, width]))
    }
}

/// `down(silu(gate(norm(x))) · up(norm(x)))`.
#[derive(Module, Debug)]
struct FeedForward {
    norm: RmsNorm,
    gated: SwiGlu,
    down: Linear,
}

impl FeedForward {
    fn new(p: &Parameters<'_>, block: &str) -> FeedForward {
        FeedForward {
            norm: p.norm(&format!("{block}.norm2")),
            gated: SwiGlu {
                linear_inner: p.linear(&format!("{block}.ffn.gate")),
                linear_outer: p.linear(&format!("{block}.ffn.up")),
            },
            down: p.linear(&format!("{block}.ffn.down")),
        }
    }

    fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        self.down.forward(self.gated.forward(self.norm.forward(x)))
    }
}

#[derive(Module, Debug)]
struct EncoderBlock {
    norm: RmsNorm,
    attention: Attention,
    feed_forward: FeedForward,
}

impl EncoderBlock {
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let x = x.clone() + self.attention.forward(self.norm.forward(x));
        x.clone() + self.feed_forward.forward(x)
    }
}

#[derive(Module, Debug)]
struct Encoder {
    piece: Embedding,
    /// `[1, 64, D]`.
    square: Param<Tensor<3>>,
    aux: Linear,
    blocks: Vec<EncoderBlock>,
    norm: RmsNorm,
}

impl Encoder {
    fn new(p: &Parameters<'_>, config: &Config) -> Encoder {
        let block = |i| {
            let name = format!("encoder.blocks.{i}");
            EncoderBlock {
                norm: p.norm(&format!("{name}.norm1")),
                attention: Attention::new(p, &format!("{name}.attn"), config.heads as usize),
                feed_forward: FeedForward::new(p, &name),
            }
        };
        let squares = [1, SQUARES, config.width as usize];
        Encoder {
            piece: Embedding { weight: p.matrix("encoder.piece.weight") },
            square: p.tensor("encoder.square.weight", squares),
            aux: p.linear("encoder.aux"),
            blocks: (0..config.encoder_blocks).map(block).collect(),
            norm: p.norm("encoder.norm"),
        }
    }

    fn forward(&self, batch: &Tensors) -> Tensor<3> {
        let aux = self.aux.forward(batch.aux.clone()).unsqueeze_dim::<3>(1);
        let x = self.piece.forward(batch.tokens.clone()) + self.square.val() + aux;
        self.norm.forward(self.blocks.iter().fold(x, |x, block| block.forward(x)))
    }
}

/// A selective state space before its second position.
#[derive(Module, Debug)]
struct StateSpace {
    input: Linear,
    tap: Param<Tensor<1>>,
    tap_bias: Param<Tensor<1>>,
    select: Linear,
    step: Linear,
    skip: Param<Tensor<1>>,
    output: Linear,
    rank: usize,
    states: usize,
}

impl StateSpace {
    fn new(p: &Parameters<'_>, name: &str, config: &Config) -> StateSpace {
        StateSpace {
            input: p.linear(&format!("{name}.in_proj")),
            tap: p.last_column(&format!("{name}.conv.weight")),
            tap_bias: p.vector(&format!("{name}.conv.bias")),
            select: p.linear(&format!("{name}.x_proj")),
            step: p.linear(&format!("{name}.step_proj")),
            skip: p.vector(&format!("{name}.skip")),
            output: p.linear(&format!("{name}.out_proj")),
            rank: config.ssm_rank as usize,
            states: config.ssm_state as usize,
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [u, z] = halves(self.input.forward(x));
        let u = silu(u * self.tap.val().unsqueeze::<2>() + self.tap_bias.val().unsqueeze::<2>());
        let selected = self.select.forward(u.clone());
        let low = selected.clone().narrow(1, 0, self.rank);
        let b = selected.clone().narrow(1, self.rank, self.states);
        let c = selected.narrow(1, self.rank + self.states, self.states);
        let step = softplus(self.step.forward(low), 1.0);
        let y = u * (step * (b * c).sum_dim(1) + self.skip.val().unsqueeze::<2>());
        self.output.forward(y * silu(z))
    }
}

fn halves(x: Tensor<2>) -> [Tensor<2>; 2] {
    let half = x.dims()[1] / 2;
    [x.clone().narrow(1, 0, half), x.narrow(1, half, half)]
}

/// Attention over a single position.
#[derive(Module, Debug)]
struct Pass {
    value: Linear,
    output: Linear,
}

#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a few blocks")]
enum Mixer {
    Attention(Pass),
    StateSpace(StateSpace),
}

#[derive(Module, Debug)]
struct TrunkLayer {
    norm: RmsNorm,
    mixer: Mixer,
    feed_forward: FeedForward,
}

impl TrunkLayer {
    fn new(p: &Parameters<'_>, i: usize, block: TrunkBlock, config: &Config) -> TrunkLayer {
        let name = format!("trunk.{i}");
        let mixer = match block {
            TrunkBlock::Attention => Mixer::Attention(Pass {
                value: p.linear(&format!("{name}.attn.v")),
                output: p.linear(&format!("{name}.attn.o")),
            }),
            TrunkBlock::Ssm => {
                Mixer::StateSpace(StateSpace::new(p, &format!("{name}.ssm"), config))
            }
        };
        TrunkLayer {
            norm: p.norm(&format!("{name}.norm1")),
            mixer,
            feed_forward: FeedForward::new(p, &name),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let normed = self.norm.forward(x.clone());
        let mixed = match &self.mixer {
            Mixer::Attention(pass) => pass.output.forward(pass.value.forward(normed)),
            Mixer::StateSpace(space) => space.forward(normed),
        };
        let x = x + mixed;
        x.clone() + self.feed_forward.forward(x)
    }
}

/// A score for each pair of squares, and for each underpromotion from a square.
#[derive(Module, Debug)]
struct FromTo {
    context: Linear,
    from: Linear,
    to: Linear,
    promotion: Linear,
}

#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one")]
enum Policy {
    Pooled(Linear),
    FromTo(FromTo),
}

impl Policy {
    fn new(p: &Parameters<'_>, head: PolicyHead) -> Policy {
        match head {
            PolicyHead::Pooled => Policy::Pooled(p.linear("policy")),
            PolicyHead::FromTo => Policy::FromTo(FromTo {
                context: p.linear("policy.context"),
                from: p.linear("policy.from_square"),
                to: p.linear("policy.to_square"),
                promotion: p.linear("policy.promotion"),
            }),
        }
    }

    /// The legal moves' logits.
    fn forward(&self, squares: Tensor<3>, x: Tensor<2>, batch: &Tensors) -> Tensor<2> {
        match self {
            Policy::Pooled(linear) => linear.forward(x).gather(1, batch.legal.clone()),
            Policy::FromTo(head) => {
                let x = squares + head.context.forward(x).unsqueeze_dim::<3>(1);
                let from = head.from.forward(x.clone());
                let to = head.to.forward(x.clone());
                let size = from.dims()[2] as f64;
                let scores: Tensor<2> = (from.matmul(to.transpose()) / size.sqrt()).flatten(1, 2);
                let planes: Tensor<2> = head.promotion.forward(x).flatten(1, 2);
                let promoted = planes.gather(1, batch.promotion.clone()) * batch.promotes.clone();
                scores.gather(1, batch.pair.clone()) + promoted
            }
        }
    }
}

/// The whole network.
#[derive(Module, Debug)]
pub struct Network {
    encoder: Encoder,
    trunk: Vec<TrunkLayer>,
    norm: RmsNorm,
    policy: Policy,
    value1: Linear,
    value2: Linear,
}

impl Network {
    /// The network of a configuration with the given parameters.
    pub fn new(config: &Config, p: &Parameters<'_>) -> Network {
        let trunk = config.trunk_blocks().enumerate();
        Network {
            encoder: Encoder::new(p, config),
            trunk: trunk.map(|(i, block)| TrunkLayer::new(p, i, block, config)).collect(),
            norm: p.norm("norm"),
            policy: Policy::new(p, config.policy_head),
            value1: p.linear("value1"),
            value2: p.linear("value2"),
        }
    }

    /// Logits of the legal moves `[N, 35]`, and values `[N, 1]`.
    pub fn forward(&self, batch: &Tensors) -> (Tensor<2>, Tensor<2>) {
        let squares = self.encoder.forward(batch);
        let pooled: Tensor<2> = squares.clone().mean_dim(1).squeeze_dim(1);
        let x = self.trunk.iter().fold(pooled, |x, layer| layer.forward(x));
        let x = self.norm.forward(x);
        let value = tanh(self.value2.forward(gelu(self.value1.forward(x.clone()))));
        (self.policy.forward(squares, x, batch), value)
    }
}
