//! The loop of a chessboard's program, whatever its wires are.
use heapless::Deque;
use kibitzer_core::chessboard::{Button, Chessboard, Task};
use kibitzer_core::protocol::Protocol;
use kibitzer_core::shakmaty::{Bitboard, Chess};

/// Looks at the contacts that wait until a thought is finished.
const WAITING: usize = 32;
/// Bytes from the app that are taken in between two looks at the contacts.
const BYTES: usize = 64;

/// What the contacts read, and when, in milliseconds.
pub type Look = (u32, Bitboard);

/// A chessboard's wires.
pub trait Wires {
    /// Waits until it is time to look at the contacts again, some ten milliseconds, and looks.
    /// `None` ends the program, where one can end.
    fn look(&mut self) -> Option<Look>;

    /// Looks at the contacts in the midst of a thought, if it is time.
    fn glance(&mut self) -> Option<Look>;

    /// A button that was pressed.
    fn button(&mut self) -> Option<Button>;

    /// A byte from the app.
    fn receive(&mut self) -> Option<u8>;

    /// Sends a byte to the app, if there is room; whether there was.
    fn send(&mut self, byte: u8) -> bool;

    /// Shows the board's lamps, signal and message; called when one of them may have changed.
    fn show(&mut self, board: &Chessboard<'_>);

    /// A position to be set up, if one was chosen.
    fn start(&mut self) -> Option<Chess> {
        None
    }

    /// Another protocol to speak with an app, if one was chosen.
    fn protocol(&mut self) -> Option<Protocol> {
        None
    }

    /// Saves the game; whether it is saved.
    fn save(&mut self, board: &Chessboard<'_>) -> bool;

    /// Tells the watchdog that all is well.
    fn feed(&mut self);

    /// Called before and after a part of the work, for whoever measures: [`Part::Nothing`] begins
    /// a measurement.
    fn measure(&mut self, _part: Part) {}
}

/// What a look at the contacts brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    Nothing,
    /// The board was judged, and no move was made or taken back.
    Judged,
    /// A move was made or taken back.
    Move,
}

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// None: the next one begins.
    Nothing,
    /// A look at the contacts was taken in.
    Frame(Seen),
    /// Something was thought.
    Thought(Task),
}

/// Runs a board for as long as its wires do.
///
/// The stack is that of one thought: nothing here calls itself.
pub fn run(board: &mut Chessboard<'_>, wires: &mut impl Wires) {
    let mut unsent = None;
    while let Some(look) = wires.look() {
        wires.feed();
        take(board, wires, look);
        while let Some(button) = wires.button() {
            board.press(button);
        }
        if let Some(start) = wires.start() {
            board.set_up(start);
        }
        if let Some(protocol) = wires.protocol() {
            board.speak(protocol);
        }
        for _ in 0..BYTES {
            let Some(byte) = wires.receive() else { break };
            board.receive(byte);
        }
        while let Some(byte) = unsent.take().or_else(|| board.next_byte()) {
            if !wires.send(byte) {
                unsent = Some(byte);
                break;
            }
        }
        wires.show(board);
        if board.is_to_be_saved() && wires.save(board) {
            board.saved();
        }
        think(board, wires);
    }
}

/// Takes in what the contacts read.
fn take(board: &mut Chessboard<'_>, wires: &mut impl Wires, (now, read): Look) {
    let moves = board.game().len();
    let judgements = board.recogniser().judgements();
    wires.measure(Part::Nothing);
    board.frame(now, read);
    wires.measure(Part::Frame(if board.game().len() != moves {
        Seen::Move
    } else if board.recogniser().judgements() != judgements {
        Seen::Judged
    } else {
        Seen::Nothing
    }));
}

/// Thinks, if there is something to think about, with an eye on the contacts.
fn think(board: &mut Chessboard<'_>, wires: &mut impl Wires) {
    if !board.wants_to_think() {
        return;
    }
    let mut seen = Deque::<Look, WAITING>::new();
    wires.measure(Part::Nothing);
    let task = board.think(&mut || {
        wires.feed();
        if let Some(look) = wires.glance() {
            keep(&mut seen, look);
        }
    });
    if let Some(task) = task {
        wires.measure(Part::Thought(task));
    }
    for look in seen {
        take(board, wires, look);
    }
    wires.show(board);
}

/// Keeps a look for later: of those that read alike the first and the last, of too many the last.
fn keep(seen: &mut Deque<Look, WAITING>, look: Look) {
    let mut latest = seen.iter().rev().map(|&(_, read)| read);
    let is_third = latest.next() == Some(look.1) && latest.next() == Some(look.1);
    if is_third {
        seen.pop_back();
    } else if seen.is_full() {
        seen.pop_front();
    }
    let _ = seen.push_back(look);
}
