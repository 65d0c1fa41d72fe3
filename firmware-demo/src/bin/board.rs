//! A whole chessboard on an emulated Cortex-M4, its wood at the other end of a serial line.
//!
//! UART0 is the wood: a line for each look at the contacts, `f MILLISECONDS HEX`, the sixteen digits
//! being the occupied squares, h8 the highest bit; `b NAME` for a button; `s FEN` for a position to be set up; `a NAME` for the protocol of the line to the
//! app, `cpp` at first, `pegasus` or `certabo`; `h` to hang, as a
//! faulty program does; `q` when the power goes.
//! Each look is answered by what has changed, `l LAMPS SIGNAL`, `m WORDS` and `p FEN`, by `k
//! MOVES` when the game is saved, by what it took, `t PART INSTRUCTIONS`, and at last by a line with a dot: then the board is ready for the next look,
//! so that a run repeats to the byte. UART1 is the line to the app, UART2 that to
//! the flash where games are saved, if there is any.
#![no_std]
#![no_main]

use core::convert::Infallible;
use core::fmt::Write as _;

use embedded_io::{ErrorType, Read};

use kibitzer_core::chessboard::{Button, Chessboard, Settings, Task};
use kibitzer_core::coach::Mind;
use kibitzer_core::lamps::Frame;
#[cfg(feature = "net")]
use kibitzer_core::net::Model;
use kibitzer_core::position::parse_fen;
use kibitzer_core::protocol::cpp::{Features, Link};
use kibitzer_core::protocol::pegasus::Identity;
use kibitzer_core::protocol::{Certabo, Cpp, Pegasus, Protocol};
use kibitzer_core::shakmaty::{Bitboard, Chess, EnPassantMode, fen::Fen};
use kibitzer_core::storage::Storage;
use kibitzer_core::viveka::FITTED;
use kibitzer_firmware::board_loop::{self, Look, Part, Seen, Wires};
use kibitzer_firmware::clock::Clock;
use kibitzer_firmware::end::exit;
use kibitzer_firmware::line::Lines;
#[cfg(feature = "net")]
use kibitzer_firmware::net;
use kibitzer_firmware::saved;
use kibitzer_firmware::serial_flash::SerialFlash;
use kibitzer_firmware::uart::{self, Ports, Receiver, Transmitter};
use kibitzer_firmware::watchdog::Watchdog;
use kibitzer_firmware::{entry, stack};

/// Instructions of a tick, one a nanosecond and 25 million ticks a second.
const INSTRUCTIONS: u64 = 40;
/// What decides the choices of weak opponents: a board with a clock or noise takes another.
const SEED: u32 = 1;
/// How often the line to the app is asked for another byte.
const POLLS: usize = 64;

#[entry]
fn main() -> ! {
    // The runtime hands each out once, as `&'static mut`.
    static mut BOARD: Option<Chessboard<'static>> = None;
    #[cfg(feature = "net")]
    static mut MODEL: Option<Model<'static>> = None;
    #[cfg(feature = "net")]
    static mut SCRATCH: [u8; net::SCRATCH_BYTES] = [0; net::SCRATCH_BYTES];

    let core = cortex_m::Peripherals::take().expect("nobody took them before main");
    let Ports { input, output, diagnostics, link, store } =
        uart::take().expect("nobody took them before main");
    let mut storage =
        SerialFlash::find(store).and_then(|flash| Storage::mount(flash, SerialFlash::RANGE).ok());
    #[cfg(feature = "net")]
    let net = Some((&*MODEL.insert(net::open()), &mut SCRATCH[..]));
    #[cfg(not(feature = "net"))]
    let net = None;
    let mind = Mind { weights: &FITTED, net };
    let board = BOARD.insert(Chessboard::new(mind, Settings::default(), SEED));
    if let Some(storage) = &mut storage {
        saved::resume(board, storage);
    }
    let mut wires = Wood {
        storage,
        lines: Lines::new(Watched { input, watchdog: Watchdog::start() }),
        output,
        link,
        app: diagnostics,
        clock: Clock::start(core.SYST),
        since: 0,
        button: None,
        protocol: protocol(b"cpp"),
        start: None,
        is_asked: false,
        shown: (Frame::DARK, false),
        position: None,
        said: heapless::String::new(),
    };
    board_loop::run(board, &mut wires);
    let _ = writeln!(wires.output, "s {}", stack::deepest());
    exit(true)
}

/// The wood at the other end of the line.
struct Wood {
    storage: Option<Storage<SerialFlash>>,
    lines: Lines<Watched>,
    output: Transmitter,
    link: Receiver,
    app: Transmitter,
    clock: Clock,
    since: u64,
    button: Option<Button>,
    protocol: Option<Protocol>,
    start: Option<Chess>,
    /// A look was taken and not yet answered.
    is_asked: bool,
    shown: (Frame, bool),
    position: Option<Chess>,
    said: heapless::String<256>,
}

/// The wood's line: while nothing comes the watchdog is fed, since the program waits as it should.
struct Watched {
    input: Receiver,
    watchdog: Watchdog,
}

impl ErrorType for Watched {
    type Error = Infallible;
}

impl Read for Watched {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        loop {
            if let Some(byte) = self.input.poll() {
                *first = byte;
                return Ok(1);
            }
            self.watchdog.feed();
        }
    }
}

/// A button's name.
fn button(name: &[u8]) -> Option<Button> {
    Some(match name {
        b"hint" => Button::Hint,
        b"back" => Button::TakeBack,
        b"new" => Button::NewGame,
        b"side" => Button::Side,
        b"level" => Button::Level,
        b"yes" => Button::Yes,
        b"no" => Button::No,
        _ => return None,
    })
}

/// A protocol by its name.
fn protocol(name: &[u8]) -> Option<Protocol> {
    let identity = Identity {
        trademark: "Kibitzer on an emulated board",
        serial: "00001",
        version: [1, 0],
        hardware: [1, 0],
    };
    Some(match name {
        b"cpp" => Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)),
        b"pegasus" => Protocol::Pegasus(Pegasus::new(identity)),
        b"certabo" => Protocol::Certabo(Certabo::new()),
        _ => return None,
    })
}

/// `MILLISECONDS HEX`
fn look(text: &[u8]) -> Option<Look> {
    let (now, read) = core::str::from_utf8(text).ok()?.split_once(' ')?;
    Some((now.parse().ok()?, Bitboard(u64::from_str_radix(read, 16).ok()?)))
}

impl Wires for Wood {
    fn look(&mut self) -> Option<Look> {
        loop {
            if core::mem::take(&mut self.is_asked) {
                let _ = writeln!(self.output, ".");
            }
            match self.lines.next_line().ok()?? {
                [b'f', b' ', text @ ..] => {
                    if let Some(look) = look(text) {
                        self.is_asked = true;
                        return Some(look);
                    }
                }
                // It counts with the next look.
                [b'b', b' ', name @ ..] => self.button = button(name),
                [b'a', b' ', name @ ..] => self.protocol = protocol(name),
                [b's', b' ', fen @ ..] => {
                    self.start = core::str::from_utf8(fen).ok().and_then(|fen| parse_fen(fen).ok());
                }
                // As a program does that has a fault: the watchdog starts it anew.
                b"h" => loop {
                    core::hint::black_box(());
                },
                b"q" => return None,
                _ => {}
            }
        }
    }

    fn glance(&mut self) -> Option<Look> {
        // The wood waits for an answer.
        None
    }

    fn button(&mut self) -> Option<Button> {
        self.button.take()
    }

    fn start(&mut self) -> Option<Chess> {
        self.start.take()
    }

    fn protocol(&mut self) -> Option<Protocol> {
        self.protocol.take()
    }

    fn receive(&mut self) -> Option<u8> {
        (0..POLLS).find_map(|_| self.link.poll())
    }

    fn send(&mut self, byte: u8) -> bool {
        self.app.send(byte);
        true
    }

    fn show(&mut self, board: &Chessboard<'_>) {
        let (lamps, signal, message) = (*board.lamps(), board.signal(), board.message());
        if (lamps, signal) != self.shown {
            self.shown = (lamps, signal);
            let _ = writeln!(self.output, "l {lamps} {}", u8::from(signal));
        }
        let position = board.game().position();
        if self.position.as_ref() != Some(position) {
            let fen = Fen::from_position(position, EnPassantMode::Legal);
            let _ = writeln!(self.output, "p {fen}");
            self.position = Some(position.clone());
        }
        if message != self.said.as_str() {
            self.said.clear();
            // It has the room of any message.
            let _ = self.said.push_str(message);
            let _ = writeln!(self.output, "m {message}");
        }
    }

    fn save(&mut self, board: &Chessboard<'_>) -> bool {
        let Some(storage) = &mut self.storage else { return true };
        let is_saved = saved::save(board, storage);
        if is_saved {
            // From now on it outlives the power.
            let _ = writeln!(self.output, "k {}", board.game().len());
        }
        is_saved
    }

    fn feed(&mut self) {
        self.lines.port().watchdog.feed();
    }

    fn measure(&mut self, part: Part) {
        let now = self.clock.ticks();
        let instructions = (now - self.since) * INSTRUCTIONS;
        let name = match part {
            Part::Nothing => "",
            Part::Frame(Seen::Nothing) => "frame",
            Part::Frame(Seen::Judged) => "judged",
            Part::Frame(Seen::Move) => "move",
            Part::Thought(Task::Position) => "position",
            Part::Thought(Task::Grade(_)) => "grade",
            Part::Thought(Task::Review) => "review",
            Part::Thought(Task::Reply) => "reply",
        };
        if !name.is_empty() {
            let _ = writeln!(self.output, "t {name} {instructions}");
        }
        self.since = self.clock.ticks();
    }
}
