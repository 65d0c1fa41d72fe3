//! Fixed-point arithmetic with one rounding, the same on every machine.

/// A right shift between 1 and 62 bits, checked where it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift(u8);

impl Shift {
    /// The widest shift.
    pub const MOST: u8 = 62;

    /// A shift by `bits`, if it lies in 1..=62.
    pub const fn new(bits: i32) -> Option<Shift> {
        if bits >= 1 && bits <= Self::MOST as i32 { Some(Shift(bits as u8)) } else { None }
    }

    /// A shift by `bits`, brought into 1..=62.
    pub const fn saturating(bits: i32) -> Shift {
        if bits < 1 {
            Shift(1)
        } else if bits > Self::MOST as i32 {
            Shift(Self::MOST)
        } else {
            Shift(bits as u8)
        }
    }

    /// The number of bits.
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }
}

/// `x / 2^shift`, rounded once, ties towards plus infinity.
///
/// `x` must be at most 2^62 in magnitude, so that adding the half cannot overflow.
pub const fn round_shift(x: i64, shift: Shift) -> i64 {
    (x + (1 << (shift.bits() - 1))) >> shift.bits()
}

/// `x · multiplier / 2^shift`, rounded once: the only way a value changes its scale. No pair of
/// arguments overflows.
pub const fn requantize(x: i32, multiplier: i32, shift: Shift) -> i64 {
    round_shift(x as i64 * multiplier as i64, shift)
}

/// `x` brought into `-limit..=limit`. `limit` is not negative.
pub const fn saturate(x: i64, limit: i32) -> i32 {
    if x > limit as i64 {
        limit
    } else if x < -(limit as i64) {
        -limit
    } else {
        x as i32
    }
}

/// `x` brought into an i16 of magnitude at most `limit`, which is at most 32,767.
pub const fn saturate_i16(x: i64, limit: i32) -> i16 {
    saturate(x, limit) as i16
}

/// Largest magnitude of both 16-bit factors of a dot product over `columns` whose sum must fit
/// 32 bits: `columns · limit² < 2^31`.
pub const fn pair_limit(columns: usize) -> i32 {
    let columns = if columns == 0 { 1 } else { columns as u32 };
    let limit = (i32::MAX as u32 / columns).isqrt();
    if limit > i16::MAX as u32 { i16::MAX as i32 } else { limit as i32 }
}

/// Largest magnitude of the 16-bit factor of a dot product over `columns` with 8-bit weights
/// whose sum must fit 32 bits: `columns · 128 · limit < 2^31`.
pub const fn wide_limit(columns: usize) -> i32 {
    let columns = if columns == 0 { 1 } else { columns as u32 };
    let limit = i32::MAX as u32 / 128 / columns;
    if limit > i16::MAX as u32 { i16::MAX as i32 } else { limit as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, in 128 bits, where nothing can overflow.
    fn oracle(x: i32, multiplier: i32, shift: Shift) -> i128 {
        let product = i128::from(x) * i128::from(multiplier);
        (product + (1i128 << (shift.bits() - 1))) >> shift.bits()
    }

    #[test]
    fn extremes_and_ties_equal_the_oracle() {
        let values = [i32::MIN, i32::MIN + 1, -3, -2, -1, 0, 1, 2, 3, i32::MAX - 1, i32::MAX];
        for x in values {
            for multiplier in values {
                for bits in 1..=62 {
                    let shift = Shift::new(bits).unwrap();
                    let expected = oracle(x, multiplier, shift);
                    assert_eq!(i128::from(requantize(x, multiplier, shift)), expected);
                }
            }
        }
        let half = Shift::new(1).unwrap();
        assert_eq!([-3, -1, 1, 3].map(|x| requantize(x, 1, half)), [-1, 0, 1, 2]);
    }

    #[test]
    fn shifts_are_checked() {
        assert_eq!(Shift::new(0), None);
        assert_eq!(Shift::new(63), None);
        assert_eq!(Shift::saturating(-7), Shift::new(1).unwrap());
        assert_eq!(Shift::saturating(99), Shift::new(62).unwrap());
    }

    #[test]
    fn limits_are_the_largest_that_fit() {
        for columns in 1..=65_536u64 {
            let pair = pair_limit(columns as usize) as u64;
            assert!(columns * pair * pair < 1 << 31);
            assert!(pair == 32_767 || columns * (pair + 1) * (pair + 1) >= 1 << 31);
            let wide = wide_limit(columns as usize) as u64;
            assert!(columns * 128 * wide < 1 << 31);
            assert!(wide == 32_767 || columns * 128 * (wide + 1) >= 1 << 31);
        }
    }

    proptest! {
        #[test]
        fn requantize_equals_the_oracle(x: i32, multiplier: i32, bits in 1..=62) {
            let shift = Shift::new(bits).unwrap();
            prop_assert_eq!(i128::from(requantize(x, multiplier, shift)), oracle(x, multiplier, shift));
        }

        /// Values whose product lies exactly half way between two results.
        #[test]
        fn ties_round_up(quotient in -(1i64 << 30)..(1 << 30), bits in 1..=30) {
            let shift = Shift::new(bits).unwrap();
            let tie = (quotient << bits) + (1 << (bits - 1));
            prop_assert_eq!(round_shift(tie, shift), quotient + 1);
            prop_assert_eq!(round_shift(tie - 1, shift), quotient);
        }
    }
}
