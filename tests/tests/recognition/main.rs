//! Games of engines made on a simulated board: every move is recognised, and no other.
mod contacts;
mod mishaps;
mod replies;
mod set_up;
mod take_back;
mod walk;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use kibitzer_core::recognition::{Asked, Event, Recogniser, State};
use kibitzer_core::shakmaty::Move;
use kibitzer_simulator::hand::{self, ORDERS, Order, Style};
use kibitzer_simulator::table::{Felt, Table};
use kibitzer_tests::fixture;

/// Milliseconds after the last touch within which the board has decided.
const DECIDED_MS: u32 = 350;

/// The engines' games.
fn games() -> &'static [Vec<Move>] {
    static GAMES: OnceLock<Vec<Vec<Move>>> = OnceLock::new();
    GAMES.get_or_init(|| {
        kibitzer_simulator::games::read(&fixture("selfplay.pgn.zst")).expect("games")
    })
}

/// How often what was seen.
type Counts = BTreeMap<&'static str, u32>;

/// A board in its first position, ready.
fn table(scan_ms: u32, seed: u64) -> Table {
    let mut table = Table::new(Recogniser::default(), scan_ms, seed);
    let felt = table.wait(400);
    assert_eq!(events(&felt), [Event::Agrees]);
    table
}

fn events(felt: &[Felt]) -> Vec<Event> {
    felt.iter().map(|felt| felt.event).collect()
}

/// Makes a move and answers what is asked; fails where another is recognised or the decision comes
/// late.
fn make(table: &mut Table, mv: Move, style: Style, counts: &mut Counts) {
    let position = table.recogniser.game().position().clone();
    let beats = hand::make(&position, mv, style, &mut table.rng);
    let context = |table: &Table| {
        format!(
            "{mv} {style:?} in {}: {:?}",
            table.recogniser.game().len(),
            table.recogniser.state()
        )
    };
    let mut felt = table.act(&beats);
    felt.extend(table.wait(DECIDED_MS));
    let mut told = events(&felt);
    // What was asked on the way, a man resting or in the air, was withdrawn.
    let mut answered = 0;
    while told.last() == Some(&Event::Asked) {
        answered += 1;
        assert!(answered <= 2, "asked again and again: {}", context(table));
        told.clear();
        let State::Asked(question) = table.recogniser.state().clone() else {
            panic!("asked and not asked: {}", context(table));
        };
        let name = match question.asked {
            Asked::Promotion => "promotion",
            Asked::Capture | Asked::Replaced => "capture",
            Asked::Castling => "rook's move",
        };
        *counts.entry(name).or_default() += 1;
        assert!(felt.last().is_some_and(|last| last.after_ms <= DECIDED_MS), "{}", context(table));
        // What was taken is asked before what the pawn becomes.
        let is_meant = |other: Move| match question.asked {
            Asked::Capture | Asked::Replaced => (other.from(), other.to()) == (mv.from(), mv.to()),
            _ => other == mv,
        };
        let answer = question.answers.iter().find(|answer| is_meant(answer.mv));
        let answer = answer.unwrap_or_else(|| panic!("not an answer: {}", context(table)));
        if question.asked == Asked::Castling {
            felt.clear();
            told.extend(events(&table.wait(2_000)));
        } else {
            felt = table.press(answer.square);
            felt.extend(table.wait(DECIDED_MS));
            told.extend(events(&felt));
        }
    }
    if let Some(last) = felt.last() {
        assert!(last.after_ms <= DECIDED_MS, "late: {}", context(table));
    }
    told.retain(|event| !matches!(event, Event::Asked | Event::Ended(_)));
    assert_eq!(told, [Event::Moved(mv)], "{}", context(table));
    *counts.entry("moves").or_default() += 1;
    assert_eq!(*table.recogniser.state(), State::Ready, "{}", context(table));
}

/// Plays games in a style and counts.
fn replay(games: &[Vec<Move>], scan_ms: u32, bounce: bool, style: Style) -> Counts {
    let mut counts = Counts::new();
    for (seed, game) in games.iter().enumerate() {
        let mut table = table(scan_ms, seed as u64);
        table.contacts.bounce = bounce;
        for &mv in game {
            make(&mut table, mv, style, &mut counts);
        }
    }
    counts
}

#[test]
fn every_move_is_recognised_in_every_order() {
    for order in ORDERS {
        let counts = replay(games(), 10, true, Style::steady(order));
        println!("{order:?}: {counts:?}");
        assert!(counts["moves"] > 60_000, "{counts:?}");
    }
}

#[test]
fn slides_rests_and_adjusted_men_are_no_moves() {
    for order in ORDERS {
        let style =
            Style { slides: true, rests_ms: 280, adjusts_percent: 10, ..Style::steady(order) };
        let counts = replay(&games()[..100], 5, true, style);
        println!("{order:?}: {counts:?}");
        assert!(counts["moves"] > 10_000, "{counts:?}");
    }
}

#[test]
fn a_slow_scan_recognises_as_well() {
    let counts = replay(&games()[..60], 25, true, Style::steady(Order::VictimFirst));
    assert!(counts["moves"] > 6_000, "{counts:?}");
}

/// For a longer run: `KIBITZER_GAMES=FILE.pgn.zst cargo test --release -p kibitzer-tests --test
/// recognition -- --ignored --nocapture`.
#[test]
#[ignore = "reads a large file of games"]
fn every_move_of_many_games_is_recognised() {
    let path = std::env::var("KIBITZER_GAMES").expect("KIBITZER_GAMES names a PGN file");
    let games = kibitzer_simulator::games::read(path.as_ref()).expect("games");
    for order in ORDERS {
        let style =
            Style { slides: true, rests_ms: 280, adjusts_percent: 5, ..Style::steady(order) };
        let counts = replay(&games, 10, true, style);
        println!("{} games, {order:?}: {counts:?}", games.len());
    }
}
