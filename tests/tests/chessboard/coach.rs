//! What the board tells its player.
use kibitzer_core::chessboard::{Button, Player, Settings};
use kibitzer_core::coach::{Coach, Grade, Level};
use kibitzer_core::lamps::Colour;
use kibitzer_core::legal;
use kibitzer_core::position::parse_fen;
use kibitzer_core::shakmaty::{Bitboard, Position as _, Square};
use kibitzer_core::viveka::FITTED;

use super::{STEADY, desk_of, mind, people};

/// The queen may be taken for nothing.
const HANGING: &str = "rnb1kbnr/pppp1ppp/8/4p1q1/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3";

/// The lamps that grade.
fn graded(desk: &kibitzer_simulator::desk::Desk<'_>) -> Bitboard {
    let grades = Grade::THRESHOLDS.map(|(grade, _)| desk.board.lamps().of(grade.colour()));
    grades.into_iter().fold(Bitboard::EMPTY, |all, squares| all | squares)
}

#[test]
fn a_touched_mans_moves_have_the_colours_of_their_losses() {
    let settings = Settings { hints: 2, warns: true, ..people() };
    let mut desk = desk_of(HANGING, settings);
    desk.touch(&[Square::F3]);
    desk.wait(400);
    let position = desk.board.game().position().clone();
    let destinations: Bitboard = legal::moves(&position)
        .into_iter()
        .filter(|mv| mv.from() == Some(Square::F3))
        .map(|mv| mv.to())
        .collect();
    assert_eq!(graded(&desk), destinations);
    assert_eq!(desk.board.lamps().get(Square::G5), Colour::Green, "it takes the queen");
    assert_eq!(desk.board.lamps().get(Square::D4), Colour::Red, "it leaves her, and is taken");
    // By the scale that is stated.
    let mut coach = Coach::new();
    coach.think(&position, None, &mut mind(), &mut || ());
    for graded in coach.grade(&position, None, Square::F3, &FITTED) {
        let colour = desk.board.lamps().get(graded.mv.to());
        assert_eq!(colour, Grade::of(graded.loss).colour(), "{graded:?}");
    }
    desk.touch(&[Square::F3]);
    desk.wait(400);
    assert_eq!(desk.board.lamps().lit(), Bitboard::EMPTY);
}

#[test]
fn hints_are_limited_by_the_turn() {
    let mut desk = desk_of(HANGING, Settings { hints: 2, warns: false, ..people() });
    let touch = |desk: &mut kibitzer_simulator::desk::Desk<'_>, square| {
        desk.touch(&[square]);
        desk.wait(400);
        let is_graded = graded(desk).any();
        desk.touch(&[square]);
        desk.wait(400);
        is_graded
    };
    assert!(touch(&mut desk, Square::F3));
    assert!(touch(&mut desk, Square::F1));
    assert!(touch(&mut desk, Square::F3), "the same man once more");
    assert!(!touch(&mut desk, Square::B1), "the third");
    desk.board.press(Button::Hint);
    assert_eq!(desk.board.lamps().lit(), Bitboard::EMPTY, "nor the best move");
    // Without the colours the squares where it may go are white.
    desk.touch(&[Square::B1]);
    desk.wait(400);
    let white = Bitboard::from(Square::B1) | Square::A3 | Square::C3;
    assert_eq!(desk.board.lamps().of(Colour::White), white);
    desk.touch(&[Square::C3]);
    desk.wait(400);
    assert!(touch(&mut desk, Square::G5), "another turn");
}

#[test]
fn taking_back_and_other_buttons_bring_no_hints_back() {
    let mut desk = desk_of(HANGING, Settings { hints: 1, warns: false, ..people() });
    desk.wait(50);
    desk.board.press(Button::Hint);
    assert_eq!(desk.board.message(), "best is Nxg5");
    desk.touch(&[Square::B1, Square::C3]);
    desk.wait(400);
    desk.board.press(Button::Hint);
    assert!(desk.board.message().starts_with("best is "), "another turn");
    desk.touch(&[Square::C3, Square::B1]);
    desk.wait(400);
    assert!(desk.board.game().is_empty());
    desk.board.press(Button::Hint);
    assert_eq!(desk.board.message(), "one move taken back");
    for _ in 0..3 {
        desk.board.press(Button::Side);
        desk.wait(400);
    }
    assert_eq!(desk.board.settings().players.white, Player::Hand);
    desk.board.press(Button::Hint);
    assert!(!desk.board.message().starts_with("best is "), "{}", desk.board.message());
    // A new game has hints again.
    desk.board.set_up(parse_fen(HANGING).expect("a position"));
    desk.wait(400);
    desk.board.press(Button::Hint);
    assert!(desk.board.message().starts_with("best is "), "{}", desk.board.message());
}

#[test]
fn viveka_thinks_again_about_a_man_that_goes_on() {
    // The rook rests where the knight would take it, and goes on.
    let fen = "4k3/8/8/5n2/8/8/8/3RK3 w - - 0 1";
    let mut desk = desk_of(fen, Settings { hints: 0, warns: false, ..Settings::default() });
    desk.touch(&[Square::D1, Square::D4]);
    desk.wait(800);
    let told = desk.board.recogniser().told().expect("an answer");
    assert_eq!(told.to(), Square::D4, "the rook is taken");
    desk.touch(&[Square::D4, Square::D7]);
    desk.wait(800);
    assert_eq!(desk.board.game().len(), 1);
    let told = desk.board.recogniser().told().expect("an answer");
    assert!(legal::moves(desk.board.game().position()).contains(&told), "{told}");
    assert_eq!(told.to(), Square::D7);
}

#[test]
fn kings_put_back_withdraw_the_result() {
    let mut desk = desk_of(HANGING, Settings::default());
    desk.touch(&[Square::E4, Square::E5, Square::E1, Square::E4, Square::E8, Square::D5]);
    desk.wait(1_200);
    assert_eq!(desk.board.outcome().map(|outcome| outcome.as_str()), Some("1-0"));
    desk.touch(&[Square::D5, Square::E8, Square::E4, Square::E1, Square::E4, Square::E5]);
    desk.wait(400);
    assert_eq!(desk.board.outcome(), None);
    desk.touch(&[Square::F3, Square::G5, Square::G5]);
    desk.wait(1_000);
    assert!(desk.board.recogniser().told().is_some(), "Viveka goes on");
}

#[test]
fn a_game_that_is_over_stays_over_whatever_is_pressed() {
    let mut desk = desk_of("R5k1/5ppp/8/8/8/8/8/6K1 b - - 1 1", Settings::default());
    for _ in 0..3 {
        desk.board.press(Button::Side);
        desk.wait(400);
        assert_eq!(desk.board.outcome().map(|outcome| outcome.as_str()), Some("1-0"));
        assert!(!desk.board.wants_to_think());
    }
    desk.board.set_up(desk.board.game().position().clone());
    desk.wait(400);
    assert!(desk.board.outcome().is_some() && !desk.board.wants_to_think());
}

#[test]
fn the_best_move_is_shown_on_request() {
    let mut desk = desk_of(HANGING, Settings { hints: 1, warns: false, ..people() });
    desk.wait(50);
    desk.board.press(Button::Hint);
    assert_eq!(desk.board.lamps().of(Colour::Green), Bitboard::from(Square::F3) | Square::G5);
    assert_eq!(desk.board.message(), "best is Nxg5");
}

#[test]
fn a_move_that_gives_something_away_is_warned_of_before_the_answer() {
    let settings = Settings { hints: 0, warns: true, ..Settings::default() };
    let mut desk = desk_of(HANGING, settings);
    desk.wait(100);
    // The knight goes where the pawn takes it.
    desk.touch(&[Square::F3, Square::D4]);
    desk.wait(400);
    let message = desk.board.message().to_owned();
    assert!(message.starts_with("Nd4 loses ") && message.contains("; better Nxg5"), "{message}");
    assert_eq!(desk.board.lamps().get(Square::D4), Colour::Red);
    assert_eq!(desk.board.recogniser().told(), None, "Viveka waits");
    desk.wait(4_000);
    assert_eq!(desk.board.recogniser().told(), None);
    // Taken back in time: nothing happened.
    desk.touch(&[Square::D4, Square::F3]);
    desk.wait(400);
    assert!(desk.board.game().is_empty());
    desk.touch(&[Square::F3, Square::D4]);
    desk.wait(6_000);
    let told = desk.board.recogniser().told().expect("an answer");
    assert!(desk.board.message().contains("Viveka plays"), "{}", desk.board.message());
    assert!(told.from().is_some());
}

#[test]
fn the_reason_is_told_in_words() {
    // The queen could be taken.
    let fen = "r1b1kbnr/pppp1ppp/2n5/4p3/2B1P2q/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 4";
    let mut desk = desk_of(fen, Settings { hints: 0, warns: true, ..people() });
    desk.wait(100);
    desk.touch(&[Square::B1, Square::C3]);
    desk.wait(500);
    let message = desk.board.message();
    assert!(
        message.starts_with("Nc3 loses ") && message.ends_with(": it passes up Nxh4"),
        "{message}"
    );
    // The queen is given away.
    let fen = "rnb1kbnr/pppp1ppp/8/4p3/4Pq2/5N2/PPPP1PPP/RNBQKB1R b KQkq - 0 3";
    let mut desk = desk_of(fen, Settings { hints: 0, warns: true, ..people() });
    desk.wait(100);
    desk.touch(&[Square::F4, Square::F3, Square::F3]);
    desk.wait(500);
    let message = desk.board.message();
    let lost = "…Qxf3 loses ";
    assert!(
        message.starts_with(lost) && message.contains(": it loses the queen on f3"),
        "{message}"
    );
}

#[test]
fn a_critical_position_lights_the_signal() {
    let settings = Settings { hints: 1, ..people() };
    let desk = desk_of(HANGING, settings);
    let mut desk = desk;
    desk.wait(50);
    assert!(desk.board.signal(), "one move stands out");
    let quiet = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    let mut desk = desk_of(quiet, settings);
    desk.wait(50);
    assert!(!desk.board.signal());
    // Without any help there is no signal either.
    let mut desk = desk_of(HANGING, people());
    desk.wait(50);
    assert!(!desk.board.signal() && !desk.board.wants_to_think());
}

#[test]
fn a_level_weakens_the_opponent_and_never_the_hint() {
    let frames = |level| {
        let mut settings = Settings { hints: 3, ..Settings::default() };
        settings.levels.white = level;
        let mut desk = desk_of(HANGING, settings);
        desk.touch(&[Square::F3]);
        desk.wait(400);
        *desk.board.lamps()
    };
    assert_eq!(frames(Level::WEAKEST), frames(Level::STRONGEST));
    // The opponent's moves differ.
    let replies = |level| -> Vec<_> {
        (0..12)
            .map(|seed| {
                let mut settings = Settings { hints: 0, warns: false, ..Settings::default() };
                (settings.players.white, settings.players.black) = (Player::Viveka, Player::Hand);
                settings.levels.black = level;
                let board = kibitzer_core::chessboard::Chessboard::new(mind(), settings, seed + 1);
                let mut desk = kibitzer_simulator::desk::Desk::new(board, 0);
                desk.wait(600);
                desk.board.recogniser().told()
            })
            .collect()
    };
    let mut strong = replies(Level::STRONGEST);
    strong.dedup();
    assert_eq!(strong.len(), 1);
    let mut weak = replies(Level::WEAKEST);
    weak.sort_by_key(|mv| format!("{mv:?}"));
    weak.dedup();
    assert!(weak.len() > 2, "{weak:?}");
}

#[test]
fn a_wrong_position_is_led_back_man_by_man() {
    let mut desk = desk_of(HANGING, people());
    let knocked = [Square::A1, Square::B1, Square::C1, Square::D1];
    for square in knocked {
        desk.contacts.touch(square, &mut desk.rng);
    }
    desk.wait(400);
    for square in knocked {
        assert_eq!(desk.board.lamps().lit(), Bitboard::from(square));
        let position = parse_fen(HANGING).expect("a position");
        let piece = position.board().piece_at(square).expect("a piece");
        let name = format!("{:?}", piece.role).to_lowercase();
        let message = desk.board.message();
        assert!(message.contains(&format!("white {name} on {square}")), "{message}");
        desk.touch(&[square]);
        desk.wait(400);
    }
    assert_eq!(desk.board.lamps().lit(), Bitboard::EMPTY);
    desk.make(legal::moves(desk.board.game().position())[0], STEADY);
    assert_eq!(desk.board.game().len(), 1);
}
