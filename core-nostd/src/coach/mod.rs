//! What a board tells its player: how good the moves of a touched man are, when to think, the best
//! move on request, and what a move just made gives away.
//!
//! All of it is on one scale: what a move loses against the best one, in points, a pawn being 100.
//! Viveka says it as the difference of its totals; a network, where there is one, by its move
//! distribution; a move's loss is then the mean of both.
mod grade;
mod level;

use core::fmt;

use heapless::Vec;
use shakmaty::{Bitboard, Chess, Move, Square};

use crate::{
    exchange::PAWN,
    legal,
    moves::destination,
    net::{Evaluation, Model},
    placement,
    viveka::{self, Analysis, Before, Candidate, Glance, LastMove, Warning, Weights},
};
use grade::loss_by_logits;
pub use grade::{Grade, Loss, MAX_LOSS};
pub use level::{Chance, Level};

/// Positions that grading a touched man's moves looks at, at most, all moves together. One costs a
/// Cortex-M4 about a thousand instructions.
const TOUCHED_POSITIONS: u32 = 5_000;
/// The most moves that a man has: a queen's 27, or a pawn's twelve promotions.
const MAN_MOVES: usize = 28;
/// What a move must lose to be warned of; a pawn of it at least must be seen to go.
pub const WARN_FROM: Loss = 200;

/// A move and what it loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graded {
    /// The move.
    pub mv: Move,
    /// What it loses.
    pub loss: Loss,
}

/// A man's moves, graded.
pub type GradedMoves = Vec<Graded, MAN_MOVES>;

/// What thinks: weights, and a network with its scratch, where there is one.
#[derive(Debug)]
pub struct Mind<'a> {
    /// Viveka's weights.
    pub weights: &'a Weights,
    /// The network, and scratch of at least
    /// [`scratch_bytes`](crate::net::scratch_bytes) for it.
    pub net: Option<(&'a Model<'a>, &'a mut [u8])>,
}

/// What is known of the position on the board.
#[derive(Debug, Clone, Default)]
pub struct Coach {
    analysis: Analysis,
    /// What the network says; without moves where there is none.
    evaluation: Evaluation,
    is_known: bool,
}

impl Coach {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The position has changed.
    pub const fn forget(&mut self) {
        self.is_known = false;
    }

    /// Whether the position was thought about.
    pub const fn is_known(&self) -> bool {
        self.is_known
    }

    /// Thinks about the position, which the move `last` led to. `done` is called several times
    /// meanwhile, for whoever has something else to do.
    #[inline(never)]
    pub fn think(
        &mut self,
        position: &Chess,
        last: Option<LastMove>,
        mind: &mut Mind<'_>,
        done: &mut dyn FnMut(),
    ) {
        viveka::analyse_into(&mut self.analysis, position, last, mind.weights, &mut |_| done());
        self.evaluation = Evaluation::default();
        if let Some((model, scratch)) = &mut mind.net {
            // A scratch that is too small leaves Viveka's word alone.
            let evaluated = model.evaluate_into(&mut self.evaluation, position, scratch);
            if evaluated.is_err() {
                self.evaluation = Evaluation::default();
            }
            done();
        }
        self.is_known = true;
    }

    /// Whether one move stands out: a position to think about.
    pub const fn is_critical(&self) -> bool {
        self.is_known && self.analysis.critical
    }

    /// The best move; `None` where there is none, or nothing was thought.
    pub fn best(&self) -> Option<Move> {
        self.analysis.candidates.first().filter(|_| self.is_known).map(|best| best.mv)
    }

    /// The move that an opponent of this level plays.
    pub fn choose(&self, level: Level, weights: &Weights, chance: &mut Chance) -> Option<Move> {
        let chosen = level.choose(&self.analysis.candidates, weights, chance);
        chosen.filter(|_| self.is_known).map(|candidate| candidate.mv)
    }

    /// Grades the moves of the man on a square of the position that was thought about.
    #[inline(never)]
    pub fn grade(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        square: Square,
        weights: &Weights,
    ) -> GradedMoves {
        let mut moves = Vec::<Move, MAN_MOVES>::new();
        legal::for_each(position, |mv| {
            if mv.from() == Some(square) {
                // No man has more.
                let _ = moves.push(mv);
            }
        });
        self.grade_moves(position, last, &moves, weights)
    }

    fn grade_moves(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        moves: &[Move],
        weights: &Weights,
    ) -> GradedMoves {
        let before = Before::new(position, last);
        let mut totals = Vec::<(Move, i32), MAN_MOVES>::new();
        let mut others = Vec::<Move, MAN_MOVES>::new();
        for &mv in moves.iter().take(MAN_MOVES) {
            // There is room in both.
            let _ = match self.candidate(mv) {
                Some(candidate) => totals.push((mv, candidate.total)).is_ok(),
                None => others.push(mv).is_ok(),
            };
        }
        viveka::examine(&before, &others, weights, TOUCHED_POSITIONS, &mut |candidate| {
            let _ = totals.push((candidate.mv, candidate.total));
        });
        let best = self.analysis.candidates.first().map_or(i32::MIN, |best| best.total);
        let best = totals.iter().fold(best, |best, &(_, total)| best.max(total));
        let loss = |&(mv, total): &(Move, i32)| Graded {
            mv,
            loss: self.with_network(mv, best.saturating_sub(total).clamp(0, MAX_LOSS)),
        };
        totals.iter().map(loss).take(MAN_MOVES).collect()
    }

    fn candidate(&self, mv: Move) -> Option<&Candidate> {
        self.analysis.candidates.iter().find(|candidate| candidate.mv == mv)
    }

    /// The mean of what Viveka says and the network, where there is one.
    fn with_network(&self, mv: Move, loss: Loss) -> Loss {
        let scored = self.evaluation.moves();
        let (Some(best), Some(own)) =
            (scored.first(), scored.iter().find(|scored| scored.mv == mv))
        else {
            return loss;
        };
        (loss + loss_by_logits(best.logit, own.logit, Evaluation::LOGIT_ONE)) / 2
    }

    /// What a move made in the position that was thought about gives away, if it is worth a
    /// warning; the position being thought about is still the one before the move.
    #[inline(never)]
    pub fn review(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        mv: Move,
        weights: &Weights,
    ) -> Option<Blunder> {
        let best = self.analysis.candidates.first().filter(|_| self.is_known)?;
        let (mut total, mut kept, mut points) = (0, 0, 0);
        let mut note = |candidate: &Candidate| {
            (total, kept, points) = (candidate.total, candidate.kept, candidate.drop.points);
        };
        match self.candidate(mv) {
            Some(candidate) => note(candidate),
            None => {
                let before = Before::new(position, last);
                viveka::examine(&before, &[mv], weights, TOUCHED_POSITIONS, &mut note);
            }
        }
        let loss = best.total.saturating_sub(total).clamp(0, MAX_LOSS);
        let loss = self.with_network(mv, loss);
        // By what is exchanged, or by what the opponent's replies win.
        let is_material = points - best.drop.points >= PAWN || best.kept - kept >= PAWN;
        let is_given_away = is_material && loss >= WARN_FROM;
        is_given_away.then_some(Blunder { mv, loss, best: Some(best.mv) })
    }
}

/// A move that gives something away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blunder {
    /// The move.
    pub mv: Move,
    /// What it loses.
    pub loss: Loss,
    /// What was better.
    pub best: Option<Move>,
}

impl Blunder {
    /// Writes why, in words: what the opponent can do, or else the weightiest reason against the
    /// move, and what was better; or that it passes that up. `position` is the one before the move.
    ///
    /// # Errors
    /// Only those of `out`.
    #[inline(never)]
    pub fn tell(
        &self,
        position: &Chess,
        last: Option<LastMove>,
        weights: &Weights,
        out: &mut impl fmt::Write,
    ) -> fmt::Result {
        write!(out, "{} loses {}.{}", viveka::notation(position, self.mv), self.loss / 100, {
            self.loss % 100 / 10
        })?;
        out.write_str(" pawns")?;
        let before = Before::new(position, last);
        let mut found = None;
        viveka::examine(&before, &[self.mv], weights, TOUCHED_POSITIONS, &mut |candidate| {
            found = Some((candidate.drop, candidate.values));
        });
        if let Some((drop, values)) = found {
            if let Some(warning) = Warning::new(position, self.mv, drop) {
                write!(out, ": {warning}")?;
            } else {
                let glance = Glance::to_explain(&before, self.mv);
                let mut parts = viveka::explain(&glance, &values, weights);
                // A move that passes up a gain has no reason of weight against itself.
                match (parts.find(|part| part.points <= -PAWN), self.best) {
                    (Some(part), _) => write!(out, ": it {part}")?,
                    (None, Some(best)) => {
                        return write!(out, ": it passes up {}", viveka::notation(position, best));
                    }
                    (None, None) => {}
                }
            }
        }
        if let Some(best) = self.best {
            write!(out, "; better {}", viveka::notation(position, best))?;
        }
        Ok(())
    }
}

/// The squares where graded moves arrive, with the best grade of each.
pub fn destinations(graded: &[Graded]) -> impl Iterator<Item = (Square, Grade)> + '_ {
    let arrivals =
        graded.iter().fold(Bitboard::EMPTY, |all, graded| all.with(destination(graded.mv)));
    placement::squares(arrivals).filter_map(|square| {
        let here = graded.iter().filter(|graded| destination(graded.mv) == square);
        Some((square, Grade::of(here.map(|graded| graded.loss).min()?)))
    })
}
