//! The line of a board that knows occupied squares alone, as Tabutronic's Sentio sends it, and the
//! lamps of Certabo's boards. Neither maker published it; three open programs that read these boards
//! agree on what follows.
//!
//! From the board, again and again (38,400 bits a second):
//!
//! ```text
//! :255 255 0 0 8 0 247 255\r\n
//! ```
//!
//! A colon, eight decimal numbers from 0 to 255 parted by spaces, carriage return, line feed. A number
//! is a rank, the eighth first; its most significant bit is file a, 1 where something stands.
//!
//! To the board: eight bytes, without beginning or end. A byte is a rank, the eighth first; its LEAST
//! significant bit is file a, 1 where the lamp is on.
//!
//! Eight bytes belong together when they come without a pause: after [`PAUSE`] a new group begins, so
//! that half a group costs no more than itself.
use core::fmt::Write as _;

use heapless::Vec;
use shakmaty::Bitboard;

use super::{LampsOrder, Order, Report, Sink, Unsent};

/// Milliseconds without a byte after which a group of eight begins anew.
pub const PAUSE: u32 = 50;

/// The state of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certabo {
    /// The ranks of lamps so far, the eighth first.
    ranks: Vec<u8, 8>,
    /// When the last byte came.
    last: u32,
}

impl Certabo {
    /// At the beginning.
    pub const fn new() -> Self {
        Certabo { ranks: Vec::new(), last: 0 }
    }

    /// Takes a byte that came at `now`; the eighth of a group completes an [`Order::Lamps`].
    pub fn receive(&mut self, byte: u8, now: u32) -> Option<Order> {
        if now.wrapping_sub(self.last) >= PAUSE {
            self.ranks.clear();
        }
        self.last = now;
        let _ = self.ranks.push(byte);
        if !self.ranks.is_full() {
            return None;
        }
        let lit = self.ranks.iter().fold(0, |lit, &rank| lit << 8 | u64::from(rank));
        self.ranks.clear();
        Some(Order::Lamps(LampsOrder { lit: Bitboard(lit), once: false, level: 0 }))
    }

    /// Sends the line for [`Report::Occupancy`] and [`Report::Dump`]; has no words for others.
    ///
    /// # Errors
    /// [`Unsent::Full`] or [`Unsent::NotWanted`].
    pub fn report(&mut self, report: &Report<'_>, out: &mut impl Sink) -> Result<(), Unsent> {
        let (Report::Occupancy(occupied) | Report::Dump(occupied)) = report else {
            return Err(Unsent::NotWanted);
        };
        // A colon, eight times three digits, seven spaces, two for the line's end.
        let mut line = Vec::<u8, 34>::new();
        for (mark, rank) in b":       ".iter().zip(occupied.0.to_be_bytes()) {
            let rank = rank.reverse_bits();
            write!(line, "{}{rank}", char::from(*mark)).map_err(|_| Unsent::TooLong)?;
        }
        line.extend_from_slice(b"\r\n").map_err(|_| Unsent::TooLong)?;
        Ok(out.send(&line)?)
    }

    /// The link was lost.
    pub fn disconnected(&mut self) {
        *self = Certabo::new();
    }
}
