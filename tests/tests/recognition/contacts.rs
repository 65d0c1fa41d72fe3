//! Contacts that are read now and then, by a clock that begins anew, and one that is broken.
use kibitzer_core::legal;
use kibitzer_core::recognition::{Event, Recogniser, State};
use kibitzer_core::shakmaty::{Move, Square};
use kibitzer_simulator::contacts::Contacts;
use kibitzer_simulator::hand::{self, ORDERS, Order, Style};
use kibitzer_simulator::table::Table;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use super::{events, games, table};

/// Waits for so long, looking after 1 to 50 milliseconds each time.
fn wait(table: &mut Table, ms: u32) -> Vec<Event> {
    let from = table.contacts.now();
    let mut told = Vec::new();
    while table.contacts.now().wrapping_sub(from) < ms {
        table.contacts.scan_ms = table.rng.random_range(1..=50);
        told.extend(events(&table.wait(1)));
    }
    told
}

/// Presses the squares that answer what is asked, or waits.
fn answer(table: &mut Table, mv: Move) -> Vec<Event> {
    let mut told = Vec::new();
    for _ in 0..2 {
        let State::Asked(question) = table.recogniser.state().clone() else { break };
        let is_meant = |other: Move| (other.from(), other.to()) == (mv.from(), mv.to());
        let mut meant = question.answers.iter().filter(|answer| is_meant(answer.mv));
        let exact = question.answers.iter().find(|answer| answer.mv == mv);
        let answer = exact.or(meant.next()).expect("an answer");
        if !mv.is_capture() && mv.promotion().is_none() {
            told.extend(wait(table, 2_100));
            continue;
        }
        for beat in hand::press(answer.square) {
            told.extend(wait(table, beat.wait_ms));
            beat.touched.iter().for_each(|&square| table.touch(square));
        }
        told.extend(wait(table, 500));
    }
    told
}

#[test]
fn looks_may_be_irregular_and_the_clock_may_begin_anew() {
    for (seed, game) in games()[..24].iter().enumerate() {
        let mut table = table(10, seed as u64);
        table.contacts = Contacts::new(table.contacts.occupied(), 10).at(u32::MAX - 40_000);
        table.recogniser = Recogniser::default();
        assert_eq!(events(&table.wait(400)), [Event::Agrees]);
        let style = Style { pace_ms: (150, 300), ..Style::steady(ORDERS[seed % 4]) };
        for &mv in game {
            let position = table.recogniser.game().position().clone();
            let mut told = Vec::new();
            for beat in hand::make(&position, mv, style, &mut table.rng) {
                told.extend(wait(&mut table, beat.wait_ms));
                beat.touched.iter().for_each(|&square| table.touch(square));
            }
            told.extend(wait(&mut table, 450));
            told.extend(answer(&mut table, mv));
            told.retain(|event| !matches!(event, Event::Asked | Event::Ended(_)));
            assert_eq!(told, [Event::Moved(mv)], "{mv} in {} of {seed}", table.contacts.now());
        }
        assert!(table.contacts.now() < u32::MAX / 2 || game.len() < 40, "it began anew");
    }
}

#[test]
fn a_contact_that_chatters_makes_no_moves_and_hinders_none() {
    for square in [Square::A1, Square::A5, Square::E8, Square::E2, Square::D4] {
        for stretch in [5, 15, 20, 30, 50, 80, 120, 200, 280, 350] {
            let mut table = table(10, 1);
            table.wait(1_000);
            table.contacts.chatter = Some((square, stretch));
            assert_eq!(
                events(&table.wait(20_000))
                    .iter()
                    .filter(|event| !matches!(event, Event::Wrong | Event::Agrees))
                    .count(),
                0
            );
            for _ in 0..10 {
                let position = table.recogniser.game().position().clone();
                let mut moves = legal::moves(&position);
                moves.retain(|mv| mv.from() != Some(square) && mv.to() != square);
                let &mv = moves.choose(&mut table.rng).expect("a move");
                let style = Style::steady(Order::VictimFirst);
                let beats = hand::make(&position, mv, style, &mut table.rng);
                let mut told = events(&table.act(&beats));
                told.extend(events(&table.wait(400)));
                assert_eq!(told, [Event::Moved(mv)], "{square} every {stretch} ms");
            }
            // Mended, it counts again.
            table.contacts.chatter = None;
            table.wait(500);
            table.touch(square);
            table.wait(500);
            assert_eq!(table.recogniser.occupied(), table.contacts.occupied());
        }
    }
}
