//! Opponents of different strength, all of them Viveka.
use crate::viveka::{Candidate, Weights};

/// How strong an opponent is, from [`Level::WEAKEST`] to [`Level::STRONGEST`]. A player's level
/// weakens what they play against, never what they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Level(u8);

impl Default for Level {
    fn default() -> Self {
        Level::STRONGEST
    }
}

impl Level {
    /// Sees few replies, and takes a move for a rook better or worse than it is.
    pub const WEAKEST: Level = Level(1);
    /// Viveka's own choice.
    pub const STRONGEST: Level = Level(8);

    /// The level of a number, the nearest there is.
    pub fn new(number: u8) -> Level {
        Level(number.clamp(Level::WEAKEST.0, Level::STRONGEST.0))
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// By how many points it may misjudge a move either way.
    const fn error(self) -> i32 {
        let below = (Level::STRONGEST.0 - self.0) as i32;
        // 0, 10, 40, 90 … 490: from a shade to a rook.
        10 * below * below
    }

    /// How much of what replies cost it sees, in percent.
    const fn sight(self) -> i32 {
        100 - 14 * (Level::STRONGEST.0 - self.0) as i32
    }

    /// The candidate that it plays: the best by what it sees of it and how it misjudges it, which
    /// `chance` decides.
    pub(super) fn choose<'a>(
        self,
        candidates: &'a [Candidate],
        weights: &Weights,
        chance: &mut Chance,
    ) -> Option<&'a Candidate> {
        candidates.iter().rev().max_by_key(|candidate| {
            let seen = weights.penalty(candidate.drop) * self.sight() / 100;
            // Two draws: small mistakes are more frequent than great ones.
            let error = chance.within(self.error()) + chance.within(self.error());
            candidate.score - seen + error / 2
        })
    }
}

/// Chance, from a seed: xorshift with 32 bits of state.
#[derive(Debug, Clone)]
pub struct Chance(u32);

impl Chance {
    /// From a seed.
    pub const fn new(seed: u32) -> Self {
        // Zero would stay zero.
        Chance(if seed == 0 { 0x9e37_79b9 } else { seed })
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A number from `-most` to `most`.
    fn within(&mut self, most: i32) -> i32 {
        let span = u64::from(most.unsigned_abs()) * 2 + 1;
        let drawn = (u64::from(self.next()) * span) >> 32;
        drawn as i32 - most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::parse_fen,
        viveka::{FITTED, analyse},
    };

    #[test]
    fn the_strongest_plays_the_choice_and_the_weakest_seldom() {
        let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
        let position = parse_fen(fen).expect("a position");
        let analysis = analyse(&position, None, &FITTED);
        let best = |level: Level| {
            let mut chance = Chance::new(7);
            let is_best = |_: &i32| {
                let chosen = level.choose(&analysis.candidates, &FITTED, &mut chance);
                chosen.map(|c| c.mv) == Some(analysis.candidates[0].mv)
            };
            (0..1_000).filter(is_best).count()
        };
        let counts = [1, 3, 5, 7, 8].map(|number| best(Level::new(number)));
        assert_eq!(counts[4], 1_000);
        assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
        assert!(counts[0] > 50 && counts[0] < 400, "{counts:?}");
    }

    #[test]
    fn chance_covers_its_range() {
        let mut chance = Chance::new(0);
        let drawn: heapless::Vec<i32, 1_000> = (0..1_000).map(|_| chance.within(2)).collect();
        for value in -2..=2 {
            let count = drawn.iter().filter(|&&other| other == value).count();
            assert!((120..280).contains(&count), "{value}: {count}");
        }
        assert_eq!(chance.within(0), 0);
    }
}
