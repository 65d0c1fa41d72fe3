//! Men set up: for the first time, from Black's side, in any position, for the next game; and the
//! kings in the centre.
use kibitzer_core::game::Outcome;
use kibitzer_core::position::parse_fen;
use kibitzer_core::recognition::{Event, Recogniser, State};
use kibitzer_core::shakmaty::{Bitboard, Chess, Color, Position as _, Square};
use kibitzer_simulator::hand::{self, ORDERS, Style};
use kibitzer_simulator::table::Table;
use rand::seq::SliceRandom as _;

use super::mishaps::follow_lamps;
use super::take_back::table_after;
use super::{events, games, table};

/// Clears the board and puts men on these squares, in any order.
fn set_up(table: &mut Table, men: Bitboard) -> Vec<Event> {
    let mut told = Vec::new();
    for set in [table.contacts.occupied(), men] {
        let mut squares: Vec<Square> = set.into_iter().collect();
        squares.shuffle(&mut table.rng);
        for square in squares {
            table.touch(square);
            told.extend(events(&table.wait(400)));
        }
    }
    told
}

#[test]
fn an_empty_board_is_set_up() {
    let mut table = table(10, 0);
    table.recogniser = Recogniser::default();
    for square in table.contacts.occupied() {
        table.touch(square);
    }
    assert_eq!(events(&table.wait(400)), [Event::Wrong]);
    assert_eq!(table.wrong(), Chess::default().board().occupied());
    let told = set_up(&mut table, Chess::default().board().occupied());
    assert!(told[..31].iter().all(|event| *event == Event::Wrong), "{told:?}");
    assert_eq!(told[31..], [Event::Agrees]);
}

#[test]
fn whites_men_may_stand_at_the_other_end() {
    let turned = |beats: &mut [hand::Beat]| {
        for square in beats.iter_mut().flat_map(|beat| &mut beat.touched) {
            *square = square.rotate_180();
        }
    };
    for (seed, game) in games()[..40].iter().enumerate() {
        let mut table = table(10, seed as u64);
        let style = Style::steady(ORDERS[seed % 3]);
        for (ply, &mv) in game.iter().take(20).enumerate() {
            let position = table.recogniser.game().position().clone();
            let mut beats = hand::make(&position, mv, style, &mut table.rng);
            turned(&mut beats);
            let mut told = events(&table.act(&beats));
            told.extend(events(&table.wait(2_400)));
            told.retain(|event| *event != Event::Asked);
            let expected = [Event::Turned, Event::Moved(mv)];
            assert_eq!(told, expected[usize::from(ply > 0)..], "{mv}, ply {ply} of {seed}");
        }
        assert!(table.recogniser.is_turned());
        assert_eq!(table.recogniser.on_board(Square::A1), Square::H8);
    }
}

#[test]
fn any_position_is_set_up_with_the_lamps() {
    let fen = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9";
    let position = parse_fen(fen).expect("a position");
    let mut table = table(10, 0);
    table.recogniser.set_up(position.clone());
    let told = follow_lamps(&mut table);
    assert_eq!(told.last(), Some(&Event::Agrees));
    assert!(told[..told.len() - 1].iter().all(|event| *event == Event::Wrong), "{told:?}");
    assert_eq!(table.recogniser.game().position(), &position);
    assert_eq!(table.contacts.occupied(), position.board().occupied());
}

#[test]
fn the_men_set_up_again_are_a_new_game() {
    for (seed, game) in games()[..30].iter().enumerate() {
        let mut table = table_after(game, seed as u64);
        let told = set_up(&mut table, Chess::default().board().occupied());
        let changes: Vec<_> = told.iter().filter(|event| **event != Event::Wrong).collect();
        assert!(
            matches!(changes[..], [Event::NewGame])
                || matches!(changes[..], [Event::Agrees | Event::TakenBack(_), Event::NewGame]),
            "{changes:?}"
        );
        assert!(table.recogniser.game().is_empty());
    }
}

#[test]
fn the_kings_tell_the_result() {
    for (white, black, outcome) in [
        (Square::E4, Square::D5, Outcome::Win(Color::White)),
        (Square::D5, Square::E4, Outcome::Win(Color::White)),
        (Square::D4, Square::E5, Outcome::Win(Color::Black)),
        (Square::E4, Square::E5, Outcome::Draw),
        (Square::D5, Square::D4, Outcome::Draw),
    ] {
        for (seed, game) in games()[..20].iter().enumerate() {
            let mut table = table_after(&game[..60.min(game.len())], seed as u64);
            let board = table.recogniser.game().position().board().clone();
            let king = |color| board.king_of(color).expect("a king");
            let centre = [Square::D4, Square::E4, Square::D5, Square::E5];
            let in_the_way: Vec<Square> =
                centre.into_iter().filter(|&s| board.occupied().contains(s)).collect();
            let mut told = Vec::new();
            let homes = [king(Color::White), king(Color::Black)];
            let kings = [homes[0], white, homes[1], black];
            for square in in_the_way.into_iter().filter(|s| !homes.contains(s)).chain(kings) {
                told.extend(events(&table.wait(150)));
                table.touch(square);
            }
            told.extend(events(&table.wait(1_200)));
            assert_eq!(told.last(), Some(&Event::Result(outcome)), "{told:?} in {seed}");
            assert!(!told.iter().any(|event| matches!(event, Event::Moved(_))), "{told:?}");
            // The men are set up for the next game.
            let told = set_up(&mut table, Chess::default().board().occupied());
            assert_eq!(told.last(), Some(&Event::NewGame), "{told:?}");
            assert_eq!(*table.recogniser.state(), State::Ready);
        }
    }
}
