//! The legal moves of a position, in lists that cannot overflow.
//!
//! [`shakmaty`] has the rules, and lists that panic where they are full. They never are, but no
//! compiler can know; what is written here is the same moves in the same order, and the firmware's
//! linker proves that no panic is left.
use heapless::Vec;
use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, File, Move, Position as _, Rank, Role, Square, attacks,
    uci::UciMove,
};

use crate::{
    moves::{MAX_LEGAL, destination, en_passant_victim},
    placement::squares,
};

/// Moves of a position: more than [`MAX_LEGAL`] are left out, and no position has more.
pub type Moves = Vec<Move, MAX_LEGAL>;

/// What a pawn may become, in the order of the list.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// The legal moves.
pub fn moves(position: &Chess) -> Moves {
    let mut moves = Moves::new();
    each(position, Bitboard::FULL, push_to(&mut moves));
    moves
}

/// Hands the legal moves to `take`: in their order, without a list of them.
pub fn for_each(position: &Chess, take: impl FnMut(Move)) {
    each(position, Bitboard::FULL, take);
}

/// The legal moves that take something.
pub fn captures(position: &Chess) -> Moves {
    let mut moves = Moves::new();
    each(position, position.them(), push_to(&mut moves));
    moves
}

/// Adds moves as far as there is room.
fn push_to(moves: &mut Moves) -> impl FnMut(Move) {
    |mv| {
        let _ = moves.push(mv);
    }
}

/// The pawns that may take in passing, and the square they arrive on.
pub fn en_passant(position: &Chess) -> Option<(Bitboard, Square)> {
    let (board, us) = (position.board(), position.turn());
    let (to, king) = (position.maybe_ep_square()?, board.king_of(us)?);
    let pawns = board.pawns() & position.us() & attacks::pawn_attacks(!us, to);
    let is_safe = |&from: &Square| {
        let taken = en_passant_victim(from, to);
        let occupied = board.occupied().toggled(from).toggled(taken).with(to);
        board.attacks_to(king, !us, occupied).without(taken).is_empty()
    };
    let pawns: Bitboard = squares(pawns).filter(is_safe).collect();
    pawns.any().then_some((pawns, to))
}

/// The legal move of these squares; castling is named by the king's two steps or by the rook.
pub fn named(position: &Chess, uci: &UciMove) -> Option<Move> {
    let UciMove::Normal { from, to, promotion } = *uci else { return None };
    let mut found = None;
    for_each(position, |mv| {
        let is_there = destination(mv) == to || mv.to() == to && mv.is_castle();
        if mv.from() == Some(from) && is_there && mv.promotion() == promotion {
            found = Some(mv);
        }
    });
    found
}

/// Whether there is a legal move.
pub fn any(position: &Chess) -> bool {
    let mut any = false;
    for_each(position, |_| any = true);
    any
}

/// Whether the side to move is mated.
pub fn is_checkmate(position: &Chess) -> bool {
    position.is_check() && !any(position)
}

/// Hands over the legal moves that arrive on `wanted`, and those that take in passing.
#[inline(never)] // one copy in flash of what moves a taker gets
fn each(position: &Chess, wanted: Bitboard, mut take: impl FnMut(Move)) {
    let (board, us) = (position.board(), position.turn());
    // A legal position has a king.
    let Some(king) = board.king_of(us) else { return };
    let (ours, theirs) = (board.by_color(us), board.by_color(!us));
    let wanted = wanted & !ours;
    let pinned = pinned(position, king);
    if let Some((pawns, to)) = en_passant(position) {
        squares(pawns).for_each(|from| take(Move::EnPassant { from, to }));
    }
    let mut lister = Lister { position, us, ours, theirs, king, pinned, take };
    let checkers = position.checkers();
    if checkers.is_empty() {
        lister.pieces(wanted);
        lister.king(wanted);
        if wanted.intersects(!board.occupied()) {
            lister.castling(CastlingSide::KingSide);
            lister.castling(CastlingSide::QueenSide);
        }
        return;
    }
    // The king must not step back along the line of a slider that it hides behind itself.
    let behind = squares(checkers & board.sliders())
        .fold(Bitboard::EMPTY, |all, slider| all | attacks::ray(slider, king).without(slider));
    lister.king(wanted & !behind);
    if let Some(checker) = checkers.single_square() {
        lister.pieces(wanted & attacks::between(king, checker).with(checker));
    }
}

/// Pieces that alone stand between the king of the side to move and a slider of the other.
fn pinned(position: &Chess, king: Square) -> Bitboard {
    let board = position.board();
    let lines = attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens()
        | attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens();
    squares(lines & position.them())
        .map(|slider| attacks::between(king, slider) & board.occupied())
        .filter(|between| !between.more_than_one())
        .fold(Bitboard::EMPTY, |all, between| all | between)
}

/// Finds moves and hands them over.
struct Lister<'a, T> {
    position: &'a Chess,
    us: Color,
    ours: Bitboard,
    theirs: Bitboard,
    /// The king of the side to move.
    king: Square,
    /// Pieces that may move along a line with the king alone.
    pinned: Bitboard,
    take: T,
}

impl<T: FnMut(Move)> Lister<'_, T> {
    /// The piece that a move to `square` takes.
    fn victim(&self, square: Square) -> Option<Role> {
        if self.theirs.contains(square) { self.position.board().role_at(square) } else { None }
    }

    /// Moves of the piece on `from` to those of `targets` that a pin allows.
    fn piece_moves(&mut self, role: Role, from: Square, targets: Bitboard) {
        let pinned = self.pinned.contains(from);
        let line = if pinned { attacks::ray(self.king, from) } else { Bitboard::FULL };
        for to in squares(targets & line) {
            let capture = self.victim(to);
            (self.take)(Move::Normal { role, from, capture, to, promotion: None });
        }
    }

    /// Moves to `wanted` of everything but the king.
    fn pieces(&mut self, wanted: Bitboard) {
        self.pawns(wanted);
        let board = self.position.board();
        let occupied = board.occupied();
        for from in squares(board.knights() & self.ours) {
            self.piece_moves(Role::Knight, from, attacks::knight_attacks(from) & wanted);
        }
        for from in squares(board.bishops() & self.ours) {
            self.piece_moves(Role::Bishop, from, attacks::bishop_attacks(from, occupied) & wanted);
        }
        for from in squares(board.rooks() & self.ours) {
            self.piece_moves(Role::Rook, from, attacks::rook_attacks(from, occupied) & wanted);
        }
        for from in squares(board.queens() & self.ours) {
            self.piece_moves(Role::Queen, from, attacks::queen_attacks(from, occupied) & wanted);
        }
    }

    fn pawns(&mut self, wanted: Bitboard) {
        let board = self.position.board();
        let pawns = board.pawns() & self.ours;
        let west = (pawns & !Bitboard::from_file(File::A), self.us.fold_wb(7, -9));
        let east = (pawns & !Bitboard::from_file(File::H), self.us.fold_wb(9, -7));
        for (pawns, step) in [west, east] {
            self.pawns_arrive(pawns.shift(step) & self.theirs & wanted, step);
        }
        let step = self.us.fold_wb(8, -8);
        let once = pawns.shift(step) & !board.occupied();
        self.pawns_arrive(once & wanted, step);
        let fourth = Bitboard::from_rank(self.us.fold_wb(Rank::Fourth, Rank::Fifth));
        self.pawns_arrive(once.shift(step) & fourth & !board.occupied() & wanted, 2 * step);
    }

    /// Moves of pawns that arrive on `targets` from so many squares before; promotions last.
    fn pawns_arrive(&mut self, targets: Bitboard, step: i32) {
        for to in squares(targets & !Bitboard::BACKRANKS) {
            if let Some(from) = to.offset(-step) {
                self.piece_moves(Role::Pawn, from, Bitboard::from_square(to));
            }
        }
        for to in squares(targets & Bitboard::BACKRANKS) {
            let Some(from) = to.offset(-step) else { continue };
            if self.pinned.contains(from) && !attacks::ray(self.king, from).contains(to) {
                continue;
            }
            let capture = self.victim(to);
            for role in PROMOTIONS {
                let promotion = Some(role);
                (self.take)(Move::Normal { role: Role::Pawn, from, capture, to, promotion });
            }
        }
    }

    fn king(&mut self, wanted: Bitboard) {
        let (board, from) = (self.position.board(), self.king);
        for to in squares(attacks::king_attacks(from) & wanted) {
            if board.attacks_to(to, !self.us, board.occupied()).is_empty() {
                self.piece_moves(Role::King, from, Bitboard::from_square(to));
            }
        }
    }

    fn castling(&mut self, side: CastlingSide) {
        let (board, us, king) = (self.position.board(), self.us, self.king);
        let castles = self.position.castles();
        let Some(rook) = castles.rook(us, side) else { return };
        let occupied = board.occupied();
        if occupied.intersects(castles.path(us, side)) {
            return;
        }
        let attacked = |square, occupied| board.attacks_to(square, !us, occupied).any();
        let to = side.king_to(us);
        let moved = occupied ^ king ^ rook ^ side.rook_to(us);
        let mut path = squares(attacks::between(king, to).with(king));
        if !attacked(to, moved) && !path.any(|square| attacked(square, occupied ^ king)) {
            (self.take)(Move::Castle { king, rook });
        }
    }
}
