//! The safety check: what the opponent's forcing replies cost a candidate.
use shakmaty::{Chess, Move, Position as _};

use super::choice::order;
use crate::{
    exchange::{PAWN, balance, gained, gains, immediate_gain},
    insertion,
    scene::Scene,
};

/// The most a candidate can drop, in points: also the price of being mated.
pub const MAX_DROP: i32 = 10 * PAWN;

/// What the worst forcing reply costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drop {
    /// Points lost beyond what the exchanges counted, from 0 to [`MAX_DROP`].
    pub points: i32,
    /// The reply that costs them, if any does.
    pub reply: Option<Move>,
}

/// The worst of the opponent's forcing replies in `after`, the position a candidate leads to.
/// `kept` is the mover's balance there by exchanges alone, in points. The mover may answer with
/// any move, followed by exchanges.
pub fn drop(after: &Chess, kept: i32) -> Drop {
    let scene = Scene::new(after);
    let even = -balance(after);
    let mut worst = Drop::default();
    // In an order of their own, so that of equal replies the same one is told everywhere.
    let mut replies = after.legal_moves();
    insertion::sort_by_key(&mut replies, |&mv| order(mv));
    for &reply in &replies {
        if worst.points == MAX_DROP {
            break;
        }
        let next = scene.after(reply);
        if !is_forcing(reply, &next) {
            continue;
        }
        let mut position = after.clone();
        position.play_unchecked(reply);
        let answers =
            Answers { position: &position, scene: &next, even: even - immediate_gain(reply) };
        if let Some(value) = answers.below(kept - worst.points, kept - MAX_DROP) {
            worst = Drop { points: kept - value, reply: Some(reply) };
        }
    }
    worst
}

/// Captures, promotions, checks, and threats: moves after which the opponent could win material
/// by an exchange if we passed.
fn is_forcing(reply: Move, next: &Scene) -> bool {
    reply.is_capture() || reply.is_promotion() || next.is_check() || gains(&next.passed(), PAWN)
}

/// The mover's answers to a reply.
struct Answers<'a> {
    position: &'a Chess,
    scene: &'a Scene,
    /// The mover's balance before answering.
    even: i32,
}

impl Answers<'_> {
    /// The best balance that an answer and the exchanges after it keep, and `floor` if it is
    /// less; `None` if it is `bound` or more.
    #[inline(never)] // the list of answers must not stay on the caller's stack
    fn below(&self, bound: i32, floor: i32) -> Option<i32> {
        let answers = self.position.legal_moves();
        if answers.is_empty() {
            // Stalemate: the game is drawn, which is as good as an even balance.
            let value = if self.position.is_check() { floor } else { 0 };
            return (value < bound).then_some(value.max(floor));
        }
        if answers.iter().any(|&mv| self.keeps(mv, bound)) {
            return None;
        }
        let better = |best: i32, &mv: &Move| {
            if self.keeps(mv, best + PAWN) {
                self.kept(mv, best + PAWN, bound - PAWN)
            } else {
                best
            }
        };
        Some(answers.iter().fold(floor, better))
    }

    /// Whether the answer and the exchanges after it keep a balance of at least `points`.
    fn keeps(&self, mv: Move, points: i32) -> bool {
        let spare = self.even + immediate_gain(mv) - points;
        spare >= 0 && !gains(&self.scene.after(mv), spare + PAWN)
    }

    /// What the answer keeps, known to lie between `least` and `most`.
    fn kept(&self, mv: Move, least: i32, most: i32) -> i32 {
        let full = self.even + immediate_gain(mv);
        full - gained(&self.scene.after(mv), (full - most).max(0), full - least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{exchange::x_q, position::parse_fen};
    use shakmaty::uci::UciMove;

    fn drop_of(fen: &str, uci: &str) -> Drop {
        let position = parse_fen(fen).unwrap();
        let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        let kept = balance(&position) + x_q(&position, mv);
        let mut after = position;
        after.play_unchecked(mv);
        drop(&after, kept)
    }

    #[test]
    fn a_knight_fork_costs_the_exchange() {
        // …Nc2+ hits the king on e1 and the rook on a1; from d1 the rook is out of reach.
        let fork = drop_of("4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1", "h3h4");
        assert_eq!(fork.points, 500);
        assert_eq!(fork.reply.map(|mv| mv.to()), Some(shakmaty::Square::C2));
        assert_eq!(drop_of("4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1", "a1d1").points, 0);
    }

    #[test]
    fn being_mated_costs_the_most() {
        let back_rank = "3r2k1/8/8/8/8/8/5PPP/6K1 w - - 0 1";
        assert_eq!(drop_of(back_rank, "g1h1").points, MAX_DROP);
        assert_eq!(drop_of(back_rank, "g2g3").points, 0);
    }
}
