//! A whole chessboard, with contacts, bytes and buttons of which the compiler knows nothing.
use core::hint::black_box;

use kibitzer_core::{
    chessboard::{Button, Chessboard, Settings},
    coach::Mind,
    net::Model,
    protocol::Protocol,
    shakmaty::{Bitboard, Chess},
    viveka::FITTED,
};

/// Runs a board through everything that can be done to it.
pub fn run(net: Option<(&Model<'_>, &mut [u8])>, protocol: Protocol, line: &[u8]) {
    let mind = Mind { weights: &FITTED, net };
    let mut board = Chessboard::new(mind, Settings::default(), black_box(1));
    board.resume(|game, settings| {
        black_box(game);
        *settings = Settings::from_bytes(line).unwrap_or_default();
    });
    board.speak(protocol);
    for (now, &byte) in (0..).zip(line) {
        board.frame(black_box(now), Bitboard(black_box(0)));
        board.receive(byte);
        if board.wants_to_think() {
            black_box(board.think(&mut || {
                black_box(());
            }));
        }
        while let Some(byte) = board.next_byte() {
            black_box(byte);
        }
        black_box((board.lamps(), board.signal(), board.message(), board.outcome()));
    }
    board.end_of_packet();
    for button in black_box([
        Button::Hint,
        Button::TakeBack,
        Button::NewGame,
        Button::Side,
        Button::Level,
        Button::Yes,
        Button::No,
    ]) {
        board.press(button);
    }
    board.set_up(Chess::default());
    board.disconnected();
    black_box(board.settings().to_bytes());
    black_box(&board);
}
