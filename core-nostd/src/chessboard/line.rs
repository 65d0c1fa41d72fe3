//! The line to an app, and what the app is still to be told.
use heapless::{Deque, Vec};
use shakmaty::{Bitboard, uci::UciMove};

use crate::protocol::{Order, Outbox, Protocol};

/// Bytes on their way to the app, at most.
const OUTBOX: usize = 512;
/// Things that the app is still to be told.
const PENDING: usize = 16;
/// Moves that the app may refuse at once: the one it was asked about, and those that are pending.
const REFUSED: usize = PENDING + 1;

/// Something that the app is still to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// The men stand as the game does.
    Sync,
    /// They do not.
    Unsync,
    /// They have changed, and do not yet.
    State,
    /// A move was made by hand.
    Move(UciMove),
    /// A move was taken back by hand.
    Undo(UciMove),
    /// The app's move is carried out.
    Moved,
    /// All squares.
    Dump,
    /// Which squares are occupied.
    Occupancy,
    DrawOffer,
    DrawAnswer(bool),
    Resign,
    /// A move that cannot be made.
    Illegal,
}

/// An app at the other end of a line.
#[derive(Debug)]
pub(super) struct Remote {
    pub protocol: Protocol,
    pub outbox: Outbox<OUTBOX>,
    pub pending: Deque<Pending, PENDING>,
    /// The app keeps the game.
    pub is_online: bool,
    /// The men stood as the game does when the app was last told.
    pub is_synced: bool,
    /// The app has taken moves back, and their men are on their way.
    pub is_guided: bool,
    /// The lamps that it lights.
    pub lamps: Option<Bitboard>,
    /// When the occupied squares were last told.
    pub told_at: u32,
}

impl Remote {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            outbox: Outbox::new(),
            pending: Deque::new(),
            is_online: false,
            is_synced: false,
            is_guided: false,
            lamps: None,
            told_at: 0,
        }
    }

    pub(super) const fn is_online(&self) -> bool {
        self.is_online
    }

    /// Whether somebody may keep a game by what the board tells of itself.
    pub(super) const fn is_heard(&self) -> bool {
        self.protocol.is_listened_to()
    }

    pub(super) const fn lamps(&self) -> Option<Bitboard> {
        self.lamps
    }

    pub(super) fn receive(&mut self, byte: u8, now: u32) -> Option<Order> {
        self.protocol.receive(byte, now, &mut self.outbox)
    }

    pub(super) fn end_of_packet(&mut self) -> Option<Order> {
        self.protocol.end_of_packet(&mut self.outbox)
    }

    pub(super) fn next_byte(&mut self) -> Option<u8> {
        self.outbox.take()
    }

    pub(super) fn disconnected(&mut self) {
        self.protocol.disconnected();
        *self = Remote::new(self.protocol.clone());
    }

    /// Notes something that the app is to be told; the oldest is lost where there are too many.
    pub(super) fn note(&mut self, pending: Pending) {
        // What stands there is told as it is by then: once is enough.
        let is_state = matches!(pending, Pending::State | Pending::Occupancy | Pending::Dump);
        let is_noted = self.pending.iter().any(|other| *other == pending);
        if self.pending.back() == Some(&pending) || is_state && is_noted {
            return;
        }
        if self.pending.is_full() {
            self.pending.pop_front();
        }
        let _ = self.pending.push_back(pending);
    }

    /// The app refuses the move that it was asked about, or that `undone` is taken back: what was
    /// done since and builds on it falls, too. How many moves stand on the one refused, it
    /// included, and which are to be made again, the last first.
    pub(super) fn refuse(&mut self, undone: Option<UciMove>) -> (usize, Vec<UciMove, REFUSED>) {
        let mut on_top = usize::from(undone.is_none());
        let mut again = Vec::new();
        again.extend(undone);
        for _ in 0..self.pending.len() {
            let Some(next) = self.pending.pop_front() else { break };
            // Once the refused move is off the board, what follows stands on its own.
            let is_over = undone.is_none() && on_top == 0;
            match next {
                Pending::Move(_) if !is_over => on_top = on_top.saturating_add(1),
                Pending::Undo(_) if on_top > 0 => on_top = on_top.saturating_sub(1),
                Pending::Undo(uci) if !is_over => {
                    // There is room for all that were pending.
                    let _ = again.push(uci);
                }
                other => {
                    let _ = self.pending.push_back(other);
                }
            }
        }
        (on_top, again)
    }
}
