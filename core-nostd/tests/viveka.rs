//! Viveka from outside: terms worked out by hand, symmetry, explanations, choices.
mod by_hand;
mod mirror;
mod positions;
mod term_values;

use by_hand::{AFTER_LAST, BY_HAND};
use kibitzer_core::{
    moves::destination,
    position::parse_fen,
    shakmaty::{CastlingMode, Chess, Position as _, Square},
    viveka::{
        Before, CANDIDATES, FITTED, Glance, LastMove, TERMS, Tapered, TermWeights, Values, Weights,
        analyse, scan_order, values,
    },
};
use mirror::mirrored;
use positions::positions;
use term_values::{term, values_of};

/// The opening position.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn terms_have_the_values_worked_out_by_hand() {
    let rows = BY_HAND.iter().map(|&(name, fen, uci, value)| (name, fen, None, uci, value));
    let later = AFTER_LAST.iter().map(|&(name, fen, last, uci, v)| (name, fen, Some(last), uci, v));
    let wrong: Vec<String> = rows
        .chain(later)
        .map(|row| (row, values_of(row.1, row.2, row.3)[term(row.0)]))
        .filter(|(row, value)| row.4 != *value)
        .map(|((name, fen, last, uci, expected), value)| {
            format!("{name} of {uci} after {last:?} in {fen}: {value} is not {expected}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_the_last_move_its_terms_are_zero() {
    for &(name, fen, _, uci, _) in AFTER_LAST {
        assert_eq!(values_of(fen, None, uci)[term(name)], 0, "{name} of {uci} in {fen}");
    }
}

#[test]
fn every_term_is_tested_by_hand() {
    let rows = BY_HAND.iter().map(|row| (row.0, row.3));
    let rows: Vec<_> = rows.chain(AFTER_LAST.iter().map(|row| (row.0, row.4))).collect();
    // The changes of positional features have tests of their own.
    for t in TERMS.iter().filter(|t| !t.name.starts_with("d_")) {
        let tested = rows.iter().any(|&(name, value)| name == t.name && value != 0);
        assert!(tested, "{} has no position where it is not 0", t.name);
    }
}

/// Values of all moves, sorted: a mirrored position must give the same.
fn all_values(position: &Chess) -> Vec<Values> {
    let before = Before::new(position, None);
    let mut all: Vec<Values> =
        position.legal_moves().into_iter().map(|mv| values(&Glance::new(&before, mv))).collect();
    all.sort_unstable();
    all
}

#[test]
fn colours_and_wings_do_not_matter() {
    let (mut colours, mut wings) = (0, 0);
    for position in positions() {
        let own = all_values(&position);
        if let Some(mirror) = mirrored(&position, true) {
            assert_eq!(own, all_values(&mirror), "{position:?}");
            colours += 1;
        }
        if position.castles().is_empty()
            && let Some(mirror) = mirrored(&position, false)
        {
            assert_eq!(own, all_values(&mirror), "{position:?}");
            wings += 1;
        }
    }
    assert!(colours >= 200 && wings >= 50, "{colours} and {wings} positions compared");
}

/// Values of the terms seen at a glance, for all moves after `last`, sorted.
fn glance_values(position: &Chess, last: LastMove) -> Vec<Vec<i32>> {
    let before = Before::new(position, Some(last));
    let moves = position.legal_moves();
    let mut all: Vec<Vec<i32>> = moves
        .into_iter()
        .map(|mv| Glance::new(&before, mv))
        .map(|glance| TERMS.iter().filter(|t| t.glance).map(|t| (t.value)(&glance)).collect())
        .collect();
    all.sort_unstable();
    all
}

/// As above where the last move is known: some move of every fixture position.
#[test]
fn colours_and_wings_do_not_matter_after_a_last_move() {
    let mut compared = 0;
    for (number, mut position) in positions().into_iter().enumerate() {
        let moves = position.legal_moves();
        let Some(&mv) = moves.get(number % moves.len().max(1)) else { continue };
        let (from, to) = (mv.from().unwrap(), destination(mv));
        position.play_unchecked(mv);
        let own = glance_values(&position, LastMove { from, to });
        for (flip_ranks, flip) in
            [(true, Square::flip_vertical as fn(_) -> _), (false, Square::flip_horizontal)]
        {
            let Some(mirror) = mirrored(&position, flip_ranks) else { continue };
            if flip_ranks || position.castles().is_empty() {
                let last = LastMove { from: flip(from), to: flip(to) };
                assert_eq!(own, glance_values(&mirror, last), "{mv:?} led to {position:?}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 250, "{compared} positions compared");
}

#[test]
fn the_weight_table_has_the_terms_in_order() {
    for (row, term) in FITTED.rows.iter().zip(&TERMS) {
        assert_eq!(row.name, term.name);
        assert!(
            term.glance || row.scan == 0 || term.name == "mate",
            "{} is not a glance",
            term.name
        );
    }
}

/// The candidates are the first eight in the scan's order, wherever the generator put them.
#[test]
fn the_scan_keeps_the_eight_best() {
    for position in positions() {
        let before = Before::new(&position, None);
        let mut all: Vec<_> = position
            .legal_moves()
            .into_iter()
            .map(|mv| (mv, values(&Glance::new(&before, mv))))
            .collect();
        all.sort_by_key(|(mv, v)| scan_order(FITTED.scan(v), *mv));
        let mut expected: Vec<_> = all.iter().take(CANDIDATES).map(|(mv, _)| *mv).collect();
        let kept = analyse(&position, None, &FITTED).candidates;
        let mut kept: Vec<_> = kept.iter().map(|c| c.mv).collect();
        let squares = |mv: &kibitzer_core::shakmaty::Move| (mv.from(), mv.to(), mv.promotion());
        expected.sort_by_key(squares);
        kept.sort_by_key(squares);
        assert_eq!(kept, expected);
    }
}

#[test]
fn a_quiet_position_is_not_critical() {
    assert!(!analyse(&parse_fen(START).unwrap(), None, &FITTED).critical);
}

#[test]
fn weights_out_of_range_are_told() {
    assert_eq!(FITTED.validate(), Ok(()));
    let level = TermWeights::new(TERMS[3].name, 0, 0, 0);
    for row in [
        TermWeights { score: Tapered { middlegame: 2_000_000_000, endgame: 0 }, ..level },
        TermWeights { score: Tapered { middlegame: 0, endgame: -1_001 }, ..level },
        TermWeights { scan: 1_001, ..level },
    ] {
        let mut weights = FITTED.clone();
        weights.rows[3] = row;
        assert_eq!(weights.validate(), Err(TERMS[3].name));
    }
    for (middlegame, endgame) in [(0, 40), (40, 0), (40, 2_000_000)] {
        let weights = Weights { temperature: Tapered { middlegame, endgame }, ..FITTED.clone() };
        assert_eq!(weights.validate(), Err("temperature"));
    }
}

#[test]
fn a_mate_in_one_is_chosen() {
    for (fen, mate) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8"),
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7"),
        ("rnbqkbnr/pppp1ppp/4p3/8/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", "d8h4"),
        // Instead of taking a queen.
        ("6k1/5ppp/8/8/8/2q5/8/1N2R1K1 w - - 0 1", "e1e8"),
    ] {
        let analysis = analyse(&parse_fen(fen).unwrap(), None, &FITTED);
        let choice = analysis.candidates[0].mv.to_uci(CastlingMode::Standard).to_string();
        assert_eq!(choice, mate, "{fen} {:?}", analysis.candidates);
        assert!(analysis.critical, "{fen}");
    }
}

#[test]
fn without_a_legal_move_there_is_no_candidate() {
    for fen in ["R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "k7/2Q5/1K6/8/8/8/8/8 b - - 0 1"] {
        let analysis = analyse(&parse_fen(fen).unwrap(), None, &FITTED);
        assert!(analysis.candidates.is_empty() && !analysis.critical, "{fen}");
    }
}
