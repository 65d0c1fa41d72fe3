//! A million lifts and places, some with sense and most without: the game stays legal, and the
//! lamps lead back.
use kibitzer_core::legal;
use kibitzer_core::recognition::{Event, State};
use kibitzer_core::shakmaty::{Chess, Move, Position as _, Square};
use kibitzer_simulator::hand::{self, ORDERS, Style};
use kibitzer_simulator::table::{Felt, Table};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use super::mishaps::follow_lamps;
use super::{events, table};

/// Lifts and places in all.
const TOUCHES: usize = 1_000_000;

/// Does something: touches any square, or begins a legal move and perhaps ends it.
fn stray(table: &mut Table) -> (usize, Vec<Felt>) {
    let moves = legal::moves(table.recogniser.game().position());
    let chosen = moves.choose(&mut table.rng).copied();
    let has_sense = table.rng.random_bool(0.3);
    let mut felt = Vec::new();
    let mut touches = 0;
    if let (Some(mv), true) = (chosen, has_sense) {
        let position = table.recogniser.game().position().clone();
        let order = ORDERS[table.rng.random_range(0..4)];
        let style = Style { pace_ms: (10, 400), ..Style::steady(order) };
        let mut beats = hand::make(&position, mv, style, &mut table.rng);
        if table.rng.random_bool(0.3) {
            beats.truncate(table.rng.random_range(0..=beats.len()));
        }
        if table.recogniser.is_turned() {
            let squares = beats.iter_mut().flat_map(|beat| &mut beat.touched);
            squares.for_each(|square| *square = square.rotate_180());
        }
        touches += beats.iter().map(|beat| beat.touched.len()).sum::<usize>();
        felt.extend(table.act(&beats));
    } else {
        let square = Square::new(table.rng.random_range(0..64));
        table.touch(square);
        touches += 1;
    }
    let ms = match table.rng.random_range(0..10) {
        0 => 2_500,
        1..4 => 400,
        _ => table.rng.random_range(0..60),
    };
    felt.extend(table.wait(ms));
    (touches, felt)
}

/// Keeps the list of moves as the events tell; how many were made.
fn note(played: &mut Vec<Move>, told: &[Event]) -> usize {
    let mut moves = 0;
    for event in told {
        match *event {
            Event::Moved(mv) => {
                played.push(mv);
                moves += 1;
            }
            Event::TakenBack(plies) => {
                let kept = played.len().checked_sub(plies).expect("no more than were played");
                played.truncate(kept);
            }
            Event::NewGame => played.clear(),
            _ => {}
        }
    }
    moves
}

/// Where the moves lead, each being legal.
fn replay(played: &[Move]) -> Chess {
    played.iter().fold(Chess::default(), |mut position, &mv| {
        assert!(legal::moves(&position).contains(&mv), "{mv} in {played:?}");
        position.play_unchecked(mv);
        position
    })
}

#[test]
fn a_random_walk_is_always_recovered_from() {
    let (mut moves, mut touches, mut seed) = (0, 0, 0);
    while touches < TOUCHES {
        let mut table = table(8, seed);
        seed += 1;
        let mut played = Vec::new();
        for step in 0..2_000 {
            let (count, felt) = stray(&mut table);
            touches += count;
            moves += note(&mut played, &events(&felt));
            if step % 10 == 9 {
                note(&mut played, &follow_lamps(&mut table));
                assert_eq!(replay(&played), *table.recogniser.game().position(), "{played:?}");
                let home = table.recogniser.game().position().board().occupied();
                let is_turned = table.recogniser.is_turned();
                let home = if is_turned { home.rotate_180() } else { home };
                let state = table.recogniser.state();
                assert_eq!(home, table.contacts.occupied(), "{state:?} at {step} of {seed}");
                assert_eq!(*state, State::Ready, "at {step} of {seed}");
            }
        }
    }
    println!("{moves} legal moves in {touches} touches");
    assert!(moves > TOUCHES / 100, "{moves}");
}
