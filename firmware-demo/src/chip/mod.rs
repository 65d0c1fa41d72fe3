//! What the programs of real chips share above their makers' crates.
//!
//! - `inbox`: bytes from an interrupt.
//! - `solo`: a bus with one device on it.
//!
//! A chip's program describes its [`Parts`] and [starts](start).
mod inbox;
#[cfg(feature = "chip")]
mod solo;

use cortex_m::singleton;
use embedded_storage::nor_flash::NorFlash;
use kibitzer_core::{
    chessboard::{Button, Chessboard, Settings},
    coach::Mind,
    drivers::ws2812::Supply,
    lamps::Frame,
    protocol::{
        Cpp, Protocol,
        cpp::{Features, Link},
    },
    shakmaty::Bitboard,
    storage::Storage,
    viveka,
};

use crate::board_loop::{self, Look, Wires};
use crate::saved;
pub use inbox::Inbox;
#[cfg(feature = "chip")]
pub use solo::{Solo, solo};

/// The line to the app: 8 data bits, no parity, one stop bit.
pub const BAUD: u32 = 115_200;
/// Clock of the contacts' chain: long wires under a board, pull-ups of 10 kΩ.
pub const CONTACTS_HZ: u32 = 1_000_000;
/// Clock of the lamps' bus, three bits for one of theirs.
pub const LAMPS_HZ: u32 = 2_400_000;
/// What the lamps may take of a supply of 2 A.
pub const SUPPLY: Supply = Supply { milliamps: 1_500, brightness: 96 };

/// Milliseconds between two looks at the contacts and the buttons.
const LOOK_MS: u32 = 5;
/// Milliseconds for which a button must be down to be pressed, and up to be pressed again.
const BUTTON_MS: u32 = 30;
/// Milliseconds after which saving is tried again that failed.
const SAVE_AGAIN_MS: u32 = 10_000;

/// What is soldered to a chip.
pub trait Parts {
    /// Milliseconds since the start; may wrap around.
    fn now(&mut self) -> u32;

    /// The occupied squares; `None` if the contacts could not be read this time.
    fn contacts(&mut self) -> Option<Bitboard>;

    /// The button that is down, if one is.
    fn button(&mut self) -> Option<Button>;

    /// Shows the lamps, and the signal that a position is one to think about.
    fn show(&mut self, lamps: &Frame, signal: bool);

    /// The next byte that came over the line.
    fn receive(&mut self) -> Option<u8>;

    /// Sends a byte, if the line takes it now; whether it did.
    fn send(&mut self, byte: u8) -> bool;

    /// Tells the watchdog that all is well.
    fn feed(&mut self);
}

/// Goes on with the game that `storage` has, for ever. Where there is no storage nothing is saved.
/// `seed` decides what weak opponents do.
///
/// # Panics
/// Called a second time.
pub fn start<F: NorFlash>(parts: impl Parts, storage: Option<Storage<F>>, seed: u32) -> ! {
    let board = make(seed).expect("the first and only one");
    board.speak(Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)));
    let mut wires = Soldered {
        parts,
        storage,
        looked_at: 0,
        last: None,
        buttons: Debounced::default(),
        shown: None,
        unsaved_at: None,
    };
    wires.resume(board);
    loop {
        board_loop::run(board, &mut wires);
    }
}

/// The board, whose 20 KB are no part of the stack, nor, as an `Option`'s would be, of the flash.
#[inline(never)] // what it takes to make it is free again before anything is thought
fn make(seed: u32) -> Option<&'static mut Chessboard<'static>> {
    singleton!(: Chessboard<'static> = new(seed))
}

#[inline(never)]
fn new(seed: u32) -> Chessboard<'static> {
    Chessboard::new(Mind { weights: &viveka::FITTED, net: None }, Settings::default(), seed)
}

/// A chip's parts and its flash, as the loop sees them.
struct Soldered<P, F> {
    parts: P,
    storage: Option<Storage<F>>,
    looked_at: u32,
    /// What the contacts read last.
    last: Option<Bitboard>,
    buttons: Debounced,
    shown: Option<(Frame, bool)>,
    /// When saving failed.
    unsaved_at: Option<u32>,
}

impl<P: Parts, F: NorFlash> Soldered<P, F> {
    /// Goes on with the game that flash holds; with a new one where it holds none or fails.
    fn resume(&mut self, board: &mut Chessboard<'_>) {
        if let Some(storage) = &mut self.storage {
            saved::resume(board, storage);
        }
    }

    /// What the contacts read, if it is time to look.
    fn try_look(&mut self) -> Option<Look> {
        let now = self.parts.now();
        if now.wrapping_sub(self.looked_at) < LOOK_MS {
            return None;
        }
        self.looked_at = now;
        Some((now, self.parts.contacts()?))
    }
}

impl<P: Parts, F: NorFlash> Wires for Soldered<P, F> {
    /// Contacts that cannot be read any more are the watchdog's concern.
    fn look(&mut self) -> Option<Look> {
        loop {
            if let Some(look) = self.try_look() {
                self.last = Some(look.1);
                return Some(look);
            }
        }
    }

    fn glance(&mut self) -> Option<Look> {
        // Few fit in until the thought is finished: those that say something new.
        let look = self.try_look().filter(|look| self.last != Some(look.1))?;
        self.last = Some(look.1);
        Some(look)
    }

    fn button(&mut self) -> Option<Button> {
        let down = self.parts.button();
        self.buttons.look(self.looked_at, down)
    }

    fn receive(&mut self) -> Option<u8> {
        self.parts.receive()
    }

    fn send(&mut self, byte: u8) -> bool {
        self.parts.send(byte)
    }

    fn show(&mut self, board: &Chessboard<'_>) {
        let now = (*board.lamps(), board.signal());
        if self.shown != Some(now) {
            self.parts.show(&now.0, now.1);
            self.shown = Some(now);
        }
    }

    fn save(&mut self, board: &Chessboard<'_>) -> bool {
        let now = self.parts.now();
        if self.unsaved_at.is_some_and(|at| now.wrapping_sub(at) < SAVE_AGAIN_MS) {
            return false;
        }
        let Some(storage) = &mut self.storage else { return true };
        let is_saved = saved::save(board, storage);
        self.unsaved_at = if is_saved { None } else { Some(now) };
        is_saved
    }

    fn feed(&mut self) {
        self.parts.feed();
    }
}

/// A row of buttons that bounce.
#[derive(Default)]
struct Debounced {
    /// As last read, and since when.
    read: Option<Button>,
    since: u32,
    /// As believed.
    down: Option<Button>,
}

impl Debounced {
    /// The button that is pressed just now.
    fn look(&mut self, now: u32, read: Option<Button>) -> Option<Button> {
        if read != self.read {
            (self.read, self.since) = (read, now);
        }
        if read == self.down || now.wrapping_sub(self.since) < BUTTON_MS {
            return None;
        }
        self.down = read;
        read
    }
}
