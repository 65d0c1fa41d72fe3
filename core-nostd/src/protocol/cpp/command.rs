//! One message of the central's, read.
use core::fmt::{self, Write as _};

use heapless::String;
use shakmaty::{Chess, Color, Square, uci::UciMove};

use super::Feature;
use crate::{
    position::{FenError, parse_fen},
    protocol::End,
};

/// Bytes of the longest message, its end included: `begin` and a FEN of at most 92 bytes take 98.
pub const MAX_LINE: usize = 160;

/// A message of the central's.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // there is one at a time, and no heap
pub enum Command<'a> {
    /// An empty one, or one that needs no answer.
    Nothing,
    Ok,
    Nok,
    Feature(&'a [u8]),
    Variant(&'a [u8]),
    SetVariant(&'a [u8]),
    Begin(Chess),
    Move(UciMove),
    Promote(UciMove),
    End(End),
    Undo(UciMove),
    Restore(Chess),
    LastMove(UciMove),
    Check(Square),
    DrawOffer,
    Side(Option<Color>),
    GetState,
}

/// Why a message is not obeyed, told after `err`.
#[derive(Debug)]
pub enum Fault {
    TooLong,
    Unknown,
    Move,
    Square,
    Side,
    Position(FenError),
    OtherVariant,
    NoRound,
    Unasked,
    NotEnabled(Feature),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::TooLong => "the message is too long",
            Fault::Unknown => "unknown command",
            Fault::Move => "not a move in UCI, as in e2e4 or e7e8q",
            Fault::Square => "not a square, as in e4",
            Fault::Side => "not a side; use w, b or ?",
            Fault::Position(error) => return error.fmt(f),
            Fault::OtherVariant => "only the variant standard is supported",
            Fault::NoRound => "no round was begun",
            Fault::Unasked => "nothing was asked that this answers",
            Fault::NotEnabled(feature) => {
                return write!(f, "send first: feature {}", feature.name());
            }
        })
    }
}

impl<'a> Command<'a> {
    /// Reads a message, without its end.
    pub fn read(message: &'a [u8]) -> Result<Self, Fault> {
        let message = message.trim_ascii();
        let end = message.iter().position(|&byte| byte == b' ').unwrap_or(message.len());
        let (word, rest) = message.split_at_checked(end).unwrap_or((message, &[]));
        let rest = rest.trim_ascii();
        Ok(match word {
            // An error is for people; an answer to it might be answered in turn.
            b"" | b"err" => Command::Nothing,
            b"ok" => Command::Ok,
            b"nok" => Command::Nok,
            b"feature" => Command::Feature(rest),
            b"variant" => Command::Variant(rest),
            b"set_variant" => Command::SetVariant(rest),
            b"begin" => Command::Begin(position(rest)?),
            b"move" => Command::Move(uci(rest)?),
            b"promote" => Command::Promote(uci(rest)?),
            b"end" => Command::End(reason(rest)),
            // Later editions give the position that is gone back to.
            b"undo" if rest.contains(&b'/') => Command::Restore(position(rest)?),
            b"undo" => Command::Undo(uci(rest)?),
            b"last_move" => Command::LastMove(uci(rest)?),
            b"check" => Command::Check(Square::from_ascii(rest).map_err(|_| Fault::Square)?),
            b"draw_offer" => Command::DrawOffer,
            b"side" => Command::Side(side(rest)?),
            b"get_state" => Command::GetState,
            _ => return Err(Fault::Unknown),
        })
    }
}

/// A move from one square to another.
fn uci(text: &[u8]) -> Result<UciMove, Fault> {
    match UciMove::from_ascii(text) {
        Ok(uci @ UciMove::Normal { .. }) => Ok(uci),
        _ => Err(Fault::Move),
    }
}

/// A position; without the fields of turn and castling White moves, and kings and rooks at home may
/// castle.
fn position(text: &[u8]) -> Result<Chess, Fault> {
    let rest = match text.split(|&byte| byte == b' ').filter(|field| !field.is_empty()).count() {
        1 => " w KQkq",
        2 => " KQkq",
        _ => "",
    };
    // What is no text is no FEN either, and refused like an empty one.
    let text = core::str::from_utf8(text).unwrap_or_default();
    let mut fen = String::<{ MAX_LINE + 8 }>::new();
    write!(fen, "{text}{rest}").map_err(|_| Fault::TooLong)?;
    parse_fen(&fen).map_err(Fault::Position)
}

fn side(text: &[u8]) -> Result<Option<Color>, Fault> {
    match text {
        b"w" => Ok(Some(Color::White)),
        b"b" => Ok(Some(Color::Black)),
        b"?" => Ok(None),
        _ => Err(Fault::Side),
    }
}

/// A word that is not known here ends a game all the same.
fn reason(text: &[u8]) -> End {
    match text {
        b"checkmate" => End::Checkmate,
        b"stalemate" => End::Stalemate,
        b"draw" => End::Draw,
        b"draw_offer" => End::DrawOffer,
        b"threefold_repetition" => End::ThreefoldRepetition,
        b"fifty_move" => End::FiftyMove,
        b"insufficient_material" => End::InsufficientMaterial,
        b"dead_position" => End::DeadPosition,
        b"timeout" => End::Timeout,
        b"resign" => End::Resign,
        b"abort" => End::Abort,
        _ => End::Undefined,
    }
}
