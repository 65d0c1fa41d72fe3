//! The GPU backend on a software adapter: the suite, and its parity with the CPU backend.
//!
//! Without such an adapter the tests say that they were skipped; with
//! `KIBITZER_REQUIRE_ADAPTER=1` in the environment they fail instead.
mod suite;

use std::io::Write as _;

use kibitzer_core::net::Config;
use kibitzer_gpu::{
    Backend, Error, OptimizerState, Probing,
    cpu::CpuProbe,
    gpu::{Choice, Device, Gpu, MemoryLimits, Prober},
    program::{Buffer, Op},
};
use suite::{Subject as _, assert_close, cases};

const REQUIRE: &str = "KIBITZER_REQUIRE_ADAPTER";
const ABSOLUTE: f32 = 1e-4;
const RELATIVE: f32 = 1e-3;

/// The software adapter with wgpu's default limits.
fn device() -> Result<Device, Error> {
    let device = Device::open(Choice::Software, MemoryLimits::Default)?;
    Ok(device.expect("only Choice::Auto gives none"))
}

struct OnSoftware;

impl suite::Subject for OnSoftware {
    fn available() -> bool {
        let required = std::env::var(REQUIRE).is_ok_and(|value| value == "1");
        match device() {
            Ok(_) => true,
            Err(error) if required => panic!("{error} ({REQUIRE}=1)"),
            Err(error) => {
                // Not by eprintln!, which the test harness keeps to itself.
                let _ = writeln!(std::io::stderr(), "SKIPPED a GPU test: {error}");
                false
            }
        }
    }

    fn network(config: &Config, parameters: &[f32], capacity: usize) -> Box<dyn Backend> {
        let mut gpu = Gpu::new(device().unwrap(), config, 0, capacity).unwrap();
        gpu.restore(parameters, &OptimizerState::new(parameters.len())).unwrap();
        Box::new(gpu)
    }

    fn probing() -> Box<dyn Probing> {
        Box::new(Prober::new(device().unwrap()))
    }

    const LONGEST: usize = 1;
}

suite!(OnSoftware);

fn slices(values: &[(Buffer, Vec<f32>)]) -> Vec<(Buffer, &[f32])> {
    values.iter().map(|(buffer, values)| (*buffer, values.as_slice())).collect()
}

#[test]
fn every_operation_equals_the_cpu_backends() {
    if !OnSoftware::available() {
        return;
    }
    let mut gpu = OnSoftware::probing();
    for case in cases::all(1) {
        let (inputs, gradients) = (slices(&case.inputs), slices(&case.output_gradients));
        let probe = case.probe(&inputs, &gradients, &case.parameters);
        let (found, expected) = (gpu.probe(&probe).unwrap(), CpuProbe.probe(&probe).unwrap());
        let what = |part: &str| format!("{}: {part}", case.name);
        for output in case.program.ops.iter().filter_map(Op::output).map(Buffer::index) {
            let (found, expected) = (&found.activations[output], &expected.activations[output]);
            assert_close(&what("output"), found, expected, ABSOLUTE, RELATIVE);
        }
        for (found, expected) in found.input_gradients.iter().zip(&expected.input_gradients) {
            assert_close(&what("gradient of an input"), found, expected, ABSOLUTE, RELATIVE);
        }
        let (found, expected) = (found.parameter_gradient, expected.parameter_gradient);
        assert_close(&what("gradient of parameters"), &found, &expected, ABSOLUTE, RELATIVE);
    }
}
