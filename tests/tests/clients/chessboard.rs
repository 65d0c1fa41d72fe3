//! The same apps with the whole chessboard of the core, hands and contacts included.
use std::{
    cell::RefCell,
    io::{self, Read, Write},
    rc::Rc,
};

use kibitzer_core::{
    chessboard::{Chessboard, Settings},
    coach::Mind,
    game::Game,
    lamps::Colour,
    position::parse_fen,
    protocol::{
        Cpp, Pegasus, Protocol,
        cpp::{Features, Link},
    },
    shakmaty::{Bitboard, Chess, Move, Position as _, Role, Square},
    viveka::FITTED,
};
use kibitzer_simulator::{
    desk::Desk,
    hand::{ORDERS, Style},
};
use kibitzer_tests::clients::{
    cpp::{Central, Turn},
    pegasus::App,
};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use super::{Kinds, PATIENCE, QUIET, STARTS, any_legal, identity};

/// Milliseconds that pass at the board while the app waits for a byte.
const MOMENT: u32 = 10;

/// A board, somebody who sits at it, and the line to it.
#[derive(Clone)]
struct Seat(Rc<RefCell<(Desk<'static>, Style, Option<Move>)>>);

impl Seat {
    fn new(protocol: Protocol, position: &Chess, seed: u64) -> Self {
        let mind = Mind { weights: &FITTED, net: None };
        let mut board = Chessboard::new(mind, Settings::default(), 1);
        board.resume(|game, _| *game = Game::new(position.clone()));
        board.speak(protocol);
        let mut desk = Desk::new(board, seed);
        desk.wait(400);
        let order = ORDERS[seed as usize % ORDERS.len()];
        // Every second hand slides its men, rests on the way and adjusts them.
        let style = Style {
            slides: seed % 2 == 1,
            rests_ms: 150,
            adjusts_percent: 20 * (seed % 2) as u32,
            ..Style::steady(order)
        };
        Seat(Rc::new(RefCell::new((desk, style, None))))
    }

    /// The player moves.
    fn make(&self, mv: Move) {
        let (desk, style, _) = &mut *self.0.borrow_mut();
        desk.make(mv, *style);
    }

    /// The player will carry out this move of the app's once lamps show it.
    fn will_carry_out(&self, mv: Move) {
        self.0.borrow_mut().2 = Some(mv);
    }

    fn touch(&self, squares: &[Square]) {
        let (desk, ..) = &mut *self.0.borrow_mut();
        desk.touch(squares);
        desk.wait(400);
    }

    fn position(&self) -> Chess {
        self.0.borrow().0.board.game().position().clone()
    }
}

impl Read for Seat {
    /// While nothing comes time passes, and the player does what the lamps ask for.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (desk, style, wanted) = &mut *self.0.borrow_mut();
        if desk.sent.is_empty() {
            desk.wait(MOMENT);
            let is_shown = desk.board.lamps().lit().any();
            if let Some(mv) = wanted.take_if(|_| is_shown) {
                desk.make(mv, *style);
            }
        }
        let count = desk.sent.len().min(buffer.len());
        desk.sent.drain(..count).zip(buffer).for_each(|(byte, place)| *place = byte);
        Ok(count)
    }
}

impl Write for Seat {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|&byte| self.0.borrow_mut().0.board.receive(byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_central_plays_games_with_the_chessboard() {
    let (mut random, mut kinds) = (ChaCha8Rng::seed_from_u64(17), Kinds::default());
    for (start, seed) in STARTS.into_iter().chain(STARTS).zip(0..) {
        let start = parse_fen(start).expect("a position");
        let protocol = Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL));
        let seat = Seat::new(protocol, &start, seed);
        let mut central = Central::connect(seat.clone(), PATIENCE).expect("a board");
        central.begin(&start).expect("in sync");
        for ply in 0..80 {
            let Some(mv) = any_legal(central.position(), &mut random) else { break };
            kinds.count(mv);
            if ply % 2 == 1 {
                seat.will_carry_out(mv);
                central.play(mv).expect("carried out");
            } else {
                seat.make(mv);
                assert_eq!(central.turn().expect("a turn"), Turn::Played(mv), "{seed} {ply}");
            }
            assert_eq!(seat.position().board(), central.position().board(), "{seed} {ply} {mv}");
        }
        central.end("draw").expect("sent");
    }
    assert!(kinds.0.into_iter().all(|count| count > 0), "{kinds:?}");
}

#[test]
fn a_central_hears_of_a_knock_a_takeback_and_a_resignation() {
    let start = Chess::default();
    let protocol = Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL));
    let seat = Seat::new(protocol, &start, 0);
    // A man is missing when the game begins; the player puts it back.
    seat.touch(&[Square::D1]);
    let mut central = Central::connect(seat.clone(), PATIENCE).expect("a board");
    let putting = seat.clone();
    central.send("begin rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").expect("sent");
    let said = central.message().expect("an answer");
    assert!(format!("{said:?}").starts_with("Unsync("), "{said:?}");
    putting.touch(&[Square::D1]);
    assert!(central.begin(&start).is_ok());
    seat.touch(&[Square::E2, Square::E4]);
    assert!(matches!(central.turn(), Ok(Turn::Played(_))));
    seat.touch(&[Square::E4, Square::E2]);
    assert_eq!(central.turn().expect("a turn"), Turn::TakenBack);
    assert_eq!(seat.position(), start);
    // A move that is none is refused by the app's rules, and put back.
    seat.touch(&[Square::D2, Square::D4]);
    assert!(matches!(central.turn(), Ok(Turn::Played(_))));
    let mv = any_legal(central.position(), &mut ChaCha8Rng::seed_from_u64(1)).expect("a move");
    seat.will_carry_out(mv);
    central.play(mv).expect("carried out");
    let blue = seat.0.borrow().0.board.lamps().of(Colour::Blue);
    assert_eq!(blue, Bitboard::EMPTY, "what is carried out is shown no more");
    seat.0.borrow_mut().0.board.press(kibitzer_core::chessboard::Button::No);
    assert_eq!(central.turn().expect("a turn"), Turn::Resigned);
}

#[test]
fn an_app_plays_games_with_the_chessboard_as_a_pegasus() {
    let (mut random, mut kinds) = (ChaCha8Rng::seed_from_u64(18), Kinds::default());
    for (start, seed) in STARTS.into_iter().chain(STARTS).zip(0..) {
        let start = parse_fen(start).expect("a position");
        let seat = Seat::new(Protocol::Pegasus(Pegasus::new(identity())), &start, seed);
        let mut app = App::connect(seat.clone(), PATIENCE).expect("a board");
        app.quiet = QUIET;
        app.begin(&start).expect("set up");
        for ply in 0..80 {
            let Some(mv) = any_legal(app.position(), &mut random) else { break };
            if mv.promotion().is_some_and(|role| role != Role::Queen) {
                continue;
            }
            kinds.count(mv);
            if ply % 2 == 1 {
                seat.will_carry_out(mv);
                app.play(mv).expect("carried out");
            } else {
                seat.make(mv);
                let found = app.turn().unwrap_or_else(|e| panic!("{seed} {ply} {mv}: {e}"));
                assert_eq!(found, mv, "{seed} {ply}");
            }
            assert_eq!(seat.position().board(), app.position().board(), "{seed} {ply} {mv}");
        }
    }
    assert!(kinds.0.into_iter().all(|count| count > 0), "{kinds:?}");
}

/// Whatever an app says first, Viveka's move is gone from the lamps, and no help is left.
#[test]
fn what_was_thought_is_gone_once_an_app_speaks() {
    let protocols = [
        (Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)), &b"feature side\nside ?\n"[..]),
        (Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)), b"feature get_state\nget_state\n"),
        (Protocol::Pegasus(Pegasus::new(identity())), b"B"),
        (Protocol::Pegasus(Pegasus::new(identity())), b"@"),
    ];
    for (protocol, first) in protocols {
        let seat = Seat::new(protocol, &Chess::default(), 0);
        seat.touch(&[Square::E2, Square::E4]);
        seat.0.borrow_mut().0.wait(1_000);
        let blue = || seat.0.borrow().0.board.lamps().of(Colour::Blue);
        assert!(blue().any(), "Viveka answers");
        seat.clone().write_all(first).expect("taken");
        assert_eq!(seat.0.borrow().0.board.lamps().lit(), Bitboard::EMPTY, "{first:?}");
        seat.0.borrow_mut().0.wait(1_000);
        assert!(blue().is_empty() && !seat.0.borrow().0.board.wants_to_think());
    }
}
