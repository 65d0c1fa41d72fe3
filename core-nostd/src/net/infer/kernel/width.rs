//! How wide the activations at a matrix's input are.
use crate::net::infer::arithmetic::wide_limit;

/// How wide the activations at a matrix's input are. Weights have 8 bits everywhere, sums 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Several tokens, 8 bits, which are bytes where a vector multiplies bytes.
    Narrow,
    /// Several tokens, 11 bits: where 8 are too few for what they stand for.
    Wide,
    /// One token, as many of 16 bits as its sums leave room for.
    Single,
}

impl Width {
    /// Bits of an activation, the sign among them.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Narrow => 8,
            Width::Wide => 11,
            Width::Single => 16,
        }
    }

    /// Largest magnitude of an activation of `columns`, at most 65,536, whose sums must fit 32
    /// bits.
    pub const fn limit(self, columns: usize) -> i32 {
        let most = wide_limit(columns);
        match self {
            Width::Wide if most > 1023 => 1023,
            // 2^16 · 2^7 · 2^7 < 2^31.
            Width::Narrow => 127,
            Width::Wide | Width::Single => most,
        }
    }

    /// Bits that no sum over `columns` uses: it is below 2^(31 − room) in magnitude.
    pub const fn room(self, columns: usize) -> u32 {
        // |weight · activation| < 2^14, < 2^17, what the limit allows.
        let most = match self {
            Width::Narrow => 17u32,
            Width::Wide => 14,
            Width::Single => 0,
        };
        // The logarithm, rounded up.
        most.saturating_sub(usize::BITS - columns.saturating_sub(1).leading_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_extremes_leave_the_room_that_is_promised() {
        for width in [Width::Narrow, Width::Wide, Width::Single] {
            for columns in 1..=65_536usize {
                let most = columns as u64 * 128 * width.limit(columns) as u64;
                assert!(most < 1 << (31 - width.room(columns)), "{width:?} {columns}");
            }
        }
    }
}
