//! Two moves in quick succession, and moves that an engine makes.
use kibitzer_core::recognition::{Event, Recogniser, State};
use kibitzer_core::shakmaty::{Chess, Color, Move, Position as _};
use kibitzer_simulator::hand::{self, ORDERS, Order, Style};
use kibitzer_simulator::table::Table;

use super::{DECIDED_MS, events, games, make, table};

/// A hand faster than the board decides.
const fn fast(order: Order) -> Style {
    Style { pace_ms: (30, 90), ..Style::steady(order) }
}

/// Carries out a move and makes the next at once; what was told.
fn two(table: &mut Table, position: &Chess, moves: [Move; 2], style: Style) -> Vec<Event> {
    let mut next = position.clone();
    next.play_unchecked(moves[0]);
    let mut beats = hand::make(position, moves[0], style, &mut table.rng);
    beats.extend(hand::make(&next, moves[1], style, &mut table.rng));
    let mut told = events(&table.act(&beats));
    told.extend(events(&table.wait(DECIDED_MS)));
    told.retain(|event| !matches!(event, Event::Ended(_)));
    told
}

/// Plays games by pairs of moves, the first of which is told where an engine plays White.
fn in_pairs(engine: bool, style: Style) {
    let mut counts = super::Counts::new();
    for (seed, game) in games()[..100].iter().enumerate() {
        let mut table = table(10, seed as u64);
        table.recogniser.set_by_hand(Color::White, !engine);
        table.wait(350);
        let mut game = game.as_slice();
        while let &[first, second, ref rest @ ..] = game {
            let position = table.recogniser.game().position().clone();
            if engine {
                table.recogniser.tell_move(first);
                table.wait(350);
            }
            let promotes = first.promotion().is_some() && !engine || second.promotion().is_some();
            if promotes {
                // What the pawn becomes must be told between them.
                if engine {
                    let beats = hand::make(&position, first, style, &mut table.rng);
                    table.act(&beats);
                    table.wait(DECIDED_MS);
                } else {
                    make(&mut table, first, style, &mut counts);
                }
                make(&mut table, second, style, &mut counts);
            } else {
                let told = two(&mut table, &position, [first, second], style);
                let expected = if engine { Event::Executed(first) } else { Event::Moved(first) };
                let context = (seed, table.recogniser.game().len(), table.recogniser.state());
                assert_eq!(told, [expected, Event::Moved(second)], "{context:?}");
            }
            game = rest;
        }
    }
}

#[test]
fn an_engines_move_and_a_fast_reply() {
    for order in [Order::VictimFirst, Order::MoverFirst, Order::AtOnce] {
        in_pairs(true, fast(order));
    }
}

#[test]
fn two_players_in_a_hurry() {
    for order in [Order::VictimFirst, Order::MoverFirst, Order::AtOnce] {
        in_pairs(false, fast(order));
    }
}

#[test]
fn an_engines_moves_are_shown_and_carried_out_in_every_order() {
    for order in ORDERS {
        let style = Style { slides: true, rests_ms: 280, ..Style::steady(order) };
        for (seed, game) in games()[..40].iter().enumerate() {
            let mut table = Table::new(Recogniser::default(), 10, seed as u64);
            table.wait(400);
            for color in Color::ALL {
                table.recogniser.set_by_hand(color, false);
            }
            for &mv in game {
                table.recogniser.tell_move(mv);
                table.wait(350);
                let State::Unfinished { lift, place } = *table.recogniser.state() else {
                    panic!("{mv}: {:?}", table.recogniser.state());
                };
                assert!(lift.contains(mv.from().expect("a square")), "{mv}");
                assert!(mv.is_capture() || place.contains(kibitzer_core::moves::destination(mv)));
                let position = table.recogniser.game().position().clone();
                let beats = hand::make(&position, mv, style, &mut table.rng);
                table.act(&beats);
                table.wait(DECIDED_MS);
                if let State::Asked(question) = table.recogniser.state().clone() {
                    // The victim was replaced unseen.
                    table.press(question.answers[0].square);
                    table.wait(DECIDED_MS);
                }
                let last = table.recogniser.game().moves().next_back().map(|(mv, _)| mv);
                assert_eq!(last, Some(mv), "{:?}", table.recogniser.state());
            }
        }
    }
}

#[test]
fn a_reply_that_is_thought_over_in_the_air_lets_the_move_count() {
    let mut table = table(10, 0);
    let beats = |position: &Chess, mv: Move, table: &mut Table| {
        hand::make(position, mv, fast(Order::VictimFirst), &mut table.rng)
    };
    let game = &games()[0];
    let start = Chess::default();
    let mut next = start.clone();
    next.play_unchecked(game[0]);
    let mut all = beats(&start, game[0], &mut table);
    let reply = beats(&next, game[1], &mut table);
    all.push(reply[0].clone());
    let mut felt = table.act(&all);
    felt.extend(table.wait(DECIDED_MS));
    assert_eq!(events(&felt), [Event::Moved(game[0])]);
    assert_eq!(*table.recogniser.state(), State::Moving);
    table.wait(5_000);
    let mut felt = table.act(&reply[1..]);
    felt.extend(table.wait(DECIDED_MS));
    assert_eq!(events(&felt), [Event::Moved(game[1])]);
}
