//! Positions that differ by a piece, for which there is no doubt who gains by the difference.
use kibitzer_core::{
    exchange::{exchanges, piece_points},
    shakmaty::{
        Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup as _, Piece, Position as _,
        Role, Square,
    },
};

/// The kinds of pieces that come and go: all but the king.
pub const ROLES: [Role; 5] = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// The kinds of changes, as `(ours, added)`.
pub const KINDS: [(bool, bool); 4] = [(true, false), (false, false), (true, true), (false, true)];

/// A piece that comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// What it is.
    pub role: Role,
    /// Whether it is the mover's.
    pub ours: bool,
    /// Whether it comes.
    pub added: bool,
}

impl Change {
    /// Whether it is good for the mover: the value must rise, else it must fall.
    pub const fn is_good(self) -> bool {
        self.ours == self.added
    }
}

/// A position after a change of material; the side to move is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The position with the piece added or removed.
    pub position: Chess,
    /// What was changed.
    pub change: Change,
}

/// At most one case of each role from `position`, the `turn`-th that is looked at.
///
/// A case is taken if
/// - the changed position is legal and not over,
/// - the mover is not in check unless it was,
/// - the balance that the mover reaches by exchanges ([`exchanges`]) changes in favour of whom
///   the change is good for, by at least half of the piece's worth. So no piece comes where it
///   is taken at once, and none goes that was lost or stood in the way of a capture.
///
/// `turn` decides which kind of change and which square are tried first, so that all have their
/// share; the same `turn` gives the same cases.
pub fn cases(position: &Chess, turn: usize) -> Vec<Case> {
    if position.is_game_over() {
        return vec![];
    }
    let before = exchanges(position);
    let case_of = |(i, role): (usize, Role)| {
        (0..KINDS.len()).find_map(|k| {
            let (ours, added) = KINDS[(turn + i + k) % KINDS.len()];
            let change = Change { role, ours, added };
            squares(position, change, turn)
                .filter_map(|square| changed(position, change, square))
                .find(|after| is_clear(position, after, change, before))
                .map(|position| Case { position, change })
        })
    };
    ROLES.into_iter().enumerate().filter_map(case_of).collect()
}

/// The squares where the change may happen, from a square on that `turn` decides.
fn squares(position: &Chess, change: Change, turn: usize) -> impl Iterator<Item = Square> {
    let board = position.board();
    let wanted = match (change.added, change.role) {
        (false, role) => board.by_role(role) & board.by_color(owner(position, change)),
        (true, Role::Pawn) => !board.occupied() & !Bitboard::BACKRANKS,
        (true, _) => !board.occupied(),
    };
    // A step that is coprime to 64 visits every square, neighbours far apart.
    const STEP: usize = 27;
    let start = turn.wrapping_mul(0x9e37_79b9) >> 8;
    let visited = (0..64).map(move |i| Square::new(((start + i * STEP) % 64) as u32));
    visited.filter(move |&square| wanted.contains(square))
}

fn owner(position: &Chess, change: Change) -> Color {
    if change.ours { position.turn() } else { !position.turn() }
}

/// The position after the change, if it is legal.
fn changed(position: &Chess, change: Change, square: Square) -> Option<Chess> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    if change.added {
        let piece = Piece { color: owner(position, change), role: change.role };
        setup.board.set_piece_at(square, piece);
    } else {
        setup.board.discard_piece_at(square);
        setup.castling_rights.discard(square);
    }
    setup.ep_square = None;
    Chess::from_setup(setup, CastlingMode::Standard).ok()
}

/// Whether the change is good for whom it should be, and the game goes on.
fn is_clear(position: &Chess, after: &Chess, change: Change, before: i32) -> bool {
    let gained = exchanges(after) - before;
    let for_whom = if change.is_good() { gained } else { -gained };
    2 * for_whom >= piece_points(change.role)
        && !after.is_game_over()
        && (position.is_check() || !after.is_check())
}

#[cfg(test)]
mod tests {
    use kibitzer_core::position::parse_fen;

    use super::*;

    fn all(fen: &str) -> Vec<Case> {
        let position = parse_fen(fen).unwrap();
        (0..64).flat_map(|turn| cases(&position, turn)).collect()
    }

    #[test]
    fn every_role_comes_and_goes_on_either_side() {
        let start = Chess::default();
        let found: Vec<Case> = (0..64).flat_map(|turn| cases(&start, turn)).collect();
        for role in ROLES {
            for (ours, added) in KINDS {
                let change = Change { role, ours, added };
                // Sixteen pieces a side are all that a set has: in the first position none comes.
                let expected = !added;
                assert_eq!(found.iter().any(|case| case.change == change), expected, "{change:?}");
            }
        }
        let middlegame = all("r1bq1rk1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/R1BQ1RK1 w - - 0 10");
        for role in ROLES {
            for (ours, added) in KINDS {
                let change = Change { role, ours, added };
                assert!(middlegame.iter().any(|case| case.change == change), "{change:?}");
            }
        }
    }

    #[test]
    fn a_case_differs_by_its_piece_alone() {
        let fen = "r1bq1rk1/pp3ppp/2n2n2/3p4/3P4/2N2N2/PP3PPP/R1BQ1RK1 b - - 0 10";
        let position = parse_fen(fen).unwrap();
        for Case { position: after, change } in all(fen) {
            assert_eq!(after.turn(), position.turn());
            assert!(!after.is_check());
            let count = |p: &Chess| {
                (p.board().by_role(change.role) & p.board().by_color(owner(p, change))).count()
            };
            let expected = if change.added { count(&position) + 1 } else { count(&position) - 1 };
            assert_eq!(count(&after), expected);
            let occupied = [&position, &after].map(|p| p.board().occupied());
            assert_eq!((occupied[0] ^ occupied[1]).count(), 1);
        }
    }

    #[test]
    fn what_is_lost_anyway_or_wins_by_going_is_no_case() {
        // White to move takes the knight on d5 for nothing, so taking it away wins nothing.
        let hanging = "4k3/8/8/3n4/4P3/8/8/4K3 w - - 0 1";
        assert!(
            all(hanging).iter().all(|case| case.change.added || case.change.role != Role::Knight)
        );
        // White's knight stands between its rook and the queen: without it the rook takes her.
        let discovers = "3qk3/8/8/8/3N4/8/8/3RK3 w - - 0 1";
        let knight = Change { role: Role::Knight, ours: true, added: false };
        assert!(all(discovers).iter().all(|case| case.change != knight));
    }

    #[test]
    fn kings_stay_and_finished_games_have_no_case() {
        assert!(all("4k3/8/8/8/8/8/8/4K3 w - - 0 1").iter().all(|case| case.change.added));
        assert!(all("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1").is_empty());
    }
}
