//! Apps that know the protocols' descriptions alone play games through the firmware, over a
//! pseudo-terminal.
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use kibitzer_core::legal;
use kibitzer_core::shakmaty::{Chess, Move, Position as _};
use kibitzer_simulator::hand::{Order, Style};
use kibitzer_tests::clients::cpp::{Central, Turn};
use kibitzer_tests::clients::pegasus::App;
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::IndexedRandom as _};

use super::sit;

/// How long the emulated board may take for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What somebody at the board is asked to do.
enum Wish {
    /// To make this move.
    Make(Move),
    /// To do what the lamps ask for.
    Follow,
}

/// Somebody at a board that speaks this protocol, in a thread of their own; and the app's end of
/// the line. Without an image there is nobody.
fn somebody(protocol: &str) -> Option<(Sender<Wish>, File, thread::JoinHandle<Chess>)> {
    let (mut sitting, terminal) = sit("pty", Style::steady(Order::VictimFirst), 6)?;
    let terminal = terminal.expect("a pseudo-terminal");
    // The programs share the terminal's settings, which QEMU has made those of a plain line.
    let line = OpenOptions::new().read(true).write(true).open(terminal).expect("a terminal");
    sitting.speak(protocol).expect("a board");
    let (wishes, wished) = mpsc::channel();
    let somebody = thread::spawn(move || {
        loop {
            sitting.wait(50).expect("a board");
            match wished.try_recv() {
                Ok(Wish::Make(mv)) => sitting.make(mv).expect("recognised"),
                Ok(Wish::Follow) => {
                    while !sitting.follow().expect("recognised") {
                        sitting.wait(50).expect("a board");
                    }
                }
                Err(mpsc::TryRecvError::Empty) => {}
                Err(mpsc::TryRecvError::Disconnected) => break,
            }
        }
        super::hold(&sitting.costs);
        sitting.position.clone()
    });
    Some((wishes, line, somebody))
}

/// A line that says when nothing has come, as the apps expect it.
struct Polled {
    line: File,
    came: mpsc::Receiver<u8>,
}

impl Polled {
    fn new(line: File) -> Self {
        let mut reader = line.try_clone().expect("the same line");
        let (bytes, came) = mpsc::channel();
        // It ends with the emulator, whose end of the line closes.
        thread::spawn(move || {
            let mut byte = [0];
            while reader.read_exact(&mut byte).is_ok() && bytes.send(byte[0]).is_ok() {}
        });
        Self { line, came }
    }
}

impl Read for Polled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let byte = self.came.try_recv().map_err(|_| io::ErrorKind::WouldBlock)?;
        buffer[0] = byte;
        Ok(1)
    }
}

impl Write for Polled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.flush()
    }
}

/// Some legal move, but no promotion to less than a queen.
fn some_move(position: &Chess, chance: &mut ChaCha8Rng) -> Option<Move> {
    let moves = legal::moves(position);
    let is_plain =
        |mv: &&Move| mv.promotion().is_none_or(|role| role == kibitzer_core::shakmaty::Role::Queen);
    let plain: Vec<Move> = moves.iter().filter(is_plain).copied().collect();
    plain.choose(chance).copied()
}

#[test]
fn a_central_plays_a_game_over_a_pseudo_terminal() {
    let Some((wishes, line, somebody)) = somebody("cpp") else { return };
    let reader = Polled::new(line);
    let mut central = Central::connect(reader, PATIENCE).expect("a board");
    assert_eq!(central.begin(&Chess::default()).expect("in sync"), 0);
    let mut chance = ChaCha8Rng::seed_from_u64(9);
    for ply in 0..24 {
        let Some(mv) = some_move(central.position(), &mut chance) else { break };
        if ply % 2 == 0 {
            wishes.send(Wish::Make(mv)).expect("somebody");
            assert_eq!(central.turn().expect("a turn"), Turn::Played(mv));
        } else {
            wishes.send(Wish::Follow).expect("somebody");
            central.play(mv).expect("carried out");
        }
    }
    central.end("draw").expect("sent");
    let expected = central.position().clone();
    drop(wishes);
    let position = somebody.join().expect("somebody");
    assert_eq!(position.board(), expected.board());
}

#[test]
fn an_app_plays_a_pegasus_over_a_pseudo_terminal() {
    let Some((wishes, line, somebody)) = somebody("pegasus") else { return };
    let reader = Polled::new(line);
    let mut app = App::connect(reader, PATIENCE).expect("a board");
    assert_eq!(app.trademark().expect("a text"), "Kibitzer on an emulated board");
    app.begin(&Chess::default()).expect("set up");
    let mut chance = ChaCha8Rng::seed_from_u64(10);
    for ply in 0..24 {
        let Some(mv) = some_move(app.position(), &mut chance) else { break };
        wishes.send(Wish::Make(mv)).expect("somebody");
        if ply % 2 == 0 {
            assert_eq!(app.turn().expect("a turn"), mv);
        } else {
            app.play(mv).expect("carried out");
        }
    }
    let expected = app.position().clone();
    drop(wishes);
    let position = somebody.join().expect("somebody");
    assert_eq!(position.board(), expected.board());
}
