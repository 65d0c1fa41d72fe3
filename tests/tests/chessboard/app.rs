//! Games that an app keeps.
use kibitzer_core::chessboard::{Button, Chessboard, Settings};
use kibitzer_core::game::Outcome;
use kibitzer_core::lamps::Colour;
use kibitzer_core::protocol::cpp::{Features, Link};
use kibitzer_core::protocol::pegasus::Identity;
use kibitzer_core::protocol::{Certabo, Cpp, Pegasus, Protocol};
use kibitzer_core::shakmaty::{Bitboard, Square};
use kibitzer_simulator::desk::Desk;

use super::mind;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const HANGING: &str = "rnb1kbnr/pppp1ppp/8/4p1q1/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3";

/// A board with all help on, and an app at its line.
fn desk() -> Desk<'static> {
    let settings = Settings { hints: 9, warns: true, ..Settings::default() };
    let mut board = Chessboard::new(mind(), settings, 1);
    board.speak(Protocol::Cpp(Cpp::new(Link::Serial, Features::ALL)));
    let mut desk = Desk::new(board, 1);
    desk.wait(400);
    desk
}

/// Says a line; what the board sends until it is quiet.
fn say(desk: &mut Desk<'_>, line: &str) -> String {
    for byte in line.bytes().chain([b'\n']) {
        desk.board.receive(byte);
    }
    desk.wait(400);
    heard(desk)
}

fn heard(desk: &mut Desk<'_>) -> String {
    String::from_utf8(std::mem::take(&mut desk.sent)).expect("text")
}

#[test]
fn a_game_is_kept_by_an_app() {
    let mut desk = desk();
    assert_eq!(say(&mut desk, "feature undo"), "ok\n");
    assert_eq!(say(&mut desk, "feature moved"), "ok\n");
    let synced = "sync rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w\n";
    assert_eq!(say(&mut desk, &format!("begin {START}")), synced);
    // The player moves; the app takes it.
    desk.touch(&[Square::E2, Square::E4]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "move e2e4\n");
    assert_eq!(say(&mut desk, "ok"), "");
    // The app moves; the player carries it out by the lamps.
    assert_eq!(say(&mut desk, "move e7e5"), "");
    let blue = desk.board.lamps().of(Colour::Blue);
    assert_eq!(blue, Bitboard::from(Square::E7) | Square::E5);
    desk.touch(&[Square::E7, Square::E5]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "moved\n");
    // A move that the app does not take is put back.
    desk.touch(&[Square::F1, Square::A6]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "move f1a6\n");
    let told = say(&mut desk, "nok");
    assert!(told.starts_with("unsync "), "{told}");
    desk.touch(&[Square::A6, Square::F1]);
    desk.wait(350);
    assert!(heard(&mut desk).ends_with("sync rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w\n"));
    // The player takes the app's move back, and the app allows it.
    desk.touch(&[Square::E5, Square::E7]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "undo e7e5\n");
    assert_eq!(say(&mut desk, "ok"), "");
    assert_eq!(desk.board.game().len(), 1);
    // The app takes one back, too.
    say(&mut desk, "undo e2e4");
    desk.touch(&[Square::E4, Square::E2]);
    desk.wait(350);
    assert!(heard(&mut desk).ends_with("moved\n"));
    assert!(desk.board.game().is_empty());
    assert_eq!(say(&mut desk, "move e2e5"), "err no such move in this position\n");
}

#[test]
fn no_help_of_any_kind_leaves_the_board_online() {
    let mut desk = desk();
    // Something was thought before the app came.
    assert!(desk.board.message().contains("set up"));
    let mut lit = Bitboard::EMPTY;
    say(&mut desk, &format!("begin {HANGING}"));
    let setting: Vec<Square> = [Square::G1, Square::F3, Square::E2, Square::E4, Square::D8]
        .into_iter()
        .chain([Square::G5, Square::E7, Square::E5])
        .collect();
    desk.touch(&setting);
    desk.wait(500);
    assert!(heard(&mut desk).contains("sync rnb1kbnr/"), "set up");
    let mut check = |desk: &mut Desk<'_>| {
        assert!(!desk.board.wants_to_think(), "nothing is thought");
        assert!(!desk.board.signal());
        let lamps = desk.board.lamps();
        for colour in [Colour::Green, Colour::Yellow, Colour::Orange] {
            assert_eq!(lamps.of(colour), Bitboard::EMPTY);
        }
        lit |= lamps.lit();
        let message = desk.board.message();
        assert!(!message.contains("loses") && !message.contains("best"), "{message}");
    };
    desk.wait(500);
    check(&mut desk);
    for button in [Button::Hint, Button::Level, Button::Side, Button::TakeBack, Button::NewGame] {
        desk.board.press(button);
        check(&mut desk);
    }
    // A man is lifted and held over the queen; a blunder is made.
    desk.touch(&[Square::F3]);
    desk.wait(3_000);
    check(&mut desk);
    desk.touch(&[Square::D4]);
    for _ in 0..100 {
        desk.wait(10);
        check(&mut desk);
    }
    assert_eq!(heard(&mut desk), "move f3d4\n");
    assert_eq!(say(&mut desk, "ok"), "");
    check(&mut desk);
    // The same game, thought about at the board, is full of lamps.
    let asked = Bitboard::from(Square::F3);
    assert_eq!(lit, asked, "where it was, since it may have replaced a man unseen");
}

#[test]
fn men_in_the_air_look_alike_online_whatever_they_may_take() {
    // How many lamps are lit while a man is held, all of them its own square's.
    let held = |from: Square| -> Vec<usize> {
        let mut desk = desk();
        say(&mut desk, &format!("begin {START}"));
        for squares in [[Square::E2, Square::E4], [Square::D7, Square::D5]] {
            desk.touch(&squares);
            desk.wait(400);
            say(&mut desk, "ok");
        }
        let message = desk.board.message().to_owned();
        desk.touch(&[from]);
        let look = |_| {
            desk.wait(100);
            assert_eq!(desk.board.message(), message);
            assert!(desk.board.lamps().lit().is_subset(from));
            desk.board.lamps().lit().count()
        };
        (0..30).map(look).collect()
    };
    // The pawn on e4 may take, the one on d2 may not.
    assert_eq!(held(Square::E4), held(Square::D2));
}

#[test]
fn whoever_hears_of_the_squares_may_keep_a_game() {
    let identity = Identity { trademark: "", serial: "", version: [1, 0], hardware: [1, 0] };
    for protocol in [Protocol::Pegasus(Pegasus::new(identity)), Protocol::Certabo(Certabo::new())] {
        let is_pegasus = matches!(protocol, Protocol::Pegasus(_));
        let mut desk = desk();
        desk.touch(&[Square::E2, Square::E4]);
        desk.wait(400);
        assert!(desk.board.recogniser().told().is_some(), "Viveka's move");
        desk.board.speak(protocol);
        if is_pegasus {
            assert!(!desk.board.is_online());
            // Updates from now on, and nothing else.
            desk.board.receive(b'D');
        }
        assert!(desk.board.is_online());
        desk.wait(1_000);
        assert_eq!(desk.board.recogniser().told(), None);
        assert!(!desk.board.wants_to_think() && desk.board.lamps().lit().is_empty());
    }
}

#[test]
fn moves_made_since_fall_with_the_one_that_the_app_refuses() {
    let mut desk = desk();
    say(&mut desk, &format!("begin {START}"));
    desk.touch(&[Square::E2, Square::E4]);
    desk.wait(350);
    desk.touch(&[Square::E7, Square::E5]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "move e2e4\n", "the second waits for an answer to the first");
    say(&mut desk, "nok");
    assert!(desk.board.game().is_empty());
    desk.touch(&[Square::E5, Square::E7, Square::E4, Square::E2]);
    desk.wait(350);
    let told = heard(&mut desk);
    assert!(told.ends_with("w\n") && told.contains("sync "), "{told}");
    assert!(!told.contains("move"), "{told}");
    // One that was taken back meanwhile falls alone.
    desk.touch(&[Square::D2, Square::D4]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "move d2d4\n");
    say(&mut desk, "ok");
    desk.touch(&[Square::E7, Square::E5]);
    desk.wait(350);
    desk.touch(&[Square::E5, Square::E7]);
    desk.wait(350);
    let told = heard(&mut desk);
    assert!(told.starts_with("move e7e5\nunsync "), "without the feature it stands: {told}");
    assert_eq!(desk.board.game().len(), 2);
    assert!(say(&mut desk, "nok").starts_with("sync "));
    assert_eq!(desk.board.game().len(), 1);
    desk.touch(&[Square::D7, Square::D5]);
    desk.wait(350);
    assert_eq!(heard(&mut desk), "move d7d5\n");
}

#[test]
fn of_several_moves_taken_back_the_app_may_refuse_some() {
    let mut desk = desk();
    say(&mut desk, "feature undo");
    say(&mut desk, &format!("begin {START}"));
    for (from, to) in [(Square::E2, Square::E4), (Square::E7, Square::E5), (Square::D2, Square::D4)]
    {
        desk.touch(&[from, to]);
        desk.wait(350);
        say(&mut desk, "ok");
    }
    for (from, to) in [(Square::D4, Square::D2), (Square::E5, Square::E7), (Square::E4, Square::E2)]
    {
        desk.touch(&[from, to]);
        desk.wait(350);
    }
    assert_eq!(heard(&mut desk), "undo d2d4\n");
    assert_eq!(say(&mut desk, "ok"), "undo e7e5\n");
    assert!(desk.board.game().is_empty());
    say(&mut desk, "nok");
    let moves: Vec<_> = desk.board.game().moves().map(|(mv, _)| mv.to()).collect();
    assert_eq!(moves, [Square::E4, Square::E5], "what was taken back below it, too");
}

#[test]
fn a_draw_that_is_offered_is_no_draw_yet() {
    let mut desk = desk();
    say(&mut desk, "feature draw_offer");
    say(&mut desk, &format!("begin {START}"));
    let kings = [Square::E1, Square::E4, Square::E8, Square::E5];
    desk.touch(&kings);
    desk.wait(1_200);
    assert_eq!(heard(&mut desk), "draw_offer\n");
    assert_eq!(desk.board.message(), "a draw is offered");
    assert_eq!(desk.board.outcome(), None);
    say(&mut desk, "nok");
    desk.touch(&[Square::E4, Square::E1, Square::E5, Square::E8]);
    desk.wait(400);
    assert_eq!(desk.board.outcome(), None);
    say(&mut desk, "end draw");
    assert_eq!(desk.board.outcome(), Some(Outcome::Draw));
}

#[test]
fn the_board_helps_again_when_the_line_is_down_and_a_game_begins() {
    let mut desk = desk();
    say(&mut desk, &format!("begin {START}"));
    say(&mut desk, "move e2e4");
    assert!(desk.board.is_online());
    desk.board.disconnected();
    assert!(!desk.board.is_online());
    assert_eq!(desk.board.recogniser().told(), None);
    // The app's game may go on elsewhere.
    desk.touch(&[Square::E2, Square::E4]);
    for _ in 0..10 {
        desk.board.press(Button::Hint);
        desk.wait(100);
        assert!(!desk.board.wants_to_think() && !desk.board.signal());
        assert!(desk.board.lamps().lit().is_empty());
    }
    assert_eq!(desk.board.game().len(), 1, "it is followed all the same");
    desk.board.press(Button::NewGame);
    desk.touch(&[Square::E4, Square::E2]);
    desk.wait(400);
    desk.touch(&[Square::D2, Square::D4]);
    desk.wait(1_000);
    assert!(desk.board.recogniser().told().is_some(), "Viveka answers");
}

#[test]
fn an_apps_game_stays_without_help_when_the_power_comes_back() {
    let mut desk = desk();
    say(&mut desk, &format!("begin {START}"));
    assert!(desk.board.is_to_be_saved());
    let bytes = desk.board.settings().to_bytes();
    let mut board = Chessboard::new(mind(), Settings::default(), 1);
    board.resume(|_, settings| {
        *settings = Settings::from_bytes(&bytes).expect("settings");
    });
    desk.board = board;
    desk.wait(500);
    desk.board.set(Settings { hints: 9, ..Settings::default() });
    desk.touch(&[Square::G1]);
    desk.wait(500);
    assert!(!desk.board.wants_to_think());
    assert_eq!(desk.board.lamps().lit(), Bitboard::EMPTY);
    // The next game is the board's own again.
    desk.touch(&[Square::G1]);
    desk.board.press(Button::NewGame);
    desk.wait(500);
    assert!(!desk.board.settings().is_unaided);
}
