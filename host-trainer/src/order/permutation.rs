//! A seeded permutation of 0 … n−1 that is computed, not stored.
use rand::{Rng as _, SeedableRng as _, rngs::ChaCha8Rng};

/// Rounds of the network; four already pass the tests below.
const ROUNDS: usize = 8;

/// A permutation of `0..len` in memory of its own size, whatever the length.
///
/// A Feistel network on numbers of two digits, `left · right_base + right`: each round adds to
/// one digit a keyed hash of the other, which can be undone, so the whole is one to one. The
/// bases' product may be a little above the length; numbers beyond it are walked on from until
/// one falls inside, which is one to one again (Black and Rogaway, Ciphers with Arbitrary Finite
/// Domains).
#[derive(Debug, Clone)]
pub struct Permutation {
    len: u64,
    left_base: u64,
    right_base: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation number `stream` of a seed; `len` is from 1 to 2³².
    pub fn new(len: u64, seed: u64, stream: u64) -> Permutation {
        debug_assert!((1..=1 << 32).contains(&len), "{len} is no length");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let left_base = len.isqrt().max(1);
        let right_base = len.div_ceil(left_base);
        Permutation { len, left_base, right_base, keys: std::array::from_fn(|_| random.next_u64()) }
    }

    /// Where `index`, below the length, goes.
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.len, "{index} of {}", self.len);
        let mut image = self.shuffled(index);
        while image >= self.len {
            image = self.shuffled(image);
        }
        image
    }

    fn shuffled(&self, number: u64) -> u64 {
        let (mut left, mut right) = (number / self.right_base, number % self.right_base);
        for keys in self.keys.as_chunks::<2>().0 {
            left = added(left, hash(right, keys[0]), self.left_base);
            right = added(right, hash(left, keys[1]), self.right_base);
        }
        left * self.right_base + right
    }
}

/// `digit` and a number below `base` drawn from `hash`, modulo `base`.
fn added(digit: u64, hash: u64, base: u64) -> u64 {
    // The hash's upper half, as a fraction of the base.
    let sum = digit + (((hash >> 32) * base) >> 32);
    if sum >= base { sum - base } else { sum }
}

/// Mixes a digit and a key: two rounds of multiply and shift, as in splitmix64.
fn hash(digit: u64, key: u64) -> u64 {
    let mixed = (digit ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27 ^ key.rotate_left(32)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_permuted_whole() {
        for len in (1..200).chain([1000, 4096, 10_007, 65_537]) {
            let permutation = Permutation::new(len, 7, 3);
            let mut seen = vec![false; len as usize];
            for image in (0..len).map(|i| permutation.at(i)) {
                assert!(!std::mem::replace(&mut seen[image as usize], true), "{image} of {len}");
            }
        }
    }

    #[test]
    fn seed_and_stream_decide() {
        let all = |seed, stream| {
            let permutation = Permutation::new(1000, seed, stream);
            (0..1000).map(|i| permutation.at(i)).collect::<Vec<_>>()
        };
        assert_eq!(all(1, 0), all(1, 0));
        assert_ne!(all(1, 0), all(2, 0));
        assert_ne!(all(1, 0), all(1, 1));
    }

    /// Over many streams, each index goes to each tenth of the range equally often, and
    /// neighbours go apart: χ² with 9 degrees of freedom stays below its 1 in 100,000 quantile.
    #[test]
    fn images_and_distances_are_uniform() {
        const LEN: u64 = 1000;
        const STREAMS: u64 = 2000;
        let chi = |counts: [u64; 10]| {
            let expected = STREAMS as f64 / 10.0;
            counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum::<f64>()
        };
        for index in [0, 1, 31, 500, 998] {
            let (mut images, mut distances) = ([0; 10], [0; 10]);
            for stream in 0..STREAMS {
                let permutation = Permutation::new(LEN, 11, stream);
                let (a, b) = (permutation.at(index), permutation.at(index + 1));
                images[(a * 10 / LEN) as usize] += 1;
                distances[((a + LEN - b) % LEN * 10 / LEN) as usize] += 1;
            }
            assert!(chi(images) < 40.0, "images of {index}: {images:?}");
            assert!(chi(distances) < 40.0, "distances after {index}: {distances:?}");
        }
    }

    /// The largest length needs no more than a step or two: nothing is stored.
    #[test]
    fn the_largest_length_works() {
        let permutation = Permutation::new(1 << 32, 1, 0);
        let images: std::collections::HashSet<u64> = (0..1000).map(|i| permutation.at(i)).collect();
        assert_eq!(images.len(), 1000);
        assert!(images.iter().any(|&i| i > 1 << 31));
    }
}
