//! Moves taken back: one, all, in one go, while an engine thinks.
use kibitzer_core::game::Game;
use kibitzer_core::recognition::{Event, Recogniser, State};
use kibitzer_core::shakmaty::{Chess, Color, Move, Position as _};
use kibitzer_simulator::hand::{self, ORDERS, Order, Style};
use kibitzer_simulator::table::Table;
use rand::RngExt as _;

use super::{events, games};

/// A table on which a game was played, its men standing at its end.
pub fn table_after(game: &[Move], seed: u64) -> Table {
    let mut played = Game::default();
    for &mv in game {
        played.play(mv, kibitzer_core::game::Maker::Hand);
    }
    let mut table = Table::new(Recogniser::new(played), 10, seed);
    assert!(events(&table.wait(400)).contains(&Event::Agrees));
    table
}

/// The positions of a game, the first included.
fn positions(game: &[Move]) -> Vec<Chess> {
    let mut positions = vec![Chess::default()];
    for &mv in game {
        let mut next = positions[positions.len() - 1].clone();
        next.play_unchecked(mv);
        positions.push(next);
    }
    positions
}

#[test]
fn a_game_goes_back_to_its_start_move_by_move() {
    for (seed, game) in games()[..60].iter().enumerate() {
        let positions = positions(game);
        let style = Style::steady(ORDERS[seed % 4]);
        let mut table = table_after(game, seed as u64);
        for plies in (0..game.len()).rev() {
            let before = &positions[plies];
            let beats = hand::take_back(before, game[plies], style, &mut table.rng);
            let mut told = events(&table.act(&beats));
            told.extend(events(&table.wait(350)));
            assert_eq!(told, [Event::TakenBack(1)], "{} at {plies} of {seed}", game[plies]);
            assert_eq!(table.recogniser.game().position(), before);
            assert_eq!(*table.recogniser.state(), State::Ready);
        }
    }
}

#[test]
fn several_moves_go_back_at_one_stroke() {
    // Faster than the board decides.
    let style = Style { pace_ms: (30, 90), ..Style::steady(Order::VictimFirst) };
    for (seed, game) in games()[..200].iter().enumerate() {
        let positions = positions(game);
        let back = 2 + seed % 9;
        let mut table = table_after(game, seed as u64);
        let mut told = Vec::new();
        for plies in (game.len() - back..game.len()).rev() {
            let beats = hand::take_back(&positions[plies], game[plies], style, &mut table.rng);
            told.extend(events(&table.act(&beats)));
        }
        told.extend(events(&table.wait(350)));
        let expected = &positions[game.len() - back];
        if expected.board() == positions[game.len()].board() {
            assert_eq!(told, [], "nothing has changed");
            continue;
        }
        // Where the same position was there in between, fewer moves explain the board.
        let Some(Event::TakenBack(taken)) = told.first().copied() else {
            panic!("{told:?} in {seed}");
        };
        assert_eq!(told.len(), 1, "{told:?} in {seed}");
        assert!(taken <= back);
        assert_eq!(table.recogniser.game().position().board(), expected.board(), "{seed}");
    }
}

#[test]
fn a_move_is_taken_back_while_the_engine_thinks_and_when_it_has_answered() {
    let game = &games()[0];
    for told in [false, true] {
        let mut table = table_after(&game[..9], 1);
        table.recogniser.set_by_hand(Color::Black, false);
        if told {
            table.recogniser.tell_move(game[9]);
        }
        table.wait(400);
        let before = &positions(game)[8];
        let style = Style::steady(Order::VictimFirst);
        let beats = hand::take_back(before, game[8], style, &mut table.rng);
        let mut felt = table.act(&beats);
        felt.extend(table.wait(350));
        assert_eq!(events(&felt), [Event::TakenBack(1)]);
        assert_eq!(table.recogniser.told(), None);
        assert_eq!(table.recogniser.game().position(), before);
    }
}

#[test]
fn the_victim_may_be_put_back_while_its_taker_is_in_the_air() {
    let mut captures = 0;
    for (seed, game) in games()[..100].iter().enumerate() {
        let positions = positions(game);
        let mut table = table_after(game, seed as u64);
        for plies in (0..game.len()).rev() {
            let slow = if game[plies].is_capture() { (350, 600) } else { (60, 250) };
            let pace_ms = [(30, 90), (60, 250), slow][plies % 3];
            let style = Style { pace_ms, ..Style::steady(Order::VictimFirst) };
            let mut beats = hand::take_back(&positions[plies], game[plies], style, &mut table.rng);
            if game[plies].is_capture() {
                beats.swap(1, 2);
                captures += 1;
            }
            let mut told = events(&table.act(&beats));
            told.extend(events(&table.wait(350)));
            told.retain(|event| !matches!(event, Event::Asked | Event::Wrong));
            assert_eq!(told, [Event::TakenBack(1)], "{} at {plies} of {seed}", game[plies]);
            assert_eq!(table.recogniser.game().position(), &positions[plies]);
        }
    }
    assert!(captures > 1_000, "{captures}");
}

#[test]
fn moves_go_back_and_forth_at_any_pace() {
    let mut moves = 0;
    for (seed, game) in games()[..200].iter().enumerate() {
        let positions = positions(game);
        let mut at = game.len().min(10 + seed % 80);
        let mut table = table_after(&game[..at], seed as u64);
        for _ in 0..6 {
            if at == 0 {
                break;
            }
            let back = table.rng.random_range(1..=at.min(12));
            for plies in (at - back..at).rev() {
                let pace_ms = [(30, 90), (60, 250), (200, 600)][table.rng.random_range(0..3)];
                let order = ORDERS[table.rng.random_range(0..4)];
                let style = Style { pace_ms, ..Style::steady(order) };
                let beats = hand::take_back(&positions[plies], game[plies], style, &mut table.rng);
                table.act(&beats);
                if table.rng.random_bool(0.3) {
                    table.wait(400);
                }
            }
            table.wait(400);
            at -= back;
            let position = table.recogniser.game().position().clone();
            assert_eq!(position.board(), positions[at].board(), "{back} back to {at} of {seed}");
            assert_eq!(*table.recogniser.state(), State::Ready);
            if position != positions[at] {
                // The same men were there in between, with other rights.
                break;
            }
            let on = table.rng.random_range(0..=back);
            for &mv in game[at..].iter().take(on.saturating_sub(1)) {
                let style = Style { pace_ms: (40, 200), ..Style::steady(ORDERS[moves % 3]) };
                super::make(&mut table, mv, style, &mut super::Counts::new());
                moves += 1;
                at += 1;
            }
        }
    }
    assert!(moves > 1_000, "{moves}");
}
