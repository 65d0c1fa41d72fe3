//! A matrix product to be measured.
use super::{
    super::{
        Linear,
        kernel::{Tile, tile_words},
        scratch::Arena,
    },
    Random,
};
use crate::{
    fnv,
    net::kbz::{Layout, Matrix, ModelError, Part, Scale, Words},
};

/// Rows and columns of the measured matrix: the full network's width.
pub const WIDTH: usize = 320;
/// From sums to bytes: a multiplier of 2^30, as the trainer makes them, shifted so that few of the
/// outputs saturate.
const MULTIPLIER: i32 = 1 << 30;
const SHIFT: i32 = 41;

/// An array at the alignment that a model file's sections have.
#[repr(align(16))]
struct Aligned<T>(T);

static WEIGHTS: Aligned<[i8; Layout::new(WIDTH, WIDTH).bytes()]> = Aligned(weights());
static SCALES: [[u8; 4]; 1 + WIDTH] = scales();

const fn weights<const N: usize>() -> [i8; N] {
    let mut weights = [0; N];
    let (mut i, mut random) = (0, 1u32);
    while i < N {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        weights[i] = (random >> 24) as i8;
        i += 1;
    }
    weights
}

const fn scales() -> [[u8; 4]; 1 + WIDTH] {
    let mut scales = [MULTIPLIER.to_le_bytes(); 1 + WIDTH];
    scales[0] = SHIFT.to_le_bytes();
    scales
}

/// A product `[tokens, WIDTH] · [WIDTH, WIDTH]` as the encoder's layers have it: activations
/// within ±127, outputs rescaled to bytes.
#[derive(Debug)]
pub struct Product<'a> {
    linear: Linear<'a>,
    tile: Tile<'a>,
    sums: &'a mut [i32],
}

impl<'a> Product<'a> {
    /// Words of memory for a product of `tokens`.
    pub const fn words(tokens: usize) -> usize {
        tile_words(tokens, WIDTH) + 2 * tokens
    }

    /// A product of a matrix in flash with activations that are made up; `tokens` are one, or an
    /// even number.
    ///
    /// # Errors
    /// If `memory` has less than [`Product::words`].
    pub fn new(tokens: usize, memory: &'a mut [u32]) -> Result<Product<'a>, ModelError> {
        let wrong = ModelError::Shift(Part::Scales(Matrix::Query));
        let linear = Linear::new(&WEIGHTS.0, Scale::new(Words::new(&SCALES)).ok_or(wrong)?);
        let needed = 4 * Product::words(tokens);
        let mut arena = Arena::new(bytemuck::cast_slice_mut(memory), needed)?;
        let mut tile = Tile::take(&mut arena, tokens, WIDTH)?;
        let mut random = Random(1);
        for token in 0..tokens {
            for column in 0..WIDTH {
                tile.set(token, column, random.within(127));
            }
        }
        Ok(Product { linear, tile, sums: arena.take(2 * tokens)? })
    }

    /// Fills `outputs`, `[tokens, WIDTH]`.
    pub fn run(&mut self, outputs: &mut [i8]) {
        self.linear.each(0..WIDTH, &self.tile, self.sums, 127, |row, ys| {
            for (outputs, &y) in outputs.chunks_exact_mut(WIDTH).zip(ys) {
                outputs[row] = y as i8;
            }
        });
    }
}

/// A digest of a product's outputs.
pub fn digest_of(outputs: &[i8]) -> u64 {
    fnv::bytes(fnv::START, outputs.iter().map(|y| y.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;

    #[test]
    fn a_token_among_several_is_answered_as_alone() {
        let mut outputs = [vec![0; WIDTH], vec![0; 4 * WIDTH]];
        for (tokens, outputs) in [1, 4].into_iter().zip(&mut outputs) {
            let mut memory = vec![0; Product::words(tokens)];
            Product::new(tokens, &mut memory).unwrap().run(outputs);
        }
        assert_eq!(outputs[0], outputs[1][..WIDTH]);
        assert!(outputs[1].iter().filter(|y| y.unsigned_abs() < 127).count() > 3 * WIDTH);
        assert!(outputs[1].iter().filter(|y| y.unsigned_abs() > 20).count() > 2 * WIDTH);
    }
}
