//! The network as a flat list of operations on planned buffers.
//!
//! [`Program::new`] builds it once, by an exhaustive match over the core's table of layers; the
//! backends only run it. The forward pass takes [`Program::ops`] in order, the backward pass
//! takes the same list in reverse. Each buffer is written by exactly one operation, so after a
//! forward pass every intermediate result is still there to be read.
//!
//! Matrices are row-major and dense; a [`View`] is some adjacent columns of a buffer.
mod builder;
mod gradients;
mod network;
mod op;
mod places;
#[cfg(test)]
mod tests;
mod work;

use kibitzer_core::{
    inputs::SQUARES,
    net::{Config, ConfigError, Layer, Role, parameter_count},
};

pub use builder::Builder;
pub use op::{Matrix, NORM_EPSILON, Op, Over, Param, Pointwise};

/// What the rows of a buffer stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rows {
    /// One row a square: N · 64.
    Square,
    /// One row a position: N.
    Position,
    /// One row a legal entry: E.
    Legal,
}

/// The sizes that change from batch to batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Number of sequences.
    pub sequences: usize,
    /// Positions of a sequence.
    pub length: usize,
    /// Legal entries E.
    pub legal: usize,
}

impl Sizes {
    /// Positions N.
    pub const fn positions(self) -> usize {
        self.sequences * self.length
    }

    /// Number of rows of a kind.
    pub const fn rows(self, rows: Rows) -> usize {
        match rows {
            Rows::Square => self.positions() * SQUARES,
            Rows::Position => self.positions(),
            Rows::Legal => self.legal,
        }
    }
}

/// A buffer, by its number in [`Program::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer(usize);

impl Buffer {
    /// The number.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Adjacent columns of a buffer, as an operation reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The buffer.
    pub buffer: Buffer,
    /// First column.
    pub column: usize,
    /// Number of columns.
    pub width: usize,
    /// Whether the backward pass adds to these columns of the gradient, because an operation
    /// further on has already written to them; otherwise it overwrites what is there.
    pub accumulate: bool,
}

/// What a buffer holds, within its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// The residual stream after the layer, or the layer's only output.
    Output,
    /// The stream after the layer's RMSNorm.
    Normed,
    /// Queries, keys and values side by side.
    Qkv,
    /// Attention's weighted values.
    Attended,
    /// Logarithm of the sum of exponentials of each head's scores; it has no gradient.
    LogSum,
    /// Gate and up projection side by side.
    GateUp,
    /// The hidden layer after its nonlinearity.
    Hidden,
    /// State space: u and z side by side.
    InProj,
    /// State space: u after convolution and SiLU.
    Convolved,
    /// State space: low-rank step, B and C side by side.
    XProj,
    /// State space: step size before the softplus.
    Step,
    /// State space: y after the gate.
    Scanned,
    /// `from_to` policy: projection of the trunk's output.
    Context,
    /// `from_to` policy: squares with the context added.
    Squares,
    /// `from_to` policy: from vectors.
    From,
    /// `from_to` policy: to vectors.
    To,
    /// `from_to` policy: underpromotion scores.
    Promotion,
    /// A head's layer before its nonlinearity.
    Preactivation,
    /// The value head's last layer before its tanh.
    Value2,
}

/// A buffer as planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferInfo {
    /// The layer it belongs to.
    pub layer: Layer,
    /// What it holds there.
    pub signal: Signal,
    /// What its rows stand for.
    pub rows: Rows,
    /// Number of columns.
    pub width: usize,
    /// Where its gradient is kept, a number in [`Program::slots`]. Buffers whose gradients are
    /// never needed at the same time share a slot, and so does a residual sum with the stream
    /// that it was added to. The gradient's rows are `width` apart, whatever the slot's width.
    pub slot: Option<usize>,
}

/// Storage for gradients of buffers, one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// What its rows stand for.
    pub rows: Rows,
    /// Most columns that it has to hold.
    pub width: usize,
}

/// A matrix product by name: which operation applies the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    /// The layer.
    pub layer: Layer,
    /// The parameter's role in it.
    pub role: Role,
    /// What it multiplies.
    pub input: View,
}

/// A program: operations in order of execution, and the buffers between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The operations.
    pub ops: Vec<Op>,
    /// The buffers.
    pub buffers: Vec<BufferInfo>,
    /// Storage for the buffers' gradients.
    pub slots: Vec<Slot>,
    /// Every matrix product, in order of execution.
    pub products: Vec<Product>,
    /// Number of parameters.
    pub parameters: usize,
}

impl Program {
    /// The program of a network. Its last operation is the loss.
    ///
    /// # Errors
    /// If the configuration is out of range.
    pub fn new(config: &Config) -> Result<Program, ConfigError> {
        config.validate()?;
        Ok(network::program(config, parameter_count(config)))
    }

    /// The buffer that holds a signal of a layer.
    pub fn find(&self, layer: Layer, signal: Signal) -> Option<Buffer> {
        self.buffers.iter().position(|b| (b.layer, b.signal) == (layer, signal)).map(Buffer)
    }

    /// What is known of a buffer.
    pub fn info(&self, buffer: Buffer) -> &BufferInfo {
        &self.buffers[buffer.0]
    }

    /// All buffers.
    pub fn all_buffers(&self) -> impl Iterator<Item = Buffer> + use<> {
        (0..self.buffers.len()).map(Buffer)
    }

    /// The loss's logits and values, if the program has a loss; a network's has.
    pub fn outputs(&self) -> Option<(View, View)> {
        self.ops.iter().find_map(|op| match op {
            Op::Loss { logits, values } => Some((*logits, *values)),
            _ => None,
        })
    }
}
