//! The whole board: games against Viveka, the coach's lamps, apps that keep the game.
mod app;
mod coach;

use kibitzer_core::chessboard::{Chessboard, Player, Settings};
use kibitzer_core::coach::{Level, Mind};
use kibitzer_core::game::Game;
use kibitzer_core::lamps::Colour;
use kibitzer_core::legal;
use kibitzer_core::position::parse_fen;
use kibitzer_core::shakmaty::{Color, Position as _};
use kibitzer_core::viveka::FITTED;
use kibitzer_simulator::desk::Desk;
use kibitzer_simulator::hand::{ORDERS, Order, Style};
use rand::seq::IndexedRandom as _;

/// A steady hand.
const STEADY: Style = Style::steady(Order::VictimFirst);

/// What thinks, without a network.
const fn mind() -> Mind<'static> {
    Mind { weights: &FITTED, net: None }
}

/// A board with this position.
fn desk_of(fen: &str, settings: Settings) -> Desk<'static> {
    let mut board = Chessboard::new(mind(), settings, 1);
    board.resume(|game, _| *game = Game::new(parse_fen(fen).expect("a position")));
    let mut desk = Desk::new(board, 1);
    desk.wait(400);
    desk
}

/// Two people and no help.
fn people() -> Settings {
    let mut settings = Settings { hints: 0, warns: false, ..Settings::default() };
    settings.players.black = Player::Hand;
    settings
}

#[test]
fn games_against_viveka_are_played_by_the_lamps() {
    for seed in 0..6 {
        let mut settings = Settings { warns: false, ..Settings::default() };
        if seed % 2 == 1 {
            (settings.players.white, settings.players.black) = (Player::Viveka, Player::Hand);
        }
        settings.levels.white = Level::new(seed as u8);
        let board = Chessboard::new(mind(), settings, seed as u32);
        let mut desk = Desk::new(board, seed);
        desk.wait(400);
        let style = Style::steady(ORDERS[seed as usize % 3]);
        for ply in 0..60 {
            if desk.board.outcome().is_some() {
                break;
            }
            let position = desk.board.game().position().clone();
            let plies = desk.board.game().len();
            if settings.is_viveka(position.turn()) {
                desk.wait(100);
                let mv = desk.board.recogniser().told().expect("Viveka's move");
                let blue = desk.board.lamps().of(Colour::Blue);
                assert!(blue.contains(mv.from().expect("a square")), "{mv} {blue:?}");
                assert!(desk.board.message().contains("Viveka plays"), "{}", desk.board.message());
                desk.carry_out(style);
            } else {
                let moves = legal::moves(&position);
                let mv = *moves.choose(&mut desk.rng).expect("a move");
                desk.make(mv, style);
            }
            let state = desk.board.recogniser().state();
            assert_eq!(desk.board.game().len(), plies + 1, "{ply} of {seed}: {state:?}");
            assert!(desk.board.is_to_be_saved());
            desk.board.saved();
        }
        assert!(desk.board.game().len() > 10);
    }
}

#[test]
fn mate_ends_the_game_and_is_shown_by_the_kings() {
    let mut desk = desk_of("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", people());
    let mv = legal::moves(desk.board.game().position()).into_iter().find(|mv| {
        mv.from() == Some(kibitzer_core::shakmaty::Square::A1)
            && mv.to() == kibitzer_core::shakmaty::Square::A8
    });
    desk.make(mv.expect("a mate"), STEADY);
    let outcome = desk.board.outcome().expect("it is over");
    assert_eq!(outcome.as_str(), "1-0");
    assert_eq!(desk.board.message(), "checkmate: 1-0");
    let board = desk.board.game().position().board();
    let king = |color| board.king_of(color).expect("a king");
    assert_eq!(desk.board.lamps().get(king(Color::White)), Colour::Green);
    assert_eq!(desk.board.lamps().get(king(Color::Black)), Colour::Red);
    assert!(!desk.board.wants_to_think());
}

#[test]
fn a_turned_board_is_turned_when_the_power_comes_back() {
    use kibitzer_core::shakmaty::Square;
    let mut desk = desk_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", people());
    desk.touch(&[Square::D7, Square::D5]);
    desk.wait(400);
    assert_eq!(desk.board.game().len(), 1);
    assert!(desk.board.settings().is_turned && desk.board.is_to_be_saved());
    let (game, bytes) = (desk.board.game().clone(), desk.board.settings().to_bytes());
    let mut board = Chessboard::new(mind(), Settings::default(), 1);
    board.resume(|to, settings| {
        *to = game;
        *settings = Settings::from_bytes(&bytes).expect("settings");
    });
    desk.board = board;
    desk.wait(400);
    assert_eq!(desk.board.lamps().lit(), kibitzer_core::shakmaty::Bitboard::EMPTY);
    // Black's e7 is the board's d2.
    desk.touch(&[Square::D2, Square::D4]);
    desk.wait(400);
    let moves: Vec<String> = desk.board.game().moves().map(|(mv, _)| mv.to_string()).collect();
    assert_eq!(moves, ["e2-e4", "e7-e5"]);
}
