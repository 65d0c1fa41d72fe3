//! What several features read of one side, worked out once.
use shakmaty::{Bitboard, Board, Color, Role, Square, attacks};

use super::shapes::{beside, count, fill, forward};
use crate::viveka::facts::{Side, rank_of};

/// Weight of a piece's attack on a square of the king's ring, in attack units, by
/// `role as usize - 1`.
const RING_UNITS: [i32; 6] = [0, 2, 2, 3, 5, 0];

/// One side of a position, in the features' words.
#[derive(Debug)]
pub(super) struct Camp {
    pub color: Color,
    pub king: Square,
    pub pieces: Bitboard,
    pub pawns: Bitboard,
    pub knights: Bitboard,
    pub bishops: Bitboard,
    pub rooks: Bitboard,
    pub queens: Bitboard,
    /// Squares attacked by anything.
    pub attacks: Bitboard,
    attacks_by: [Bitboard; 6],
    /// Squares that pawns attack, or will when they have advanced.
    pub pawn_span: Bitboard,
    /// Passed pawns: no enemy pawn ahead on their own or a neighbouring file.
    pub passed: Bitboard,
    /// Whether it may still castle.
    pub may_castle: bool,
    /// Safe squares by `role as usize - 1`; see [`Camp::walk`].
    pub mobility: [i32; 6],
    /// Knights, bishops, rooks and queens with at most one safe square.
    pub stuck: i32,
    /// Attack units on the enemy king's ring.
    pub ring_units: i32,
    /// Pieces that attack that ring.
    pub ring_attackers: i32,
}

impl Camp {
    /// The camp of `side`, facing `foe`; `rights` holds the rooks that may castle.
    pub fn new(board: &Board, rights: Bitboard, side: &Side, foe: &Side) -> Camp {
        let own = |set: Bitboard| set & side.pieces;
        let pawns = own(board.pawns());
        let guarded = fill(forward(board.pawns() & foe.pieces, foe.color), foe.color);
        let mut camp = Camp {
            color: side.color,
            king: side.king,
            pieces: side.pieces,
            pawns,
            knights: own(board.knights()),
            bishops: own(board.bishops()),
            rooks: own(board.rooks()),
            queens: own(board.queens()),
            attacks: side.attacks,
            attacks_by: Role::ALL.map(|role| side.attacks_by(role)),
            pawn_span: fill(side.attacks_by(Role::Pawn), side.color),
            passed: pawns.without(guarded | beside(guarded)),
            may_castle: (rights & rank_of(0, side.color)).any(),
            mobility: [0; 6],
            stuck: 0,
            ring_units: 0,
            ring_attackers: 0,
        };
        camp.walk(board, foe);
        camp
    }

    /// Looks at each piece's reach. A square is safe for a piece when none of its own side
    /// stands there and nothing cheaper of the enemy attacks it.
    fn walk(&mut self, board: &Board, foe: &Side) {
        let near = attacks::king_attacks(foe.king) | foe.king;
        let ring = near | forward(near, foe.color);
        for (role, set) in [
            (Role::Knight, self.knights),
            (Role::Bishop, self.bishops),
            (Role::Rook, self.rooks),
            (Role::Queen, self.queens),
        ] {
            let unsafe_squares = self.pieces | foe.attacks_by_less(role);
            for square in set {
                let reach = board.attacks_from(square);
                let safe = count(reach.without(unsafe_squares));
                let hits = count(reach & ring);
                self.mobility[role as usize - 1] += safe;
                self.stuck += i32::from(safe <= 1);
                self.ring_units += RING_UNITS[role as usize - 1] * hits;
                self.ring_attackers += i32::from(hits > 0);
            }
        }
    }

    /// Squares attacked by pieces of this role.
    pub fn attacks_by(&self, role: Role) -> Bitboard {
        self.attacks_by[role as usize - 1]
    }

    /// Squares attacked by pawns.
    pub fn pawn_attacks(&self) -> Bitboard {
        self.attacks_by(Role::Pawn)
    }

    /// Knights and bishops.
    pub fn minors(&self) -> Bitboard {
        self.knights | self.bishops
    }

    /// Knights, bishops, rooks and queens.
    pub fn officers(&self) -> Bitboard {
        self.minors() | self.rooks | self.queens
    }

    /// Material in pawns: 1, 3, 3, 5, 9.
    pub fn material(&self) -> i32 {
        count(self.pawns)
            + 3 * count(self.minors())
            + 5 * count(self.rooks)
            + 9 * count(self.queens)
    }
}
