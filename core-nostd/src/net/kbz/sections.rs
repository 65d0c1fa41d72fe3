//! The table of a model file's sections, derived from the configuration. The writer, the reader
//! and the inference walk this one table.
use core::ops::RangeInclusive;

use heapless::Vec;

use super::{Layout, WeightBits};
use crate::{
    inputs::{AUX, SQUARES, TOKENS},
    moves::{MOVES, UNDERPROMOTION_PLANES},
    net::{
        Config, Layer, Place, PolicyHead,
        infer::{CURVE_POINTS, Shift},
        layers,
    },
};

/// Every section begins at a multiple of this many bytes.
pub const ALIGNMENT: usize = 16;

/// A non-linear function that the file tabulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Curve {
    /// `x · sigmoid(x)`.
    Silu,
    /// `x · Φ(x)`.
    Gelu,
    /// `ln(1 + e^x)`.
    Softplus,
    /// The hyperbolic tangent.
    Tanh,
}

impl Curve {
    /// All of them, in the file's order.
    pub const ALL: [Curve; 4] = [Curve::Silu, Curve::Gelu, Curve::Softplus, Curve::Tanh];
}

/// A matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Matrix {
    /// Queries of the attention over the squares.
    Query,
    /// Keys.
    Key,
    /// Values.
    Value,
    /// Output projection.
    Output,
    /// Output projection times values: attention over a single position.
    OutputValue,
    /// Gate of a feed-forward layer.
    Gate,
    /// Its up projection.
    Up,
    /// Its down projection, in the trunk.
    Down,
    /// Its down projection, over the squares.
    SquaresDown,
    /// Input projection of a state space; the convolution's last tap is multiplied in.
    InProj,
    /// Projection to step, B and C.
    XProj,
    /// Step-size projection.
    StepProj,
    /// Output projection of a state space.
    OutProj,
    /// Pooled policy.
    Policy,
    /// From vectors, to vectors and underpromotions, from a square.
    Squares,
    /// The same, from the trunk's output: the square's matrix times the context projection.
    Context,
    /// Hidden layer of the value head.
    Value1,
    /// Its output.
    Value2,
}

impl Matrix {
    /// The down projection of a feed-forward layer.
    pub const fn down(place: Place) -> Matrix {
        if place.on_squares() { Matrix::SquaresDown } else { Matrix::Down }
    }

    /// Bits of this matrix's weights in a network whose large matrices have `bits`.
    ///
    /// The small ones, which feed the heads and the state space's step, keep eight, and so do those
    /// whose four bits cost the most: the queries and keys, and what the squares' feed-forward
    /// layers add to their stream.
    pub const fn bits(self, bits: WeightBits) -> WeightBits {
        match self {
            Matrix::Value
            | Matrix::Output
            | Matrix::OutputValue
            | Matrix::Gate
            | Matrix::Up
            | Matrix::Down
            | Matrix::InProj
            | Matrix::OutProj
            | Matrix::Policy => bits,
            Matrix::Query
            | Matrix::Key
            | Matrix::SquaresDown
            | Matrix::XProj
            | Matrix::StepProj
            | Matrix::Squares
            | Matrix::Context
            | Matrix::Value1
            | Matrix::Value2 => WeightBits::Eight,
        }
    }
}

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Part {
    /// The points of a curve.
    Curve(Curve),
    /// Embeddings of the tokens, in units of the squares' stream.
    Piece,
    /// Embeddings of the squares, in units of the squares' stream.
    Square,
    /// Projection of the scalars' numerators, `[D, 7]`.
    Aux,
    /// From the scalars' sums to the squares' stream.
    AuxScale,
    /// A norm's shift and epsilon.
    NormScale,
    /// A norm's gains.
    Gains,
    /// Weights, one row an output channel, in the order of [`Layout`].
    Weights(Matrix),
    /// From a matrix's sums to its outputs, one multiplier an output channel.
    Scales(Matrix),
    /// Biases, in units of a matrix's outputs.
    Bias(Matrix),
    /// From `q·k` to binary exponents, one multiplier a head.
    ScoreScale,
    /// Bias on the scores, `[heads, 64, 64]`.
    AttentionBias,
    /// From a bias to binary exponents, one multiplier a head and query square.
    AttentionBiasScale,
    /// From probability-weighted values to activations, one multiplier a channel.
    ContextScale,
    /// From gated hidden values to activations: a shift alone.
    HiddenShift,
    /// From the state space's u to activations, one multiplier a channel.
    StateInputScale,
    /// From `B·C` to the common fixed point.
    StateScale,
    /// Skip connection of the state space.
    Skip,
    /// From the state space's gated output to activations, one multiplier a channel.
    StateOutputScale,
    /// From sums over the squares to the trunk's stream, one multiplier a channel.
    PoolScale,
    /// From `from·to` to logits.
    PairScale,
    /// From the value head's hidden layer to activations, one multiplier a channel.
    ValueHiddenScale,
}

impl Part {
    /// What the shift may be that such a section begins with; `None` if it begins with none.
    pub(super) const fn shifts(self) -> Option<RangeInclusive<i32>> {
        let widest = Shift::MOST as i32;
        match self {
            Part::NormScale => Some(-widest..=widest),
            Part::AuxScale
            | Part::Scales(_)
            | Part::ScoreScale
            | Part::AttentionBiasScale
            | Part::ContextScale
            | Part::HiddenShift
            | Part::StateInputScale
            | Part::StateScale
            | Part::StateOutputScale
            | Part::PoolScale
            | Part::PairScale
            | Part::ValueHiddenScale => Some(1..=widest),
            Part::Curve(_)
            | Part::Piece
            | Part::Square
            | Part::Aux
            | Part::Gains
            | Part::Weights(_)
            | Part::Bias(_)
            | Part::AttentionBias
            | Part::Skip => None,
        }
    }
}

/// The integers of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Signed bytes.
    I8,
    /// Little-endian halfwords.
    I16,
    /// Little-endian words.
    I32,
}

impl Element {
    /// Bytes an element.
    pub const fn bytes(self) -> usize {
        match self {
            Element::I8 => 1,
            Element::I16 => 2,
            Element::I32 => 4,
        }
    }
}

/// One section of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub part: Part,
    /// The integers it holds.
    pub element: Element,
    /// How many.
    pub count: usize,
}

impl Section {
    /// Whether inference reads it in parts where it does not lie in memory: the large ones.
    pub const fn is_read_in_parts(&self) -> bool {
        matches!(self.part, Part::Weights(_) | Part::AttentionBias | Part::Piece | Part::Square)
    }

    /// Bytes, without the padding after it.
    pub const fn bytes(&self) -> usize {
        self.count * self.element.bytes()
    }
}

/// The most sections a layer has.
pub const MAX_PARTS: usize = 16;
/// The sections of one layer.
pub type Parts = Vec<Section, MAX_PARTS>;

/// Collects a layer's sections.
struct Builder {
    parts: Parts,
    bits: WeightBits,
}

impl Builder {
    #[inline(never)] // for flash: it is called from two dozen places
    fn add(&mut self, part: Part, element: Element, count: u32) {
        let pushed = self.parts.push(Section { part, element, count: count as usize });
        debug_assert!(pushed.is_ok(), "MAX_PARTS is too small");
    }

    /// A shift and `count` multipliers.
    fn scale(&mut self, part: Part, count: u32) {
        self.add(part, Element::I32, 1 + count);
    }

    fn norm(&mut self, width: u32) {
        self.scale(Part::NormScale, 1);
        self.add(Part::Gains, Element::I16, width);
    }

    fn linear(&mut self, matrix: Matrix, rows: u32, columns: u32) {
        let layout = Layout::new(rows as usize, columns as usize).with_bits(matrix.bits(self.bits));
        self.add(Part::Weights(matrix), Element::I8, layout.bytes() as u32);
        self.scale(Part::Scales(matrix), rows);
    }

    fn linear_with_bias(&mut self, matrix: Matrix, rows: u32, columns: u32) {
        self.linear(matrix, rows, columns);
        self.add(Part::Bias(matrix), Element::I32, rows);
    }

    fn square_attention(&mut self, c: &Config) {
        let (d, squares) = (c.width, SQUARES as u32);
        for matrix in [Matrix::Query, Matrix::Key, Matrix::Value] {
            self.linear(matrix, d, d);
        }
        self.scale(Part::ScoreScale, c.heads);
        if c.attention_bias {
            self.add(Part::AttentionBias, Element::I8, c.heads * squares * squares);
            self.scale(Part::AttentionBiasScale, c.heads * squares);
        }
        self.scale(Part::ContextScale, d);
        self.linear(Matrix::Output, d, d);
    }

    fn state_space(&mut self, c: &Config) {
        let inner = c.ssm_inner();
        self.linear_with_bias(Matrix::InProj, 2 * inner, c.width);
        self.scale(Part::StateInputScale, inner);
        self.linear(Matrix::XProj, c.ssm_rank + 2 * c.ssm_state, inner);
        self.scale(Part::StateScale, 1);
        self.linear_with_bias(Matrix::StepProj, inner, c.ssm_rank);
        self.add(Part::Skip, Element::I32, inner);
        self.scale(Part::StateOutputScale, inner);
        self.linear(Matrix::OutProj, c.width, inner);
    }
}

/// The sections of `layer`, in order, where large matrices have weights of `bits`.
pub fn layer_sections(layer: Layer, c: &Config, bits: WeightBits) -> Parts {
    let d = c.width;
    let mut list = Builder { parts: Parts::new(), bits };
    match layer {
        Layer::Embedding => {
            list.add(Part::Piece, Element::I16, TOKENS as u32 * d);
            list.add(Part::Square, Element::I16, SQUARES as u32 * d);
            list.add(Part::Aux, Element::I16, d * AUX as u32);
            list.scale(Part::AuxScale, 1);
        }
        Layer::Attention(place) => {
            list.norm(d);
            if place.on_squares() {
                list.square_attention(c);
            } else {
                list.linear(Matrix::OutputValue, d, d);
            }
        }
        Layer::Ssm(_) => {
            list.norm(d);
            list.state_space(c);
        }
        Layer::FeedForward(place, hidden) => {
            list.norm(d);
            list.linear(Matrix::Gate, hidden, d);
            list.linear(Matrix::Up, hidden, d);
            list.scale(Part::HiddenShift, 0);
            list.linear(Matrix::down(place), d, hidden);
        }
        Layer::EncoderNorm | Layer::TrunkNorm => list.norm(d),
        Layer::Pool => list.scale(Part::PoolScale, d),
        Layer::Policy(PolicyHead::Pooled) => list.linear_with_bias(Matrix::Policy, MOVES as u32, d),
        Layer::Policy(PolicyHead::FromTo) => {
            let rows = from_to_rows(c);
            list.linear(Matrix::Squares, rows, d);
            list.linear_with_bias(Matrix::Context, rows, d);
            list.scale(Part::PairScale, 1);
        }
        Layer::Value => {
            list.linear_with_bias(Matrix::Value1, d / 2, d);
            list.scale(Part::ValueHiddenScale, d / 2);
            list.linear_with_bias(Matrix::Value2, 1, d / 2);
        }
    }
    list.parts
}

/// Output channels of the `from_to` head's matrices: a from vector, a to vector, underpromotions.
pub const fn from_to_rows(c: &Config) -> u32 {
    2 * c.policy_dim + UNDERPROMOTION_PLANES as u32
}

/// The curves' sections, first in the file.
pub fn curve_sections() -> impl Iterator<Item = Section> {
    Curve::ALL.iter().map(|&curve| Section {
        part: Part::Curve(curve),
        element: Element::I16,
        count: CURVE_POINTS,
    })
}

/// Shows every section of the file, in order, until one is refused.
pub(super) fn for_each_section(
    config: &Config,
    bits: WeightBits,
    visit: &mut dyn FnMut(Section) -> Option<()>,
) -> Option<()> {
    curve_sections().try_for_each(&mut *visit)?;
    layers(config).try_for_each(|layer| {
        layer_sections(layer, config, bits).iter().try_for_each(|&section| visit(section))
    })
}

/// Every section of the file, in order.
pub fn sections(config: &Config, bits: WeightBits) -> impl Iterator<Item = Section> + '_ {
    let of = move |layer| layer_sections(layer, config, bits);
    curve_sections().chain(layers(config).flat_map(of))
}
