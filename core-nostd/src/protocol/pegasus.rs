//! The protocol of the DGT Pegasus, after the description "Pegasus Protocol" of the DGT Centaur Mods,
//! which its author found by listening, and DGT's published header for its older boards, whose messages
//! have the same frame. Over BLE it runs through the Nordic UART service.
//!
//! **From the board**: type with its highest bit set, the length as two bytes of seven bits (high,
//! low) which counts these three, payload.
//!
//! | type | payload | answers |
//! | --- | --- | --- |
//! | 0x86 | 64 bytes, 1 where something stands, a8 b8 … h8, a7 … h1 | 0x42 |
//! | 0x8E | square (0 is a8, 63 is h1), 0 lifted or 1 placed | by itself, after 0x44 |
//! | 0x91 | 5 characters of a serial number | 0x45 |
//! | 0x92 | text: maker and versions, lines parted by carriage return and line feed | 0x47 |
//! | 0x93 | version: whole, fraction | 0x4D |
//! | 0x96 | version of the hardware | 0x48 |
//! | 0xA0 | charge (88 is full), seven zeros, 1 while charging | 0x4C |
//! | 0xA2 | 10 characters of a serial number | 0x55 |
//! | 0xA4 | 0: not locked | 0x59 |
//! | 0xA5 | 0: the developer key is accepted | 0x5A |
//!
//! **To the board**: one byte (the table's last column; 0x40: start anew, no updates; 0x44: updates
//! from now on), or type, number of bytes that follow, these bytes, the last of which is 0:
//!
//! | bytes | meaning |
//! | --- | --- |
//! | 0x60 2 0 0 | all lamps off |
//! | 0x60 n 5 speed once level squares… 0 | these lamps on, others off; `once` 1: once and off again; level 1 to 4 |
//! | 0x63 n key… 0 | a developer's key: this board works with any and with none |
//! | 0x65 n name… 0 | a name for the board: not kept |
//!
//! Anything else is passed over: 0x46, 0x49 and 0x56, whose answers nobody has understood, too. A
//! message that is not whole after [`PATIENCE`] is dropped.
use core::mem;

use heapless::Vec;
use shakmaty::{Bitboard, Square};

use super::{LampsOrder, Order, Report, Sink, Unsent};

/// Milliseconds for which the next byte of a message is waited for.
pub const PATIENCE: u32 = 1000;

/// Bytes of the longest message to the board: mode, three settings, 64 squares, the end.
const MAX_PAYLOAD: usize = 69;
/// Bytes of the longest message from the board; a longer text of the maker's is cut.
const MAX_MESSAGE: usize = 192;
/// What a full battery says of itself.
const FULL_CHARGE: u8 = 88;

const LAMPS: u8 = 0x60;
const DEVELOPER_KEY: u8 = 0x63;
const NAME: u8 = 0x65;

/// What a board says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Maker and versions, for people; DGT's own apps look for DGT's words here.
    pub trademark: &'static str,
    /// A serial number, of which 10 characters are sent, and its first 5 where fewer are asked for;
    /// a shorter one is filled up by zeros.
    pub serial: &'static str,
    /// The version of the firmware: whole, fraction.
    pub version: [u8; 2],
    /// The version of the hardware: whole, fraction.
    pub hardware: [u8; 2],
}

/// The battery, as far as there is one: a board without stays full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Battery {
    /// From 0 to 100.
    pub percent: u8,
    /// Whether it is being charged.
    pub is_charging: bool,
}

/// A message of several bytes that is coming in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Incoming {
    kind: u8,
    /// Bytes still to come; `None` before the byte that says so.
    missing: Option<u8>,
    /// What came, as far as there is room.
    payload: Vec<u8, MAX_PAYLOAD>,
    is_too_long: bool,
}

/// The state of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pegasus {
    identity: Identity,
    /// What is told when the app asks.
    pub battery: Battery,
    incoming: Option<Incoming>,
    /// When the last byte came.
    last: u32,
    /// Whether the app wants to hear of each change.
    is_updating: bool,
    /// The occupied squares as the app knows them.
    told: Option<Bitboard>,
}

impl Pegasus {
    /// At the beginning: a board that says this of itself.
    pub const fn new(identity: Identity) -> Self {
        let battery = Battery { percent: 100, is_charging: false };
        Pegasus { identity, battery, incoming: None, last: 0, is_updating: false, told: None }
    }

    /// Whether the app hears of each change.
    pub const fn is_updating(&self) -> bool {
        self.is_updating
    }

    /// Takes a byte that came at `now`, and answers what needs no look at the board.
    pub fn receive(&mut self, byte: u8, now: u32, out: &mut impl Sink) -> Option<Order> {
        if now.wrapping_sub(self.last) >= PATIENCE {
            self.incoming = None;
        }
        self.last = now;
        match self.incoming.take() {
            None => self.begin(byte, out),
            Some(mut message) => {
                if message.take(byte) {
                    return message.order();
                }
                self.incoming = Some(message);
                None
            }
        }
    }

    /// The first byte of a message.
    fn begin(&mut self, byte: u8, out: &mut impl Sink) -> Option<Order> {
        let Identity { trademark, serial, version, hardware } = self.identity;
        let _ = match byte {
            b'@' => {
                (self.is_updating, self.told) = (false, None);
                return Some(Order::Reset);
            }
            b'B' => return Some(Order::Dump),
            b'D' => {
                self.is_updating = true;
                Ok(())
            }
            b'E' => send(0x91, characters(serial, 5), out),
            b'G' => send(0x92, trademark.bytes(), out),
            b'H' => send(0x96, hardware, out),
            b'L' => send(0xa0, self.battery.bytes(), out),
            b'M' => send(0x93, version, out),
            b'U' => send(0xa2, characters(serial, 10), out),
            b'Y' => send(0xa4, [0], out),
            b'Z' => send(0xa5, [0], out),
            LAMPS | DEVELOPER_KEY | NAME => {
                self.incoming = Some(Incoming::new(byte));
                Ok(())
            }
            _ => Ok(()),
        };
        None
    }

    /// Sends the squares for [`Report::Dump`], and the changes for [`Report::Occupancy`] while the app
    /// wants them: squares lifted first. Has no words for others.
    ///
    /// # Errors
    /// [`Unsent::Full`]: what is missing goes out with the next report. [`Unsent::NotWanted`].
    pub fn report(&mut self, report: &Report<'_>, out: &mut impl Sink) -> Result<(), Unsent> {
        match *report {
            Report::Dump(occupied) => {
                let is_there = |square| u8::from(occupied.contains(square));
                send(0x86, in_their_order().map(is_there), out)?;
                self.told = Some(occupied);
                Ok(())
            }
            Report::Occupancy(occupied) if self.is_updating => self.update(occupied, out),
            _ => Err(Unsent::NotWanted),
        }
    }

    /// Tells what changed since the app was told last.
    fn update(&mut self, occupied: Bitboard, out: &mut impl Sink) -> Result<(), Unsent> {
        // What was there when updates began is no change.
        let mut told = mem::take(&mut self.told).unwrap_or(occupied);
        let mut sent = Ok(());
        for (squares, state) in [(told & !occupied, 0), (occupied & !told, 1)] {
            for (number, square) in (0u8..).zip(in_their_order()) {
                if sent.is_ok() && squares.contains(square) {
                    sent = send(0x8e, [number, state], out);
                    if sent.is_ok() {
                        told.toggle(square);
                    }
                }
            }
        }
        self.told = Some(told);
        sent
    }

    /// The link was lost: updates are off, half a message is forgotten.
    pub fn disconnected(&mut self) {
        *self = Pegasus { battery: self.battery, ..Pegasus::new(self.identity) };
    }
}

impl Incoming {
    fn new(kind: u8) -> Self {
        Incoming { kind, missing: None, payload: Vec::new(), is_too_long: false }
    }

    /// Takes the next byte; whether it was the last.
    fn take(&mut self, byte: u8) -> bool {
        let missing = match self.missing {
            None => byte,
            Some(missing) => {
                self.is_too_long |= self.payload.push(byte).is_err();
                missing.saturating_sub(1)
            }
        };
        self.missing = Some(missing);
        missing == 0
    }

    /// What a whole message orders.
    fn order(&self) -> Option<Order> {
        if self.kind != LAMPS || self.is_too_long {
            return None;
        }
        let off = LampsOrder { lit: Bitboard::EMPTY, once: false, level: 0 };
        match self.payload.as_slice() {
            [0, 0] => Some(Order::Lamps(off)),
            [5, _speed, once, level, squares @ .., 0] => {
                let mut lit = Bitboard::EMPTY;
                for &number in squares {
                    lit.add(square(number)?);
                }
                Some(Order::Lamps(LampsOrder { lit, once: *once == 1, level: *level }))
            }
            _ => None,
        }
    }
}

impl Battery {
    fn bytes(self) -> [u8; 9] {
        let percent = u16::from(self.percent.min(100));
        let charge = (percent * u16::from(FULL_CHARGE) + 50) / 100;
        let charge = u8::try_from(charge).unwrap_or(FULL_CHARGE);
        [charge, 0, 0, 0, 0, 0, 0, 0, u8::from(self.is_charging)]
    }
}

/// A message: type, length, payload.
fn send(
    kind: u8,
    payload: impl IntoIterator<Item = u8>,
    out: &mut impl Sink,
) -> Result<(), Unsent> {
    let mut message = Vec::<u8, MAX_MESSAGE>::new();
    for byte in [kind, 0, 0].into_iter().chain(payload) {
        if message.push(byte).is_err() {
            break;
        }
    }
    let length = message.len();
    if let Some([_, high, low]) = message.first_chunk_mut() {
        // Seven bits each; a message is never longer than both can say.
        [*high, *low] = [length >> 7, length].map(|part| part.to_le_bytes()[0] & 0x7f);
    }
    Ok(out.send(&message)?)
}

/// As many characters of a text, zeros where it is shorter.
fn characters(text: &str, count: usize) -> impl Iterator<Item = u8> {
    text.bytes().chain(core::iter::repeat(b'0')).take(count)
}

/// The squares in the protocol's order: a8 … h8, a7 … h1.
fn in_their_order() -> impl Iterator<Item = Square> {
    (0u8..64).filter_map(square)
}

/// The square of a number in the protocol.
fn square(number: u8) -> Option<Square> {
    Square::try_from(number).ok().map(Square::flip_vertical)
}
