//! A game: where it began, the moves since, whether it has ended.
use heapless::Deque;
use shakmaty::{Chess, Color, Move, Position as _, Role};

use crate::{fnv, legal, position::after};

/// Moves that a game remembers. Of a longer one the first are forgotten: it then counts as begun
/// later.
pub const MAX_PLIES: usize = 768;
/// Plies without capture or pawn move after which the game is drawn, claimed or not (75 moves).
const DRAWN_PLIES: u32 = 150;

/// Who made a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Maker {
    /// Somebody moved a piece, and the board saw it.
    Hand,
    /// An engine or an application named it, and the board carried it out.
    Told,
}

/// Why a game is over by the rules, without anybody's claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Ending {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move.
    Stalemate,
    /// Nobody can mate.
    InsufficientMaterial,
    /// The position is there for the fifth time.
    FivefoldRepetition,
    /// 75 moves without a capture or a pawn's move.
    SeventyFiveMoves,
}

impl Ending {
    /// What it means for the players, `turn` being the side to move.
    pub fn outcome(self, turn: Color) -> Outcome {
        match self {
            Ending::Checkmate => Outcome::Win(!turn),
            _ => Outcome::Draw,
        }
    }
}

/// How a game ends for its players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// A side has won.
    Win(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] Color),
    /// Nobody has.
    Draw,
}

impl Outcome {
    /// As PGN writes it: `1-0`, `0-1`, `1/2-1/2`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Win(Color::White) => "1-0",
            Outcome::Win(Color::Black) => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }
}

/// A move played, and what tells repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ply {
    mv: Move,
    maker: Maker,
    /// A digest of the position before it.
    before: u32,
}

/// A game from its first position on.
#[derive(Debug, Clone)]
pub struct Game {
    start: Chess,
    position: Chess,
    /// The one before the last move; the same where there is none.
    previous: Chess,
    plies: Deque<Ply, MAX_PLIES>,
}

impl Default for Game {
    fn default() -> Self {
        Self::new(Chess::default())
    }
}

impl Game {
    /// A game that begins with `start`.
    pub fn new(start: Chess) -> Self {
        Self { position: start.clone(), previous: start.clone(), start, plies: Deque::new() }
    }

    /// Begins anew with `start`, in place.
    pub fn restart(&mut self, start: Chess) {
        self.plies.clear();
        self.position = start.clone();
        self.previous = start.clone();
        self.start = start;
    }

    /// Where the remembered moves begin.
    pub const fn start(&self) -> &Chess {
        &self.start
    }

    /// The position on the board.
    pub const fn position(&self) -> &Chess {
        &self.position
    }

    /// The remembered moves, oldest first, and who made each.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = (Move, Maker)> + '_ {
        self.plies.iter().map(|ply| (ply.mv, ply.maker))
    }

    /// How many moves are remembered.
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// Plays a legal move; the first is forgotten where there is no room for one more.
    pub fn play(&mut self, mv: Move, maker: Maker) {
        if self.plies.is_full()
            && let Some(first) = self.plies.pop_front()
        {
            self.start = after(&self.start, first.mv);
        }
        let before = digest(&self.position);
        // There is room now.
        let _ = self.plies.push_back(Ply { mv, maker, before });
        let next = after(&self.position, mv);
        self.previous = core::mem::replace(&mut self.position, next);
    }

    /// Takes back so many moves, or all that are remembered if they are fewer.
    pub fn take_back(&mut self, plies: usize) {
        (0..plies.min(self.len())).for_each(|_| {
            self.plies.pop_back();
        });
        let kept = self.len().saturating_sub(1);
        let moves = self.plies.iter().take(kept);
        self.previous = moves.fold(self.start.clone(), |at, ply| after(&at, ply.mv));
        let last = self.plies.back();
        self.position = last.map_or(self.start.clone(), |ply| after(&self.previous, ply.mv));
    }

    /// The position before the last move; the present one where none is remembered.
    pub const fn previous(&self) -> &Chess {
        &self.previous
    }

    /// How many moves ago a position was on the board for which `is_it` holds, the last time it was.
    pub fn plies_since(&self, is_it: impl Fn(&Chess) -> bool) -> Option<usize> {
        let mut position = self.start.clone();
        let mut found = None;
        for (plies, ply) in (1..=self.len()).rev().zip(&self.plies) {
            if is_it(&position) {
                found = Some(plies);
            }
            position = after(&position, ply.mv);
        }
        found
    }

    /// A digest of the position, which tells positions apart as repetitions do.
    pub fn digest(&self) -> u32 {
        digest(&self.position)
    }

    /// That of the position before the last move.
    pub fn digest_before(&self) -> Option<u32> {
        self.plies.back().map(|ply| ply.before)
    }

    /// How often the position has been on the board since the last move that cannot be undone,
    /// now included.
    pub fn repetitions(&self) -> usize {
        let now = self.digest();
        let reversible = usize::try_from(self.position.halfmoves()).unwrap_or(usize::MAX);
        let before = self.plies.iter().rev().take(reversible);
        1 + before.filter(|ply| ply.before == now).count()
    }

    /// Whether the side to move may claim a draw: the position is there for the third time, or 50
    /// moves went by without a capture or a pawn's move.
    pub fn may_claim_draw(&self) -> bool {
        self.position.halfmoves() >= DRAWN_PLIES / 3 * 2 || self.repetitions() >= 3
    }

    /// Whether the game is over by the rules.
    pub fn ending(&self) -> Option<Ending> {
        let position = &self.position;
        if !legal::any(position) {
            return Some(if position.is_check() { Ending::Checkmate } else { Ending::Stalemate });
        }
        if position.is_insufficient_material() {
            return Some(Ending::InsufficientMaterial);
        }
        if position.halfmoves() >= DRAWN_PLIES {
            return Some(Ending::SeventyFiveMoves);
        }
        (self.repetitions() >= 5).then_some(Ending::FivefoldRepetition)
    }

    /// How it ended by the rules, if it did.
    pub fn outcome(&self) -> Option<Outcome> {
        self.ending().map(|ending| ending.outcome(self.position.turn()))
    }
}

/// Tells positions apart as the rules on repetition do: men, side to move, rights to castle, a
/// capture in passing that is possible.
fn digest(position: &Chess) -> u32 {
    let board = position.board();
    let roles = Role::ALL.map(|role| u64::from(board.by_role(role)));
    let passing = legal::en_passant(position).map_or(0, |(_, to)| 2 + u64::from(to as u8));
    let turn = u64::from(position.turn().is_white());
    let rest = [
        u64::from(board.white()),
        u64::from(position.castles().castling_rights()),
        passing << 1 | turn,
    ];
    let words = roles.into_iter().chain(rest);
    // Both halves of each word move all bits of the digest's upper half.
    let all = words.fold(fnv::START, |digest, word| {
        fnv::step(fnv::step(digest, word & 0xffff_ffff), word >> 32)
    });
    (all >> 32) as u32 ^ all as u32
}
