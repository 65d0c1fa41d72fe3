//! The inner loops: every multiply-add of the network runs in one of these functions, so a
//! target's own instructions replace this file and nothing else.
//!
//! Sums are exact: the limits that [`Activation::limit`] and
//! [`pair_limit`](super::arithmetic::pair_limit) put on the factors keep every sum, in any
//! order, inside 32 bits. Wrapping addition only spares the check, so that loops vectorize.
use super::arithmetic::{saturate, wide_limit};

/// An integer that stands for an activation at a matrix's input.
pub trait Activation: bytemuck::Pod {
    /// Largest magnitude at the input of a matrix with this many columns.
    fn limit(columns: usize) -> i32;
    /// `value` brought into `-limit..=limit`, where `limit` came from [`Activation::limit`].
    fn saturate(value: i64, limit: i32) -> Self;
    /// `Σ weights[i] · inputs[i]`.
    fn dot(weights: &[i8], inputs: &[Self]) -> i32;
}

impl Activation for i8 {
    /// 127: no configuration's matrix has more than 65,536 columns, and 2^16·2^7·2^7 < 2^31.
    fn limit(_columns: usize) -> i32 {
        127
    }

    fn saturate(value: i64, limit: i32) -> i8 {
        saturate(value, limit) as i8
    }

    fn dot(weights: &[i8], inputs: &[i8]) -> i32 {
        weights
            .iter()
            .zip(inputs)
            .fold(0, |sum: i32, (&w, &x)| sum.wrapping_add(i32::from(w) * i32::from(x)))
    }
}

impl Activation for i16 {
    fn limit(columns: usize) -> i32 {
        wide_limit(columns)
    }

    fn saturate(value: i64, limit: i32) -> i16 {
        saturate(value, limit) as i16
    }

    fn dot(weights: &[i8], inputs: &[i16]) -> i32 {
        weights
            .iter()
            .zip(inputs)
            .fold(0, |sum: i32, (&w, &x)| sum.wrapping_add(i32::from(w) * i32::from(x)))
    }
}

/// One row of weights against several rows of inputs, `[sums.len(), weights.len()]` row-major.
pub fn dot_rows<T: Activation>(weights: &[i8], inputs: &[T], sums: &mut [i32]) {
    for (sum, row) in sums.iter_mut().zip(inputs.chunks_exact(weights.len().max(1))) {
        *sum = T::dot(weights, row);
    }
}

/// `Σ a[i] · b[i]` of 16-bit factors.
pub fn dot_pairs(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).fold(0, |sum: i32, (&a, &b)| sum.wrapping_add(i32::from(a) * i32::from(b)))
}

#[cfg(test)]
mod tests {
    use super::super::arithmetic::pair_limit;
    use super::*;

    #[test]
    fn sums_at_the_limits_do_not_wrap() {
        extern crate std;
        for columns in [1, 3, 511, 512, 1000, 65_536] {
            let weights = std::vec![i8::MIN; columns];
            let narrow = std::vec![-127i8; columns];
            let wide = std::vec![-<i16 as Activation>::limit(columns) as i16; columns];
            let exact = |x: i64| columns as i64 * -128 * x;
            assert_eq!(i64::from(i8::dot(&weights, &narrow)), exact(-127));
            assert_eq!(i64::from(i16::dot(&weights, &wide)), exact(i64::from(wide[0])));
            let pair = std::vec![pair_limit(columns) as i16; columns];
            let square = i64::from(pair[0]) * i64::from(pair[0]);
            assert_eq!(i64::from(dot_pairs(&pair, &pair)), columns as i64 * square);
        }
    }

    #[test]
    fn rows_are_independent() {
        let mut sums = [0; 2];
        dot_rows(&[1, -2, 3], &[1i8, 1, 1, 10, 20, 30], &mut sums);
        assert_eq!(sums, [2, 60]);
    }
}
