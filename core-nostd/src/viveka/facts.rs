//! What a player sees at a glance of a position: who attacks what.
use shakmaty::{Bitboard, Board, Chess, Color, File, Position as _, Rank, Role, Square, attacks};

use crate::exchange::piece_points;

/// Phase of the opening position; see [`phase`].
pub const FULL_PHASE: i32 = 24;

/// Game phase from the pieces left: 24 with all of them (middlegame), 0 with none (endgame).
/// A minor piece counts one, a rook two, a queen four, as Fruit introduced it.
pub fn phase(board: &Board) -> i32 {
    let minors = (board.knights() | board.bishops()).count();
    let total = minors + 2 * board.rooks().count() + 4 * board.queens().count();
    FULL_PHASE.min(total as i32)
}

/// One side's pieces and the squares they attack.
#[derive(Debug, Clone)]
pub struct Side {
    /// Whose facts these are.
    pub color: Color,
    /// All pieces of the side.
    pub pieces: Bitboard,
    /// Its king's square.
    pub king: Square,
    /// Squares attacked by at least one piece of each role, indexed by `role as usize - 1`.
    attacks_by: [Bitboard; 6],
    /// Squares attacked by anything.
    pub attacks: Bitboard,
    /// Squares that knights, bishops, rooks and queens attack, counted with multiplicity and
    /// without squares that the side itself occupies.
    pub mobility: i32,
}

impl Side {
    /// Looks at `board` from `color`'s side.
    pub fn new(board: &Board, color: Color, king: Square) -> Side {
        let pieces = board.by_color(color);
        let mut side = Side {
            color,
            pieces,
            king,
            attacks_by: [Bitboard::EMPTY; 6],
            attacks: Bitboard::EMPTY,
            mobility: 0,
        };
        for square in pieces {
            let Some(role) = board.role_at(square) else { continue };
            let reach = board.attacks_from(square);
            side.attacks_by[role as usize - 1] |= reach;
            side.attacks |= reach;
            if !matches!(role, Role::Pawn | Role::King) {
                side.mobility += (reach & !pieces).count() as i32;
            }
        }
        side
    }

    /// Squares attacked by the side's pieces of this role.
    pub fn attacks_by(&self, role: Role) -> Bitboard {
        self.attacks_by[role as usize - 1]
    }

    /// Squares attacked by a piece worth less than `role`.
    pub fn attacks_by_less(&self, role: Role) -> Bitboard {
        Role::ALL
            .into_iter()
            .filter(|&r| r != Role::King && piece_points(r) < piece_points(role))
            .fold(Bitboard::EMPTY, |all, r| all | self.attacks_by(r))
    }

    /// Squares next to the king, and its own.
    pub fn king_ring(&self) -> Bitboard {
        attacks::king_attacks(self.king) | self.king
    }
}

/// Both sides of one position, seen by one of them.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The player whose move is being judged.
    pub us: Side,
    /// The opponent.
    pub them: Side,
    /// Their pieces that could simply be taken: attacked by something cheaper, or undefended.
    pub their_loose: Bitboard,
    /// Our pieces that could simply be taken.
    pub our_loose: Bitboard,
}

impl Facts {
    /// Looks at a position from `us`'s side, whoever is to move.
    pub fn new(position: &Chess, us: Color) -> Facts {
        let board = position.board();
        // A legal position has both kings; a1 never stands in for one.
        let king = |color| board.king_of(color).unwrap_or(Square::A1);
        let (us, them) = (Side::new(board, us, king(us)), Side::new(board, !us, king(!us)));
        let their_loose = loose(board, &them, &us);
        let our_loose = loose(board, &us, &them);
        Facts { us, them, their_loose, our_loose }
    }
}

/// Pieces of `side` that `enemy` attacks with something cheaper, or that nothing defends.
fn loose(board: &Board, side: &Side, enemy: &Side) -> Bitboard {
    let attacked = side.pieces & enemy.attacks & !board.kings();
    let undefended = attacked & !side.attacks;
    Role::ALL
        .into_iter()
        .map(|role| board.by_role(role) & attacked & enemy.attacks_by_less(role))
        .fold(undefended, |all, squares| all | squares)
}

/// Knights, bishops, rooks and queens.
pub fn officers(board: &Board) -> Bitboard {
    board.occupied() & !board.pawns() & !board.kings()
}

/// Value in points of the dearest piece on `squares`, kings not counted; 0 where there is none.
pub fn dearest(board: &Board, squares: Bitboard) -> i32 {
    squares.into_iter().filter_map(|s| board.role_at(s)).map(piece_points).max().unwrap_or(0)
}

/// Pieces of `color` that alone stand between `target`, a square of that color, and an enemy
/// among `snipers`.
pub fn pinned(board: &Board, target: Square, color: Color, snipers: Bitboard) -> Bitboard {
    let lines = attacks::rook_attacks(target, Bitboard::EMPTY) & board.rooks_and_queens()
        | attacks::bishop_attacks(target, Bitboard::EMPTY) & board.bishops_and_queens();
    (lines & snipers & board.by_color(!color))
        .into_iter()
        .map(|sniper| attacks::between(target, sniper) & board.occupied())
        .filter(|between| between.count() == 1 && between.is_subset(board.by_color(color)))
        .fold(Bitboard::EMPTY, |all, piece| all | piece)
}

/// Rank counted from `color`'s side, 0 to 7.
pub fn relative_rank(square: Square, color: Color) -> i32 {
    color.fold_wb(square.rank(), square.rank().flip_vertical()).to_u32() as i32
}

/// Rank number `rank` (0 to 7) of `color` as a set of squares.
pub fn rank_of(rank: u32, color: Color) -> Bitboard {
    let rank = Rank::new(rank);
    Bitboard::from_rank(color.fold_wb(rank, rank.flip_vertical()))
}

/// Files next to `file`, without it.
pub fn neighbours(file: File) -> Bitboard {
    [-1, 1]
        .into_iter()
        .filter_map(|step| file.offset(step))
        .fold(Bitboard::EMPTY, |all, f| all | Bitboard::from_file(f))
}

/// Squares on ranks ahead of `square` for `color`, on all files.
pub fn ahead(square: Square, color: Color) -> Bitboard {
    let own = relative_rank(square, color);
    (0..8).filter(|&r| r as i32 > own).fold(Bitboard::EMPTY, |all, r| all | rank_of(r, color))
}

/// Whether a pawn of `color` on `square` is passed: no enemy pawn ahead on its own or a
/// neighbouring file.
pub fn is_passed(board: &Board, square: Square, color: Color) -> bool {
    let lanes = Bitboard::from_file(square.file()) | neighbours(square.file());
    (board.pawns() & board.by_color(!color) & lanes & ahead(square, color)).is_empty()
}

/// Passed pawns of `color`.
pub fn passed(board: &Board, color: Color) -> Bitboard {
    let pawns = board.pawns() & board.by_color(color);
    pawns.into_iter().filter(|&square| is_passed(board, square, color)).collect()
}

/// The square before a pawn of `color` on `square`; `None` on the last rank.
pub fn stop(square: Square, color: Color) -> Option<Square> {
    square.offset(color.fold_wb(8, -8))
}

/// Squares that pawns of `color` attack.
pub fn pawn_attacks(board: &Board, color: Color) -> Bitboard {
    let pawns = board.pawns() & board.by_color(color);
    pawns.into_iter().fold(Bitboard::EMPTY, |all, s| all | attacks::pawn_attacks(color, s))
}

/// Doubled and isolated pawns of `color`, each counted once a fault.
pub fn pawn_faults(board: &Board, color: Color) -> i32 {
    let pawns = board.pawns() & board.by_color(color);
    let doubled: i32 = (0..8)
        .map(|f| (pawns & Bitboard::from_file(File::new(f))).count() as i32)
        .map(|count| (count - 1).max(0))
        .sum();
    let isolated =
        pawns.into_iter().filter(|square| (pawns & neighbours(square.file())).is_empty()).count();
    doubled + isolated as i32
}

/// How close to the centre a square lies: 0 in the corners, 6 on d4, e4, d5, e5.
pub fn centrality(square: Square) -> i32 {
    let toward = |c: u32| c.min(7 - c) as i32;
    toward(square.file().to_u32()) + toward(square.rank().to_u32())
}
