//! Moves as people write them.
use core::fmt;

use shakmaty::{Chess, Color, Move, Position as _, san::SanPlus};

/// Writes a line of legal moves from `start` in SAN; when Black begins, "…" stands before it.
pub fn write_line(f: &mut impl fmt::Write, start: &Chess, moves: &[Move]) -> fmt::Result {
    let mut position = start.clone();
    for (place, &mv) in moves.iter().enumerate() {
        if place > 0 {
            f.write_char(' ')?;
        } else if start.turn() == Color::Black {
            f.write_char('…')?;
        }
        write!(f, "{}", SanPlus::from_move_and_play_unchecked(&mut position, mv))?;
    }
    Ok(())
}

/// A legal move of `position` in SAN, one of Black's after "…".
pub fn notation(position: &Chess, mv: Move) -> impl fmt::Display {
    fmt::from_fn(move |f| write_line(f, position, &[mv]))
}
