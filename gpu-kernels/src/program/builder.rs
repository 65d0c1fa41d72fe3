//! Buffers and operations one by one.
use kibitzer_core::net::Layer;

use super::{Buffer, BufferInfo, Op, Product, Program, Rows, Signal, View, gradients};

/// Collects buffers and operations; [`Builder::finish`] plans the gradients.
#[derive(Debug)]
pub struct Builder {
    pub(super) layer: Layer,
    ops: Vec<Op>,
    pub(super) buffers: Vec<BufferInfo>,
    pub(super) products: Vec<Product>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder { layer: Layer::Embedding, ops: vec![], buffers: vec![], products: vec![] }
    }
}

impl Builder {
    /// A new buffer of the current layer.
    pub fn buffer(&mut self, signal: Signal, rows: Rows, width: usize) -> Buffer {
        self.buffers.push(BufferInfo { layer: self.layer, signal, rows, width, slot: None });
        Buffer(self.buffers.len() - 1)
    }

    /// All columns of a buffer.
    pub fn all(&self, buffer: Buffer) -> View {
        self.columns(buffer, 0, self.buffers[buffer.index()].width)
    }

    /// Some columns of a buffer.
    pub fn columns(&self, buffer: Buffer, column: usize, width: usize) -> View {
        debug_assert!(column + width <= self.buffers[buffer.index()].width);
        View { buffer, column, width, accumulate: false }
    }

    /// Appends an operation.
    pub fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Plans the gradients and returns the program.
    pub fn finish(self, parameters: usize) -> Program {
        let Builder { ops, buffers, products, .. } = self;
        gradients::plan(Program { ops, buffers, slots: vec![], products, parameters })
    }
}
