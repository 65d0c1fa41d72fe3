//! The exchange on one square: what a capture sequence there is worth, without a search.
//!
//! Both sides take with their cheapest piece, lines that open behind a capturer count, and
//! either side may stop. Pins are not looked at, and a pawn that takes on the last rank stays a
//! pawn: it is the count a player makes at a glance, where [`exchange`](crate::exchange) plays
//! the captures out.
use heapless::Vec;
use shakmaty::{Bitboard, Board, Chess, Move, Piece, Position as _, Role, Square, attacks};

use crate::{
    exchange::{immediate_gain, piece_points},
    moves::destination,
    position::after,
};

/// Each capture takes one of thirty-one men that may stand there before the last.
const MAX_CAPTURES: usize = 31;

/// What the exchange on the square where `mv` lands is worth to the mover, in points: what it
/// takes, less what the opponent wins by retaking there. `mv` is a legal move of `position`.
pub fn exchange_one(position: &Chess, mv: Move) -> i32 {
    immediate_gain(mv) - hangs(after(position, mv).board(), destination(mv))
}

/// What its enemies win, in points, by taking the piece on `square` and going on there as long
/// as it pays; 0 where there is no piece, or a king.
pub fn hangs(board: &Board, square: Square) -> i32 {
    match board.piece_at(square) {
        Some(piece) if piece.role != Role::King => take(board, square, piece),
        _ => 0,
    }
}

/// What the enemies of `piece` win by taking it on `square`. In a loop, not by calling itself: the
/// depth of a chessboard's stack must not depend on the position.
fn take(board: &Board, square: Square, piece: Piece) -> i32 {
    let mut victims: Vec<i32, MAX_CAPTURES> = Vec::new();
    let (mut occupied, mut standing, mut side) = (board.occupied(), piece.role, !piece.color);
    let attackers = |side, left| board.attacks_to(square, side, left) & left;
    while let Some((from, role)) = cheapest(board, square, occupied, attackers(side, occupied)) {
        let left = occupied.without(from);
        let into_check = role == Role::King && attackers(!side, left).any();
        if into_check || victims.push(piece_points(standing)).is_err() {
            break;
        }
        (occupied, standing, side) = (left, role, !side);
    }
    // From the last capture back: each is made if it wins more than it lets the other side win.
    victims.into_iter().rev().fold(0, |lost, victim| (victim - lost).max(0))
}

/// The cheapest piece among `attackers` of `square`, the king last. Of equal pieces the one goes
/// first behind which no enemy stands, so that the count is the same on a mirrored board.
fn cheapest(
    board: &Board,
    square: Square,
    occupied: Bitboard,
    attackers: Bitboard,
) -> Option<(Square, Role)> {
    let role = Role::ALL.into_iter().find(|&role| attackers.intersects(board.by_role(role)))?;
    let equal = attackers & board.by_role(role);
    let from = match equal.single_square() {
        Some(only) => only,
        None => equal.into_iter().min_by_key(|&from| behind(board, square, from, occupied))?,
    };
    Some((from, role))
}

/// What stands behind the piece on `from`, seen from `square`: a number that tells such rows
/// apart, less without a piece of the other side near.
fn behind(board: &Board, square: Square, from: Square, occupied: Bitboard) -> u32 {
    let row = attacks::ray(square, from) & occupied;
    let row = row.into_iter().filter(|&other| attacks::between(square, other).contains(from));
    row.filter_map(|other| board.piece_at(other).map(|piece| (other, piece)))
        .map(|(other, piece)| {
            let enemy = board.color_at(from) != Some(piece.color);
            (piece.role as u32 + if enemy { 8 } else { 0 }) << (4 * (7 - square.distance(other)))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{parse_fen, parse_move};

    /// Either bishop may take, but behind one of them the enemy's bishop waits: if that one goes
    /// first, nothing is won.
    #[test]
    fn of_equal_pieces_the_one_that_opens_no_line_takes() {
        for fen in
            ["3q3k/5b2/4B3/3n4/4B3/8/8/K7 w - - 0 1", "3q3k/8/4B3/3n4/4B3/5b2/8/K7 w - - 0 1"]
        {
            let position = parse_fen(fen).unwrap();
            assert_eq!(hangs(position.board(), Square::D5), 300, "{fen}");
        }
    }

    #[test]
    fn positions_worked_out_by_hand() {
        for (why, fen, uci, points) in [
            ("a hanging knight is won", "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", 300),
            ("rook takes defended knight", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", -200),
            ("the rook behind sees through", "3rk3/8/8/3n4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 300),
            ("rook takes twice defended", "3rk3/8/4p3/3n4/8/8/3R4/3RK3 w - - 0 1", "d2d5", -200),
            ("a quiet move into a pawn's reach", "4k3/8/8/2p5/8/5N2/8/4K3 w - - 0 1", "f3d4", -300),
            ("the king retakes", "4k3/3p4/8/8/8/8/3R4/4K3 w - - 0 1", "d2d7", -400),
            ("the king cannot retake", "4k3/3p4/8/8/B7/8/3R4/4K3 w - - 0 1", "d2d7", 100),
            ("en passant wins a pawn", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 100),
            ("en passant is retaken", "4k3/2p5/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 0),
            ("promotion by capture", "3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8q", 400),
            ("castling", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 0),
            ("another loose piece is not seen", "4k3/8/8/8/2p5/1N6/8/4K3 w - - 0 1", "e1e2", 0),
        ] {
            let (position, mv) = parse_move(fen, uci);
            assert_eq!(exchange_one(&position, mv), points, "{why}: {fen} {uci}");
        }
    }
}
