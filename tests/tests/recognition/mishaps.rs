//! What is no move: a man in the air, one put back, an illegal move, a knock.
use kibitzer_core::position::parse_fen;
use kibitzer_core::recognition::{Asked, Event, Recogniser, State};
use kibitzer_core::shakmaty::{Bitboard, Color, Move, Position as _, Square};
use kibitzer_core::{game::Game, legal};
use kibitzer_simulator::table::Table;
use rand::RngExt as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use super::{DECIDED_MS, events, games, table, take_back::table_after};

/// A table in a position.
fn table_of(fen: &str) -> Table {
    let position = parse_fen(fen).expect("a position");
    let mut table = Table::new(Recogniser::new(Game::new(position)), 10, 0);
    assert_eq!(events(&table.wait(400)), [Event::Agrees]);
    table
}

/// Touches squares one after the other.
fn touch(table: &mut Table, squares: &[Square]) -> Vec<Event> {
    let mut told = Vec::new();
    for &square in squares {
        told.extend(events(&table.wait(120)));
        table.touch(square);
    }
    told
}

/// Follows the lamps until nothing is wrong: first men off the squares where they do not belong,
/// then men onto those where they do.
pub fn follow_lamps(table: &mut Table) -> Vec<Event> {
    let mut told = Vec::new();
    for _ in 0..100 {
        told.extend(events(&table.wait(DECIDED_MS)));
        let (lift, place) = match *table.recogniser.state() {
            State::Wrong { missing, extra } => (extra, missing),
            State::Unfinished { lift, place } if table.recogniser.told().is_none() => (lift, place),
            // A man is in the air, or one rests on its way.
            State::Moving => {
                let home = table.recogniser.game().position().board().occupied();
                let seen = table.recogniser.occupied();
                (seen & !home, home & !seen)
            }
            State::Asked(ref question) => {
                let square = table.recogniser.on_board(question.answers[0].square);
                told.extend(events(&table.press(square)));
                told.extend(events(&table.wait(2_000)));
                continue;
            }
            _ => return told,
        };
        // A man that is taken from where it does not belong may be put where one is missing.
        for square in lift.first().into_iter().chain(place.first()) {
            table.touch(table.recogniser.on_board(square));
            told.extend(events(&table.wait(100)));
        }
    }
    panic!("the lamps lead nowhere: {:?}", table.recogniser.state());
}

#[test]
fn a_man_in_the_air_is_no_move() {
    // The rook's only capture might have been made between two looks: it is asked, not guessed.
    let mut table = table_of("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1");
    touch(&mut table, &[Square::D1]);
    assert_eq!(events(&table.wait(5_000)), [Event::Asked]);
    assert!(matches!(table.recogniser.state(), State::Asked(q) if q.asked == Asked::Replaced));
    touch(&mut table, &[Square::D1]);
    assert_eq!(events(&table.wait(DECIDED_MS)), [], "put back");
    assert_eq!(*table.recogniser.state(), State::Ready);
    touch(&mut table, &[Square::D1]);
    table.wait(2_000);
    let mut told = touch(&mut table, &[Square::D3]);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert!(matches!(told[..], [Event::Moved(mv)] if mv.to() == Square::D3), "{told:?}");
}

#[test]
fn two_victims_lifted_are_asked_about() {
    let mut table = table_of("4k3/8/8/2p1p3/3P4/8/8/4K3 w - - 0 1");
    let asked = [Square::D4, Square::C5, Square::E5, Square::C5, Square::E5];
    let mut told = touch(&mut table, &asked);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert_eq!(told, [Event::Asked]);
    let mut told = touch(&mut table, &[Square::E5, Square::E5]);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert!(matches!(told[..], [Event::Moved(mv)] if mv.to() == Square::E5), "{told:?}");
}

#[test]
fn a_pawn_becomes_what_is_pressed_on_a_full_board() {
    // Every square that is pressed is occupied.
    let fen = "7k/P7/p7/n7/r7/8/8/1K6 w - - 0 1";
    for (place, letter) in ["q", "r", "b", "n"].iter().enumerate() {
        let mut table = table_of(fen);
        let mut told = touch(&mut table, &[Square::A7, Square::A8]);
        told.extend(events(&table.wait(DECIDED_MS)));
        assert_eq!(told, [Event::Asked]);
        let State::Asked(question) = table.recogniser.state().clone() else { panic!() };
        assert_eq!(question.asked, Asked::Promotion);
        assert_eq!(question.answers[place].square.rank() as usize, 6 - place);
        // The pawn is replaced by the piece first: that answers nothing.
        told = touch(&mut table, &[Square::A8, Square::A8]);
        told.extend(events(&table.wait(DECIDED_MS)));
        assert_eq!(told, []);
        let square = question.answers[place].square;
        told = touch(&mut table, &[square, square]);
        told.extend(events(&table.wait(DECIDED_MS)));
        let Some(Event::Moved(mv)) = told.first().copied() else { panic!("{told:?}") };
        assert_eq!(mv.promotion().map(|role| role.char().to_string()).as_deref(), Some(*letter));
        let dark = table.recogniser.game().position().board().piece_at(Square::A8);
        assert_eq!(dark.map(|piece| piece.color), Some(Color::White));
    }
}

#[test]
fn an_illegal_move_is_shown_and_put_right() {
    let mut table = table(10, 0);
    let mut told = touch(&mut table, &[Square::G1, Square::G3]);
    told.extend(events(&table.wait(1_000)));
    assert_eq!(told, [], "it may rest on its way");
    told.extend(events(&table.wait(1_000)));
    assert_eq!(told, [Event::Wrong]);
    let wrong = Bitboard::from(Square::G1) | Square::G3;
    assert_eq!(table.wrong(), wrong);
    // The knight goes on to where it may.
    told = touch(&mut table, &[Square::G3, Square::F3]);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert!(matches!(told[..], [Event::Moved(mv)] if mv.to() == Square::F3), "{told:?}");
}

#[test]
fn a_man_that_rests_for_long_goes_on() {
    let mut table = table_of("4k3/8/8/8/8/8/8/3RK3 w - - 0 1");
    let mut told = touch(&mut table, &[Square::D1, Square::D4]);
    told.extend(events(&table.wait(1_000)));
    assert!(matches!(told[..], [Event::Moved(mv)] if mv.to() == Square::D4), "{told:?}");
    told = touch(&mut table, &[Square::D4, Square::D7]);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert!(
        matches!(told[..], [Event::TakenBack(1), Event::Moved(mv)] if mv.to() == Square::D7),
        "{told:?}"
    );
    assert_eq!(table.recogniser.game().len(), 1);
}

#[test]
fn a_king_that_follows_its_rook_late_castles() {
    let mut table = table_of("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1");
    let mut told = touch(&mut table, &[Square::H1, Square::F1]);
    told.extend(events(&table.wait(3_000)));
    assert!(matches!(told[..], [Event::Asked, Event::Moved(_)]), "{told:?}");
    told = touch(&mut table, &[Square::E1, Square::G1]);
    told.extend(events(&table.wait(DECIDED_MS)));
    let castle = Move::Castle { king: Square::E1, rook: Square::H1 };
    assert_eq!(told, [Event::TakenBack(1), Event::Moved(castle)]);
}

#[test]
fn castling_is_decided_by_the_king_and_the_rook_must_follow() {
    let mut table = table_of("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1");
    let mut told = touch(&mut table, &[Square::E1, Square::C1]);
    told.extend(events(&table.wait(3_000)));
    assert_eq!(told, []);
    let (lift, place) = (Square::A1.into(), Square::D1.into());
    assert_eq!(*table.recogniser.state(), State::Unfinished { lift, place });
    told = touch(&mut table, &[Square::A1, Square::D1]);
    told.extend(events(&table.wait(DECIDED_MS)));
    let castle = Move::Castle { king: Square::E1, rook: Square::A1 };
    assert_eq!(told, [Event::Moved(castle)]);
}

#[test]
fn a_knock_is_put_right_square_by_square_and_is_no_move() {
    for (seed, game) in games()[..300].iter().enumerate() {
        let plies = 4 + seed % 40;
        let mut table = table_after(&game[..plies.min(game.len())], seed as u64);
        let before = table.recogniser.game().clone();
        let mut men: Vec<Square> = table.recogniser.occupied().into_iter().collect();
        men.shuffle(&mut table.rng);
        let count = table.rng.random_range(3..=8);
        let knocked = &men[..count];
        // Some fall over and lie between the squares, others come to stand on free ones.
        for &square in knocked {
            table.touch(square);
        }
        for _ in 0..table.rng.random_range(0..3) {
            let free: Vec<Square> = (!table.contacts.occupied()).into_iter().collect();
            let square = *free.choose(&mut table.rng).expect("a free square");
            if !knocked.contains(&square) {
                table.touch(square);
            }
        }
        let told = follow_lamps(&mut table);
        let expected = [Event::Wrong, Event::Agrees];
        let changes: Vec<_> = told.iter().filter(|&event| *event != Event::Wrong).collect();
        assert!(told.starts_with(&expected[..1]), "{seed}: {told:?}");
        assert_eq!(changes, [&Event::Agrees], "{seed}: {knocked:?}");
        assert_eq!(table.recogniser.game().position(), before.position());
        assert_eq!(*table.recogniser.state(), State::Ready);
        // And the game goes on.
        assert!(legal::any(before.position()));
    }
}

#[test]
fn two_men_knocked_over_at_once_are_no_capture() {
    let mut table = table_of("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1");
    table.touch(Square::E4);
    table.touch(Square::D5);
    table.wait(1_000);
    table.touch(Square::D5);
    let told = events(&table.wait(1_000));
    assert_eq!(told, [Event::Asked], "it looks like a capture, and is asked about");
    table.touch(Square::E4);
    assert_eq!(events(&table.wait(1_000)), []);
    assert_eq!(*table.recogniser.state(), State::Ready);
    assert!(table.recogniser.game().is_empty());
}

#[test]
fn king_and_rook_that_have_changed_places_have_not_castled() {
    let mut table = table_of("r3k3/8/8/8/8/8/8/4K3 b q - 0 1");
    let mut told = touch(&mut table, &[Square::A8, Square::C8, Square::E8, Square::D8]);
    told.extend(events(&table.wait(3_000)));
    assert_eq!(told, [Event::Wrong]);
    let wrong = Bitboard::from(Square::A8) | Square::C8 | Square::D8 | Square::E8;
    assert_eq!(table.wrong(), wrong);
    // The rook home, what is left is a move of the king.
    let told = follow_lamps(&mut table);
    assert!(matches!(told.last(), Some(Event::Moved(mv)) if mv.to() == Square::D8), "{told:?}");
}

#[test]
fn a_knock_taken_for_a_capture_is_taken_back_by_putting_the_man_where_it_was() {
    // They fall one after the other, as hands would lift them.
    let mut table = table_of("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1");
    let mut told = touch(&mut table, &[Square::E4, Square::D5, Square::D5]);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert!(matches!(told[..], [Event::Moved(_)]), "{told:?}");
    told = touch(&mut table, &[Square::E4]);
    told.extend(events(&table.wait(DECIDED_MS)));
    assert_eq!(told, [Event::TakenBack(1)]);
    assert_eq!(*table.recogniser.state(), State::Ready);
}
