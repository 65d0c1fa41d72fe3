//! Apps that know the protocols' descriptions alone play whole games with a board in the same program
//! that speaks by the core's state machines: random moves, from one seed, and those of each kind.
mod board;
mod chessboard;

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use board::{Shared, hands};
use kibitzer_core::{
    legal,
    position::parse_fen,
    protocol::{
        Cpp, Pegasus, Protocol, Report,
        cpp::{Features, Link},
        pegasus::Identity,
    },
    shakmaty::{Bitboard, CastlingMode, Chess, Move, Position as _, Role},
};
use kibitzer_tests::clients::{
    cpp::{Central, Turn},
    pegasus::App,
};
use rand::{SeedableRng as _, rngs::ChaCha8Rng, seq::IndexedRandom as _};

/// No answer takes as long in one program.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a hand did has all come before the app looks.
const QUIET: Duration = Duration::from_millis(2);

/// A legal move, rather one of those that are rare.
fn any_legal(position: &Chess, random: &mut ChaCha8Rng) -> Option<Move> {
    let moves = legal::moves(position);
    let is_rare =
        |mv: &&Move| mv.is_castle() || mv.is_en_passant() || mv.promotion() == Some(Role::Queen);
    let rare: Vec<Move> = moves.iter().filter(is_rare).copied().collect();
    rare.choose(random).or(moves.choose(random)).copied()
}

/// Kinds of moves that must have been played: castling, en passant, promotion, capture.
#[derive(Default, Debug)]
struct Kinds([u32; 4]);

impl Kinds {
    fn count(&mut self, mv: Move) {
        let kinds = [mv.is_castle(), mv.is_en_passant(), mv.is_promotion(), mv.is_capture()];
        self.0.iter_mut().zip(kinds).for_each(|(count, is_one)| *count += u32::from(is_one));
    }
}

/// What the board says of itself.
const fn identity() -> Identity {
    Identity { trademark: "a board", serial: "1", version: [1, 2], hardware: [1, 0] }
}

/// Starts from which the rare moves are near.
const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R2Pp1k/8/6P1/8 b - e3 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
];

#[test]
fn a_central_plays_games() {
    let board = Shared::new(Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)));
    let mut central = Central::connect(board.clone(), PATIENCE).expect("a board");
    assert_eq!(central.features(), ["undo", "moved", "check", "side", "draw_offer", "resign"]);
    let (mut random, mut kinds) = (ChaCha8Rng::seed_from_u64(7), Kinds::default());
    for start in STARTS {
        let start = parse_fen(start).expect("a position");
        assert_eq!(central.begin(&start).expect("in sync"), 0);
        for ply in 0..160 {
            let Some(mv) = any_legal(central.position(), &mut random) else { break };
            kinds.count(mv);
            if ply % 2 == 1 {
                central.play(mv).expect("carried out");
                continue;
            }
            // A board that cannot tell a promotion leaves the piece open; the app takes a queen.
            let uci = mv.to_uci(CastlingMode::Standard).to_string();
            let said = uci[..4].parse().expect("a move");
            board.with(|board| board.say(&Report::Move(said)));
            assert_eq!(central.turn().expect("a turn"), Turn::Played(mv), "{uci}");
            board.with(|board| assert_eq!(board.position(), central.position(), "{uci}"));
        }
        central.end("draw").expect("sent");
        board.with(|board| assert_eq!(board.end.take().as_deref(), Some("Draw")));
    }
    assert!(kinds.0.into_iter().all(|count| count > 0), "{kinds:?}");
}

#[test]
fn a_central_refuses_takes_back_and_ends() {
    let board = Shared::new(Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)));
    let mut central = Central::connect(board.clone(), PATIENCE).expect("a board");
    central.begin(&Chess::default()).expect("in sync");
    let say = |report: Report<'_>| board.with(|board| board.say(&report));
    let uci = |text: &str| text.parse().expect("a move");
    say(Report::Move(uci("e2e5")));
    assert_eq!(central.turn().expect("a turn"), Turn::Refused("e2e5".to_owned()));
    say(Report::Move(uci("e2e4")));
    assert!(matches!(central.turn(), Ok(Turn::Played(_))));
    say(Report::Undo(uci("e2e4")));
    assert_eq!(central.turn().expect("a turn"), Turn::TakenBack);
    assert_eq!(central.position(), &Chess::default());
    say(Report::Move(uci("d2d4")));
    assert!(matches!(central.turn(), Ok(Turn::Played(_))));
    central.take_back().expect("taken back");
    board.with(|board| assert_eq!(board.position(), &Chess::default()));
    assert!(!central.offer_draw().expect("an answer"));
    say(Report::DrawOffer);
    assert_eq!(central.turn().expect("a turn"), Turn::OffersDraw);
    central.answer(false).expect("sent");
    say(Report::Resign);
    assert_eq!(central.turn().expect("a turn"), Turn::Resigned);
    central.end("resign").expect("sent");
    board.with(|board| assert_eq!(board.end.as_deref(), Some("Resign")));
}

#[test]
fn an_app_finds_the_moves_of_a_pegasus() {
    let board = Shared::new(Protocol::Pegasus(Pegasus::new(identity())));
    let mut app = App::connect(board.clone(), PATIENCE).expect("a board");
    app.quiet = QUIET;
    assert_eq!(app.version().expect("a version"), [1, 2]);
    assert_eq!(app.trademark().expect("a text"), "a board");
    let (mut random, mut kinds) = (ChaCha8Rng::seed_from_u64(8), Kinds::default());
    for start in STARTS {
        let start = parse_fen(start).expect("a position");
        let set_up = start.board().occupied();
        board.with(|board| {
            board.touch(Bitboard::FULL, false);
            board.touch(set_up, true);
        });
        app.begin(&start).expect("set up");
        for ply in 0..160 {
            let Some(mv) = any_legal(app.position(), &mut random) else { break };
            if mv.promotion().is_some_and(|role| role != Role::Queen) {
                continue;
            }
            kinds.count(mv);
            let hands = hands(app.position(), mv);
            if ply % 2 == 1 {
                board.with(|board| board.hands = hands);
                app.play(mv).expect("carried out");
                board.with(|board| assert!(board.lit.is_empty(), "lamps are off again"));
            } else {
                board.with(|board| hands.iter().for_each(|&(at, there)| board.touch(at, there)));
                assert_eq!(app.turn().expect("a turn"), mv);
            }
        }
    }
    assert!(kinds.0.into_iter().all(|count| count > 0), "{kinds:?}");
}

/// A link on which nothing comes.
struct Silent;

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Write for Silent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_board_that_says_nothing_is_not_waited_for_without_end() {
    let moment = Duration::from_millis(1);
    assert!(Central::connect(Silent, moment).is_err());
    assert!(App::connect(Silent, moment).is_err());
}
