//! Where the pieces stand, and nothing else: cheap answers to "who attacks this square?" on a
//! 32-bit processor. Moves are played without asking whether they are legal; that is
//! [`shakmaty`]'s part.
use shakmaty::{Bitboard, Board, CastlingSide, Color, File, Move, Role, Square, attacks};

use crate::moves::en_passant_victim;

/// Squares on a rook's lines from each square of an empty board.
static ROOK_LINES: [Bitboard; 64] = lines(Role::Rook);
/// Squares on a bishop's lines from each square of an empty board.
static BISHOP_LINES: [Bitboard; 64] = lines(Role::Bishop);
/// From each square on, all squares up to h8.
static UPWARD: [Bitboard; 64] = upward();

const fn lines(role: Role) -> [Bitboard; 64] {
    let mut table = [Bitboard::EMPTY; 64];
    let mut index = 0;
    while index < 64 {
        let square = Square::new(index);
        table[index as usize] = attacks::attacks(square, role.of(Color::White), Bitboard::EMPTY);
        index += 1;
    }
    table
}

const fn upward() -> [Bitboard; 64] {
    let mut table = [Bitboard::EMPTY; 64];
    let mut index = 0;
    while index < 64 {
        table[index] = Bitboard(!0 << index);
        index += 1;
    }
    table
}

/// The pieces of both sides by square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Squares of each role, both sides', indexed by `role as usize - 1`.
    roles: [Bitboard; 6],
    /// Squares of each side, indexed by `color as usize`.
    colors: [Bitboard; 2],
}

impl Placement {
    /// The pieces of `board`.
    pub fn new(board: &Board) -> Placement {
        Placement {
            roles: Role::ALL.map(|role| board.by_role(role)),
            colors: [board.black(), board.white()],
        }
    }

    /// Squares of this role, both sides'.
    #[inline]
    pub const fn role(&self, role: Role) -> Bitboard {
        self.roles[role as usize - 1]
    }

    /// Squares of this side.
    #[inline]
    pub const fn color(&self, color: Color) -> Bitboard {
        self.colors[color as usize]
    }

    /// All pieces.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// Pieces of `color` that attack `square`, on which a piece stands.
    pub fn attackers(&self, square: Square, color: Color) -> Bitboard {
        let (mut attackers, far) = self.candidates(square, color);
        for from in squares(far) {
            if !self.is_blocked(square, from) {
                attackers.add(from);
            }
        }
        attackers
    }

    /// Whether a piece of `color` attacks `square`, on which a piece stands.
    pub fn is_attacked(&self, square: Square, color: Color) -> bool {
        let (near, far) = self.candidates(square, color);
        near.any() || squares(far).any(|from| !self.is_blocked(square, from))
    }

    /// Pawns, knights and kings of `color` that attack `square`, and its sliders that would if
    /// nothing stood between.
    #[inline]
    fn candidates(&self, square: Square, color: Color) -> (Bitboard, Bitboard) {
        let [pawns, knights, bishops, rooks, queens, kings] = self.roles;
        let near = attacks::pawn_attacks(!color, square) & pawns
            | attacks::knight_attacks(square) & knights
            | attacks::king_attacks(square) & kings;
        let far = ROOK_LINES[square as usize] & (rooks | queens)
            | BISHOP_LINES[square as usize] & (bishops | queens);
        (near & self.color(color), far & self.color(color))
    }

    /// Those of `targets`, squares of pieces, that pieces of `color` attack.
    pub fn attacked(&self, color: Color, targets: Bitboard) -> Bitboard {
        if targets.is_empty() {
            return targets;
        }
        let own = self.color(color);
        let [pawns, knights, bishops, rooks, queens, kings] = self.roles;
        let mut near = pawn_reach(pawns & own, color);
        for square in squares(knights & own) {
            near |= attacks::knight_attacks(square);
        }
        for square in squares(kings & own) {
            near |= attacks::king_attacks(square);
        }
        let mut attacked = near & targets;
        for from in squares((bishops | queens) & own) {
            for square in squares(BISHOP_LINES[from as usize] & targets & !attacked) {
                if !self.is_blocked(from, square) {
                    attacked.add(square);
                }
            }
        }
        for from in squares((rooks | queens) & own) {
            for square in squares(ROOK_LINES[from as usize] & targets & !attacked) {
                if !self.is_blocked(from, square) {
                    attacked.add(square);
                }
            }
        }
        attacked
    }

    /// Whether a piece stands between two squares on a line; not if they are on none.
    pub fn is_obstructed(&self, a: Square, b: Square) -> bool {
        (attacks::between(a, b) & self.occupied()).any()
    }

    /// Whether a piece stands between two occupied squares on a line.
    #[inline]
    fn is_blocked(&self, a: Square, b: Square) -> bool {
        // From the lower of the two up to, not including, the higher.
        let stretch = UPWARD[a as usize] ^ UPWARD[b as usize];
        (attacks::ray(a, b) & stretch & self.occupied()).more_than_one()
    }

    /// Whether `color`'s king is attacked.
    #[inline]
    pub fn is_check(&self, color: Color) -> bool {
        let king = (self.role(Role::King) & self.color(color)).first();
        king.is_some_and(|king| self.is_attacked(king, !color))
    }

    /// Moves `color`'s piece of this role; the square arrived on must be free of its own side.
    #[inline]
    fn shift(&mut self, color: Color, role: Role, from: Square, to: Square) {
        let both = Bitboard::from_square(from) | to;
        self.roles[role as usize - 1] ^= both;
        self.colors[color as usize] ^= both;
    }

    /// Puts a piece on an empty square, or takes it off again.
    #[inline]
    fn toggle(&mut self, color: Color, role: Role, square: Square) {
        // Every role has its place; the compiler does not always see it.
        if let Some(pieces) = self.roles.get_mut(role as usize - 1) {
            pieces.toggle(square);
        }
        self.colors[color as usize].toggle(square);
    }

    /// Plays `color`'s capture and tells whether its king is safe; [`Placement::take_back`] undoes
    /// it.
    #[inline(never)] // keeps the exchange search's frame small
    pub fn capture(&mut self, color: Color, capture: Capture) -> bool {
        self.toggle_capture(color, capture);
        !self.is_check(color)
    }

    /// Undoes a capture.
    #[inline(never)] // as above
    pub fn take_back(&mut self, color: Color, capture: Capture) {
        self.toggle_capture(color, capture);
    }

    /// Plays a capture on the board without it, or takes it back.
    #[inline]
    fn toggle_capture(&mut self, color: Color, capture: Capture) {
        let Capture { role, from, to, victim, becomes } = capture;
        self.toggle(!color, victim, to);
        self.shift(color, role, from, to);
        if role != becomes {
            let landed = Bitboard::from_square(to);
            self.roles[role as usize - 1] ^= landed;
            self.roles[becomes as usize - 1] ^= landed;
        }
    }

    /// Plays `color`'s `mv`, a legal move.
    pub fn play(&mut self, color: Color, mv: Move) {
        match mv {
            Move::Normal { role, from, capture, to, promotion } => {
                if let Some(victim) = capture {
                    self.toggle(!color, victim, to);
                }
                self.toggle(color, role, from);
                self.toggle(color, promotion.unwrap_or(role), to);
            }
            Move::EnPassant { from, to } => {
                self.toggle(!color, Role::Pawn, en_passant_victim(from, to));
                self.shift(color, Role::Pawn, from, to);
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_queen_side(rook < king);
                let home = king.rank();
                self.toggle(color, Role::Rook, rook);
                self.toggle(color, Role::King, king);
                self.toggle(color, Role::Rook, Square::from_coords(side.rook_to_file(), home));
                self.toggle(color, Role::King, Square::from_coords(side.king_to_file(), home));
            }
            // Standard chess has no drops.
            Move::Put { role, to } => self.toggle(color, role, to),
        }
    }
}

/// Squares that pawns of `color` attack.
#[inline]
fn pawn_reach(pawns: Bitboard, color: Color) -> Bitboard {
    let (west, east) =
        (pawns & !Bitboard::from_file(File::A), pawns & !Bitboard::from_file(File::H));
    match color {
        Color::White => west.shift(7) | east.shift(9),
        Color::Black => west.shift(-9) | east.shift(-7),
    }
}

/// The squares of a set, lowest first. On a 32-bit processor half the cost of
/// [`Bitboard`]'s own iterator, which looks at both halves each time.
#[derive(Debug, Clone)]
pub struct Squares {
    low: u32,
    high: u32,
}

/// Goes through `set`.
#[inline]
pub const fn squares(set: Bitboard) -> Squares {
    Squares { low: set.0 as u32, high: (set.0 >> 32) as u32 }
}

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        if self.low != 0 {
            let index = self.low.trailing_zeros();
            self.low &= self.low - 1;
            Some(Square::new(index))
        } else if self.high != 0 {
            let index = self.high.trailing_zeros();
            self.high &= self.high - 1;
            Some(Square::new(32 + index))
        } else {
            None
        }
    }
}

/// A capture other than en passant.
#[derive(Debug, Clone, Copy)]
pub struct Capture {
    /// The capturing piece.
    pub role: Role,
    /// Where it comes from.
    pub from: Square,
    /// Where the victim stands.
    pub to: Square,
    /// What is taken.
    pub victim: Role,
    /// What the capturing piece is afterwards: itself, or what a pawn is promoted to.
    pub becomes: Role,
}

impl Capture {
    /// Stands where no capture has been chosen yet.
    pub const NONE: Capture = Capture {
        role: Role::King,
        from: Square::A1,
        to: Square::A1,
        victim: Role::King,
        becomes: Role::King,
    };

    /// Chooses the piece that captures; a pawn is promoted to a queen first.
    #[inline]
    pub fn start(&mut self, role: Role, from: Square) {
        let promotes = role == Role::Pawn && Bitboard::BACKRANKS.contains(self.to);
        self.becomes = if promotes { Role::Queen } else { role };
        (self.role, self.from) = (role, from);
    }

    /// What the pawn may be promoted to after what it is promoted to now.
    #[inline]
    pub fn next_promotion(&self) -> Option<Role> {
        match self.becomes {
            _ if self.role != Role::Pawn => None,
            Role::Queen => Some(Role::Rook),
            Role::Rook => Some(Role::Bishop),
            Role::Bishop => Some(Role::Knight),
            Role::Pawn | Role::Knight | Role::King => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::parse_fen;
    use shakmaty::Position as _;

    #[test]
    fn attacks_on_pieces_are_those_of_the_rules() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "q2k2q1/2nqn2b/1n1P1n1b/2rnr2Q/1NQ1QN1Q/3Q3B/2RQR2B/Q2K2Q1 w - - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        ] {
            let position = parse_fen(fen).unwrap();
            let (board, place) = (position.board(), Placement::new(position.board()));
            for color in Color::ALL {
                let mut attacked = Bitboard::EMPTY;
                for square in board.occupied() {
                    let attackers = board.attacks_to(square, color, board.occupied());
                    assert_eq!(place.attackers(square, color), attackers, "{fen} {square}");
                    assert_eq!(place.is_attacked(square, color), attackers.any(), "{fen} {square}");
                    attacked.set(square, attackers.any());
                }
                assert_eq!(place.attacked(color, board.occupied()), attacked, "{fen}");
            }
        }
    }

    #[test]
    fn a_capture_is_undone() {
        // The knight's capture uncovers the rook's line to the king.
        let position = parse_fen("4r1k1/8/8/2p5/4N3/8/8/4K3 w - - 0 1").unwrap();
        let mut place = Placement::new(position.board());
        let before = place.clone();
        let capture = Capture {
            role: Role::Knight,
            from: Square::E4,
            to: Square::C5,
            victim: Role::Pawn,
            becomes: Role::Knight,
        };
        assert!(!place.capture(Color::White, capture), "the king is attacked");
        assert_ne!(place, before);
        place.take_back(Color::White, capture);
        assert_eq!(place, before);
    }

    #[test]
    fn squares_are_walked_in_order() {
        let set = Bitboard::from_square(Square::H8) | Square::A1 | Square::H4 | Square::A5;
        assert!(squares(set).eq(set));
    }
}
