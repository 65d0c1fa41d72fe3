//! What is done between the products: every step on numbers of any size, and by any shift.
use super::{Aligned, LONGEST, Pattern, Random, SEVERAL, WEIGHT_OFFSETS, all_sums, rows};
use crate::{
    fnv,
    inputs::SQUARES,
    net::{
        infer::{
            adder::Adder,
            arithmetic::Shift,
            attention::{Bias, attend, rescale_context},
            curves::{ACTIVATION_LIMIT, CURVE_POINTS, Curves},
            feed_forward::gate,
            kernel::{Factors, Rows, Tile, Width, dot_sums, factor_halves, row_halves, tile_words},
            linear::Sums,
            norm::Norm,
            scratch::Arena,
        },
        kbz::{Curve, Halves, Layout, ModelError, NormScale},
    },
};

/// Halfwords of the longest rows.
const ROWS: usize = row_halves(SEVERAL, LONGEST) + factor_halves(2, LONGEST);
/// Halfwords of one query's probabilities.
const PROBABILITIES: usize = factor_halves(2, SQUARES) + row_halves(1, SQUARES);
const STREAM: usize = SEVERAL * LONGEST;

impl Random {
    fn word(&mut self) -> i32 {
        self.next().cast_signed()
    }

    /// Any scale; of a multiplier of 30 bits and more one time in two.
    fn scale(&mut self) -> (i32, Shift) {
        let multiplier = self.word() | if self.next() > u32::MAX / 2 { 1 << 30 } else { 0 };
        (multiplier, Shift::saturating((self.next() % 62) as i32 + 1))
    }

    /// A sum with `room` bits above it, at an extreme one time in four.
    fn sum(&mut self, room: u32) -> i32 {
        match self.next() % 8 {
            0 => i32::MAX >> room,
            1 => -(i32::MAX >> room),
            _ => self.word() >> room,
        }
    }

    /// So many sums, and what is to be done to them.
    fn sums<'s>(&mut self, sums: &'s mut [i32]) -> Sums<'s> {
        let room = self.next() % 18;
        sums.fill_with(|| self.sum(room));
        let bias = if self.next().is_multiple_of(4) { self.word() } else { 0 };
        Sums::new(sums, room, self.scale()).with_bias(bias)
    }

    fn limit(&mut self) -> i32 {
        (self.next() % 0x7fff) as i32 + 1
    }

    fn half(&mut self) -> i16 {
        self.next() as i16
    }
}

fn words(digest: u64, words: impl IntoIterator<Item = i32>) -> u64 {
    words.into_iter().fold(digest, |digest, word| fnv::step(digest, word.cast_unsigned().into()))
}

/// A digest of every step, for several tokens of `columns` columns. What a model file holds lies as
/// many bytes from a word as the pattern has a number: all patterns together try every alignment.
pub fn digest(
    columns: usize,
    pattern: Pattern,
    random: &mut Random,
    digest: u64,
) -> Result<u64, ModelError> {
    let mut sums = [0; LONGEST];
    let sums = &mut sums[..columns];
    let digest = words(digest, random.sums(sums).within(random.limit()).iter().copied());
    let offset = pattern as usize % WEIGHT_OFFSETS;
    let digest = stored(columns, sums, random, digest)?;
    let digest = each_stored(columns, offset, random, digest)?;
    let digest = added(columns, sums, random, digest);
    let digest = gated(columns, offset, random, digest)?;
    let digest = normalized(columns, pattern, random, digest)?;
    attended(offset, random, digest)
}

/// Outputs in columns and rows, read by two vectors' products with them.
fn stored(
    columns: usize,
    sums: &mut [i32],
    random: &mut Random,
    digest: u64,
) -> Result<u64, ModelError> {
    let mut memory = Aligned([0; 2 * ROWS]);
    let mut arena = Arena::new(&mut memory.0, 0)?;
    let mut factors = Factors::take(&mut arena, 2, columns);
    let mut rows = Rows::take(&mut arena, SEVERAL, columns);
    (0..2).for_each(|row| factors.set_row(row, (0..columns).map(|_| random.half() >> 8)));
    for row in 0..SEVERAL {
        rows.set_row(row, core::iter::repeat_n(0, columns));
        random.sums(&mut sums[..columns / 4 * 4]).fill_row(&mut rows, row);
    }
    for column in (0..columns).step_by(1 + columns / 3) {
        let limit = random.limit();
        random.sums(&mut [0; SEVERAL]).fill_column(&mut rows, column, limit);
    }
    let mut products = [0; dot_sums(SEVERAL)];
    rows.dots(&factors, 0, &mut products);
    Ok(words(digest, products))
}

/// Contexts: outputs by a multiplier each, in all columns of a tile's tokens, in those from some
/// column on, and read by a pair of rows.
fn each_stored(
    columns: usize,
    offset: usize,
    random: &mut Random,
    digest: u64,
) -> Result<u64, ModelError> {
    let mut multipliers = Aligned([0; 4 * LONGEST + WEIGHT_OFFSETS]);
    multipliers.0.fill_with(|| random.next() as u8);
    let multipliers = &multipliers.0[offset..].as_chunks().0[..columns];
    let mut digest = digest;
    for width in [Width::Narrow, Width::Wide] {
        let mut memory = Aligned([0; 4 * tile_words(SEVERAL, LONGEST)]);
        let mut tile = Tile::take(&mut Arena::new(&mut memory.0, 0)?, SEVERAL, columns, width);
        for token in 0..SEVERAL {
            let mut sums = [0; LONGEST];
            for first in [0, columns / 2, columns / 8 * 4] {
                let (sums, multipliers) = (&mut sums[first..columns], &multipliers[first..]);
                sums.fill_with(|| random.sum(0));
                // Of more than 32 bits three times in four.
                let shift = Shift::saturating((random.next() % 40) as i32 + 23);
                rescale_context(sums, multipliers, shift, &mut tile, token, first);
            }
        }
        digest = read(&tile, random, digest);
    }
    Ok(digest)
}

/// Outputs added to some channels of a stream.
fn added(columns: usize, sums: &mut [i32], random: &mut Random, digest: u64) -> u64 {
    let mut stream = Aligned([0; STREAM]);
    let stream = &mut stream.0[..SEVERAL * columns];
    stream.fill_with(|| random.half().max(-i16::MAX));
    let mut adder = Adder::new(stream, columns);
    let sums = &mut sums[..columns.min(SEVERAL)];
    (0..columns).for_each(|channel| adder.add(channel, &mut random.sums(&mut *sums)));
    words(digest, stream.iter().map(|&x| x.into()))
}

/// Gates by any table, and what they let pass, read by a pair of rows.
fn gated(
    columns: usize,
    offset: usize,
    random: &mut Random,
    digest: u64,
) -> Result<u64, ModelError> {
    let mut table = Aligned([0; 2 * CURVE_POINTS + WEIGHT_OFFSETS]);
    table.0.fill_with(|| random.next() as u8);
    let table = &table.0[offset..][..2 * CURVE_POINTS];
    let curves = Curves::new(Curve::ALL.map(|_| Halves::of(table)));
    let (mut gates, mut digest) = ([0; SEVERAL], digest);
    for width in [Width::Narrow, Width::Wide] {
        let mut memory = Aligned([0; 4 * tile_words(SEVERAL, LONGEST)]);
        let mut tile = Tile::take(&mut Arena::new(&mut memory.0, 0)?, SEVERAL, columns, width);
        for unit in 0..columns {
            let left = random.next() % 12;
            // Most within the table, some beyond it, some beyond what may be.
            let room = random.next() % 16;
            let mut sums = [(); SEVERAL].map(|()| random.sum(room));
            let scale = (i32::MAX, Shift::saturating(30 + (random.next() % 20) as i32));
            curves.silu_of(&mut Sums::new(&mut sums, room, scale), left, &mut gates);
            digest = words(digest, gates);
            gates = gates.map(|gate| gate.clamp(-ACTIVATION_LIMIT, ACTIVATION_LIMIT) << 11);
            let shift = random.scale().1;
            gate(&mut gates, &mut random.sums(&mut [0; SEVERAL]), shift, &mut tile, unit);
        }
        digest = read(&tile, random, digest);
    }
    Ok(digest)
}

/// Sums of a tile's columns.
fn read(tile: &Tile<'_>, random: &mut Random, digest: u64) -> u64 {
    let mut weights = Aligned([0; Layout::new(4, LONGEST).bytes()]);
    let weights = &mut weights.0[..Layout::new(rows(tile.tokens()), 4 * tile.groups()).bytes()];
    weights.fill_with(|| random.next() as i8);
    let mut sums = [0; 2 * SEVERAL];
    let sums = &mut sums[..rows(tile.tokens()) * tile.tokens()];
    all_sums(weights, tile, sums);
    words(digest, sums.iter().copied())
}

/// Norms of one token and of several, which lie at any halfword, by gains at any byte.
fn normalized(
    columns: usize,
    pattern: Pattern,
    random: &mut Random,
    digest: u64,
) -> Result<u64, ModelError> {
    let mut bytes = Aligned([0; 2 * LONGEST + WEIGHT_OFFSETS]);
    bytes.0.fill_with(|| random.next() as u8);
    let mut digest = digest;
    let kinds = [(1, Width::Single), (2, Width::Narrow), (SEVERAL, Width::Wide)];
    for (offset, (tokens, width)) in (0..WEIGHT_OFFSETS).flat_map(|i| kinds.map(|kind| (i, kind))) {
        let gains = Halves::of(&bytes.0[offset..][..2 * columns]);
        let mut memory = Aligned([0; 4 * tile_words(SEVERAL, LONGEST)]);
        let mut tile = Tile::take(&mut Arena::new(&mut memory.0, 0)?, tokens, columns, width);
        for token in 0..tokens {
            let mut row = Aligned([0; LONGEST + 1]);
            let row = &mut row.0[token % 2..][..columns];
            for (i, x) in row.iter_mut().enumerate() {
                *x = pattern.activation(i, i16::MAX.into(), random);
            }
            let shift = (random.next() % 24) as i32 - 16;
            let epsilon = random.next() >> (random.next() % 32);
            Norm::new(NormScale { shift, epsilon }, gains).apply(row, &mut tile, token);
        }
        digest = read(&tile, random, digest);
    }
    Ok(digest)
}

/// Attention of two queries, with biases and without, read by a product with ones and more.
fn attended(offset: usize, random: &mut Random, digest: u64) -> Result<u64, ModelError> {
    let mut memory = Aligned([0; 2 * PROBABILITIES]);
    let mut arena = Arena::new(&mut memory.0, 0)?;
    let mut probabilities = Factors::take(&mut arena, 2, SQUARES);
    let mut values = Rows::take(&mut arena, 1, SQUARES);
    values.set_row(0, (1..).take(SQUARES));
    for query in 0..2 {
        let mut scores = [0; SQUARES];
        scores.fill_with(|| random.sum(0));
        let mut biases = Aligned([0; SQUARES + WEIGHT_OFFSETS]);
        biases.0.fill_with(|| random.next() as i8);
        let row = biases.0[offset..].first_chunk().filter(|_| query == 0);
        let (multiplier, shift) = random.scale();
        let bias = row.map(|row| Bias { row, multiplier, shift });
        attend(&mut scores, random.scale(), bias, &mut probabilities, query);
    }
    let mut products = [0; dot_sums(1)];
    let stride = values.stride();
    values.dots(&probabilities, 0, &mut products[..2 * stride]);
    Ok(words(digest, [products[0], products[stride]]))
}
