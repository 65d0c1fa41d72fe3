//! What the programs of real chips share, on an emulated board: a game goes on that flash holds, by
//! contacts that follow a script, and is saved.
//!
//! UART0 tells the moves that flash holds at the end, UART1 `stack`, the bytes of the deepest stack.
#![no_std]
#![no_main]

use core::cell::RefCell;
use core::fmt::Write as _;

use cortex_m::interrupt::{Mutex, free};
use cortex_m::singleton;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use kibitzer_core::chessboard::{Button, Player, Settings};
use kibitzer_core::game::{Game, Maker};
use kibitzer_core::lamps::Frame;
use kibitzer_core::legal;
use kibitzer_core::shakmaty::uci::UciMove;
use kibitzer_core::shakmaty::{Bitboard, ByColor, Position as _};
use kibitzer_core::storage::Storage;
use kibitzer_firmware::chip::{self, Parts};
use kibitzer_firmware::end::exit;
use kibitzer_firmware::uart::{self, Ports, Transmitter};
use kibitzer_firmware::{entry, stack};

/// The game. Flash holds its first moves, the script makes the others.
const MOVES: [&str; 12] = [
    "e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "f3g5", "d7d5", "e4d5", "c6d4", "e1g1", "h7h6",
];
const SAVED: usize = 4;
/// Milliseconds from one hand to the next.
const HAND_MS: u32 = 700;

/// Bytes of flash: two pages.
const BYTES: usize = 8192;
static FLASH: Mutex<RefCell<[u8; BYTES]>> = Mutex::new(RefCell::new([0; BYTES]));

/// Flash that lies in RAM.
struct Flash;

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        let range = offset as usize..offset as usize + bytes.len();
        free(|token| bytes.copy_from_slice(&FLASH.borrow(token).borrow()[range]));
        Ok(())
    }

    fn capacity(&self) -> usize {
        BYTES
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        let range = from as usize..to as usize;
        free(|token| FLASH.borrow(token).borrow_mut()[range].fill(0xff));
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let range = offset as usize..offset as usize + bytes.len();
        free(|token| {
            let mut flash = FLASH.borrow(token).borrow_mut();
            flash[range].iter_mut().zip(bytes).for_each(|(at, byte)| *at &= byte);
        });
        Ok(())
    }
}

/// Contacts that a script opens and closes.
struct Script {
    output: Transmitter,
    diagnostics: Transmitter,
    now: u32,
    /// The game as far as it is made on the board.
    game: &'static mut Game,
    occupied: Bitboard,
    /// Squares that hands will change, in turn.
    hands: heapless::Deque<Bitboard, 4>,
    next_hand: u32,
    shown: bool,
}

impl Script {
    /// What the next hand does; the end once the script is over.
    fn act(&mut self) {
        self.next_hand += HAND_MS;
        if let Some(squares) = self.hands.pop_front() {
            self.occupied ^= squares;
            return;
        }
        let Some(uci) = MOVES.get(self.game.len()) else { self.finish() };
        let before = self.game.position().board().occupied();
        play(self.game, uci);
        let after = self.game.position().board().occupied();
        let changed = before ^ after;
        // A man that is taken goes first, then what left its square; what arrives comes last.
        let left = changed & before;
        let arrived = if changed == left { taken_on(self.game) } else { changed & after };
        if changed == left {
            let _ = self.hands.push_back(arrived);
        }
        for square in left {
            let _ = self.hands.push_back(Bitboard::from_square(square));
        }
        for square in arrived {
            let _ = self.hands.push_back(Bitboard::from_square(square));
        }
    }

    /// Tells what flash holds, and ends.
    fn finish(&mut self) -> ! {
        // What follows is no part of a board's work.
        let _ = writeln!(self.diagnostics, "stack {}", stack::deepest());
        let loaded = storage().load(self.game);
        let _ = write!(self.output, "{loaded:?} {}", u8::from(self.shown));
        for (mv, _) in self.game.moves() {
            let _ = write!(self.output, " {}", UciMove::from_standard(mv));
        }
        let _ = writeln!(self.output);
        exit(true)
    }
}

/// The square on which the last move took a man.
fn taken_on(game: &Game) -> Bitboard {
    game.moves().next_back().map_or(Bitboard::EMPTY, |(mv, _)| Bitboard::from_square(mv.to()))
}

fn play(game: &mut Game, uci: &str) {
    let uci: UciMove = uci.parse().expect("a move in UCI");
    game.play(legal::named(game.position(), &uci).expect("legal"), Maker::Hand);
}

fn storage() -> Storage<Flash> {
    Storage::mount(Flash, 0..BYTES as u32).expect("two pages")
}

impl Parts for Script {
    fn now(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    fn contacts(&mut self) -> Option<Bitboard> {
        if self.now >= self.next_hand {
            self.act();
        }
        Some(self.occupied)
    }

    fn button(&mut self) -> Option<Button> {
        None
    }

    fn show(&mut self, lamps: &Frame, _: bool) {
        self.shown |= lamps.lit().any();
    }

    fn receive(&mut self) -> Option<u8> {
        None
    }

    fn send(&mut self, _: u8) -> bool {
        true
    }

    fn feed(&mut self) {}
}

#[entry]
fn main() -> ! {
    let Ports { output, diagnostics, .. } = uart::take().expect("nobody took them before main");
    // Not on the stack, which a board has for itself.
    let game = singleton!(: Game = Game::default()).expect("the first and only one");
    prepare(game);
    let occupied = game.position().board().occupied();
    let hands = heapless::Deque::new();
    let (now, next_hand, shown) = (0, 2 * HAND_MS, false);
    let script = Script { output, diagnostics, now, game, occupied, hands, next_hand, shown };
    chip::start(script, Some(storage()), 1)
}

/// Saves the beginning of the game, whose moves are all made by hand.
#[inline(never)] // what it needs of the stack is free again before the board begins
fn prepare(game: &mut Game) {
    MOVES.iter().take(SAVED).for_each(|uci| play(game, uci));
    let players = ByColor { white: Player::Hand, black: Player::Hand };
    let settings = Settings { players, ..Settings::default() }.to_bytes();
    storage().save(game, &settings).expect("flash that keeps what is written");
}
