//! The bound on an analysis, where nothing else would stop it: positions full of queens.
mod positions;
mod random;

use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Chess, Position as _},
    viveka::{Analysis, CANDIDATES, FITTED, POSITIONS, analyse},
};
use positions::{crowded, positions};
use random::Random;

/// Legal positions with three to nine queens a side and other pieces at random, the kings too.
fn random_positions(count: usize) -> impl Iterator<Item = Chess> {
    let mut random = Random(1);
    let drawn = std::iter::repeat_with(move || random_fen(&mut random));
    drawn.filter_map(|fen| parse_fen(&fen).ok()).filter(|p| !p.is_game_over()).take(count)
}

/// A board of random pieces, legal or not.
fn random_fen(random: &mut Random) -> String {
    let mut below = |n: u64| (random.next() % n) as usize;
    let mut board = [' '; 64];
    for side in [str::to_ascii_uppercase as fn(&str) -> String, str::to_ascii_lowercase] {
        let queens = "q".repeat(3 + below(7));
        // Of sixteen men some are left out; a queen beyond the first takes a pawn's place.
        let others: String = "rrbbnn".chars().filter(|_| below(3) > 0).collect();
        for piece in side(&format!("k{queens}{others}")).chars() {
            let square = std::iter::repeat_with(|| below(64)).find(|&s| board[s] == ' ');
            board[square.expect("some square is free")] = piece;
        }
    }
    let ranks = board.chunks(8).map(|rank| rank.iter().collect::<String>().replace(' ', "1"));
    let turn = ["w", "b"][below(2)];
    format!("{} {turn} - - 0 1", ranks.collect::<Vec<_>>().join("/"))
}

/// The analysis, within the bound.
fn bounded(position: &Chess) -> Analysis {
    let analysis = analyse(position, None, &FITTED);
    assert!(analysis.searched <= POSITIONS, "{} in {position:?}", analysis.searched);
    let moves = position.legal_moves().len();
    assert_eq!(analysis.candidates.len(), moves.min(CANDIDATES), "{position:?}");
    analysis
}

#[test]
fn positions_from_games_are_looked_at_whole() {
    for position in positions() {
        let analysis = bounded(&position);
        assert!(!analysis.partial, "{position:?}");
        assert!(analysis.searched > 0 || position.is_game_over(), "{position:?}");
    }
}

#[test]
fn crowded_positions_keep_to_the_bound_and_say_so() {
    let mut whole = 0;
    for position in crowded() {
        let analysis = bounded(&position);
        assert_eq!(analysis.partial, analysis.searched == POSITIONS, "{position:?}");
        assert_eq!(analysis, analyse(&position, None, &FITTED), "counted, not timed");
        whole += u32::from(!analysis.partial);
    }
    assert_eq!(whole, 1, "the one with 218 moves; without a bound the others take millions");
}

/// Mates in one need no search, so they are seen whatever else is left out.
#[test]
fn a_mate_is_seen_among_many_queens() {
    let fen = "6rk/6pp/qqqqr3/4r1N1/4R3/QQQQR3/8/K7 w - - 0 1";
    let position = parse_fen(fen).unwrap();
    let analysis = bounded(&position);
    assert!(analysis.partial);
    let choice = analysis.candidates[0].mv;
    let mut next = position.clone();
    next.play_unchecked(choice);
    assert!(next.is_checkmate(), "{choice}");
}

#[test]
fn random_positions_full_of_queens_keep_to_the_bound() {
    let partial = random_positions(50).filter(|position| bounded(position).partial).count();
    assert!(partial > 10, "{partial}");
}
