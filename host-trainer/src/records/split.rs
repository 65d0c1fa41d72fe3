//! Which groups are held out, and the order in which the others are learned.
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::SliceRandom as _};

/// Share of the games or openings that is held out where nothing else is said.
pub const DEFAULT_SHARE: f64 = 0.05;

/// Whether the group (a game, an opening) with this hash is held out of training when `share`
/// (0 to 1) of all groups is. A group's side depends on its hash alone: it is the same in every
/// file and every order.
pub fn is_held_out(hash: u64, share: f64) -> bool {
    // The hash is remixed, so that the split is independent of any other use of it.
    let mixed = (hash ^ hash >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 11) as f64 / (1u64 << 53) as f64 <= share && share > 0.0
}

/// The seeded order of training: one shuffle an epoch, without end.
///
/// The place in it is the number of records taken so far, so that a run resumes exactly.
#[derive(Debug, Clone)]
pub struct Order {
    numbers: Vec<u32>,
    shuffled: Vec<u32>,
    seed: u64,
    epoch: Option<u64>,
}

impl Order {
    /// An order of `numbers`, which must not be empty.
    pub fn new(numbers: Vec<u32>, seed: u64) -> Order {
        debug_assert!(!numbers.is_empty(), "an order of nothing");
        Order { shuffled: numbers.clone(), numbers, seed, epoch: None }
    }

    /// The record at `place` (0 is the first ever taken).
    pub fn at(&mut self, place: u64) -> u32 {
        let length = self.numbers.len() as u64;
        self.shuffle(place / length);
        self.shuffled[(place % length) as usize]
    }

    fn shuffle(&mut self, epoch: u64) {
        if self.epoch == Some(epoch) {
            return;
        }
        self.shuffled.copy_from_slice(&self.numbers);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(epoch);
        self.shuffled.shuffle(&mut random);
        self.epoch = Some(epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_kept_and_nothing_is_held_out_at_zero() {
        let hashes = (0..20_000u64).map(|i| i.wrapping_mul(0x0123_4567_89ab_cdef));
        let held = hashes.clone().filter(|&h| is_held_out(h, 0.1)).count();
        assert!((1_800..2_200).contains(&held), "{held}");
        assert!(!hashes.clone().any(|h| is_held_out(h, 0.0)));
        assert!(hashes.clone().all(|h| is_held_out(h, 1.0)));
    }

    #[test]
    fn every_epoch_takes_each_record_once_in_an_order_of_its_own() {
        let mut order = Order::new((0..50).collect(), 3);
        let epoch = |order: &mut Order, e: u64| -> Vec<u32> {
            (e * 50..(e + 1) * 50).map(|place| order.at(place)).collect()
        };
        let (first, second) = (epoch(&mut order, 0), epoch(&mut order, 1));
        assert_ne!(first, second);
        let mut sorted = second.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        assert_eq!(epoch(&mut order, 0), first, "going back gives the same order");
        assert_ne!(epoch(&mut Order::new((0..50).collect(), 4), 0), first);
    }
}
