//! The least loss that any network can have on a batch.
use std::collections::BTreeMap;

use kibitzer_gpu::{Batch, Losses};

/// The least losses on a batch, because some positions occur with different targets.
///
/// Positions that the network cannot tell apart get one answer: the best one is the mean of
/// their targets, which leaves the mean's entropy and the values' variance. For a target that is
/// itself spread over moves, its entropy is the least cross-entropy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Least cross-entropy of the policy, nats.
    pub policy: f64,
    /// Least squared error of the value.
    pub value: f64,
}

impl Floor {
    /// The floor of a batch of single positions with targets.
    pub fn of(batch: &Batch) -> Floor {
        let n = batch.positions();
        let width = |len: usize| len / n;
        let (squares, scalars) = (width(batch.tokens.len()), width(batch.aux.len()));
        let mut groups: BTreeMap<(&[u8], Vec<u32>), Vec<usize>> = BTreeMap::new();
        for i in 0..n {
            let scalars = &batch.aux[i * scalars..][..scalars];
            let scalars = scalars.iter().map(|x| x.to_bits()).collect();
            groups.entry((&batch.tokens[i * squares..][..squares], scalars)).or_default().push(i);
        }
        let mut floor = Floor { policy: 0.0, value: 0.0 };
        for group in groups.values() {
            let share = group.len() as f64 / n as f64;
            floor.policy += share * entropy(batch, group);
            floor.value += share * variance(batch, group);
        }
        floor
    }

    /// How far the losses of policy and value lie above it.
    pub fn excess(&self, losses: &Losses) -> (f64, f64) {
        (f64::from(losses.policy) - self.policy, f64::from(losses.value) - self.value)
    }
}

/// Entropy of the mean of the targets of equal positions.
fn entropy(batch: &Batch, group: &[usize]) -> f64 {
    let mut mean: BTreeMap<u16, f64> = BTreeMap::new();
    for &i in group {
        let entries = batch.entries(i);
        let targets = batch.legal[entries.clone()].iter().zip(&batch.target_policy[entries]);
        for (&mv, &target) in targets {
            *mean.entry(mv).or_default() += f64::from(target) / group.len() as f64;
        }
    }
    mean.values().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum()
}

fn variance(batch: &Batch, group: &[usize]) -> f64 {
    let values = group.iter().map(|&i| f64::from(batch.target_value[i]));
    let mean = values.clone().sum::<f64>() / group.len() as f64;
    values.map(|x| (x - mean).powi(2)).sum::<f64>() / group.len() as f64
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{
        inputs::Perspective,
        shakmaty::{Chess, Position as _},
    };

    use super::*;
    use crate::{batches, records::Record};

    #[test]
    fn equal_positions_with_other_targets_raise_it() {
        let position = Chess::default();
        let moves = position.legal_moves();
        let mut batch = batches::with_capacity(4);
        for (mv, result) in [(moves[0], 1), (moves[0], 1), (moves[1], -1), (moves[1], -1)] {
            let record = Record::new(&position, mv, 0).with_result(result);
            batches::push_record(&mut batch, &record, Perspective::Mover).unwrap();
        }
        let floor = Floor::of(&batch);
        assert!((floor.policy - 2f64.ln()).abs() < 1e-12, "{floor:?}");
        assert_eq!(floor.value, 1.0);
        let alone = Floor::of(&batches::part(&batch, 0..2));
        assert_eq!((alone.policy, alone.value), (0.0, 0.0));
        let losses = Losses { policy: 1.0, value: 1.5, ..Losses::default() };
        let (policy, value) = floor.excess(&losses);
        assert!((policy - (1.0 - 2f64.ln())).abs() < 1e-6 && value == 0.5);
    }
}
