//! The safety check: what the opponent's forcing replies cost a candidate.
use shakmaty::{Chess, Move, Position as _};

use super::{choice::order, glance::pass};
use crate::exchange::{PAWN, balance, exchanges, reaches};

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
    let floor = kept - MAX_DROP;
    let mut worst = Drop::default();
    // In an order of their own, so that of equal replies the same one is told everywhere.
    let mut replies = after.legal_moves();
    replies.sort_unstable_by_key(|&mv| order(mv));
    for reply in replies {
        let mut next = after.clone();
        next.play_unchecked(reply);
        if worst.points == MAX_DROP {
            break;
        }
        if !is_forcing(after, reply, &next) {
            continue;
        }
        if let Some(value) = answer_below(&next, kept - worst.points) {
            worst = Drop { points: kept - value.max(floor), reply: Some(reply) };
        }
    }
    worst
}

/// Captures, checks, and threats: moves after which the opponent could win material by an
/// exchange if we passed.
fn is_forcing(after: &Chess, reply: Move, next: &Chess) -> bool {
    reply.is_capture() || reply.is_promotion() || next.is_check() || {
        let own = balance(after);
        pass(next).is_some_and(|passed| reaches(&passed, own + 1))
    }
}

/// The best balance the side to move reaches with any move and the exchanges after it, if it is
/// below `bound`; `None` as soon as one move holds the bound.
fn answer_below(position: &Chess, bound: i32) -> Option<i32> {
    let mut best = None;
    for mv in position.legal_moves() {
        let mut next = position.clone();
        next.play_unchecked(mv);
        if !reaches(&next, 1 - bound) {
            return None;
        }
        best = best.max(Some(-exchanges(&next)));
    }
    match best {
        Some(value) => Some(value),
        None if position.is_check() => Some(i32::MIN / 2),
        // Stalemate: the game is drawn, which is as good as an even balance.
        None => (0 < bound).then_some(0),
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
