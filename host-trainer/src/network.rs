//! A network that answers: whatever the file, one way to ask.
use std::path::Path;

use anyhow::Result;
use kibitzer_core::{
    board,
    net::Config,
    shakmaty::{Chess, Move, Position as _},
};
use kibitzer_gpu::{Backend, Batch, Outputs};
use serde::{Serialize, Serializer};

use crate::{
    batches,
    device::Device,
    model::{Choice, Model},
    quantize::Integer,
};

/// Answers batches, in floating point or in integers.
pub trait Evaluate {
    /// Logits of the legal entries and values of the positions.
    ///
    /// # Errors
    /// If the batch is malformed or the device fails.
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs>;
}

impl Evaluate for Box<dyn Backend> {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
        Ok(self.as_mut().evaluate(batch)?)
    }
}

/// An evaluator with its configuration.
pub struct Network {
    /// The architecture.
    pub config: Config,
    /// What answers.
    pub evaluator: Box<dyn Evaluate>,
}

/// What a network says of one position.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The expected result from the mover's side, from −1 to 1.
    pub value: f64,
    /// Every legal move, the most probable first; equal ones by their names.
    pub moves: Vec<Likely>,
}

/// A move and how likely it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Likely {
    /// The move.
    #[serde(rename = "move", serialize_with = "as_uci")]
    pub mv: Move,
    /// Its probability among the legal moves.
    pub probability: f64,
}

impl Network {
    /// Opens `path`, a model file of integers or what [`Model::load`] reads; floats run on
    /// `device`, for batches of up to `positions` positions.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if the file is no network or the device is missing.
    pub fn open(path: &Path, device: Device, positions: usize) -> Result<Network> {
        Network::choose(path, Choice::default(), device, positions)
    }

    /// As [`Network::open`], with a choice among the weights of a run or a checkpoint.
    ///
    /// # Errors
    /// [`crate::error::UserError`] if what is asked for is not there, or the device is missing.
    pub fn choose(
        path: &Path,
        choice: Choice,
        device: Device,
        positions: usize,
    ) -> Result<Network> {
        let integer = if choice.is_special() { None } else { Integer::open(path)? };
        if let Some(integer) = integer {
            return Ok(Network { config: integer.config().clone(), evaluator: Box::new(integer) });
        }
        let model = Model::choose(path, choice)?;
        let backend = device.evaluator(&model, positions)?;
        Ok(Network { config: model.config, evaluator: Box::new(backend) })
    }

    /// What the network says of `position`; without a legal move it says the value alone.
    ///
    /// # Errors
    /// If the device fails.
    pub fn answer(&mut self, position: &Chess) -> Result<Answer> {
        let mut batch = batches::with_capacity(1);
        batches::push(&mut batch, position, self.config.perspective);
        let outputs = self.evaluator.evaluate(&batch)?;
        let moves = position.legal_moves();
        let mut moves: Vec<Likely> = moves
            .into_iter()
            .zip(softmax(&outputs.logits))
            .map(|(mv, probability)| Likely { mv, probability })
            .collect();
        moves.sort_by(|a, b| {
            b.probability.total_cmp(&a.probability).then_with(|| uci(a.mv).cmp(&uci(b.mv)))
        });
        Ok(Answer { value: outputs.values[0].into(), moves })
    }
}

/// The move as UCI spells it.
pub fn uci(mv: Move) -> String {
    board::uci(mv).to_string()
}

fn as_uci<S: Serializer>(mv: &Move, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&uci(*mv))
}

fn softmax(logits: &[f32]) -> impl Iterator<Item = f64> + '_ {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weight = move |x: f32| f64::from(x - highest).exp();
    let sum: f64 = logits.iter().map(|&x| weight(x)).sum();
    logits.iter().map(move |&x| weight(x) / sum)
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{moves::MOVES, position::parse_fen};

    use super::*;

    /// Says of each move index a logit of its own, and the value ½.
    struct Indices;

    impl Evaluate for Indices {
        fn evaluate(&mut self, batch: &Batch) -> Result<Outputs> {
            let logits = batch.legal.iter().map(|&i| f32::from(i) / MOVES as f32).collect();
            Ok(Outputs { logits, values: vec![0.5; batch.positions()] })
        }
    }

    #[test]
    fn an_answer_has_every_move_best_first() {
        let config = Config::default();
        let mut network = Network { config, evaluator: Box::new(Indices) };
        let position = parse_fen("4k2r/8/8/8/8/8/8/4K3 b k - 0 1").unwrap();
        let answer = network.answer(&position).unwrap();
        assert_eq!(answer.value, 0.5);
        assert_eq!(answer.moves.len(), position.legal_moves().len());
        assert!(answer.moves.is_sorted_by(|a, b| a.probability >= b.probability));
        let sum: f64 = answer.moves.iter().map(|m| m.probability).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let json = serde_json::to_string(&answer).unwrap();
        assert!(json.contains(r#"{"move":"e8g8","probability":0."#), "{json}");
    }

    #[test]
    fn a_finished_game_has_a_value_and_no_move() {
        let config = Config::default();
        let mut network = Network { config, evaluator: Box::new(Indices) };
        let mate = parse_fen("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1").unwrap();
        assert!(network.answer(&mate).unwrap().moves.is_empty());
    }
}
