//! One record: a position, the moves played in it, and how the games ended.
use std::{fmt, str::FromStr};

use bytemuck::{Pod, Zeroable};
use kibitzer_core::{
    moves::destination,
    shakmaty::{Chess, Color, Move, Role, Square, uci::UciMove},
};

use super::packed::{NO_SQUARE, PackedPosition};

/// A position of one game, or of several that reached it: 64 bytes, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// The position, with the clocks of the first of its games.
    pub packed: PackedPosition,
    /// Hash of the start and moves of a game that reached it: equal games have equal hashes.
    pub game_hash: u64,
    /// How its games ended.
    pub outcomes: Outcomes,
    /// Where the moves played start in the file's list of them, if there are several.
    pub(super) first_choice: u32,
    /// The move played, or of several the one played most often.
    pub played: Played,
    /// How many different moves were played; below 2 they are not listed.
    pub(super) choices: u8,
    /// On which side of a split its games are: see [`Side`].
    pub(super) side: u8,
    /// Zero.
    pub(super) reserved: [u8; 3],
}

/// How many games ended how, from the mover's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Outcomes {
    /// The mover won.
    pub won: u32,
    /// Nobody did.
    pub drawn: u32,
    /// The mover lost.
    pub lost: u32,
}

impl Outcomes {
    /// One game with this result from the mover's side: 1 won, 0 drawn, −1 lost.
    pub fn one(result: i8) -> Outcomes {
        Outcomes {
            won: u32::from(result > 0),
            drawn: u32::from(result == 0),
            lost: u32::from(result < 0),
        }
    }

    /// Number of games.
    pub fn games(&self) -> u64 {
        u64::from(self.won) + u64::from(self.drawn) + u64::from(self.lost)
    }

    /// The mean result, from −1 (all lost) to 1 (all won); 0 without games.
    pub fn mean(&self) -> f64 {
        (f64::from(self.won) - f64::from(self.lost)) / self.games().max(1) as f64
    }

    pub(super) fn add(&mut self, other: Outcomes) {
        self.won = self.won.saturating_add(other.won);
        self.drawn = self.drawn.saturating_add(other.drawn);
        self.lost = self.lost.saturating_add(other.lost);
    }
}

/// On which side of a split a game is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Not decided: its hash and the share that is asked for will tell.
    Open,
    /// For training.
    Training,
    /// Held out.
    HeldOut,
}

/// A move and how often it was played: an entry of the list behind the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PlayedOften {
    /// The move.
    pub played: Played,
    /// Zero.
    pub(super) reserved: u8,
    /// In how many games.
    pub count: u32,
}

/// A move as UCI spells it: castling is the king's step of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Played {
    from: u8,
    to: u8,
    /// Role 2–5 of a promotion, else 0.
    promotion: u8,
}

impl From<Move> for Played {
    fn from(mv: Move) -> Played {
        Played {
            from: mv.from().map_or(NO_SQUARE, u8::from),
            to: destination(mv).into(),
            promotion: mv.promotion().map_or(0, u8::from),
        }
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for square in [self.from, self.to] {
            match Square::try_from(square) {
                Ok(square) => write!(f, "{square}")?,
                Err(_) => f.write_str("--")?,
            }
        }
        match Role::try_from(self.promotion) {
            Ok(role) => write!(f, "{}", role.char()),
            Err(_) => Ok(()),
        }
    }
}

impl FromStr for Played {
    type Err = ();

    fn from_str(uci: &str) -> Result<Played, ()> {
        match uci.parse() {
            Ok(UciMove::Normal { from, to, promotion }) => Ok(Played {
                from: from.into(),
                to: to.into(),
                promotion: promotion.map_or(0, u8::from),
            }),
            _ => Err(()),
        }
    }
}

impl Played {
    /// Where it stands among `legal`, a position's legal moves.
    ///
    /// # Errors
    /// [`RecordError::Move`] if it is not there.
    pub fn among(self, legal: &[Move]) -> Result<usize, RecordError> {
        legal.iter().position(|&mv| Played::from(mv) == self).ok_or(RecordError::Move)
    }
}

/// Why a record cannot be read: the file is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No legal position has this board.
    #[error("a record holds no legal position")]
    Position,
    /// The move is not legal in the position.
    #[error("a record holds a move that its position does not allow")]
    Move,
}

impl Record {
    /// Packs `position` and the move played in it after `ply` moves; outcomes and the game's hash
    /// are none.
    pub fn new(position: &Chess, played: Move, ply: usize) -> Record {
        Record::of(PackedPosition::new(position, ply), played.into(), 0)
    }

    /// A record of one move in one game of this hash, without an outcome.
    pub fn of(packed: PackedPosition, played: Played, game_hash: u64) -> Record {
        Record {
            packed,
            game_hash,
            outcomes: Outcomes::default(),
            first_choice: 0,
            played,
            choices: 1,
            side: 0,
            reserved: [0; 3],
        }
    }

    /// The same with the result of its one game from the mover's side: 1 won, 0 drawn, −1 lost.
    pub fn with_result(self, result: i8) -> Record {
        Record { outcomes: Outcomes::one(result), ..self }
    }

    /// The same on this side of a split.
    pub fn on(self, side: Side) -> Record {
        let side = match side {
            Side::Open => 0,
            Side::Training => 1,
            Side::HeldOut => 2,
        };
        Record { side, ..self }
    }

    /// Rebuilds the position, exactly as it was packed.
    ///
    /// # Errors
    /// [`RecordError::Position`] if the bytes are not those of a packed position.
    pub fn position(&self) -> Result<Chess, RecordError> {
        self.packed.unpack()
    }

    /// Who is to move.
    pub fn turn(&self) -> Color {
        self.packed.turn()
    }

    /// The side of the split that the file was made with.
    pub fn side(&self) -> Side {
        match self.side {
            1 => Side::Training,
            2 => Side::HeldOut,
            _ => Side::Open,
        }
    }

    /// Whether its games are held out of training: as the file says, or where it leaves that
    /// open, whether the game is when `share` of the games is (see [`super::is_held_out`]).
    pub fn is_held_out(&self, share: f64) -> bool {
        match self.side() {
            Side::Open => super::is_held_out(self.game_hash, share),
            side => side == Side::HeldOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{position::parse_fen, shakmaty::Position as _};

    use super::*;

    #[test]
    fn every_legal_move_is_found_again() {
        for fen in [
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "3n4/P3P2k/8/8/8/8/8/K7 w - - 0 1",
        ] {
            let position = parse_fen(fen).unwrap();
            let legal = position.legal_moves();
            for (i, &mv) in legal.iter().enumerate() {
                let record = Record::new(&position, mv, 0);
                assert_eq!(record.played.among(&legal), Ok(i), "{fen} {mv}");
            }
        }
        let nowhere = Played { from: 0, to: 63, promotion: 0 };
        assert_eq!(nowhere.among(&Chess::default().legal_moves()), Err(RecordError::Move));
    }

    #[test]
    fn outcomes_have_a_mean_from_the_mover_s_side() {
        let mut outcomes = Outcomes::one(1);
        outcomes.add(Outcomes::one(1));
        outcomes.add(Outcomes::one(0));
        outcomes.add(Outcomes::one(-1));
        assert_eq!(outcomes, Outcomes { won: 2, drawn: 1, lost: 1 });
        assert_eq!((outcomes.games(), outcomes.mean()), (4, 0.25));
        assert_eq!(Outcomes::default().mean(), 0.0);
    }
}
