//! The GPU backend on a software adapter: the suite, and its parity with the CPU backend.
//!
//! Without such an adapter the tests say that they were skipped; with
//! `KIBITZER_REQUIRE_ADAPTER=1` in the environment, or a part of the adapter's name instead of
//! the 1, they fail.
mod suite;

use std::io::Write as _;

use kibitzer_core::net::{Config, PolicyHead};
use kibitzer_gpu::{
    AdamW, Backend, Batch, Error, OptimizerState, Probing,
    cpu::{Cpu, CpuProbe},
    gpu::{Choice, Device, Gpu, MemoryLimits, Prober, adapters},
    program::{Buffer, Op},
};
use suite::{Subject as _, assert_close, cases, reference::Golden};

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
        let required = std::env::var(REQUIRE).unwrap_or_default();
        match device() {
            Ok(device) => {
                let name = &device.description().name;
                let wanted = required == "1" || name.contains(&required);
                assert!(wanted, "the adapter is {name} ({REQUIRE}={required})");
                true
            }
            Err(error) if !required.is_empty() => panic!("{error} ({REQUIRE}={required})"),
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
    for case in cases::all(&[1, 5, 2, 63, 64, 65, 128]) {
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

/// AdamW with a step that shows, and an ε above the rounding of a gradient: below it the step's
/// sign would be that of the rounding.
fn hyper() -> AdamW {
    AdamW { learning_rate: 1e-2, epsilon: 1e-4, clip: Some(1.0), ..AdamW::default() }
}

/// Outputs, gradient, and two steps of the optimizer, against the CPU backend's.
fn compare(config: &Config, memory: MemoryLimits, capacity: usize, batch: &Batch) {
    let device = Device::open(Choice::Software, memory).unwrap().unwrap();
    let mut gpu = Gpu::new(device, config, 7, capacity).unwrap();
    let mut cpu = Cpu::new(config, 7, batch.positions()).unwrap();
    assert_eq!(gpu.parameters().unwrap(), cpu.parameters().unwrap());

    let (found, expected) = (gpu.evaluate(batch).unwrap(), cpu.evaluate(batch).unwrap());
    assert_close("logits", &found.logits, &expected.logits, ABSOLUTE, RELATIVE);
    assert_close("values", &found.values, &expected.values, ABSOLUTE, RELATIVE);

    let (_, found) = gpu.gradient(batch, 0.25).unwrap();
    let (_, expected) = cpu.gradient(batch, 0.25).unwrap();
    assert_close("gradient", &found, &expected, ABSOLUTE, RELATIVE);

    for _ in 0..2 {
        let found = gpu.step(batch, &hyper(), 0.25).unwrap();
        let expected = cpu.step(batch, &hyper(), 0.25).unwrap();
        let numbers = |l: kibitzer_gpu::Losses| [l.policy, l.value, l.total, l.gradient_norm];
        assert_close("losses", &numbers(found), &numbers(expected), ABSOLUTE, RELATIVE);
    }
    let (found, expected) = (gpu.parameters().unwrap(), cpu.parameters().unwrap());
    assert_close("parameters", &found, &expected, ABSOLUTE, RELATIVE);
    let (found, expected) = (gpu.optimizer_state().unwrap(), cpu.optimizer_state().unwrap());
    assert_eq!(found.step, expected.step);
    assert_close("first moments", &found.m, &expected.m, ABSOLUTE, RELATIVE);
    assert_close("second moments", &found.v, &expected.v, ABSOLUTE, RELATIVE);
}

#[test]
fn the_golden_networks_train_as_on_the_cpu() {
    if !OnSoftware::available() {
        return;
    }
    for name in ["golden", "golden_mover"] {
        let golden = Golden::read(name);
        compare(&golden.config, MemoryLimits::Default, 12, &golden.batch(12, 1));
    }
}

/// Sizes that no tile, vector or workgroup divides, and runs of fewer positions than the batch.
#[test]
fn odd_sizes_train_as_on_the_cpu() {
    if !OnSoftware::available() {
        return;
    }
    let narrow = Config {
        width: 24,
        heads: 3,
        encoder_blocks: 1,
        trunk: "SA".try_into().unwrap(),
        ffn_mult: 3,
        ssm_state: 3,
        ssm_rank: 5,
        ssm_conv: 3,
        ssm_ffn_mult: 2,
        policy_head: PolicyHead::FromTo,
        policy_dim: 7,
        attention_bias: true,
        ..Config::default()
    };
    compare(&narrow, MemoryLimits::Default, 9, &cases::batch(9, 1, 31));
    compare(&narrow, MemoryLimits::Default, 2, &cases::batch(5, 1, 32));
    compare(&narrow, MemoryLimits::Default, 40, &cases::batch(4, 17, 35));
    let wide = Config { width: 70, heads: 5, policy_head: PolicyHead::Pooled, ..narrow };
    compare(&wide, MemoryLimits::Default, 3, &cases::batch(3, 1, 33));
}

/// With 128 KiB a binding the parameters take several buffers, and a run two positions.
#[test]
fn parameters_may_take_several_buffers() {
    if !OnSoftware::available() {
        return;
    }
    let golden = Golden::read("golden_mover");
    compare(&golden.config, MemoryLimits::AtMost(128 << 10), 12, &golden.batch(5, 1));
}

/// 32,129,153 parameters, which nearly fill one binding of the default limits.
#[test]
fn the_full_network_takes_a_step() {
    if !OnSoftware::available() {
        return;
    }
    let config = Config::default();
    let batch = cases::batch(1, 1, 34);
    let mut gpu = Gpu::new(device().unwrap(), &config, 3, 1).unwrap();
    let mut cpu = Cpu::new(&config, 3, 1).unwrap();
    let hyper = AdamW { learning_rate: 1e-3, ..hyper() };
    let found = gpu.step(&batch, &hyper, 0.25).unwrap();
    let expected = cpu.step(&batch, &hyper, 0.25).unwrap();
    assert_close("loss", &[found.total], &[expected.total], ABSOLUTE, RELATIVE);
    let norms = ([found.gradient_norm], [expected.gradient_norm]);
    assert_close("norm", &norms.0, &norms.1, ABSOLUTE, RELATIVE);
    let (found, expected) = (gpu.parameters().unwrap(), cpu.parameters().unwrap());
    assert_close("parameters", &found, &expected, ABSOLUTE, RELATIVE);
}

#[test]
fn a_loss_that_is_not_finite_changes_nothing() {
    if !OnSoftware::available() {
        return;
    }
    let golden = Golden::read("golden_mover");
    let batch = golden.batch(3, 1);
    let mut parameters = golden.parameters();
    *parameters.last_mut().unwrap() = f32::NAN; // the value head's last bias
    let mut network = OnSoftware::network(&golden.config, &parameters, 3);
    let refused = network.step(&batch, &AdamW::default(), 0.25);
    assert!(matches!(refused, Err(Error::Diverged { .. })), "{refused:?}");
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&network.parameters().unwrap()), bits(&parameters));
    assert_eq!(network.optimizer_state().unwrap(), OptimizerState::new(parameters.len()));
    // The backend goes on from sound parameters.
    network.restore(&golden.parameters(), &OptimizerState::new(parameters.len())).unwrap();
    assert!(network.step(&batch, &AdamW::default(), 0.25).unwrap().total.is_finite());
}

#[test]
fn a_sequence_that_the_buffers_do_not_hold_is_refused() {
    if !OnSoftware::available() {
        return;
    }
    let golden = Golden::read("golden");
    let mut network = OnSoftware::network(&golden.config, &golden.parameters(), 4);
    let refused = network.evaluate(&golden.batch(2, 5));
    assert_eq!(refused, Err(Error::Capacity { what: "positions", found: 5, most: 4 }));
}

/// The choice follows what the machine has; no adapter is needed.
#[test]
fn a_software_adapter_is_used_only_when_asked_for() {
    let all = adapters();
    let real = all.iter().any(|adapter| !adapter.software);
    let auto = Device::open(Choice::Auto, MemoryLimits::Adapter).unwrap();
    assert!(auto.is_none_or(|device| !device.description().software));
    if !real {
        let message = Device::open(Choice::Gpu, MemoryLimits::Adapter).unwrap_err().to_string();
        assert!(message.contains("mesa-vulkan-drivers") && message.contains("--device cpu"));
    }
    match Device::open(Choice::Software, MemoryLimits::Adapter) {
        Ok(device) => assert!(device.is_some_and(|device| device.description().software)),
        Err(error) => assert!(error.to_string().contains("apt-get install mesa-vulkan-drivers")),
    }
}
