//! Rounding a matrix's rows so that its outputs, not its weights, change least.
//!
//! The error of a row's output over the calibration samples is `|R(w − q)|²`, where `RᵀR` is the
//! second moment of the inputs. Babai's nearest plane algorithm finds integers q close to w in
//! that norm: it rounds one weight after the other, the last first, each corrected for the
//! errors of those already rounded.

/// Share of the mean variance that is added to every input's, so that inputs which calibration
/// hardly saw do not let their weights go astray.
const DAMPING: f64 = 0.01;
/// Variance, in squared steps, of the rounding of an input itself.
const ROUNDING: f64 = 1.0 / 12.0;

/// The upper Cholesky factor R of the inputs' second moment.
#[derive(Debug, Clone)]
pub struct Metric {
    columns: usize,
    factor: Vec<f64>,
}

impl Metric {
    /// The metric of inputs seen as `samples`, in units of `units[c]` a step.
    pub fn new<'s>(samples: impl Iterator<Item = &'s [f32]>, units: &[f64]) -> Metric {
        let columns = units.len();
        let mut moment = vec![0.0; columns * columns];
        let mut count = 0.0f64;
        for sample in samples {
            let steps: Vec<f64> =
                sample.iter().zip(units).map(|(&x, unit)| f64::from(x) / unit).collect();
            for (row, a) in moment.chunks_exact_mut(columns).zip(&steps) {
                row.iter_mut().zip(&steps).for_each(|(sum, b)| *sum += a * b);
            }
            count += 1.0;
        }
        let count = count.max(1.0);
        moment.iter_mut().for_each(|sum| *sum /= count);
        let diagonal = |i: usize| i * columns + i;
        let mean = (0..columns).map(|i| moment[diagonal(i)]).sum::<f64>() / columns as f64;
        (0..columns).for_each(|i| moment[diagonal(i)] += DAMPING * mean + ROUNDING);
        Metric { columns, factor: cholesky(moment, columns) }
    }

    /// Integers for the row `weights`, which counts in whole steps, and the mean squared error of
    /// its output. `nearest` is the integer of a column that is nearest to what it should be.
    pub fn round(&self, weights: &[f64], nearest: impl Fn(usize, f64) -> i8) -> (Vec<i8>, f64) {
        let mut errors = vec![0.0; self.columns];
        let mut rounded = vec![0; self.columns];
        let mut total = 0.0;
        for (column, row) in self.factor.chunks_exact(self.columns).enumerate().rev() {
            let later = row[column + 1..].iter().zip(&errors[column + 1..]);
            let carried = later.map(|(r, e)| r * e).sum::<f64>();
            let target = weights[column] + carried / row[column];
            rounded[column] = nearest(column, target);
            errors[column] = weights[column] - f64::from(rounded[column]);
            total += (row[column] * errors[column] + carried).powi(2);
        }
        (rounded, total)
    }
}

/// The integer of magnitude at most 127 that is nearest to `target`.
pub fn nearest_byte(_column: usize, target: f64) -> i8 {
    target.round().clamp(-127.0, 127.0) as i8
}

/// R upper triangular with `RᵀR` the positive definite matrix `a`, row-major.
fn cholesky(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        let (above, from) = a.split_at_mut(i * n);
        let row = &mut from[..n];
        for earlier in above.chunks_exact(n) {
            let factor = earlier[i];
            if factor != 0.0 {
                row[i..].iter_mut().zip(&earlier[i..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        let root = row[i].max(f64::MIN_POSITIVE).sqrt();
        row[i..].iter_mut().for_each(|x| *x /= root);
        row[..i].fill(0.0);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Correlated inputs: the second follows the first, the third is their sum and a little.
    fn samples() -> Vec<[f32; 3]> {
        (0..200)
            .map(|i| {
                let a = (i * 37 % 101) as f32 - 50.0;
                let b = a * 0.9 + (i * 53 % 17) as f32 - 8.0;
                [a, b, a + b + (i * 29 % 7) as f32 - 3.0]
            })
            .collect()
    }

    fn output_error(weights: &[f64], rounded: &[i8]) -> f64 {
        let error = |sample: &[f32; 3]| {
            let terms = sample.iter().zip(weights.iter().zip(rounded));
            terms.map(|(&x, (w, &q))| f64::from(x) * (w - f64::from(q))).sum::<f64>().powi(2)
        };
        samples().iter().map(error).sum::<f64>() / 200.0
    }

    #[test]
    fn the_factor_is_the_moments_root() {
        let a = vec![4.0, 2.0, 0.6, 2.0, 5.0, 1.5, 0.6, 1.5, 3.0];
        let r = cholesky(a.clone(), 3);
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| r[k * 3 + i] * r[k * 3 + j]).sum();
                assert!((product - a[i * 3 + j]).abs() < 1e-12);
                assert!(i <= j || r[i * 3 + j] == 0.0);
            }
        }
    }

    #[test]
    fn outputs_change_less_than_by_plain_rounding() {
        let all = samples();
        let metric = Metric::new(all.iter().map(<[f32; 3]>::as_slice), &[1.0; 3]);
        let (mut plain, mut careful) = (0.0, 0.0);
        for i in 0..100 {
            let weights = [10.37, -4.61, 7.13].map(|w| w + f64::from(i) * 0.173);
            let nearest = weights.map(|w| w.round() as i8);
            let (rounded, total) = metric.round(&weights, nearest_byte);
            plain += output_error(&weights, &nearest);
            careful += output_error(&weights, &rounded);
            assert!(total >= output_error(&weights, &rounded));
        }
        assert!(careful < 0.5 * plain, "{careful} {plain}");
    }
}
