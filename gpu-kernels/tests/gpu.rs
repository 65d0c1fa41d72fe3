//! The GPU backend on a software adapter: the suite, and its parity with the CPU backend.
//!
//! Without such an adapter the tests say that they were skipped; with
//! `KIBITZER_REQUIRE_ADAPTER=1` in the environment, or a part of the adapter's name instead of
//! the 1, they fail.
mod suite;

use std::io::Write as _;

use kibitzer_core::net::{Config, PolicyHead};
use kibitzer_gpu::{
    AdamW, Backend, Batch, Error, LossScale, OptimizerState, Probing,
    cpu::Cpu,
    gpu::{
        Choice, Device, Gpu, MemoryLimits, Precision, Prober, adapters,
        gemm::{Choices, SHAPES, Shape},
    },
    parity::{self, Case, Tolerance, cases},
};
use suite::{Subject as _, assert_close, reference::Golden};

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
        let mut gpu = Gpu::averaging(device().unwrap(), config, 0, capacity).unwrap();
        gpu.restore(parameters, &OptimizerState::new(parameters.len())).unwrap();
        Box::new(gpu)
    }

    fn probing() -> Box<dyn Probing> {
        Box::new(Prober::new(device().unwrap()))
    }
}

suite!(OnSoftware);

#[test]
fn every_operation_equals_the_cpu_backends() {
    if OnSoftware::available() {
        let mut gpu = OnSoftware::probing();
        compare_operations(gpu.as_mut(), &[1, 5, 2, 63, 64, 65, 128], Tolerance::F32);
    }
}

/// What shares by subgroups where there are any, by workgroup memory.
#[test]
fn without_subgroups_operations_equal_the_cpu_backends() {
    if !OnSoftware::available() {
        return;
    }
    let device = device().unwrap().with_choices(Choices::untimed(true, None));
    let mut gpu = Prober::new(device);
    let shares = |case: &Case| ["attention", "norm"].iter().any(|name| case.name.contains(name));
    let cases: Vec<_> = cases::all(&[1, 5, 65]).into_iter().filter(shares).collect();
    assert!(cases.len() > 3, "only {} cases", cases.len());
    for case in cases {
        assert_close_to_cpu(&mut gpu, &case, Tolerance::F32, "");
    }
}

/// Every operation of these lengths.
fn compare_operations(gpu: &mut dyn Probing, lengths: &[usize], tolerance: Tolerance) {
    for case in cases::all(lengths) {
        assert_close_to_cpu(gpu, &case, tolerance, "");
    }
}

fn assert_close_to_cpu(gpu: &mut dyn Probing, case: &Case, tolerance: Tolerance, shape: &str) {
    let deviation = parity::check(gpu, case, tolerance).unwrap();
    assert!(deviation.passes(), "{} {shape}: {deviation:?}", case.name);
}

/// The software adapter with 16-bit storage, or `None` if it has none.
fn half_device() -> Option<Device> {
    let device = device().unwrap();
    let has = device.description().f16;
    assert!(has || !device.description().name.contains("llvmpipe"), "llvmpipe has 16-bit floats");
    let device = device.with_precision(Precision::F16);
    assert_eq!(device.is_ok(), has);
    device.ok()
}

#[test]
fn every_operation_nearly_equals_the_cpu_backends_in_16_bits() {
    if !OnSoftware::available() {
        return;
    }
    if let Some(device) = half_device() {
        compare_operations(&mut Prober::new(device), &[1, 65, 2], Tolerance::F16);
    }
}

/// A small network with every kind of layer.
fn small() -> Config {
    Config {
        width: 16,
        heads: 2,
        encoder_blocks: 1,
        trunk: "SA".try_into().unwrap(),
        ssm_state: 4,
        ssm_rank: 4,
        policy_head: PolicyHead::FromTo,
        policy_dim: 8,
        attention_bias: true,
        ..Config::default()
    }
}

/// The batch with one move wanted in each position; which one, its first square decides.
fn certain(mut batch: Batch) -> Batch {
    batch.target_policy.fill(0.0);
    for position in 0..batch.positions() {
        let entries = batch.entries(position);
        let wanted = entries.start + usize::from(batch.tokens[64 * position]) % entries.len();
        batch.target_policy[wanted] = 1.0;
    }
    batch
}

/// Two hundred steps on batches that come again, so that there is something to learn.
#[test]
fn sixteen_bits_learn_as_well_as_32() {
    if !OnSoftware::available() {
        return;
    }
    let Some(half) = half_device() else { return };
    let batches: Vec<Batch> = (0..20).map(|i| certain(cases::batch(2, 2, 50 + i))).collect();
    let hyper = AdamW { learning_rate: 5e-4, clip: Some(1.0), ..AdamW::default() };
    let train = |device: Device| {
        let mut gpu = Gpu::new(device, &small(), 5, 4).unwrap();
        let mut losses = vec![];
        for step in 0..200 {
            gpu.submit(&batches[step % batches.len()], &hyper, 0.25).unwrap();
            losses.extend(gpu.losses(3).unwrap());
        }
        while let Some(loss) = gpu.losses(0).unwrap() {
            losses.push(loss);
        }
        losses
    };
    let memory = |device: Device| Gpu::new(device, &small(), 5, 4).unwrap().memory();
    let (narrow, wide) = (memory(half.clone()), memory(device().unwrap()));
    // Nearly half: a few sums are kept in 32 bits.
    assert!(3 * narrow.activations < 2 * wide.activations, "{narrow:?} of {wide:?}");
    assert!(3 * narrow.gradients < 2 * wide.gradients, "{narrow:?} of {wide:?}");
    let (found, expected) = (train(half), train(device().unwrap()));
    assert!(found.iter().filter(|losses| losses.skipped).count() < 10);
    let mean = |losses: &[kibitzer_gpu::Losses]| {
        losses.iter().map(|l| f64::from(l.total)).sum::<f64>() / losses.len() as f64
    };
    let pieces = found.chunks(20).zip(expected.chunks(20));
    for (i, (found, expected)) in pieces.enumerate() {
        let (found, expected) = (mean(found), mean(expected));
        let what = format!("steps from {}: {found} instead of {expected}", 20 * i);
        assert!((found - expected).abs() <= 0.02 * expected, "{what}");
    }
    println!("losses {:?}", found.chunks(20).map(mean).collect::<Vec<_>>());
    let (first, last) = (mean(&expected[..20]), mean(&expected[180..]));
    assert!(last < 0.9 * first, "nothing was learnt: {first}, then {last}");
}

/// A gradient beyond 16 bits skips the step and halves the scale, until it fits.
#[test]
fn an_overflow_skips_the_step() {
    if !OnSoftware::available() {
        return;
    }
    let Some(half) = half_device() else { return };
    let batch = cases::batch(3, 1, 40);
    let mut gpu = Gpu::new(half.clone(), &small(), 6, 3).unwrap();
    let before = gpu.parameters().unwrap();
    let scale = |scale, good_steps| Some(LossScale { scale, good_steps });
    let fresh = OptimizerState::new(before.len());
    let state = OptimizerState { loss_scale: scale(2f32.powi(36), 7), ..fresh.clone() };
    gpu.restore(&before, &state).unwrap();
    let losses = gpu.step(&batch, &hyper(), 0.25).unwrap();
    assert!(losses.skipped && losses.total.is_finite() && !losses.gradient_norm.is_finite());
    assert_eq!(gpu.parameters().unwrap(), before);
    let after = gpu.optimizer_state().unwrap();
    assert_eq!(after, OptimizerState { loss_scale: scale(2f32.powi(35), 0), ..fresh.clone() });

    let mut skipped = 1;
    while gpu.step(&batch, &hyper(), 0.25).unwrap().skipped {
        skipped += 1;
    }
    assert_ne!(gpu.parameters().unwrap(), before);
    let after = gpu.optimizer_state().unwrap();
    assert_eq!((after.step, after.loss_scale), (1, scale(2f32.powi(36 - skipped), 1)));

    // Saved and restored, the next steps are the same to the bit.
    let parameters = gpu.parameters().unwrap();
    let mut other = Gpu::new(half, &small(), 9, 3).unwrap();
    other.restore(&parameters, &after).unwrap();
    let step = |gpu: &mut Gpu| gpu.step(&batch, &hyper(), 0.25).unwrap();
    assert_eq!(step(&mut other), step(&mut gpu));
    assert_eq!(other.optimizer_state().unwrap(), gpu.optimizer_state().unwrap());

    // After many good steps the scale grows.
    let state = OptimizerState { loss_scale: scale(1024.0, 1999), ..after };
    gpu.restore(&parameters, &state).unwrap();
    assert!(!step(&mut gpu).skipped);
    assert_eq!(gpu.optimizer_state().unwrap().loss_scale, scale(2048.0, 0));
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

/// Losses of ten steps, within 1e-3 of the CPU backend's.
fn compare_losses(config: &Config, capacity: usize, batch: &Batch) {
    let hyper = AdamW { learning_rate: 1e-4, clip: Some(1.0), ..AdamW::default() };
    let mut gpu = Gpu::new(device().unwrap(), config, 3, capacity).unwrap();
    let mut cpu = Cpu::new(config, 3, 8).unwrap();
    for step in 0..10 {
        let found = gpu.step(batch, &hyper, 0.25).unwrap();
        let expected = cpu.step(batch, &hyper, 0.25).unwrap();
        println!("step {step}: {found:?}, on the CPU {expected:?}");
        let numbers = |l: kibitzer_gpu::Losses| [l.policy, l.value, l.total];
        assert_close("losses", &numbers(found), &numbers(expected), 1e-3, 0.0);
    }
}

/// Alone to evaluate, a network gives the same bits in a small part of the memory.
#[test]
fn evaluation_shares_memory() {
    if !OnSoftware::available() {
        return;
    }
    let config = Config { encoder_blocks: 3, ..small() };
    let batch = cases::batch(2, 2, 38);
    let mut trained = Gpu::new(device().unwrap(), &config, 4, 4).unwrap();
    let mut evaluated = Gpu::for_evaluation(device().unwrap(), &config, 4).unwrap();
    let parameters = trained.parameters().unwrap();
    evaluated.restore(&parameters, &OptimizerState::new(parameters.len())).unwrap();
    let expected = trained.evaluate(&batch).unwrap();
    assert_eq!(evaluated.evaluate(&batch).unwrap(), expected);
    let refused = evaluated.step(&batch, &hyper(), 0.25);
    assert!(matches!(refused, Err(Error::Device(_))), "{refused:?}");

    let (all, some) = (trained.memory(), evaluated.memory());
    assert_eq!(all.optimizer, 2 * all.parameters);
    assert_eq!((some.parameters, some.optimizer, some.gradients), (all.parameters, 0, 0));
    assert!(3 * some.activations < all.activations, "{some:?} of {all:?}");
    assert!(3 * some.total() < all.total(), "{some:?} of {all:?}");
}

/// An average has memory where one is wanted, and only there.
#[test]
fn an_average_is_kept_where_it_is_wanted() {
    if !OnSoftware::available() {
        return;
    }
    let mut without = Gpu::new(device().unwrap(), &small(), 4, 4).unwrap();
    let with = Gpu::averaging(device().unwrap(), &small(), 4, 4).unwrap();
    let (less, more) = (without.memory(), with.memory());
    assert_eq!(more.optimizer - less.optimizer, less.parameters);
    assert_eq!(more.total() - less.total(), less.parameters);
    let plan = |average| Gpu::plan(&device().unwrap(), &small(), 4, average).unwrap();
    assert_eq!((plan(false), plan(true)), (less, more));
    let parameters = without.parameters().unwrap();
    let refused =
        [without.average(0.5), without.averaged().map(drop), without.restore_average(&parameters)];
    assert!(refused.iter().all(|r| matches!(r, Err(Error::Device(_)))), "{refused:?}");
}

/// Half a second is the most that a dispatch may take.
#[test]
fn a_slow_adapter_is_given_less_at_a_time() {
    if !OnSoftware::available() {
        return;
    }
    let capacity = |mflops| {
        let device = device().unwrap();
        let mut choices = device.choices().clone();
        choices.mflops = mflops;
        Gpu::new(device.with_choices(choices), &small(), 1, 32).unwrap().capacity()
    };
    // The gate and the up matrix together: 2 x 64 squares x 16 columns x 128 rows.
    let (each, seconds) = (2 * 64 * 16 * 128, 0.125);
    let expected = |mflops: u64| (mflops as f64 * 1e6 * seconds / f64::from(each)) as usize;
    assert_eq!((capacity(None), capacity(Some(1000))), (32, 32));
    assert_eq!((capacity(Some(10)), capacity(Some(1))), (expected(10), 1));
}

#[test]
fn ten_steps_have_the_losses_of_the_cpu() {
    if OnSoftware::available() {
        compare_losses(&small(), 3, &cases::batch(8, 1, 36));
    }
}

/// Too long for every day: some minutes.
#[test]
#[ignore = "takes minutes; for hand: cargo test -p kibitzer-gpu --test gpu -- --ignored --nocapture"]
fn ten_steps_of_the_full_network_have_the_losses_of_the_cpu() {
    if OnSoftware::available() {
        compare_losses(&Config::default(), 8, &cases::batch(8, 1, 37));
    }
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
fn a_sequence_that_the_buffers_do_not_hold_is_refused() {
    if !OnSoftware::available() {
        return;
    }
    let golden = Golden::read("golden");
    let mut network = OnSoftware::network(&golden.config, &golden.parameters(), 4);
    let refused = network.evaluate(&golden.batch(2, 5));
    assert_eq!(refused, Err(Error::Capacity { what: "positions", found: 5, most: 4 }));
}

/// Every shape of the matrix products at sizes that fill no tile; one of each kind at odd sizes
/// too, and with wgpu's checks, which change no bit.
#[test]
fn every_shape_of_matrix_products_equals_the_cpu_backends() {
    if !OnSoftware::available() {
        return;
    }
    let device = device().unwrap();
    let lanes = device.description().lanes();
    let kinds = ["tile 32x32, 4x4", "subgroup 8x4", "direct 4x4"];
    for (case, odd) in [(cases::products(3, 36, 44), false), (cases::products(2, 22, 13), true)] {
        let is_kind = |shape: &Shape| kinds.contains(&shape.name);
        for shape in SHAPES.iter().filter(|shape| !odd || is_kind(shape)) {
            let Some(choices) = Choices::untimed(false, lanes).all(shape) else { continue };
            let device = device.clone().with_choices(choices);
            let mut free = Prober::new(device.clone());
            assert_close_to_cpu(&mut free, &case, Tolerance::F32, shape.name);
            if is_kind(shape) {
                let found = parity::probe(&mut free, &case).unwrap();
                let checked = parity::probe(&mut Prober::new(device.with_checks()), &case).unwrap();
                assert_eq!(found, checked, "{} {}: the checks change it", case.name, shape.name);
            }
        }
    }
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
