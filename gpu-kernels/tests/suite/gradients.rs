//! Every operation's backward pass against finite differences of its forward pass.
use kibitzer_gpu::{
    Probing,
    parity::{Case, cases},
    program::Buffer,
};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::Subject;

/// Elements tried of each input and of the parameters.
const TRIES: usize = 16;
/// Step of the differences.
const STEP: f32 = 1.0 / 64.0;

/// Lengths tried: alone, within and beyond the taps of the convolutions, and the longest.
const LENGTHS: [usize; 4] = [1, 2, 5, 128];

/// Tries every case.
pub fn check<S: Subject>() {
    let mut probing = S::probing();
    for case in cases::all(&LENGTHS) {
        check_case(probing.as_mut(), &case);
    }
}

fn check_case(probing: &mut dyn Probing, case: &Case) {
    let gradients: Vec<(Buffer, &[f32])> =
        case.output_gradients.iter().map(|(b, data)| (*b, data.as_slice())).collect();
    let inputs: Vec<(Buffer, &[f32])> =
        case.inputs.iter().map(|(b, data)| (*b, data.as_slice())).collect();
    let probed = probing.probe(&case.probe(&inputs, &gradients, &case.parameters)).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(99);
    let mut function = Function { probing, case };
    for (which, gradient) in probed.input_gradients.iter().enumerate() {
        for _ in 0..TRIES {
            let at = rng.random_range(0..gradient.len());
            let slope = slope(|move_by| {
                let mut inputs = case.inputs.clone();
                inputs[which].1[at] += move_by;
                function.value(&inputs, &case.parameters)
            });
            assert_slope(&format!("{}: input {which} [{at}]", case.name), gradient[at], slope);
        }
    }
    // Where few parameters matter, as in a policy of few legal moves, try those that do.
    let alive: Vec<usize> =
        (0..case.parameters.len()).filter(|&i| probed.parameter_gradient[i] != 0.0).collect();
    for i in 0..2 * TRIES {
        let at = match (i % 2, case.parameters.len(), alive.len()) {
            (_, 0, _) => break,
            (0, all, _) | (_, all, 0) => rng.random_range(0..all),
            (_, _, alive_count) => alive[rng.random_range(0..alive_count)],
        };
        let slope = slope(|move_by| {
            let mut parameters = case.parameters.clone();
            parameters[at] += move_by;
            function.value(&case.inputs, &parameters)
        });
        let what = format!("{}: parameter [{at}]", case.name);
        assert_slope(&what, probed.parameter_gradient[at], slope);
    }
}

/// A scalar that has the case's output gradients as its gradient.
struct Function<'a> {
    probing: &'a mut dyn Probing,
    case: &'a Case,
}

impl Function<'_> {
    fn value(&mut self, inputs: &[(Buffer, Vec<f32>)], parameters: &[f32]) -> f64 {
        let inputs: Vec<(Buffer, &[f32])> =
            inputs.iter().map(|(b, data)| (*b, data.as_slice())).collect();
        let probed = self.probing.probe(&self.case.probe(&inputs, &[], parameters)).unwrap();
        if self.case.program.outputs().is_some() {
            return loss(self.case, &probed.activations);
        }
        let outputs = self.case.output_gradients.iter();
        outputs.map(|(b, gradient)| dot(&probed.activations[b.index()], gradient)).sum()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// The reference's loss in f64, from logits and values.
fn loss(case: &Case, activations: &[Vec<f32>]) -> f64 {
    let (logits, values) = case.program.outputs().unwrap();
    let (logits, values) =
        (&activations[logits.buffer.index()], &activations[values.buffer.index()]);
    let batch = &case.batch;
    let position = |n: usize| {
        let total: f64 = batch.entries(n).map(|e| f64::from(logits[e]).exp()).sum();
        let cross: f64 = batch
            .entries(n)
            .map(|e| f64::from(batch.target_policy[e]) * (total.ln() - f64::from(logits[e])))
            .sum();
        cross + 0.25 * (f64::from(values[n]) - f64::from(batch.target_value[n])).powi(2)
    };
    (0..batch.positions()).map(position).sum::<f64>() / batch.positions() as f64
}

/// The derivative at 0, to the fourth order.
fn slope(mut f: impl FnMut(f32) -> f64) -> f64 {
    let near = f(STEP) - f(-STEP);
    let far = f(2.0 * STEP) - f(-2.0 * STEP);
    (8.0 * near - far) / (12.0 * f64::from(STEP))
}

fn assert_slope(what: &str, found: f32, slope: f64) {
    let error = (f64::from(found) - slope).abs();
    assert!(error <= 1e-3 + 2e-3 * slope.abs(), "{what}: gradient {found}, differences {slope}");
}
