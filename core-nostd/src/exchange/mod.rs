//! Material and exchanges: `x_q`, what a move gains or loses once all captures are played out.
//!
//! The exchange search is a quiescence search over captures on every square, which either side
//! may stop at any point. Material is counted in points, a pawn being 100.
mod search;

use shakmaty::{Chess, Move, Position as _, Role};

use crate::{budget::Budget, position::after, scene::Scene};
use search::Search;

/// A pawn, in points: the unit of every score.
pub const PAWN: i32 = 100;
/// Positions that one exchange search looks at before every side stops where it is. Positions
/// from games need four in the median, 121 in one of a hundred searches, and some thousands at
/// most; composed ones with a dozen queens would need millions, and a board must answer those
/// too. Counted, not timed, so that every machine stops alike.
pub(crate) const NODES: u32 = 10_000;

/// Value of a piece in points: P 100, N 300, B 300, R 500, Q 900, and nothing for the king.
pub const fn piece_points(role: Role) -> i32 {
    match role {
        Role::Pawn => PAWN,
        Role::Knight | Role::Bishop => 300,
        Role::Rook => 500,
        Role::Queen => 900,
        Role::King => 0,
    }
}

/// Material of the side to move minus the other side's, in points.
pub fn balance(position: &Chess) -> i32 {
    let material = position.board().material();
    let points = |color| -> i32 {
        material
            .get(color)
            .zip_role()
            .into_iter()
            .map(|(role, count)| piece_points(role) * i32::from(count))
            .sum()
    };
    points(position.turn()) - points(!position.turn())
}

/// What a capture or promotion changes in the mover's balance at once, in points.
pub fn immediate_gain(mv: Move) -> i32 {
    let promotion = mv.promotion().map_or(0, |role| piece_points(role) - PAWN);
    mv.capture().map_or(0, piece_points) + promotion
}

/// Whether the side to move gains at least `needed` points by captures.
pub(crate) fn gains(scene: &Scene, needed: i32, budget: &Budget) -> bool {
    if needed <= 0 {
        return true;
    }
    let nodes = NODES.min(budget.left());
    let mut search = Search::new(scene.place.clone(), nodes);
    let gains = match scene.passed_over {
        Some(square) => search.gains_in_passing(scene.turn, needed, square),
        None => search.gains(scene.turn, needed),
    };
    budget.take(nodes - search.nodes());
    if search.nodes() == 0 {
        budget.fall_short();
    }
    gains
}

/// What the side to move gains by captures, in points, as far as it lies between `least` and
/// `most`, both multiples of a pawn: `least` stands for less, `most` for more.
pub(crate) fn gained(scene: &Scene, least: i32, most: i32, budget: &Budget) -> i32 {
    let (mut held, mut beyond) = (least, most + PAWN);
    // In most scenes there is nothing to gain, so that is asked first.
    let mut next = least + PAWN;
    while held + PAWN < beyond {
        if gains(scene, next, budget) {
            held = next;
        } else {
            beyond = next;
        }
        next = (held + beyond) / 2 / PAWN * PAWN;
    }
    held
}

/// What the side to move gains by captures, in points.
pub(crate) fn gain(scene: &Scene, budget: &Budget) -> i32 {
    gained(scene, 0, search::MOST, budget)
}

/// Best balance, in points, that the side to move reaches by captures on any square, either
/// side stopping when it likes.
pub fn exchanges(position: &Chess) -> i32 {
    exchanges_within(position, &Budget::unlimited())
}

/// [`exchanges`], as far as the budget allows.
pub(crate) fn exchanges_within(position: &Chess, budget: &Budget) -> i32 {
    balance(position) + gain(&Scene::new(position), budget)
}

/// Whether the side to move reaches a balance of at least `points` by exchanges. Cheaper than
/// [`exchanges`].
pub fn reaches(position: &Chess, points: i32) -> bool {
    reaches_within(position, points, &Budget::unlimited())
}

/// [`reaches`], as far as the budget allows.
pub(crate) fn reaches_within(position: &Chess, points: i32, budget: &Budget) -> bool {
    gains(&Scene::new(position), points - balance(position), budget)
}

/// The full exchange outcome of a move, in points: the balance the mover keeps after the move
/// and the exchanges that follow, minus the balance before.
pub fn x_q(position: &Chess, mv: Move) -> i32 {
    -exchanges(&after(position, mv)) - balance(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{parse_fen, parse_move};

    fn outcome(fen: &str, uci: &str) -> i32 {
        let (position, mv) = parse_move(fen, uci);
        x_q(&position, mv)
    }

    #[test]
    fn positions_worked_out_by_hand() {
        for (why, fen, uci, points) in [
            ("a hanging knight is won", "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", 300),
            ("rook takes defended knight", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", -200),
            ("the rook behind sees through", "3rk3/8/8/3n4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 300),
            ("rook takes twice defended", "3rk3/8/4p3/3n4/8/8/3R4/3RK3 w - - 0 1", "d2d5", -200),
            (
                "two loose pieces: saving one leaves the other",
                "4k3/8/8/8/2p3p1/1N3N2/8/4K3 w - - 0 1",
                "b3a1",
                -300,
            ),
            (
                "a capture elsewhere pays for part of the loose piece",
                "4k3/8/8/8/2p3p1/1N1N4/8/4K3 w - - 0 1",
                "d3e5",
                -200,
            ),
            ("a pinned pawn cannot retake", "4k3/4p3/3n4/8/8/8/3R4/K3R3 w - - 0 1", "d2d6", 300),
            ("en passant wins a pawn", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 100),
            ("promotion by capture", "3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8q", 400),
            ("promotion, then lost", "3rk3/4P3/8/8/8/8/8/K7 w - - 0 1", "e7d8q", 400),
            ("a quiet move", "4k3/8/8/8/8/8/3R4/4K3 w - - 0 1", "d2d4", 0),
        ] {
            assert_eq!(outcome(fen, uci), points, "{why}: {fen} {uci}");
        }
    }

    #[test]
    fn the_null_window_agrees_with_the_full_search() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let position = parse_fen(fen).unwrap();
        let exact = exchanges(&position);
        assert!(reaches(&position, exact));
        assert!(!reaches(&position, exact + 1));
    }

    #[test]
    fn a_composed_position_is_answered_too() {
        let fen = "q2k2q1/2nqn2b/1n1P1n1b/2rnr2Q/1NQ1QN1Q/3Q3B/2RQR2B/Q2K2Q1 w - - 0 1";
        let position = parse_fen(fen).unwrap();
        let budget = Budget::unlimited();
        gains(&Scene::new(&position), PAWN, &budget);
        assert_eq!(u32::MAX - budget.left(), NODES, "alone it looks at hundreds of thousands");
        assert!(budget.fell_short());
    }
}
