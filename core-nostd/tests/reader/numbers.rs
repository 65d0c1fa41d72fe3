//! Integers wide enough that nothing overflows, brought into their limits where the page says so.
use super::file::Sections;

/// Within ±limit.
pub fn within(x: i128, limit: i128) -> i128 {
    x.clamp(-limit, limit)
}

/// The limit of 32 bits.
pub const WORD: i128 = i32::MAX as i128;
/// The limit of a stream.
pub const STREAM: i128 = i16::MAX as i128;

/// w(n).
pub fn wide(n: usize) -> i128 {
    (WORD / 128 / n as i128).min(STREAM)
}

/// p(n).
pub fn pair(n: usize) -> i128 {
    let quotient = (i32::MAX as u128) / n as u128;
    (quotient.isqrt() as i128).min(STREAM)
}

/// One rounding.
pub fn shifted(x: i128, shift: i128) -> i128 {
    (x + (1 << (shift - 1))) >> shift
}

/// One rounding, then 32 bits.
pub fn rescaled(x: i128, multiplier: i128, shift: i128) -> i128 {
    shifted(x * multiplier, shift).clamp(i32::MIN.into(), i32::MAX.into())
}

/// A *scale* section.
pub struct Scale {
    pub shift: i128,
    pub multipliers: Vec<i128>,
}

impl Scale {
    pub fn read(sections: &mut Sections<'_>, count: usize) -> Scale {
        let words = sections.words(1 + count);
        assert!((1..=62).contains(&words[0]));
        Scale { shift: words[0], multipliers: words[1..].to_vec() }
    }

    pub fn apply(&self, index: usize, x: i128) -> i128 {
        rescaled(x, self.multipliers[index], self.shift)
    }
}

pub fn dot(a: &[i128], b: &[i128]) -> i128 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub struct Norm {
    shift: i128,
    epsilon: u32,
    gains: Vec<i128>,
}

impl Norm {
    pub fn read(sections: &mut Sections<'_>, width: usize) -> Norm {
        let scale = sections.words(2);
        Norm { shift: scale[0], epsilon: scale[1] as u32, gains: sections.halves(width) }
    }

    pub fn apply(&self, row: &[i128], limit: i128) -> Vec<i128> {
        let v = (dot(row, row) as u64 + u64::from(self.epsilon)).max(1);
        let k = v.leading_zeros() / 2;
        let root = (v << (2 * k)).isqrt();
        let f = ((1u64 << 62) / root).min(i32::MAX as u64);
        let shift = (62 - i128::from(k) + self.shift).clamp(1, 62);
        let channel = |(x, gain)| within(rescaled(x * gain, f.into(), shift), limit);
        row.iter().zip(&self.gains).map(channel).collect()
    }
}

/// The four tables.
pub struct Curves([Vec<i128>; 4]);

impl Curves {
    pub fn read(sections: &mut Sections<'_>) -> Curves {
        Curves([(); 4].map(|()| sections.halves(513)))
    }

    /// Of a magnitude, whose table has a point each 2^n.
    fn interpolated(&self, curve: usize, t: i128, n: u32) -> Option<i128> {
        let (table, i) = (&self.0[curve], (t >> n) as usize);
        let (a, b) = (table.get(i)?, table.get(i + 1)?);
        Some(shifted((a << n) + (b - a) * (t & ((1 << n) - 1)), 10))
    }

    fn gated(&self, curve: usize, x: i128) -> i128 {
        x.max(0) + self.interpolated(curve, x.abs(), 7).unwrap_or(0)
    }

    pub fn silu(&self, x: i128) -> i128 {
        self.gated(0, x)
    }

    pub fn gelu(&self, x: i128) -> i128 {
        self.gated(1, x)
    }

    pub fn softplus(&self, x: i128) -> i128 {
        self.gated(2, x)
    }

    pub fn tanh(&self, x: i128) -> i128 {
        let magnitude = self.interpolated(3, x.abs(), 10).unwrap_or(STREAM).clamp(0, STREAM);
        if x < 0 { -magnitude } else { magnitude }
    }
}

/// 2^-t in 30 fraction bits, t in 16.
pub fn power(t: i128) -> i128 {
    let table = |i: i128| ((-(i as f64) / 128.0).exp2() * (1u64 << 30) as f64).round() as i128;
    let f = t & 0xffff;
    let (a, b) = (table(f / 512), table(f / 512 + 1));
    (a - ((a - b) * (f % 512) / 512)) >> (t >> 16).min(31)
}
