//! The tiny networks against PyTorch's answers, by way of `fixtures/golden*.safetensors`.
use kibitzer_core::{
    moves::MOVES,
    net::{Config, tensors},
};
use kibitzer_gpu::{AdamW, Backend, Batch, pairs};
use safetensors::SafeTensors;

use super::{Subject, assert_close};

/// Weight of the value in the reference's losses.
const VALUE_WEIGHT: f32 = 0.25;

/// A golden file.
pub struct Golden {
    /// Its configuration.
    pub config: Config,
    bytes: Vec<u8>,
}

impl Golden {
    /// Reads a file of `fixtures/`.
    pub fn read(name: &str) -> Golden {
        let path = format!("{}/../fixtures/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let config = &metadata.metadata().as_ref().unwrap()["config"];
        Golden { config: serde_json::from_str(config).unwrap(), bytes }
    }

    fn bytes_of(&self, name: &str) -> Vec<u8> {
        SafeTensors::deserialize(&self.bytes).unwrap().tensor(name).unwrap().data().to_vec()
    }

    /// A tensor of f32.
    pub fn floats(&self, name: &str) -> Vec<f32> {
        let bytes = self.bytes_of(name);
        bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word)).collect()
    }

    /// All parameters, flat.
    pub fn parameters(&self) -> Vec<f32> {
        tensors(&self.config).flat_map(|t| self.floats(&format!("param.{t}"))).collect()
    }

    /// The first positions as a batch, with the legal moves as entries.
    pub fn batch(&self, sequences: usize, length: usize) -> Batch {
        let legal = self.bytes_of("input.legal");
        self.batch_of(sequences, length, |i| legal[i] == 1)
    }

    /// The same with every index on the board as entry; the targets are no distribution then.
    pub fn batch_of_all_moves(&self, sequences: usize, length: usize) -> Batch {
        self.batch_of(sequences, length, |i| pairs()[i % MOVES].is_some())
    }

    fn batch_of(&self, sequences: usize, length: usize, take: impl Fn(usize) -> bool) -> Batch {
        let n = sequences * length;
        let tokens = self.bytes_of("input.tokens");
        let targets = self.floats("input.target_policy");
        let mut batch = Batch {
            sequences,
            length,
            tokens: tokens.chunks_exact(4).take(n * 64).map(|word| word[0]).collect(),
            aux: self.floats("input.aux")[..n * 7].to_vec(),
            legal_offsets: vec![0],
            target_value: self.floats("input.target_value")[..n].to_vec(),
            ..Batch::default()
        };
        for position in 0..n {
            for i in (position * MOVES..(position + 1) * MOVES).filter(|&i| take(i)) {
                batch.legal.push((i % MOVES) as u16);
                batch.target_policy.push(targets[i]);
            }
            batch.legal_offsets.push(batch.legal.len() as u32);
        }
        batch
    }
}

/// Positions that hold the entries of a sequence with all moves.
const CAPACITY: usize = 60;

/// Logits, values, loss, gradients and three steps, at the lengths that the reference has.
pub fn check<S: Subject>(name: &str) {
    let golden = Golden::read(name);
    for (sequences, length) in [(12, 1), (2, 5)] {
        let mut network = S::network(&golden.config, &golden.parameters(), CAPACITY);
        check_outputs(&golden, network.as_mut(), sequences, length);
        check_gradient(&golden, network.as_mut(), sequences, length);
        check_steps(&golden, network.as_mut(), sequences, length);
    }
}

fn check_outputs(golden: &Golden, network: &mut dyn Backend, sequences: usize, length: usize) {
    let batch = golden.batch_of_all_moves(sequences, length);
    let outputs = network.evaluate(&batch).unwrap();
    let all = golden.floats(&format!("L{length}.policy_logits"));
    let entries = (0..batch.positions()).flat_map(|n| batch.entries(n).map(move |e| (n, e)));
    let expected: Vec<f32> =
        entries.map(|(n, e)| all[n * MOVES + usize::from(batch.legal[e])]).collect();
    assert!(expected.len() > 1000 && expected.iter().all(|x| x.is_finite()));
    assert_close(&format!("logits at length {length}"), &outputs.logits, &expected, 1e-4, 1e-4);
    let expected = golden.floats(&format!("L{length}.value"));
    assert_close(&format!("values at length {length}"), &outputs.values, &expected, 1e-4, 1e-4);
}

fn check_gradient(golden: &Golden, network: &mut dyn Backend, sequences: usize, length: usize) {
    let batch = golden.batch(sequences, length);
    let (losses, gradient) = network.gradient(&batch, VALUE_WEIGHT).unwrap();
    assert_close("loss", &[losses.total], &golden.floats(&format!("L{length}.loss")), 1e-5, 0.0);
    let parts = losses.policy + VALUE_WEIGHT * losses.value;
    assert_close("parts of the loss", &[parts], &[losses.total], 1e-6, 1e-6);
    let mut squares = 0.0;
    for tensor in tensors(&golden.config) {
        let expected = golden.floats(&format!("L{length}.grad.{tensor}"));
        squares += expected.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>();
        let what = format!("gradient of {tensor} at length {length}");
        assert_close(&what, &gradient[tensor.range()], &expected, 1e-4, 1e-3);
    }
    assert_close("norm", &[losses.gradient_norm], &[squares.sqrt() as f32], 0.0, 1e-3);
}

fn check_steps(golden: &Golden, network: &mut dyn Backend, sequences: usize, length: usize) {
    let batch = golden.batch(sequences, length);
    let hyper = AdamW { learning_rate: 1e-3, beta2: 0.95, weight_decay: 0.01, ..AdamW::default() };
    let mut step = || network.step(&batch, &hyper, VALUE_WEIGHT).unwrap().total;
    let losses = [step(), step(), step()];
    let expected = golden.floats(&format!("L{length}.adamw_losses"));
    assert_close(&format!("losses at length {length}"), &losses, &expected, 1e-5, 0.0);
}
