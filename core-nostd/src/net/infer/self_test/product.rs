//! A matrix product to be measured.
use super::{
    super::{
        kernel::{Tile, WORD_TOKENS, Width, tile_words},
        linear::{Linear, Sums},
        scratch::Arena,
        weights::{Buffer, Weights},
    },
    Random,
};
use crate::{
    fnv,
    net::kbz::{Bytes, Layout, Matrix, ModelError, Part, Scale, WeightBits, Words},
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

/// The products that are measured, by tokens and width: as the encoder's attention has them, its
/// feed-forward layers where memory is short, and the layers for a single position.
pub const PRODUCTS: [(usize, Width); 4] = [
    (MOST_TOKENS, Width::Narrow),
    (MOST_TOKENS, Width::Wide),
    (WORD_TOKENS, Width::Wide),
    (1, Width::Single),
];
/// Most tokens of a measured product.
pub const MOST_TOKENS: usize = 64;

/// What would be wrong with a product, if anything were.
const WRONG: ModelError = ModelError::Shift(Part::Scales(Matrix::Query));

/// A product `[tokens, WIDTH] · [WIDTH, WIDTH]`: activations within ±127, outputs rescaled to
/// bytes.
#[derive(Debug)]
pub struct Product<'a> {
    linear: Linear<'a>,
    tile: Tile<'a>,
    sums: &'a mut [i32],
    buffer: Buffer<'a>,
}

impl<'a> Product<'a> {
    /// Words of memory for a product of `tokens`.
    pub const fn words(tokens: usize) -> usize {
        tile_words(tokens, WIDTH) + 2 * tokens
    }

    /// A product of a matrix in flash with activations that are made up; `tokens` are one, or an
    /// even number, and of the width that goes with them.
    ///
    /// # Errors
    /// If `memory` has less than [`Product::words`].
    pub fn new(
        tokens: usize,
        width: Width,
        memory: &'a mut [u32],
    ) -> Result<Product<'a>, ModelError> {
        let weights = Bytes::Here(bytemuck::cast_slice(&WEIGHTS.0));
        let weights = Weights::new(weights, WIDTH, WeightBits::Eight);
        let linear = Linear::new(weights, Scale::new(Words::new(&SCALES)).ok_or(WRONG)?);
        let needed = 4 * Product::words(tokens);
        let mut arena = Arena::new(bytemuck::cast_slice_mut(memory), needed)?;
        let mut tile = Tile::take(&mut arena, tokens, WIDTH, width);
        let mut random = Random(1);
        for token in 0..tokens {
            for column in 0..WIDTH {
                tile.set(token, column, random.within(127));
            }
        }
        let sums = arena.take(2 * tokens);
        let buffer = Linear::buffer(&mut arena, &[&linear]);
        arena.outcome().ok_or(WRONG)?;
        Ok(Product { linear, tile, sums, buffer })
    }

    /// Fills `outputs`, `[tokens, WIDTH]`.
    ///
    /// # Errors
    /// None: the weights lie in memory.
    pub fn run(&mut self, outputs: &mut [i8]) -> Result<(), ModelError> {
        self.fill(outputs).ok_or(WRONG)
    }

    fn fill(&mut self, outputs: &mut [i8]) -> Option<()> {
        let Product { linear, tile, sums, buffer } = self;
        if tile.tokens() == 1 {
            // As the trunk's layers have it.
            return linear.each_single(0..WIDTH, tile, buffer, 127, &mut |row: usize, y: i32| {
                if let Some(output) = outputs.get_mut(row) {
                    *output = y as i8;
                }
            });
        }
        linear.each(0..WIDTH, tile, sums, buffer, &mut |row: usize, sums: &mut Sums<'_>| {
            for (outputs, &y) in outputs.chunks_exact_mut(WIDTH).zip(sums.within(127)) {
                outputs[row] = y as i8;
            }
        })
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
        let kinds = [(1, Width::Single), (4, Width::Narrow), (4, Width::Wide)];
        let outputs = kinds.map(|(tokens, width)| {
            let mut memory = vec![0; Product::words(tokens)];
            let mut outputs = vec![0; tokens * WIDTH];
            Product::new(tokens, width, &mut memory).unwrap().run(&mut outputs).unwrap();
            outputs
        });
        assert_eq!(outputs[0], outputs[1][..WIDTH]);
        assert_eq!(outputs[1], outputs[2]);
        assert!(outputs[1].iter().filter(|y| y.unsigned_abs() < 127).count() > 3 * WIDTH);
        assert!(outputs[1].iter().filter(|y| y.unsigned_abs() > 20).count() > 2 * WIDTH);
    }
}
