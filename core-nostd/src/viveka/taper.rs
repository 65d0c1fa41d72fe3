//! Numbers that differ between middlegame and endgame (Fruit's taper).
use super::facts::FULL_PHASE;

/// A number for the middlegame and one for the endgame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tapered {
    /// With all pieces on the board.
    pub middlegame: i32,
    /// With none.
    pub endgame: i32,
}

impl Tapered {
    /// The same in both.
    pub const fn level(value: i32) -> Tapered {
        Tapered { middlegame: value, endgame: value }
    }

    /// Whether it is 0 at every phase.
    pub const fn is_zero(self) -> bool {
        self.middlegame == 0 && self.endgame == 0
    }

    /// Whether both numbers lie in `range`.
    pub fn lies_in(self, range: core::ops::RangeInclusive<i32>) -> bool {
        range.contains(&self.middlegame) && range.contains(&self.endgame)
    }

    /// Times `value`, at a phase from 24 (middlegame) to 0 (endgame), rounded as by [`rounded`].
    pub const fn times(self, value: i32, phase: i32) -> i32 {
        rounded(self.blend(phase) * value)
    }

    /// The blend at `phase`, times 24.
    pub const fn blend(self, phase: i32) -> i32 {
        self.middlegame * phase + self.endgame * (FULL_PHASE - phase)
    }
}

/// A sum of [blends](Tapered::blend) divided by 24, to nearest, halves away from zero: what is
/// turned about for the other side becomes its exact negative.
pub const fn rounded(sum: i32) -> i32 {
    (sum + sum.signum() * (FULL_PHASE / 2)) / FULL_PHASE
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_full_board_has_the_one_and_an_empty_one_the_other() {
        let tapered = Tapered { middlegame: 7, endgame: -30 };
        for value in -9..=9 {
            assert_eq!(tapered.times(value, FULL_PHASE), 7 * value);
            assert_eq!(tapered.times(value, 0), -30 * value);
            assert_eq!(Tapered::level(13).times(value, 11), 13 * value);
        }
    }

    #[test]
    fn between_them_it_is_the_nearest_integer() {
        for (middlegame, endgame) in [(7, -30), (0, 1), (-1, -2), (1_000, -1_000)] {
            let tapered = Tapered { middlegame, endgame };
            for phase in 0..=FULL_PHASE {
                for value in [-37, -2, -1, 0, 1, 2, 12] {
                    let share = f64::from(phase) / f64::from(FULL_PHASE);
                    let exact = f64::from(value)
                        * (f64::from(middlegame) * share + f64::from(endgame) * (1.0 - share));
                    let found = tapered.times(value, phase);
                    assert!((f64::from(found) - exact).abs() <= 0.5 + 1e-9, "{tapered:?} {phase}");
                    assert_eq!(tapered.times(-value, phase), -found);
                }
            }
        }
    }
}
