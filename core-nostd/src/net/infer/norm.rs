//! Root-mean-square norm in integers.
#[cfg(any(kernels = "dsp", kernels = "x86"))]
use super::kernel;
#[cfg(kernels = "x86")]
use super::kernel::ROWS;
#[cfg(kernels = "x86")]
use super::kernel::Rescaling;
#[cfg(kernels = "dsp")]
use super::kernel::sum_of_squares;
use super::{
    arithmetic::{Shift, quotient, rescale, root, wide_limit},
    kernel::Tile,
    vectors::vectorized,
};
use crate::net::kbz::{Halves, LayerReader, NormScale, Part};

/// `out[c] = x[c] · gain[c] / sqrt(Σ x² + epsilon)`, with one rounding. The gains hold the
/// norm's weights, the channels' scales and sqrt(D).
#[derive(Debug, Clone, Copy)]
pub struct Norm<'a> {
    scale: NormScale,
    gains: Halves<'a>,
}

/// Channels that are normalized together.
#[cfg(not(kernels = "dsp"))]
const CHANNELS: usize = 64;

/// A reciprocal square root: `factor / 2^shift`.
struct InverseRoot {
    factor: i32,
    shift: i32,
}

/// `1 / sqrt(v)` for v > 0; the factor has 31 bits.
fn inverse_root(v: u64) -> InverseRoot {
    let doublings = v.leading_zeros() / 2;
    let root = root(v << (2 * doublings)); // 2^31 <= root < 2^32
    let factor = quotient(1 << 30, root); // 2^62 / root: 2^30 < factor <= 2^31
    InverseRoot { factor: factor.min(i32::MAX as u32) as i32, shift: 62 - doublings as i32 }
}

/// What turns `x · gain` into an output.
#[derive(Debug, Clone, Copy)]
struct Scaling {
    factor: i32,
    shift: Shift,
    limit: i32,
}

#[cfg(not(kernels = "dsp"))]
vectorized! {
    /// Adds the squares of `row`.
    fn add_squares(row: &[i16], sum: &mut u64) {
        *sum += row.iter().map(|&x| u64::from(i32::from(x).pow(2).cast_unsigned())).sum::<u64>();
    }
}

#[cfg(not(kernels = "dsp"))]
fn sum_of_squares(row: &[i16]) -> u64 {
    #[cfg(kernels = "x86")]
    if let Some(sum) = kernel::sum_of_squares(row) {
        return sum;
    }
    let mut sum = 0;
    add_squares(row, &mut sum);
    sum
}

vectorized! {
    /// The outputs of `row`, in place; |x · gain| ≤ 2^30.
    fn scale(row: &mut [i16], gains: Halves<'_>, scaling: Scaling) {
        let Scaling { factor, shift, limit } = scaling;
        for (x, gain) in row.iter_mut().zip(gains.iter()) {
            *x = rescale(i32::from(*x) * i32::from(gain), factor, shift, 0, limit) as i16;
        }
    }
}

impl<'a> Norm<'a> {
    #[inline(never)] // for flash: many layers begin with one
    pub fn read(sections: &mut LayerReader<'_, 'a>) -> Norm<'a> {
        Norm::new(sections.norm_scale(), sections.halves(Part::Gains))
    }

    /// A norm with these gains.
    pub const fn new(scale: NormScale, gains: Halves<'a>) -> Norm<'a> {
        Norm { scale, gains }
    }

    /// What the row's length makes of each output. A shift that leaves 1..=62 saturates.
    fn scaling(&self, row: &[i16], limit: i32) -> Scaling {
        let sum = sum_of_squares(row);
        let inverse = inverse_root((sum + u64::from(self.scale.epsilon)).max(1));
        let shift = Shift::saturating(inverse.shift + self.scale.shift);
        Scaling { factor: inverse.factor, shift, limit }
    }

    /// Normalizes rows into the tokens of `tile`, which has as many columns.
    pub fn apply_all(&self, rows: &[i16], tile: &mut Tile<'_>) {
        #[cfg(kernels = "x86")]
        let done = self.apply_sixteens(rows, tile);
        #[cfg(not(kernels = "x86"))]
        let done = 0;
        let rows = rows.chunks_exact(self.gains.len().max(1));
        for (token, row) in rows.enumerate().skip(done) {
            self.apply(row, tile, token);
        }
    }

    /// Normalizes as many rows as there are vectors for, and returns their number.
    #[cfg(kernels = "x86")]
    fn apply_sixteens(&self, rows: &[i16], tile: &mut Tile<'_>) -> usize {
        let (width, limit) = (self.gains.len().max(1), tile.limit());
        let mut done = 0;
        for rows in rows.chunks_exact(width * ROWS) {
            let mut rescalings = [None; ROWS];
            for (row, rescaling) in rows.chunks_exact(width).zip(&mut rescalings) {
                let scaling = self.scaling(row, limit);
                *rescaling = Rescaling::new(scaling.factor, scaling.shift, 0);
            }
            let [first, ..] = rescalings;
            let Some(first) = first.filter(|_| rescalings.iter().all(Option::is_some)) else {
                return done;
            };
            let rescalings = rescalings.map(|rescaling| rescaling.unwrap_or(first));
            kernel::norm_rows(rows, self.gains.bytes(), &rescalings, tile, done);
            done += ROWS;
        }
        done
    }

    /// Normalizes `row` into `token` of `tile`, which has as many columns.
    #[inline(never)]
    pub fn apply(&self, row: &[i16], tile: &mut Tile<'_>, token: usize) {
        let scaling = self.scaling(row, tile.limit());
        #[cfg(kernels = "dsp")]
        {
            let Scaling { factor, shift, limit } = scaling;
            let done = kernel::norm(row, self.gains.bytes(), (factor, shift), tile, token);
            for (column, (&x, gain)) in row.iter().zip(self.gains.iter()).enumerate().skip(done) {
                let y = rescale(i32::from(x) * i32::from(gain), factor, shift, 0, limit);
                tile.set(token, column, y as i16);
            }
        }
        #[cfg(not(kernels = "dsp"))]
        self.apply_in_parts(row, scaling, tile, token);
    }

    /// A number of columns at a time.
    #[cfg(not(kernels = "dsp"))]
    fn apply_in_parts(&self, row: &[i16], scaling: Scaling, tile: &mut Tile<'_>, token: usize) {
        let mut outputs = [0; CHANNELS];
        let chunks = row.chunks(CHANNELS).zip(self.gains.chunks(CHANNELS));
        for (first, (row, gains)) in (0..).step_by(CHANNELS).zip(chunks) {
            let outputs = &mut outputs[..row.len()];
            outputs.copy_from_slice(row);
            scale(outputs, gains, scaling);
            tile.set_row(token, first, outputs);
        }
    }

    /// Reads the norm and applies it to each row of `stream`, `[rows, width]`, in place.
    #[inline(never)] // what it needs must not stay on the stack of the other layers
    pub fn run(sections: &mut LayerReader<'_, 'a>, width: usize, stream: &mut [i16]) -> Option<()> {
        let norm = Norm::read(sections);
        sections.finish()?;
        stream.chunks_exact_mut(width.max(1)).for_each(|row| norm.apply_in_place(row));
        Some(())
    }

    /// Normalizes `row` in place.
    fn apply_in_place(&self, row: &mut [i16]) {
        let scaling = self.scaling(row, wide_limit(row.len()));
        scale(row, self.gains, scaling);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inverse_root_has_thirty_bits(v in 1..u64::MAX, drop in 0..63u32) {
            let v = (v >> drop).max(1);
            let inverse = inverse_root(v);
            let value = f64::from(inverse.factor) * (-f64::from(inverse.shift)).exp2();
            let exact = 1.0 / (v as f64).sqrt();
            prop_assert!((value / exact - 1.0).abs() < (-29f64).exp2(), "{v}: {value} {exact}");
            prop_assert!(inverse.factor >= 1 << 30);
        }
    }
}
