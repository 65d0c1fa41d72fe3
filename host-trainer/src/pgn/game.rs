//! One game: from its tags and moves to records.
use std::{fmt, io, ops::ControlFlow};

use kibitzer_core::{
    fnv,
    position::{FenError, parse_fen},
    shakmaty::{Chess, Color, EnPassantMode, KnownOutcome, Outcome, Position as _, fen::Fen},
};
use pgn_reader::{RawTag, SanPlus, Skip, Visitor};

use crate::records::{Played, Record};

/// Why a game is skipped.
#[derive(Debug)]
pub(super) enum Fault {
    /// Another game than chess.
    Variant(String),
    /// A start position that cannot be.
    Fen(FenError),
    /// A FEN tag that is not text.
    FenText,
    /// A move that the position does not allow: the moves before it, and its spelling.
    Illegal(usize, String),
    /// No move at all.
    NoMoves,
    /// Neither won nor drawn, or broken off.
    NoResult,
    /// Not PGN.
    Syntax(io::Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Variant(name) => write!(f, "the variant {name} is not read"),
            Fault::Fen(error) => write!(f, "its FEN tag: {error}"),
            Fault::FenText => f.write_str("its FEN tag is not text"),
            Fault::Illegal(ply, san) => write!(f, "{san} after {ply} half-moves is not legal"),
            Fault::NoMoves => f.write_str("it has no moves"),
            Fault::NoResult => f.write_str("it ends without 1-0, 0-1 or 1/2-1/2"),
            Fault::Syntax(error) => write!(f, "{error}"),
        }
    }
}

/// Collects the records of the game being read; the buffer is reused from game to game.
#[derive(Debug, Default)]
pub(super) struct GameVisitor {
    records: Vec<Record>,
    start: Chess,
    /// Set by the game's termination: the winner, or `None` for a draw.
    winner: Option<Option<Color>>,
}

impl GameVisitor {
    /// Completes the records of the game just read, which is number `game` of its file.
    pub(super) fn finish(&mut self, game: u32) -> &[Record] {
        let game_hash = self.hash();
        let winner = self.winner.flatten();
        let mut mover = self.start.turn();
        for record in &mut self.records {
            record.game = game;
            record.game_hash = game_hash;
            record.result = winner.map_or(0, |winner| if winner == mover { 1 } else { -1 });
            mover = mover.other();
        }
        &self.records
    }

    /// FNV-1a over the start position, if it is not the usual one, and the moves.
    fn hash(&self) -> u64 {
        let mut hash = fnv::START;
        if self.start != Chess::default() {
            let fen = Fen::from_position(&self.start, EnPassantMode::Legal);
            hash = fnv::bytes(hash, fen.to_string().bytes());
        }
        let moves = self.records.iter().map(|record| bytemuck::bytes_of::<Played>(&record.played));
        fnv::bytes(hash, moves.flatten().copied())
    }
}

impl Visitor for GameVisitor {
    type Tags = ();
    type Movetext = Chess;
    type Output = Result<(), Fault>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, ()> {
        self.records.clear();
        self.start = Chess::default();
        self.winner = None;
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        let fault = match name {
            b"FEN" => match value.decode_utf8().map(|text| parse_fen(&text)) {
                Ok(Ok(start)) => {
                    self.start = start;
                    return ControlFlow::Continue(());
                }
                Ok(Err(error)) => Fault::Fen(error),
                Err(_) => Fault::FenText,
            },
            b"Variant" if !is_chess(value.as_bytes()) => {
                Fault::Variant(value.decode_utf8_lossy().into_owned())
            }
            _ => return ControlFlow::Continue(()),
        };
        ControlFlow::Break(Err(fault))
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Self::Output, Chess> {
        ControlFlow::Continue(self.start.clone())
    }

    fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<Self::Output> {
        let ply = self.records.len();
        match san.san.to_move(position) {
            Ok(mv) => {
                self.records.push(Record::new(position, mv, ply));
                position.play_unchecked(mv);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(Err(Fault::Illegal(ply, san.to_string()))),
        }
    }

    fn begin_variation(&mut self, _: &mut Chess) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, _: &mut Chess, outcome: Outcome) -> ControlFlow<Self::Output> {
        self.winner = match outcome {
            Outcome::Known(KnownOutcome::Decisive { winner }) => Some(Some(winner)),
            Outcome::Known(KnownOutcome::Draw) => Some(None),
            Outcome::Unknown => None,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, _: Chess) -> Self::Output {
        if self.records.is_empty() {
            Err(Fault::NoMoves)
        } else if self.winner.is_none() {
            Err(Fault::NoResult)
        } else {
            Ok(())
        }
    }
}

/// The names under which sites write ordinary chess in the Variant tag.
fn is_chess(variant: &[u8]) -> bool {
    [&b"Standard"[..], b"Chess", b"From Position"].iter().any(|n| n.eq_ignore_ascii_case(variant))
}
