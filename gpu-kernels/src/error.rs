use kibitzer_core::net::ConfigError;

/// Why a backend refuses its input or cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The configuration cannot be built.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A part of the batch has the wrong number of elements.
    #[error("batch: {part} has {found} elements, not {expected}")]
    BatchLength {
        /// The field of [`crate::Batch`].
        part: &'static str,
        /// Elements it should have.
        expected: usize,
        /// Elements it has.
        found: usize,
    },
    /// A sequence is longer than the device's buffers.
    #[error("batch: a sequence has {found} {what}, but the buffers hold {most} at a time")]
    Capacity {
        /// What there is too much of.
        what: &'static str,
        /// How much the sequence has.
        found: usize,
        /// The most that fits.
        most: usize,
    },
    /// A value of the batch is outside its range.
    #[error("batch: {part} of position {position} is {value}; {expected}")]
    BatchValue {
        /// The field of [`crate::Batch`].
        part: &'static str,
        /// The position, counted from 0.
        position: usize,
        /// The value found.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A hyperparameter of the optimizer is outside its range.
    #[error("optimizer: {name} is {value}; {expected}")]
    Hyperparameter {
        /// The field of [`crate::AdamW`].
        name: &'static str,
        /// The value found.
        value: f32,
        /// What is allowed.
        expected: &'static str,
    },
    /// A flat vector does not belong to this network.
    #[error("{what} has {found} elements, but the network has {expected} parameters")]
    ParameterCount {
        /// Which vector.
        what: &'static str,
        /// The network's parameters.
        expected: usize,
        /// The vector's elements.
        found: usize,
    },
    /// The loss or the gradient is infinite or not a number; the parameters are unchanged.
    #[error("training diverged: the loss is {loss}, the gradient's norm {gradient_norm}")]
    Diverged {
        /// The loss of the step.
        loss: f32,
        /// The norm of its gradient.
        gradient_norm: f32,
    },
    /// This machine has not enough memory for the network on the processor.
    #[error("out of memory: {0} bytes are needed")]
    HostMemory(u64),
    /// The device has not enough memory.
    #[error("device: out of memory")]
    OutOfMemory,
    /// The device failed, or there is none.
    #[error("device: {0}")]
    Device(String),
}
