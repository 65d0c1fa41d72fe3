//! The position at the end of the exchanges: by hand, by its balance, and mirrored.
mod mirror;
mod positions;

use kibitzer_core::{
    exchange::{balance, exchanges},
    exchange_line::settle,
    position::parse_fen,
    shakmaty::{Chess, Position as _},
};
use mirror::mirrored;
use positions::positions;

fn settled(position: &Chess) -> Chess {
    settle(position, exchanges(position))
}

#[test]
fn lines_worked_out_by_hand() {
    for (why, fen, end) in [
        ("nothing to take", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3"),
        ("a hanging knight", "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", "4k3/8/8/3R4/8/8/8/4K3"),
        (
            "a defended knight stays",
            "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1",
            "4k3/8/4p3/3n4/8/8/3R4/4K3",
        ),
        (
            "an even trade is not begun",
            "3rk3/8/8/3n4/8/8/3R4/3RK3 w - - 0 1",
            "3rk3/8/8/3R4/8/8/8/3RK3",
        ),
        ("both take", "4k3/8/8/4N3/2p3p1/1N6/8/4K3 b - - 0 1", "4k3/8/8/8/6N1/1p6/8/4K3"),
        (
            "the pawn takes, not the rook",
            "4k3/8/8/3n4/2P5/8/3R4/4K3 w - - 0 1",
            "4k3/8/8/3P4/8/8/3R4/4K3",
        ),
        ("en passant", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "4k3/8/3P4/8/8/8/8/4K3"),
    ] {
        let reached = settled(&parse_fen(fen).unwrap());
        assert_eq!(reached.board().to_string(), end, "{why}: {fen}");
    }
}

/// What the search promises is what the line reaches, and nothing more can be won there.
#[test]
fn the_line_reaches_the_promised_balance() {
    let (mut longer, mut ours) = (0, 0);
    for position in positions() {
        for mv in position.legal_moves() {
            let mut next = position.clone();
            next.play_unchecked(mv);
            let value = exchanges(&next);
            let end = settle(&next, value);
            let promised = if end.turn() == next.turn() { value } else { -value };
            assert_eq!(balance(&end), promised, "{position:?} {mv:?}");
            assert_eq!(exchanges(&end), balance(&end), "{position:?} {mv:?}");
            ours += 1;
            longer += i32::from(end != next);
        }
    }
    assert!(ours > 5_000 && longer > 1_000, "{longer} of {ours} lines have captures");
}

#[test]
fn colours_and_wings_do_not_matter() {
    let mut wings = 0;
    for position in positions() {
        let end = settled(&position).board().clone();
        if let Some(other) = mirrored(&position, true) {
            assert_eq!(*settled(&other).board(), end.clone().into_mirrored(), "{position:?}");
        }
        if position.castles().is_empty()
            && let Some(other) = mirrored(&position, false)
        {
            let mut board = end;
            board.flip_horizontal();
            assert_eq!(*settled(&other).board(), board, "{position:?}");
            wings += 1;
        }
    }
    assert!(wings >= 50, "{wings} positions compared");
}
