//! The CPU backend: the suite, and what only it promises.
mod suite;

use kibitzer_core::net::{Config, Layer, Role, tensors};
use kibitzer_gpu::{
    AdamW, Backend, Error, OptimizerState, Probing,
    cpu::{Cpu, CpuProbe},
    parity::cases,
    program::Signal,
};
use suite::Subject as _;

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
}

suite!(OnCpu);

/// A small network, whole positions at a time, is the same network operation by operation.
#[test]
fn both_orders_of_work_give_the_same_gradient() {
    for name in ["golden", "golden_mover"] {
        let config = suite::reference::Golden::read(name).config;
        let (mut lanes, mut whole) =
            (Cpu::new(&config, 3, 1).unwrap(), Cpu::by_operation(&config, 3, 100).unwrap());
        for (sequences, length) in [(1, 1), (7, 1), (8, 1), (9, 1), (100, 1), (3, 5), (2, 21)] {
            let batch = cases::batch(sequences, length, 29);
            let (found, expected) =
                (lanes.evaluate(&batch).unwrap(), whole.evaluate(&batch).unwrap());
            suite::assert_close("logits", &found.logits, &expected.logits, 1e-5, 1e-4);
            suite::assert_close("values", &found.values, &expected.values, 1e-5, 1e-4);
            let (losses, found) = lanes.gradient(&batch, 0.25).unwrap();
            let (expected_losses, expected) = whole.gradient(&batch, 0.25).unwrap();
            assert!((losses.total - expected_losses.total).abs() < 1e-5);
            suite::assert_close("gradient", &found, &expected, 1e-5, 1e-3);
        }
    }
}

/// A step in pools of one, two and five threads.
#[test]
fn the_number_of_threads_changes_no_bit() {
    let golden = suite::reference::Golden::read("golden_mover");
    let parameters = kibitzer_gpu::initialise(&golden.config, 3);
    let batch = cases::batch(10, 5, 17);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut network = OnCpu::network(&golden.config, &parameters, 50);
            let hyper = AdamW { clip: Some(1.0), ..AdamW::default() };
            let losses = [0; 3].map(|_| network.step(&batch, &hyper, 0.25).unwrap());
            (losses, network.evaluate(&batch).unwrap(), network.parameters().unwrap())
        })
    };
    let one = run(1);
    assert!(one.0[2].total < one.0[0].total);
    for threads in [2, 5] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn the_full_network_takes_a_step() {
    let config = Config::default();
    let mut cpu = Cpu::new(&config, 1, 2).unwrap();
    assert_eq!(cpu.program().parameters, 32_129_153);
    assert_eq!(cpu.parameters().unwrap().len(), 32_129_153);
    let batch = cases::batch(2, 1, 5);
    let hyper = AdamW { learning_rate: 1e-5, ..AdamW::default() };
    let first = cpu.step(&batch, &hyper, 0.25).unwrap();
    // Untrained: about as good as choosing at random.
    let random = (0..2).map(|n| (batch.entries(n).len() as f32).ln()).sum::<f32>() / 2.0;
    assert!((first.policy - random).abs() < 1.0, "{first:?}");
    let second = cpu.step(&batch, &hyper, 0.25).unwrap();
    assert!(second.total < first.total, "{first:?} {second:?}");
}

/// Divergence is an error, and the parameters stay.
#[test]
fn a_loss_that_is_not_finite_changes_nothing() {
    let golden = suite::reference::Golden::read("golden");
    let mut parameters = golden.parameters();
    parameters[0] = f32::INFINITY;
    let mut network = OnCpu::network(&golden.config, &parameters, 12);
    let mut batch = golden.batch(12, 1);
    batch.tokens[0] = 0;
    let refused = network.step(&batch, &AdamW::default(), 0.25);
    assert!(matches!(refused, Err(Error::Diverged { .. })), "{refused:?}");
    assert_eq!(network.parameters().unwrap(), parameters);
    assert_eq!(network.optimizer_state().unwrap().step, 0);
}

/// In lanes and operation by operation; only scratch memory is not known beforehand.
#[test]
fn memory_is_as_planned() {
    let golden = suite::reference::Golden::read("golden_mover");
    let bytes = 4 * golden.parameters().len() as u64;
    let (without, with) =
        (Cpu::plan(&golden.config, 8, false).unwrap(), Cpu::plan(&golden.config, 8, true).unwrap());
    assert_eq!(Cpu::new(&golden.config, 1, 8).unwrap().memory(), without);
    assert_eq!(with.total(), without.total() + bytes);
    let networks = [Cpu::new(&golden.config, 1, 8), Cpu::by_operation(&golden.config, 1, 8)];
    for mut network in networks.map(Result::unwrap) {
        let planned = network.memory();
        assert_eq!((planned.parameters, planned.optimizer), (bytes, 2 * bytes));
        assert!(planned.parameter_gradients >= bytes);
        assert!(planned.gradients > 0 && planned.activations > planned.gradients);
        network.step(&cases::batch(8, 1, 18), &AdamW::default(), 0.25).unwrap();
        let found = network.memory();
        assert_eq!(kibitzer_gpu::MemoryPlan { scratch: planned.scratch, ..found }, planned);
        assert_eq!(found.parts().iter().map(|part| part.1).sum::<u64>(), found.total());
    }
}

/// Alone to evaluate, a network gives the same bits in a part of the memory, small or large.
#[test]
fn evaluation_shares_memory() {
    let large = Config { encoder_blocks: 1, trunk: "AS".try_into().unwrap(), ..Config::default() };
    for config in [suite::reference::Golden::read("golden_mover").config, large] {
        let mut trained = Cpu::new(&config, 5, 6).unwrap();
        let mut evaluated = Cpu::for_evaluation(&config, 6).unwrap();
        let parameters = trained.parameters().unwrap();
        evaluated.restore(&parameters, &OptimizerState::new(parameters.len())).unwrap();
        for (sequences, length) in [(1, 1), (2, 3), (13, 1)] {
            let batch = cases::batch(sequences, length, 40);
            let expected = trained.evaluate(&batch).unwrap();
            assert_eq!(evaluated.evaluate(&batch).unwrap(), expected);
        }
        let layer = Layer::Value;
        assert!(evaluated.activation(layer, Signal::Output).is_none(), "it may be overwritten");
        let batch = cases::batch(1, 1, 41);
        let refused = [
            evaluated.step(&batch, &AdamW::default(), 0.25).map(drop),
            evaluated.gradient(&batch, 0.25).map(drop),
            evaluated.optimizer_state().map(drop),
            evaluated.average(0.5),
            evaluated.averaged().map(drop),
            evaluated.restore_average(&parameters),
        ];
        assert!(refused.iter().all(|r| matches!(r, Err(Error::Device(_)))), "{refused:?}");
        let (all, some) = (Cpu::plan(&config, 6, false).unwrap(), evaluated.memory());
        let planned = Cpu::evaluation_plan(&config, 6).unwrap();
        assert_eq!(kibitzer_gpu::MemoryPlan { scratch: 0, ..some }, planned);
        assert_eq!((some.parameter_gradients, some.optimizer, some.gradients), (0, 0, 0));
        assert!(2 * some.total() < all.total(), "{some:?} of {all:?}");
    }
}

/// What calibration reads: the inputs of every matrix, and the stream.
#[test]
fn what_a_matrix_multiplied_can_be_read() {
    let golden = suite::reference::Golden::read("golden_mover");
    let parameters = golden.parameters();
    let mut cpu = Cpu::by_operation(&golden.config, 0, 12).unwrap();
    cpu.restore(&parameters, &OptimizerState::new(parameters.len())).unwrap();
    assert!(cpu.matrix_input(Layer::Value, Role::Value1Weight).is_none());
    cpu.evaluate(&golden.batch(12, 1)).unwrap();
    let products = cpu.program().products.clone();
    for tensor in tensors(&golden.config).filter(|t| t.shape.columns() > 1) {
        let is_product = products.iter().any(|p| (p.layer, p.role) == (tensor.layer, tensor.role));
        let elsewhere = matches!(
            tensor.role,
            Role::Piece
                | Role::Square
                | Role::Aux
                | Role::AttentionBias
                | Role::DecayLog
                | Role::ConvWeight
        );
        assert_eq!(is_product, !elsewhere, "{tensor}");
        if is_product {
            let input = cpu.matrix_input(tensor.layer, tensor.role).unwrap();
            assert_eq!(input.width(), tensor.shape.columns(), "{tensor}");
            assert!([12, 12 * 64].contains(&input.rows().len()), "{tensor}");
        }
    }
    // The value head's last layer, worked out again from what it read.
    let hidden = cpu.matrix_input(Layer::Value, Role::Value2Weight).unwrap();
    let find = |role| tensors(&golden.config).find(|t| t.role == role).unwrap().range();
    let (weight, bias) =
        (&parameters[find(Role::Value2Weight)], &parameters[find(Role::Value2Bias)]);
    let values: Vec<f32> = hidden
        .rows()
        .map(|row| (row.iter().zip(weight).map(|(x, w)| x * w).sum::<f32>() + bias[0]).tanh())
        .collect();
    suite::assert_close("values", &values, &golden.floats("L1.value"), 1e-4, 1e-4);
    let output = cpu.activation(Layer::Value, Signal::Output).unwrap();
    let outputs: Vec<f32> = output.rows().map(|row| row[0]).collect();
    suite::assert_close("outputs", &outputs, &values, 1e-5, 1e-5);
    // A batch in parts leaves only its last part: nothing is shown.
    let mut parts = Cpu::by_operation(&golden.config, 0, 5).unwrap();
    parts.evaluate(&golden.batch(12, 1)).unwrap();
    assert!(parts.activation(Layer::Value, Signal::Output).is_none());
}

/// More than any machine can address: refused before anything is allocated.
#[test]
fn a_network_that_fits_no_memory_is_refused() {
    let golden = suite::reference::Golden::read("golden_mover");
    let refused = Cpu::by_operation(&golden.config, 0, 1 << 36).err();
    assert!(matches!(refused, Some(kibitzer_gpu::Error::HostMemory(_))), "{refused:?}");
}
