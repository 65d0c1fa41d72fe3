use std::ops::Add;

/// What a backend keeps in memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryPlan {
    /// Positions that it takes at a time: larger batches are taken in parts.
    pub positions: usize,
    /// The network's parameters.
    pub parameters: u64,
    /// Their gradient.
    pub parameter_gradients: u64,
    /// The optimizer's moments, and the running average of the parameters.
    pub optimizer: u64,
    /// What the forward pass computes.
    pub activations: u64,
    /// The gradients of that.
    pub gradients: u64,
    /// What single operations need for themselves.
    pub scratch: u64,
    /// A batch on its way.
    pub batch: u64,
}

impl MemoryPlan {
    /// The parts by name, in order.
    pub const fn parts(&self) -> [(&'static str, u64); 7] {
        [
            ("parameters", self.parameters),
            ("their gradient", self.parameter_gradients),
            ("optimizer", self.optimizer),
            ("activations", self.activations),
            ("their gradients", self.gradients),
            ("scratch", self.scratch),
            ("batch", self.batch),
        ]
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.parts().iter().map(|(_, bytes)| bytes).sum()
    }
}

impl Add for MemoryPlan {
    type Output = MemoryPlan;

    fn add(self, other: MemoryPlan) -> MemoryPlan {
        MemoryPlan {
            positions: self.positions + other.positions,
            parameters: self.parameters + other.parameters,
            parameter_gradients: self.parameter_gradients + other.parameter_gradients,
            optimizer: self.optimizer + other.optimizer,
            activations: self.activations + other.activations,
            gradients: self.gradients + other.gradients,
            scratch: self.scratch + other.scratch,
            batch: self.batch + other.batch,
        }
    }
}
