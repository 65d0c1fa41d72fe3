//! Positions from games that an engine plays with itself.
use kibitzer_core::{
    fnv,
    shakmaty::{Chess, Position as _},
};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::{Opening, source::Root};
use crate::{
    engine::{Engine, Fault, Search},
    network::uci,
};

/// Half-moves after the opening in which other good moves are played besides the best.
const VARIED: usize = 6;
/// Of how many moves one is drawn there.
const AMONG: usize = 4;
/// A move that is worse than the best by this many centipawns is drawn 1/e times as often.
const SPREAD: f64 = 30.0;
/// Half-moves of best play after that, at most: from 0 to this many, each equally often.
const BEST: u32 = 80;

/// Games of an engine with itself, each from a named opening; of each, one position is taken.
///
/// In every round each opening comes once, in an order of its own. Number, seed and engine decide
/// the game: first some varied moves, then the engine's best ones up to a half-move that is drawn
/// beforehand. Where the game ends earlier, any of its positions is taken.
#[derive(Debug, Clone)]
pub struct SelfPlay {
    /// The openings, at least one.
    pub openings: Vec<Opening>,
    /// How many positions are wanted.
    pub positions: u64,
    /// Decides all that is drawn.
    pub seed: u64,
    /// Depth at which the engine plays, in plies.
    pub depth: u32,
}

impl SelfPlay {
    /// A digest of the openings.
    pub fn digest(&self) -> u64 {
        let moves = |opening: &Opening| opening.moves.iter().map(|&mv| uci(mv)).collect::<String>();
        let text = self.openings.iter().flat_map(|o| [o.name.clone(), moves(o)]);
        text.fold(fnv::START, |hash, text| fnv::bytes(hash, text.bytes()))
    }

    /// The opening of game `number`.
    fn opening(&self, number: u64) -> &Opening {
        let count = self.openings.len();
        let (round, place) = (number / count as u64, (number % count as u64) as usize);
        let mut random = self.random(round, 1);
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, random.random_range(0..=i));
        }
        &self.openings[order[place]]
    }

    fn random(&self, number: u64, purpose: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(2 * number + purpose);
        random
    }

    /// The position of game `number`; `None` if it is over at once.
    pub(super) fn root(&self, number: u64, engine: &mut Engine) -> Result<Option<Root>, Fault> {
        let opening = self.opening(number);
        let mut random = self.random(number, 0);
        let target = VARIED + random.random_range(0..=BEST) as usize;
        let elsewhere: f64 = random.random();
        engine.forget()?;
        let mut moves = opening.moves.clone();
        let mut position = Chess::default();
        moves.iter().for_each(|&mv| position.play_unchecked(mv));
        // Positions of the game after the opening that leave a choice.
        let mut reached = Vec::new();
        for played in 0..=target {
            if position.is_game_over() || position.halfmoves() >= 100 {
                break;
            }
            reached.push((position.clone(), moves.len()));
            let lines = if played < VARIED { AMONG } else { 1 };
            let mv = self.choose(&position, lines, &mut random, engine)?;
            position.play_unchecked(mv);
            moves.push(mv);
        }
        // The whole game was played, or it was over before.
        let i = match reached.len() {
            0 => return Ok(None),
            len if len == target + 1 => target,
            len => (elsewhere * len as f64) as usize,
        };
        let (position, ply) = reached.swap_remove(i);
        Ok(Some(Root {
            opening: opening.name.clone(),
            game: number,
            ply: ply as u64,
            last: ply.checked_sub(1).map(|last| uci(moves[last])),
            position,
        }))
    }

    /// A move among the best `lines`, better ones more often.
    fn choose(
        &self,
        position: &Chess,
        lines: usize,
        random: &mut ChaCha8Rng,
        engine: &mut Engine,
    ) -> Result<kibitzer_core::shakmaty::Move, Fault> {
        let lines = lines.min(position.legal_moves().len()).min(engine.most_lines);
        let search = Search { depth: self.depth, lines, only: &[], until: None };
        let (_, found) = engine.search(position, &search)?;
        let score = |i: usize| f64::from(found[i].score.centipawns().unwrap_or(0));
        let weights: Vec<f64> =
            (0..found.len()).map(|i| ((score(i) - score(0)) / SPREAD).exp()).collect();
        let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        Ok(found[drawn.unwrap_or(0)].mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_balanced_at_any_moment_in_an_order_of_their_own() {
        let opening = |i: usize| Opening { name: i.to_string(), moves: vec![] };
        let openings: Vec<Opening> = (0..7).map(opening).collect();
        let games = SelfPlay { openings, positions: 70, seed: 3, depth: 1 };
        let names: Vec<&str> = (0..70).map(|i| games.opening(i).name.as_str()).collect();
        for end in 1..=70 {
            let times = |name: &str| names[..end].iter().filter(|&&n| n == name).count();
            let counts: Vec<usize> = (0..7).map(|i| times(&i.to_string())).collect();
            let (least, most) = (counts.iter().min(), counts.iter().max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{counts:?}");
        }
        assert_ne!(names[..7], names[7..14]);
        let other = SelfPlay { seed: 4, ..games.clone() };
        assert!((0..70).any(|i| other.opening(i).name != games.opening(i).name));
    }
}
