//! The CPU backend: the suite, and what only it promises.
mod suite;

use kibitzer_core::net::Config;
use kibitzer_gpu::{
    Backend, OptimizerState, Probing,
    cpu::{Cpu, CpuProbe},
};

struct OnCpu;

impl suite::Subject for OnCpu {
    fn network(config: &Config, parameters: &[f32], capacity: usize) -> Box<dyn Backend> {
        let mut cpu = Cpu::new(config, 0, capacity).unwrap();
        cpu.restore(parameters, &OptimizerState::new(parameters.len())).unwrap();
        Box::new(cpu)
    }

    fn probing() -> Box<dyn Probing> {
        Box::new(CpuProbe)
    }

    const LONGEST: usize = usize::MAX;
}

suite!(OnCpu);
