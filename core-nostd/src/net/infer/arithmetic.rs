//! Fixed-point arithmetic with one rounding, the same on every machine.
#[cfg(any(kernels = "armv6m", kernels = "x86"))]
use super::kernel::Rescaling;
use super::vectors::{LANES, vectorized};

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

    /// A shift to the left by at most `room` bits and a shift to the right that together are this
    /// one, if they make it the cheap one of more than 32 bits.
    pub const fn widened(self, room: u32) -> (u32, Shift) {
        let bits = self.0 as u32 + room;
        if self.0 <= 32 && bits > 32 && bits <= Self::MOST as u32 {
            (room, Shift(bits as u8))
        } else {
            (0, self)
        }
    }

    /// `room` bits to the left and a shift to the right that together are this one, if it is one
    /// of at most 32 bits.
    pub const fn left_as_well(self, room: u32) -> (u32, Shift) {
        match self.0 as u32 + room {
            bits if self.0 <= 32 && bits <= Self::MOST as u32 => (room, Shift(bits as u8)),
            _ => (0, self),
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

/// `x · multiplier / 2^shift`, rounded once and brought into 32 bits, plus `bias`, brought into
/// `-limit..=limit`: the only way a value changes its scale. No arguments overflow; `limit` is not
/// negative.
pub const fn rescale(x: i32, multiplier: i32, shift: Shift, bias: i32, limit: i32) -> i32 {
    let y = scaled(x, multiplier, shift).saturating_add(bias);
    if y > limit {
        limit
    } else if y < -limit {
        -limit
    } else {
        y
    }
}

/// `x · multiplier / 2^shift`, rounded once and brought into 32 bits.
const fn scaled(x: i32, multiplier: i32, shift: Shift) -> i32 {
    let bits = shift.bits();
    if bits > 32 {
        // The half's lower word is 0 and the product's is of no account.
        return (upper_word(x, multiplier) + (1 << (bits - 33))) >> (bits - 32);
    }
    // Two words shifted by hand: where a register has 32 bits, a shift of 64 costs three times as
    // much.
    let product = product(x, multiplier) + (1 << (bits - 1));
    let (upper, lower) = ((product >> 32) as i32, product as u32);
    let y = (lower.unbounded_shr(bits) | (upper as u32) << (32 - bits)) as i32;
    if upper.unbounded_shr(bits) == y >> 31 { y } else { i32::MAX ^ (upper >> 31) }
}

/// [`rescale`] of each of `values`, in place. Each is below 2^(31 − `room`) in magnitude.
pub fn rescale_all(
    values: &mut [i32],
    room: u32,
    multiplier: i32,
    shift: Shift,
    bias: i32,
    limit: i32,
) {
    #[cfg(any(kernels = "armv6m", kernels = "x86"))]
    if let Some(rescaling) = Rescaling::new(multiplier, shift, room)
        && bias == 0
    {
        return super::kernel::rescale_all(values, &rescaling, limit);
    }
    rescale_each_sum(values, room, multiplier, shift, bias, limit);
}

vectorized! {
    /// [`rescale_all`] by its definition. Not inlined, so that the loop has the registers to itself.
    #[inline(never)]
    fn rescale_each_sum(
        values: &mut [i32],
        room: u32,
        multiplier: i32,
        shift: Shift,
        bias: i32,
        limit: i32,
    ) {
        let (left, shift) = shift.widened(room);
        let (chunks, rest) = values.as_chunks_mut::<LANES>();
        for values in chunks {
            for value in values {
                *value = rescale(*value << left, multiplier, shift, bias, limit);
            }
        }
        for value in rest {
            *value = rescale(*value << left, multiplier, shift, bias, limit);
        }
    }
}

#[cfg(not(kernels = "dsp"))]
vectorized! {
    /// [`rescale`] of each of `xs` by its own multiplier, little-endian; `limit` is at most 32,767.
    pub fn rescale_each(
        xs: &[i32],
        multipliers: &[[u8; 4]],
        shift: Shift,
        limit: i32,
        ys: &mut [i16],
    ) {
        for ((&x, &multiplier), y) in xs.iter().zip(multipliers).zip(ys) {
            *y = rescale(x, i32::from_le_bytes(multiplier), shift, 0, limit) as i16;
        }
    }
}

/// `⌊x · y / 2^32⌋`.
#[cfg(not(kernels = "armv6m"))]
const fn upper_word(x: i32, y: i32) -> i32 {
    ((x as i64 * y as i64) >> 32) as i32
}

#[cfg(kernels = "armv6m")]
use upper_word_of_halves as upper_word;

/// `x · y`.
#[inline(always)]
const fn product(x: i32, y: i32) -> i64 {
    if cfg!(kernels = "armv6m") {
        // Half of what the library's product of 64 bits takes.
        return (upper_word(x, y) as i64) << 32 | x.wrapping_mul(y) as u32 as i64;
    }
    x as i64 * y as i64
}

/// The same where there is no multiplication to 64 bits: from the products of halves.
#[cfg(any(test, kernels = "armv6m"))]
const fn upper_word_of_halves(x: i32, y: i32) -> i32 {
    let (x_high, x_low) = (x >> 16, x & 0xffff);
    let (y_high, y_low) = (y >> 16, y & 0xffff);
    // The only product that needs 32 bits without a sign.
    let low = (x_low as u32).wrapping_mul(y_low as u32) >> 16;
    let middle = x_high * y_low + low as i32;
    let other = x_low * y_high + (middle & 0xffff);
    x_high * y_high + (middle >> 16) + (other >> 16)
}

/// `⌊high · 2^32 / divisor⌋`, for a divisor above `high`.
#[cfg(kernels = "x86")]
pub fn quotient(high: u32, divisor: u32) -> u32 {
    ((u64::from(high) << 32) / u64::from(divisor.max(1))) as u32
}

#[cfg(not(kernels = "x86"))]
pub use quotient_by_halves as quotient;

/// The same where there is no division of 64 bits: half a word at a time.
#[cfg(any(test, not(kernels = "x86")))]
pub fn quotient_by_halves(high: u32, divisor: u32) -> u32 {
    use core::num::NonZeroU32;

    let zeros = divisor.leading_zeros().min(31);
    let (divisor, high) = ((divisor << zeros).max(1 << 31), high << zeros);
    // The highest bit is set: the upper half is not zero, which no optimizer need see.
    let upper = NonZeroU32::new(divisor >> 16).unwrap_or(NonZeroU32::MIN);
    let lower = divisor & 0xffff;
    // A digit from the divisor's upper half is too large by at most 2.
    let digit = |high: u32| {
        let (mut digit, mut rest) = (high / upper, high % upper);
        while digit > 0xffff || digit * lower > rest << 16 {
            (digit, rest) = (digit - 1, rest + upper.get());
            if rest > 0xffff {
                break;
            }
        }
        digit
    };
    let first = digit(high);
    let rest = (high << 16).wrapping_sub(first.wrapping_mul(divisor));
    first << 16 | digit(rest)
}

/// `⌊√v⌋` for `v` of at least 2^62: the processor's own root is wrong by at most one.
#[cfg(kernels = "x86")]
pub fn root(v: u64) -> u32 {
    let near = (v as f64).sqrt() as u32;
    match u64::from(near).pow(2) {
        square if square > v => near - 1,
        square if v - square > 2 * u64::from(near) => near + 1,
        _ => near,
    }
}

#[cfg(not(kernels = "x86"))]
pub use root_by_halves as root;

/// `⌊√v⌋`.
#[cfg(kernels = "x86")]
const fn square_root(v: u32) -> u32 {
    v.isqrt()
}

#[cfg(not(kernels = "x86"))]
use square_root_by_bits as square_root;

/// The same a bit at a time: the standard library's takes 800 bytes of flash, most of them a table.
#[cfg(any(test, not(kernels = "x86")))]
const fn square_root_by_bits(v: u32) -> u32 {
    let (mut rest, mut root, mut bit) = (v, 0, 1 << 30);
    while bit > 0 {
        if rest >= root + bit {
            rest -= root + bit;
            root += 2 * bit;
        }
        root >>= 1;
        bit >>= 2;
    }
    root
}

/// `⌊√v⌋` for `v` of at least 2^62, from the root of its upper word: 64 bits take a division that
/// boards do not have.
#[cfg(any(test, not(kernels = "x86")))]
pub fn root_by_halves(v: u64) -> u32 {
    let (high, low) = ((v >> 32) as u32, v as u32);
    let upper = square_root(high) | 1 << 15;
    let rest = high.wrapping_sub(upper * upper);
    // (rest · 2^16 + low's upper half) / (2 · upper), halved above and below to fit.
    let half = (rest << 15).wrapping_add(low >> 17);
    let (digit, rest) = (half / upper, half % upper);
    let rest = u64::from(rest) << 17 | u64::from(low & 0x1_ffff);
    // The root's lower half, which may be too large by one.
    let root = (upper << 16).wrapping_add(digit);
    let too_large = u64::from(digit) * u64::from(digit) > rest;
    root.wrapping_sub(too_large.into())
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

/// `x + y`, brought into ±32,767: how a layer adds to a stream.
pub const fn saturating_add(x: i16, y: i32) -> i16 {
    saturate((x as i32).saturating_add(y) as i64, i16::MAX as i32) as i16
}

/// Largest magnitude of both 16-bit factors of a dot product over `columns` whose sum must fit
/// 32 bits: `columns · limit² < 2^31`.
pub const fn pair_limit(columns: usize) -> i32 {
    let columns = if columns == 0 { 1 } else { columns as u32 };
    let limit = square_root(i32::MAX as u32 / columns);
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
    fn oracle(x: i32, multiplier: i32, shift: Shift, bias: i32, limit: i32) -> i128 {
        let product = i128::from(x) * i128::from(multiplier);
        let rounded = (product + (1i128 << (shift.bits() - 1))) >> shift.bits();
        let within = |x: i128| x.clamp(i32::MIN.into(), i32::MAX.into());
        (within(rounded) + i128::from(bias)).clamp(-i128::from(limit), i128::from(limit))
    }

    #[test]
    fn extremes_and_ties_equal_the_oracle() {
        let values = [i32::MIN, i32::MIN + 1, -3, -2, -1, 0, 1, 2, 3, i32::MAX - 1, i32::MAX];
        for x in values {
            for multiplier in values {
                for bits in 1..=62 {
                    let shift = Shift::new(bits).unwrap();
                    for bias in values {
                        for limit in [0, 1, 127, 32_767, i32::MAX] {
                            let expected = oracle(x, multiplier, shift, bias, limit);
                            let y = rescale(x, multiplier, shift, bias, limit);
                            assert_eq!(i128::from(y), expected);
                        }
                    }
                }
            }
        }
        let half = Shift::new(1).unwrap();
        assert_eq!([-3, -1, 1, 3].map(|x| rescale(x, 1, half, 0, 9)), [-1, 0, 1, 2]);
    }

    #[test]
    fn products_of_halves_give_the_upper_word() {
        let values = [i32::MIN, i32::MIN + 1, -65_537, -65_536, -1, 0, 1, 65_535, 65_536, i32::MAX];
        for x in values {
            for y in values {
                assert_eq!(upper_word_of_halves(x, y), upper_word(x, y), "{x} {y}");
            }
        }
    }

    #[test]
    fn quotients_by_halves_are_exact() {
        for divisor in [2, 3, 0xffff, 0x1_0000, 0x1_0001, 1 << 24, 1 << 31, u32::MAX - 1, u32::MAX]
        {
            for high in [0, 1, 2, 0xfffe, 1 << 22, 1 << 30, u32::MAX - 2, u32::MAX - 1] {
                if high < divisor {
                    let exact = (u64::from(high) << 32) / u64::from(divisor);
                    assert_eq!(u64::from(quotient_by_halves(high, divisor)), exact);
                    assert_eq!(u64::from(quotient(high, divisor)), exact, "{high} {divisor}");
                }
            }
        }
    }

    #[test]
    fn roots_by_bits_are_exact() {
        let beside = |root: u32| [(root * root).wrapping_sub(1), root * root, root * root + 1];
        let all = (0..0x10000).step_by(7).flat_map(beside).chain([u32::MAX - 1, u32::MAX]);
        all.for_each(|v| assert_eq!(square_root_by_bits(v), v.isqrt(), "{v}"));
    }

    #[test]
    fn roots_beside_squares_are_exact() {
        for root_of in [1 << 31, (1 << 31) + 1, 0x8000_ffff, 0xb504_f333, 0xffff_0000, u32::MAX] {
            let square = u64::from(root_of).pow(2);
            for v in [square, square + 1, square + 2 * u64::from(root_of)] {
                assert_eq!([root(v), root_by_halves(v)], [root_of; 2]);
            }
            assert_eq!(
                u64::from(root((square - 1).max(1 << 62))),
                (square - 1).max(1 << 62).isqrt()
            );
        }
    }

    #[test]
    fn room_above_changes_nothing() {
        for bits in 1..=62 {
            let shift = Shift::new(bits).unwrap();
            for room in 0..=24 {
                let most = i32::MAX >> room;
                for multiplier in [i32::MIN, -3, 1 << 29, i32::MAX] {
                    let mut values = [-most, -most / 3, -1, 0, 1, most / 7, most];
                    let expected = values.map(|x| rescale(x, multiplier, shift, 5, 32_767));
                    rescale_all(&mut values, room, multiplier, shift, 5, 32_767);
                    assert_eq!(values, expected, "{bits} {room} {multiplier}");
                }
            }
        }
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
        fn rescale_equals_the_oracle(
            x: i32,
            multiplier: i32,
            bits in 1..=62,
            bias: i32,
            limit in 0..=i32::MAX,
        ) {
            let shift = Shift::new(bits).unwrap();
            let y = rescale(x, multiplier, shift, bias, limit);
            prop_assert_eq!(i128::from(y), oracle(x, multiplier, shift, bias, limit));
        }

        #[test]
        fn quotients_by_halves_equal_the_division(high: u32, divisor: u32, drop in 0..32u32) {
            let divisor = (divisor >> drop).max(1);
            let high = high % divisor;
            let exact = (u64::from(high) << 32) / u64::from(divisor);
            prop_assert_eq!(u64::from(quotient_by_halves(high, divisor)), exact);
        }

        #[test]
        fn roots_are_those_of_64_bits(v in 1u64 << 62..) {
            prop_assert_eq!([root(v), root_by_halves(v)].map(u64::from), [v.isqrt(); 2]);
        }

        #[test]
        fn products_of_halves_give_any_upper_word(x: i32, y: i32) {
            prop_assert_eq!(upper_word_of_halves(x, y), upper_word(x, y));
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
