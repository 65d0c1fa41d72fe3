//! What each side loses along a line of moves, even trades left out.
use core::fmt;

use heapless::Vec;
use shakmaty::{CastlingSide, Move, Role, Square};

use super::names::{role_name, write_piece, write_separator};
use crate::{
    exchange::{PAWN, piece_points},
    exchange_line::MAX_PLIES,
    moves::{destination, en_passant_victim},
};

/// Two replies and their answers at most, and the exchanges after them.
pub const MAX_LINE: usize = MAX_PLIES + 4;
/// A line: moves of both sides in turn.
pub type Line = Vec<Move, MAX_LINE>;

/// A man taken, or a pawn promoted.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The ply it happens at, the line's first move being 0; even for the side that begins.
    pub ply: usize,
    /// The piece: the victim, or the new piece.
    role: Role,
    /// Where the victim stood; where the pawn is promoted.
    pub square: Square,
    /// Whether it is a promotion.
    promotion: bool,
}

impl Entry {
    /// What the side that moves at this ply gains, in points.
    const fn points(&self) -> i32 {
        piece_points(self.role) - if self.promotion { PAWN } else { 0 }
    }

    /// Whether the side that begins the line gains it.
    const fn is_first_side(&self) -> bool {
        self.ply.is_multiple_of(2)
    }

    /// Whether a pawn is promoted.
    pub const fn is_promotion(&self) -> bool {
        self.promotion
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.promotion {
            write!(f, "a new {} on {}", role_name(self.role), self.square)
        } else {
            write_piece(f, self.role, self.square)
        }
    }
}

/// What is taken and promoted along a line, without what cancels out.
#[derive(Debug)]
pub struct Ledger {
    entries: Vec<Entry, MAX_LINE>,
}

impl Ledger {
    /// Goes through `line`. Victims are named by where they stood before move number `named`.
    pub fn new(line: &[Move], named: usize) -> Ledger {
        let mut entries: Vec<Entry, MAX_LINE> = Vec::new();
        for (ply, &mv) in line.iter().enumerate() {
            let square = mv.to();
            if let Some(role) = mv.capture() {
                let mut victim = Entry { ply, role, square: victim_square(mv), promotion: false };
                victim.trace(line, named, &mut entries);
                let _ = entries.push(victim);
            }
            // A move that promotes and takes has one entry too many for the list only where a
            // line is full of them; then the sum does not fit and nobody is named.
            if let Some(role) = mv.promotion() {
                let _ = entries.push(Entry { ply, role, square, promotion: true });
            }
        }
        let mut ledger = Ledger { entries };
        ledger.cancel();
        ledger
    }

    /// Leaves out captures of equal pieces by either side, the later ones first.
    fn cancel(&mut self) {
        let mut place = self.entries.len();
        while place > 0 {
            place -= 1;
            let Some((earlier, &[late, ..])) = self.entries.split_at_checked(place) else { return };
            let pays = |early: &Entry| {
                early.is_first_side() != late.is_first_side()
                    && early.points() == late.points()
                    && !early.promotion
            };
            let partner = earlier.iter().rposition(pays);
            if let Some(partner) = partner.filter(|_| !late.promotion) {
                let mut index = 0..;
                self.entries.retain(|_| index.next().is_none_or(|i| i != place && i != partner));
                place -= 1;
            }
        }
    }

    /// What the side that begins the line gains in the end, in points.
    pub fn gain(&self) -> i32 {
        let signed = |e: &Entry| if e.is_first_side() { e.points() } else { -e.points() };
        self.entries.iter().map(signed).sum()
    }

    /// What one side gains: the one that begins the line, or the other.
    pub fn gains(&self, first_side: bool) -> impl Iterator<Item = &Entry> + Clone {
        self.entries.iter().filter(move |entry| entry.is_first_side() == first_side)
    }
}

impl Entry {
    /// Follows a victim back to where it stood before move number `named`. A piece that a pawn
    /// became on the way was that pawn: the promotion gained nothing and is struck out.
    fn trace(&mut self, line: &[Move], named: usize, entries: &mut Vec<Entry, MAX_LINE>) {
        for (ply, &mv) in line.iter().enumerate().take(self.ply).rev() {
            let promoted = mv.promotion().is_some();
            if ply < named && !promoted {
                break;
            }
            let Some(from) = came_from(mv, self.square) else { continue };
            if promoted {
                self.role = Role::Pawn;
                entries.retain(|entry| entry.ply != ply || !entry.promotion);
            }
            self.square = from;
        }
    }
}

/// Where the victim of a capture stands.
fn victim_square(mv: Move) -> Square {
    match mv {
        Move::EnPassant { from, to } => en_passant_victim(from, to),
        _ => mv.to(),
    }
}

/// Where the piece that `mv` brought to `square` came from; `None` if it brought none there.
fn came_from(mv: Move, square: Square) -> Option<Square> {
    if let Move::Castle { king, rook } = mv {
        let side = CastlingSide::from_queen_side(rook < king);
        if square == Square::from_coords(side.rook_to_file(), rook.rank()) {
            return Some(rook);
        }
    }
    if destination(mv) == square { mv.from() } else { None }
}

/// Writes entries as a list.
pub fn write_entries<'a>(
    f: &mut fmt::Formatter<'_>,
    entries: impl Iterator<Item = &'a Entry> + Clone,
) -> fmt::Result {
    let count = entries.clone().count();
    for (place, entry) in entries.enumerate() {
        write_separator(f, place, count)?;
        write!(f, "{entry}")?;
    }
    Ok(())
}
