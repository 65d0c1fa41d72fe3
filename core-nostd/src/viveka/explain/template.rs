//! A term's sentence: its template with the fields filled in.
use core::fmt;

use shakmaty::{Bitboard, Chess, Color, Move, Position as _};

use super::{
    Part,
    ledger::{Ledger, Line, write_entries},
    names::{role_name, write_pieces},
    notation::{notation, write_line},
};
use crate::{
    exchange::{balance, exchanges_within},
    exchange_line::play_out_within,
    legal,
    position::after,
    viveka::{
        choice::order,
        glance::{Glance, pass},
    },
};

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = if self.value < 0 { &self.term.negative } else { &self.term.positive };
        let mut rest = sentence.text;
        while let Some((text, field)) = rest.split_once('{') {
            f.write_str(text)?;
            let (field, after) = field.split_once('}').unwrap_or((field, ""));
            self.write_field(f, field, sentence.about)?;
            rest = after;
        }
        f.write_str(rest)
    }
}

impl Part<'_> {
    /// Writes what stands for one field; see [`Sentence`](super::super::terms::Sentence). A field
    /// of no meaning stays as it is, for the tests to find.
    fn write_field(
        &self,
        f: &mut fmt::Formatter<'_>,
        field: &str,
        about: Option<fn(&Glance) -> Bitboard>,
    ) -> fmt::Result {
        let (glance, size) = (self.glance, self.value.unsigned_abs());
        let (us, them) = (glance.before.us(), !glance.before.us());
        let pieces = |f: &mut fmt::Formatter<'_>, position: &Chess, color: Color| {
            let squares = about.map_or(Bitboard::EMPTY, |about| about(glance));
            write_pieces(f, position.board(), squares & position.board().by_color(color))
        };
        match field {
            "n" => write!(f, "{size}"),
            "piece" => f.write_str(role_name(glance.landed_role())),
            "to" => write!(f, "{}", glance.to),
            "ours" => pieces(f, &glance.after, us),
            "theirs" => pieces(f, &glance.after, them),
            "ours_before" => pieces(f, glance.before.position, us),
            "theirs_before" => pieces(f, glance.before.position, them),
            "won" => write_exchanges(f, glance, true),
            "lost" => write_exchanges(f, glance, false),
            "threat" => write_threat(f, glance, size),
            "our_mate" => write_mate(f, pass(&glance.after).as_ref()),
            "their_mate" => write_mate(f, Some(&glance.after)),
            _ => match field.strip_prefix("n:") {
                Some(noun) => write!(f, "{size} {noun}{}", if size == 1 { "" } else { "s" }),
                None => write!(f, "{{{field}}}"),
            },
        }
    }
}

/// Writes what one side wins by the move and the exchanges after it, for what the other takes
/// in return, and the exchanges.
fn write_exchanges(f: &mut fmt::Formatter<'_>, glance: &Glance, ours: bool) -> fmt::Result {
    let mut line = Line::new();
    let _ = line.push(glance.mv);
    let value = -(glance.before.balance + glance.x_q());
    play_out_within(&mut glance.after.clone(), value, &glance.budget, |mv| {
        let _ = line.push(mv);
    });
    let ledger = Ledger::new(&line, 1);
    let told = ledger.gain() == glance.x_q();
    write_ledger(f, ledger, ours, told)?;
    if let [_, rest @ ..] = line.as_slice()
        && told
        && !rest.is_empty()
    {
        f.write_str(" (")?;
        write_line(f, &glance.after, rest)?;
        f.write_str(")")?;
    }
    Ok(())
}

/// Writes what our exchanges would win after the move if they passed, and the exchanges; where
/// the move has already taken it, how much.
fn write_threat(f: &mut fmt::Formatter<'_>, glance: &Glance, pawns: u32) -> fmt::Result {
    let Some(passed) = pass(&glance.after) else { return Ok(()) };
    let (mut line, value) = (Line::new(), exchanges_within(&passed, &glance.budget));
    play_out_within(&mut passed.clone(), value, &glance.budget, |mv| {
        let _ = line.push(mv);
    });
    let ledger = Ledger::new(&line, 0);
    if ledger.gain() == 0 {
        let plural = if pawns == 1 { "" } else { "s" };
        return write!(f, "would win {pawns} pawn{plural} if they passed");
    }
    let told = ledger.gain() == value - balance(&passed);
    f.write_str("threatens to win ")?;
    write_ledger(f, ledger, true, told)?;
    f.write_str(" (")?;
    write_line(f, &passed, &line)?;
    f.write_str(")")
}

/// Writes what a side gains, for what it gives. An exchange search that was cut short may promise
/// what no line shows; that is not `told` in full.
fn write_ledger(
    f: &mut fmt::Formatter<'_>,
    ledger: Ledger,
    first_side: bool,
    told: bool,
) -> fmt::Result {
    if !told || ledger.gains(first_side).next().is_none() {
        return f.write_str("material by exchanges");
    }
    write_entries(f, ledger.gains(first_side))?;
    let returns = ledger.gains(!first_side);
    if returns.clone().next().is_some() {
        f.write_str(" for ")?;
        write_entries(f, returns)?;
    }
    Ok(())
}

/// Writes the first move of `position`, in an order of squares, that mates.
#[inline(never)] // the lists of moves must not stay on the caller's stack
fn write_mate(f: &mut fmt::Formatter<'_>, position: Option<&Chess>) -> fmt::Result {
    let mates = |position: &Chess, mv: Move| {
        let next = after(position, mv);
        legal::is_checkmate(&next)
    };
    let found = position.and_then(|position| {
        let moves = legal::moves(position).into_iter().filter(|&mv| mates(position, mv));
        moves.min_by_key(|&mv| order(mv)).map(|mv| notation(position, mv))
    });
    match found {
        Some(mate) => write!(f, "{mate}"),
        None => f.write_str("mate"),
    }
}
