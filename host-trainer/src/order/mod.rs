//! The order in which examples are learned: seeded, resumable, and computed instead of stored.
//!
//! Every epoch takes each training example once, whatever their number, in memory that does not
//! grow with it: [`Spans`] finds the example at a place among those for training, and
//! [`Permutation`] shuffles the places. [`Balanced`] takes some kinds of examples more often.
mod balanced;
mod permutation;
mod spans;

use std::sync::Arc;

pub use balanced::{Balanced, Schedule};
pub use permutation::Permutation;
pub use spans::{Spans, evenly_spaced};

/// The seeded order of training: one shuffle an epoch, without end.
///
/// The place in it is the number of examples taken so far, so that a run resumes exactly.
#[derive(Debug, Clone)]
pub struct Order {
    numbers: Arc<Spans>,
    seed: u64,
    epoch: u64,
    shuffle: Permutation,
}

impl Order {
    /// An order of `numbers`, which must not be empty.
    pub fn new(numbers: Spans, seed: u64) -> Order {
        debug_assert!(!numbers.is_empty(), "an order of nothing");
        let shuffle = Permutation::new(numbers.len().into(), seed, 0);
        Order { numbers: Arc::new(numbers), seed, epoch: 0, shuffle }
    }

    /// The example at `place` (0 is the first ever taken).
    pub fn at(&mut self, place: u64) -> u32 {
        let length = u64::from(self.numbers.len());
        let epoch = place / length;
        if epoch != self.epoch {
            self.shuffle = Permutation::new(length, self.seed, epoch);
            self.epoch = epoch;
        }
        // An index below the length, which is a u32.
        self.numbers.at(self.shuffle.at(place % length) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_takes_each_example_once_in_an_order_of_its_own() {
        let numbers = || (0..30).chain(40..60).collect::<Spans>();
        let mut order = Order::new(numbers(), 3);
        let epoch = |order: &mut Order, e: u64| -> Vec<u32> {
            (e * 50..(e + 1) * 50).map(|place| order.at(place)).collect()
        };
        let (first, second) = (epoch(&mut order, 0), epoch(&mut order, 1));
        assert_ne!(first, second);
        let mut sorted = second.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..30).chain(40..60).collect::<Vec<_>>());
        assert_eq!(epoch(&mut order, 0), first, "going back gives the same order");
        assert_ne!(epoch(&mut Order::new(numbers(), 4), 0), first);
    }
}
