//! The conversation of a chessboard with an app, in one of three protocols that apps speak.
//!
//! - [`cpp`]: the Chess Peripheral Protocol: text, moves, the app keeps the rules.
//! - [`pegasus`]: the DGT Pegasus: messages of bytes, squares lifted and placed, lamps.
//! - [`certabo`]: the Sentio's line of occupied squares and the eight bytes of lamps.
//!
//! Each is a state machine without a clock. Bytes come in one at a time and give at most one
//! [`Order`] each; what happens at the board goes out as a [`Report`]. Messages leave whole, through a
//! [`Sink`]. Nothing that comes in can do more than fill one buffer of fixed size; what is not
//! understood changes nothing.
//!
//! `docs/protocols.md` tells the messages to whoever writes an app.
mod order;
mod outbox;
mod report;

pub mod certabo;
pub mod cpp;
pub mod pegasus;

pub use certabo::Certabo;
pub use cpp::Cpp;
pub use order::{Asked, End, LampsOrder, Order};
pub use outbox::{Full, Outbox, Sink};
pub use pegasus::Pegasus;
pub use report::{Report, Unsent, View};

/// The protocol that a board speaks.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // a board has one, and no heap
pub enum Protocol {
    /// The Chess Peripheral Protocol.
    Cpp(Cpp),
    /// The DGT Pegasus.
    Pegasus(Pegasus),
    /// Certabo and Tabutronic Sentio.
    Certabo(Certabo),
}

impl Protocol {
    /// Takes the next byte, which came at `now` in milliseconds (it may wrap around), and returns
    /// what it completes. Answers that need no board go to `out` at once, and are lost where it is
    /// full.
    pub fn receive(&mut self, byte: u8, now: u32, out: &mut impl Sink) -> Option<Order> {
        match self {
            Protocol::Cpp(cpp) => cpp.receive(byte, out),
            Protocol::Pegasus(pegasus) => pegasus.receive(byte, now, out),
            Protocol::Certabo(certabo) => certabo.receive(byte, now),
        }
    }

    /// A packet of the link ended here, as a write to a BLE characteristic does; over a plain serial
    /// line there are none.
    pub fn end_of_packet(&mut self, out: &mut impl Sink) -> Option<Order> {
        match self {
            Protocol::Cpp(cpp) => cpp.end_of_packet(out),
            // Their messages have a length of their own.
            Protocol::Pegasus(_) | Protocol::Certabo(_) => None,
        }
    }

    /// Tells the app what happened at the board.
    ///
    /// # Errors
    /// Why nothing was sent; the conversation is then where it was.
    pub fn report(&mut self, report: &Report<'_>, out: &mut impl Sink) -> Result<(), Unsent> {
        match self {
            Protocol::Cpp(cpp) => cpp.report(report, out),
            Protocol::Pegasus(pegasus) => pegasus.report(report, out),
            Protocol::Certabo(certabo) => certabo.report(report, out),
        }
    }

    /// Whether somebody may keep a game by what the board tells of itself, without ever saying so.
    pub const fn is_listened_to(&self) -> bool {
        match self {
            Protocol::Cpp(_) => false,
            Protocol::Pegasus(pegasus) => pegasus.is_updating(),
            Protocol::Certabo(_) => true,
        }
    }

    /// The link was lost: what the app asked for is forgotten.
    pub fn disconnected(&mut self) {
        match self {
            Protocol::Cpp(cpp) => cpp.disconnected(),
            Protocol::Pegasus(pegasus) => pegasus.disconnected(),
            Protocol::Certabo(certabo) => certabo.disconnected(),
        }
    }
}
