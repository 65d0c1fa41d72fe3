//! Every kind of vectors against the sums' definition, at every length and alignment.
extern crate std;
use proptest::prelude::*;
use std::{vec, vec::Vec};

use super::super::{
    Columns, Factors, Rows, Tile, Width, dot_sums, factor_halves, pair_sums, row_halves,
    single_sums,
};
use crate::{
    inputs::SQUARES,
    net::{
        infer::{
            Curves, pair_limit,
            scratch::Arena,
            self_test::{LENGTHS, digest},
            softmax::attention_by_definition,
            vectors::Vectors,
        },
        kbz::{Curve, Halves, Layout},
    },
};

/// Whole vectors of every kind, several at once, and what is left over.
const TOKENS: [usize; 9] = [1, 2, 8, 14, 16, 32, 50, 64, 122];
/// Bytes of the widest vector, from a multiple of which weights may lie any number off.
const VECTOR: usize = 64;

/// Memory that begins `offset` bytes from a multiple of a vector's.
struct Memory<T> {
    items: Vec<T>,
    start: usize,
}

impl<T: Clone + Default> Memory<T> {
    fn new(length: usize, offset: usize) -> Memory<T> {
        let items = vec![T::default(); length + 2 * VECTOR];
        let start = items.as_ptr().align_offset(VECTOR) + offset / size_of::<T>();
        Memory { items, start }
    }

    fn get(&mut self) -> &mut [T] {
        &mut self.items[self.start..]
    }
}

/// Numbers from −limit to limit, or their extremes only.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, limit: i32, extreme: bool) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = (self.0 >> 33) as i32;
        match extreme {
            true => [-limit, limit][random as usize % 2],
            false => random % (limit + 1) * [-1, 1][(self.0 >> 32) as usize % 2],
        }
    }
}

fn matrix(
    columns: usize,
    (tokens, width): (usize, Width),
    offset: usize,
    extreme: bool,
    numbers: &mut Numbers,
) {
    let layout = Layout::new(2, columns);
    let mut bytes = Memory::new(layout.bytes(), offset);
    let weights: &mut [i8] = &mut bytes.get()[..layout.bytes()];
    // What stands in absent columns must not matter.
    weights.fill_with(|| numbers.next(128, extreme).clamp(-128, 127) as i8);
    // Of the weights' and the activations' alignments, each is tried with several of the other.
    let mut memory =
        Memory::new(4 * super::super::tile_words(tokens, columns) + 3, offset * 5 % VECTOR);
    let mut arena = Arena::new(memory.get(), 0).unwrap();
    let mut tile = Tile::take(&mut arena, tokens, columns, width);
    let limit = tile.limit();
    let mut draw = || numbers.next(limit, extreme) as i16;
    let x: Vec<Vec<i16>> = (0..tokens).map(|_| (0..columns).map(|_| draw()).collect()).collect();
    for (token, values) in x.iter().enumerate() {
        match token % 2 {
            0 => tile.set_row(token, 0, values),
            _ => values.iter().enumerate().for_each(|(c, &value)| tile.set(token, c, value)),
        }
    }
    tile.set_column(columns / 2, x.iter().map(|values| values[columns / 2]));
    let mut sums = Memory::new(2 * tokens, offset * 3 % VECTOR);
    let sums = &mut sums.get()[..2 * tokens];
    sums.fill(1);
    match tokens {
        1 => single_sums(weights, &tile, sums),
        _ => pair_sums(weights, &tile, sums),
    }
    for (i, &sum) in sums.iter().enumerate() {
        let (row, token) = (i / tokens, i % tokens);
        let product = |c: usize| i64::from(weights[layout.index(row, c)]) * i64::from(x[token][c]);
        assert_eq!(
            i64::from(sum),
            (0..columns).map(product).sum::<i64>(),
            "{columns} {tokens} {offset}"
        );
    }
}

fn rows(length: usize, count: usize, offset: usize, extreme: bool, numbers: &mut Numbers) {
    let limit = pair_limit(length);
    let mut draw =
        |n: usize| -> Vec<i16> { (0..n).map(|_| numbers.next(limit, extreme) as i16).collect() };
    let vectors = [draw(length), draw(length)];
    let matrix: Vec<Vec<i16>> = (0..count).map(|_| draw(length)).collect();
    let halves = row_halves(count, length) + factor_halves(2, length);
    let mut memory = Memory::new(2 * halves + 7, offset);
    memory.get().fill(0xff);
    let mut arena = Arena::new(memory.get(), 0).unwrap();
    let mut factors = Factors::take(&mut arena, 2, length);
    let mut rows = Rows::take(&mut arena, count, length);
    for (number, values) in vectors.iter().enumerate() {
        factors.set_row(number, values.iter().copied());
    }
    for (row, values) in matrix.iter().enumerate() {
        rows.set_row(row, values.iter().copied());
    }
    rows.set_column(length / 2, matrix.iter().map(|values| values[length / 2]));
    let mut sums = vec![1; dot_sums(count)];
    rows.dots(&factors, 0, &mut sums[..2 * rows.stride()]);
    for (sums, vector) in sums.chunks(rows.stride()).zip(&vectors) {
        for (&sum, values) in sums.iter().zip(&matrix) {
            let products = values.iter().zip(vector).map(|(&a, &b)| i64::from(a) * i64::from(b));
            assert_eq!(i64::from(sum), products.sum::<i64>(), "{length} {count}");
        }
    }
}

/// Interpolation at any argument is the one in plain Rust.
fn curve() {
    let mut numbers = Numbers(5);
    let table: Vec<[u8; 2]> =
        (0..513).map(|_| (numbers.next(i16::MAX.into(), false) as i16).to_le_bytes()).collect();
    let curves = Curves::new(Curve::ALL.map(|_| Halves::of(table.as_flattened())));
    let edges = [0, 1, 65_407, 65_408, 65_535, 65_536, 65_537, 1 << 19];
    let xs: Vec<i32> =
        edges.into_iter().flat_map(|x| [x, -x]).chain((-70_000..70_000).step_by(37)).collect();
    let mut ys = vec![0; xs.len()];
    curves.silu_each(&xs, 11, &mut ys);
    assert!(xs.iter().zip(&ys).all(|(&x, &y)| y == curves.silu(x) << 11));
}

/// A tile may be multiplied by other vectors than it was made for: another thread limits them.
fn change(made: Vectors, used: Vectors) {
    const COLUMNS: usize = 9;
    let weights = vec![3; Layout::new(2, COLUMNS).bytes()];
    let mut memory = vec![0; super::super::tile_words(2, COLUMNS)];
    made.limit();
    let mut tile = Tile::take(&mut Arena::new(&mut memory, 0).unwrap(), 2, COLUMNS, Width::Narrow);
    for token in 0..2 {
        tile.set_row(token, 0, &[-5; COLUMNS]);
    }
    used.limit();
    let mut sums = [1; 4];
    pair_sums(&weights, &tile, &mut sums);
    assert_eq!(sums, [-15 * COLUMNS as i32; 4], "{made:?} {used:?}");
}

/// Without columns, all sums are 0.
fn no_columns() {
    let tile = Tile::take(&mut Arena::new(&mut [], 0).unwrap(), 2, 0, Width::Wide);
    let mut sums = [1; 8];
    pair_sums(&[], &tile, &mut sums);
    assert_eq!(sums, [0; 8]);
}

proptest! {
    #[test]
    fn attention_by_256_bits_is_the_same(
        scores in prop::collection::vec(any::<i32>(), SQUARES),
        wide in 0..32u32,
    ) {
        let scores: [i32; SQUARES] = scores.try_into().unwrap();
        let scores = scores.map(|score| score >> wide);
        let [mut expected, mut found] = [[0; SQUARES]; 2];
        attention_by_definition(&mut scores.clone(), &mut expected);
        if Vectors::best() >= Vectors::Avx2 {
            // SAFETY: the processor has these vectors.
            unsafe { super::avx2::attention(&scores, &mut found) };
            prop_assert_eq!(found, expected);
        }
    }
}

// One test, because all of the process uses the vectors that it chooses.
#[test]
fn all_vectors_give_the_sums_by_definition() {
    let mut expected = None;
    for vectors in Vectors::ALL {
        vectors.limit();
        no_columns();
        let mut numbers = Numbers(1);
        // More columns than are widened at a time.
        matrix(2051, (50, Width::Wide), 0, true, &mut numbers);
        for length in 1..=257 {
            for (i, tokens) in TOKENS.into_iter().enumerate() {
                let (offset, extreme) = ((length + i) % 4, i % 3 == length % 3);
                let widths = match tokens {
                    1 => &[Width::Single][..],
                    _ => &[Width::Narrow, Width::Wide],
                };
                for &width in widths {
                    matrix(length, (tokens, width), offset, extreme, &mut numbers);
                }
                rows(length, tokens, 0, extreme, &mut numbers);
            }
        }
        for (length, offset) in (1..=257).flat_map(|n| (0..VECTOR).map(move |offset| (n, offset))) {
            let (tokens, extreme) = (TOKENS[1..][(length + offset) % 8], offset % 3 == length % 3);
            matrix(length, (1, Width::Single), offset, extreme, &mut numbers);
            matrix(length, (tokens, Width::Wide), offset, extreme, &mut numbers);
            rows(length, tokens, offset, extreme, &mut numbers);
        }
        curve();
        let digests: Vec<u64> = LENGTHS.map(|length| digest(length).unwrap()).collect();
        assert_eq!(*expected.get_or_insert(digests.clone()), digests, "{vectors:?}");
    }
    for made in Vectors::ALL {
        Vectors::ALL.into_iter().for_each(|used| change(made, used));
    }
    Vectors::best().limit();
}
