//! One game: from its tags and moves to positions.
use std::{fmt, io, ops::ControlFlow};

use kibitzer_core::{
    fnv,
    position::{FenError, parse_fen},
    shakmaty::{
        Chess, Color, EnPassantMode, KnownOutcome, Outcome, Position as _, fen::Fen, san::San,
    },
};
use pgn_reader::{RawComment, RawTag, SanPlus, Skip, Visitor};

use super::{
    filter::{Filter, Unwanted},
    tags::Tags,
};
use crate::{
    positions,
    records::{PackedPosition, Played, Record},
};

/// Half-moves that a game may have: more are no game, and would not fit a record.
const MOST_PLIES: usize = 6000;

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
    /// A move that is none, after so many moves.
    Null(usize),
    /// No move at all.
    NoMoves,
    /// More moves than a game has.
    TooLong,
    /// Neither won nor drawn, or broken off.
    NoResult,
    /// Not PGN.
    Syntax(io::Error),
    /// A sound game that is not asked for.
    Unwanted(Unwanted),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Variant(name) => write!(f, "the variant {name} is not read"),
            Fault::Fen(error) => write!(f, "its FEN tag: {error}"),
            Fault::FenText => f.write_str("its FEN tag is not text"),
            Fault::Illegal(ply, san) => write!(f, "{san} after {ply} half-moves is not legal"),
            Fault::Null(ply) => write!(f, "a null move after {ply} half-moves"),
            Fault::NoMoves => f.write_str("it has no moves"),
            Fault::TooLong => write!(f, "it has more than {MOST_PLIES} half-moves"),
            Fault::NoResult => f.write_str("it ends without 1-0, 0-1 or 1/2-1/2"),
            Fault::Syntax(error) => write!(f, "{error}"),
            Fault::Unwanted(why) => write!(f, "its {why} is not asked for"),
        }
    }
}

/// A position of a game and the move played in it.
#[derive(Debug, Clone)]
pub struct Step {
    /// The position's name: see [`positions::key`].
    pub key: u128,
    /// The position.
    pub packed: PackedPosition,
    /// The move played.
    pub played: Played,
    /// What is said of the move, where comments are asked for.
    pub comment: String,
}

/// A whole game, as it was read.
#[derive(Debug)]
pub struct Game<'a> {
    /// Hash of its start and moves: equal games have equal hashes.
    pub hash: u64,
    /// Who won.
    pub winner: Option<Color>,
    /// Its tags.
    pub tags: &'a Tags,
    /// Its positions, those that are wanted.
    pub steps: &'a [Step],
}

impl Game<'_> {
    /// Its positions as records.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.steps.iter().map(|step| {
            let turn = step.packed.turn();
            let result = self.winner.map_or(0, |winner| if winner == turn { 1 } else { -1 });
            Record::of(step.packed, step.played, self.hash).with_result(result)
        })
    }
}

/// Collects the steps of the game being read; the buffer is reused from game to game.
#[derive(Debug, Default)]
pub(super) struct GameVisitor {
    filter: Filter,
    /// Whether comments are kept.
    comments: bool,
    tags: Tags,
    steps: Vec<Step>,
    plies: usize,
    hash: u64,
    /// Set by the game's termination: the winner, or `None` for a draw.
    winner: Option<Option<Color>>,
}

impl GameVisitor {
    pub(super) fn new(filter: Filter, comments: bool) -> GameVisitor {
        GameVisitor { filter, comments, ..GameVisitor::default() }
    }

    /// The game just read.
    pub(super) fn game(&self) -> Game<'_> {
        Game {
            hash: self.hash,
            winner: self.winner.flatten(),
            tags: &self.tags,
            steps: &self.steps,
        }
    }
}

/// The tags as they come: the start position, if it is not the usual one.
type Start = Option<Chess>;

impl Visitor for GameVisitor {
    type Tags = Start;
    type Movetext = Chess;
    type Output = Result<(), Fault>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Start> {
        self.steps.clear();
        self.tags = Tags::default();
        self.plies = 0;
        self.winner = None;
        ControlFlow::Continue(None)
    }

    fn tag(
        &mut self,
        start: &mut Start,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let fault = match name {
            b"FEN" => match value.decode_utf8().map(|text| parse_fen(&text)) {
                Ok(Ok(position)) => {
                    *start = Some(position);
                    return ControlFlow::Continue(());
                }
                Ok(Err(error)) => Fault::Fen(error),
                Err(_) => Fault::FenText,
            },
            b"Variant" if !is_chess(value.as_bytes()) => {
                Fault::Variant(value.decode_utf8_lossy().into_owned())
            }
            _ => {
                self.tags.add(name, &value.decode_utf8_lossy());
                return ControlFlow::Continue(());
            }
        };
        ControlFlow::Break(Err(fault))
    }

    fn begin_movetext(&mut self, start: Start) -> ControlFlow<Self::Output, Chess> {
        if let Some(why) = self.filter.unwanted(&self.tags) {
            return ControlFlow::Break(Err(Fault::Unwanted(why)));
        }
        self.hash = fnv::START;
        if let Some(start) = start.as_ref().filter(|&start| *start != Chess::default()) {
            let fen = Fen::from_position(start, EnPassantMode::Legal);
            self.hash = fnv::bytes(self.hash, fen.to_string().bytes());
        }
        ControlFlow::Continue(start.unwrap_or_default())
    }

    fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<Self::Output> {
        let ply = self.plies;
        let fault = match san.san.to_move(position) {
            Ok(_) if ply == MOST_PLIES => Fault::TooLong,
            Ok(mv) => {
                let played = mv.into();
                if self.filter.wants_ply(ply) {
                    self.steps.push(Step {
                        key: positions::key(position),
                        packed: PackedPosition::new(position, ply),
                        played,
                        comment: String::new(),
                    });
                }
                self.hash = fnv::bytes(self.hash, bytemuck::bytes_of(&played).iter().copied());
                position.play_unchecked(mv);
                self.plies += 1;
                return ControlFlow::Continue(());
            }
            Err(_) if san.san == San::Null => Fault::Null(ply),
            Err(_) => Fault::Illegal(ply, san.to_string()),
        };
        ControlFlow::Break(Err(fault))
    }

    fn partial_comment(
        &mut self,
        _: &mut Chess,
        text: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        self.comment_on_last(text);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, _: &mut Chess, text: RawComment<'_>) -> ControlFlow<Self::Output> {
        self.comment_on_last(text);
        ControlFlow::Continue(())
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
        match self.winner {
            _ if self.plies == 0 => Err(Fault::NoMoves),
            None => Err(Fault::NoResult),
            Some(winner) if !self.filter.wants_result(winner) => {
                Err(Fault::Unwanted(Unwanted::Result))
            }
            Some(_) if self.steps.is_empty() => Err(Fault::Unwanted(Unwanted::Ply)),
            Some(_) => Ok(()),
        }
    }
}

impl GameVisitor {
    /// Keeps a comment with the move before it, if that is wanted.
    fn comment_on_last(&mut self, text: RawComment<'_>) {
        if !self.comments {
            return;
        }
        let played = self.plies.wrapping_sub(1);
        if let Some(step) = self.steps.last_mut().filter(|s| usize::from(s.packed.ply) == played) {
            step.comment.push_str(&String::from_utf8_lossy(text.as_bytes()));
        }
    }
}

/// The names under which sites write ordinary chess in the Variant tag.
fn is_chess(variant: &[u8]) -> bool {
    [&b"Standard"[..], b"Chess", b"From Position"].iter().any(|n| n.eq_ignore_ascii_case(variant))
}
