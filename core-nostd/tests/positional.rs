//! The positional features: worked out by hand, seen from both sides, and mirrored.
mod mirror;
mod positions;

use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Chess, Color, Position as _},
    viveka::positional::{FEATURE_COUNT, FEATURES, FITTED, Features, Survey, evaluate},
};
use mirror::mirrored;
use positions::positions;

fn values(position: &Chess, us: Color) -> Features {
    Survey::of(position, us).values()
}

/// Feature, position, and White's count minus Black's, as the feature's meaning gives it.
#[rustfmt::skip]
const BY_HAND: &[(&str, &str, i32)] = &[
    ("pawns", "4k3/p7/8/8/8/8/PPP5/4K3 w - - 0 1", 2),
    ("knights", "4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", 1),
    ("bishops", "2b1kb2/8/8/8/8/8/8/2B1K3 w - - 0 1", -1),
    ("rooks", "4k3/8/8/8/8/8/8/R3K2R w - - 0 1", 2),
    ("queens", "3qk3/8/8/8/8/8/8/4K3 w - - 0 1", -1),
    ("bishop_pair", "4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", 1),
    ("bishop_pair", "4k3/8/8/8/8/8/8/B1B1K3 w - - 0 1", 0),
    ("knight_pawns", "4k3/8/8/8/8/8/PPPPPPPP/1N2K3 w - - 0 1", 3),
    ("knight_pawns", "4k3/8/8/8/8/8/PP6/1N2K3 w - - 0 1", -3),
    ("traded_lead", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 27),
    ("traded_lead", "q2qk3/8/8/8/8/8/8/4K3 w - - 0 1", -36),
    ("traded_lead", "r3k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0),
    ("doubled", "4k3/8/8/8/8/P7/P7/4K3 w - - 0 1", 1),
    ("doubled", "4k3/p7/p7/8/p7/8/PP6/4K3 w - - 0 1", -2),
    ("isolated", "4k3/8/8/8/8/8/P1P5/4K3 w - - 0 1", 2),
    ("isolated", "4k3/p7/8/8/8/8/P1P5/4K3 w - - 0 1", 1),
    ("isolated", "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", 0),
    ("backward", "4k3/8/8/2p5/4P3/3P4/8/4K3 w - - 0 1", 1),
    ("backward", "4k3/8/8/2p5/8/3P4/4P3/4K3 w - - 0 1", 0),
    ("backward", "4k3/8/8/2p5/8/3P4/8/4K3 w - - 0 1", 0),
    ("connected", "4k3/8/8/8/8/1P6/P7/4K3 w - - 0 1", 1),
    ("connected", "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", 2),
    ("connected", "4k3/8/8/8/8/8/P1P5/4K3 w - - 0 1", 0),
    ("passed_low", "4k3/8/8/8/P7/8/7P/4K3 w - - 0 1", 2),
    ("passed_low", "4k3/1p6/8/8/P7/8/8/4K3 w - - 0 1", 0),
    ("passed_fifth", "4k3/8/8/P7/8/8/8/4K3 w - - 0 1", 1),
    ("passed_sixth", "4k3/8/8/8/8/p7/8/4K3 w - - 0 1", -1),
    ("passed_seventh", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", 1),
    ("passed_connected", "4k3/8/8/PP6/8/8/8/4K3 w - - 0 1", 2),
    ("passed_connected", "4k3/8/8/P1P5/8/8/8/4K3 w - - 0 1", 0),
    ("passed_free", "4k3/8/8/P7/8/8/8/4K3 w - - 0 1", 3),
    ("passed_free", "4k3/n7/8/P7/8/8/8/4K3 w - - 0 1", 0),
    ("passed_free", "4k3/8/1n6/P7/8/8/8/4K3 w - - 0 1", 0),
    ("passed_free", "4k3/8/1n6/P7/8/5B2/8/4K3 w - - 0 1", 3),
    ("passed_kings", "4k3/8/8/P7/8/8/8/4K3 w - - 0 1", -1),
    ("passed_kings", "4k3/8/K7/P7/8/8/8/8 w - - 0 1", 4),
    ("passed_unstoppable", "4k3/8/8/P7/8/8/8/4K3 w - - 0 1", 1),
    ("passed_unstoppable", "4k3/8/8/P7/8/8/8/4K3 b - - 0 1", 0),
    ("passed_unstoppable", "4k3/8/8/P7/8/8/8/4K2r w - - 0 1", 0),
    ("passed_unstoppable", "4k3/8/8/P7/8/8/8/4K2R w - - 0 1", 0),
    ("passed_unstoppable", "5k2/8/8/8/8/8/P7/4K3 b - - 0 1", 0),
    ("passed_unstoppable", "7k/8/8/8/8/8/P7/4K3 b - - 0 1", 1),
    ("passed_unstoppable", "7k/8/8/K7/8/8/P7/8 w - - 0 1", 0),
    ("knight_mobility", "4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", 3),
    ("knight_mobility", "4k3/8/8/8/1p6/8/8/1N2K3 w - - 0 1", 1),
    ("bishop_mobility", "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", 7),
    ("rook_mobility", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 10),
    ("rook_mobility", "1b2k3/8/8/8/8/8/8/R3K3 w - - 0 1", 9),
    ("queen_mobility", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", 17),
    ("queen_mobility", "1r2k3/8/8/8/8/8/8/Q3K3 w - - 0 1", 14),
    ("stuck", "4k3/8/8/8/8/1P6/2P5/N3K3 w - - 0 1", 1),
    ("stuck", "4k3/8/8/8/8/1P6/8/N3K3 w - - 0 1", 1),
    ("stuck", "4k3/8/8/8/8/8/8/N3K3 w - - 0 1", 0),
    ("outposts", "4k3/8/8/3N4/4P3/8/8/4K3 w - - 0 1", 1),
    ("outposts", "4k3/2p5/8/3N4/4P3/8/8/4K3 w - - 0 1", 0),
    ("outposts", "4k3/8/8/3N4/8/8/8/4K3 w - - 0 1", 0),
    ("rook_files", "4k3/8/8/8/8/8/8/3RK3 w - - 0 1", 2),
    ("rook_files", "4k3/3p4/8/8/8/8/8/3RK3 w - - 0 1", 1),
    ("rook_files", "4k3/8/8/8/8/8/3P4/3RK3 w - - 0 1", 0),
    ("bad_bishop", "4k3/8/8/3p4/3P4/8/8/2B1K3 w - - 0 1", 1),
    ("bad_bishop", "4k3/8/8/4p3/4P3/8/8/2B1K3 w - - 0 1", 0),
    ("bad_bishop", "4k3/8/8/8/3P4/8/8/2B1K3 w - - 0 1", 0),
    ("boxed_rook", "4k3/8/8/8/8/8/7P/5K1R w - - 0 1", 1),
    ("boxed_rook", "4k3/8/8/8/8/8/P7/R4K2 w - - 0 1", 0),
    ("boxed_rook", "4k3/8/8/8/8/8/7P/4K2R w K - 0 1", 0),
    ("boxed_rook", "4k3/8/8/8/8/8/8/5K1R w - - 0 1", 0),
    ("space", "4k3/8/8/8/3P4/8/8/4K3 w - - 0 1", 3),
    ("space", "4k3/8/8/8/3P4/8/8/1b2K3 w - - 0 1", 2),
    ("king_shelter", "3qk3/8/8/8/8/8/5PPP/6K1 w - - 0 1", 6),
    ("king_shelter", "3qk3/8/8/8/8/7P/5PP1/6K1 w - - 0 1", 5),
    ("king_shelter", "4k3/8/8/8/8/8/5PPP/6K1 w - - 0 1", 0),
    ("king_files", "4k3/8/8/8/8/8/5P1P/6K1 w - - 0 1", -2),
    ("king_files", "7k/8/8/8/8/8/5PPP/6K1 w - - 0 1", -2),
    ("king_stuck", "3qk3/8/8/8/8/8/8/4K2R w - - 0 1", 1),
    ("king_stuck", "3qk3/8/8/8/8/8/8/4K2R w K - 0 1", 0),
    ("king_stuck", "3qk3/8/8/8/8/8/8/6K1 w - - 0 1", 0),
    ("king_attack", "4k3/R7/8/8/8/8/8/4K3 w - - 0 1", 0),
    ("king_attack", "4k3/R7/R7/8/8/8/8/4K3 w - - 0 1", 9),
    ("safe_checks", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 1),
    ("safe_checks", "3rk3/8/8/8/8/8/8/R3K3 w - - 0 1", 0),
    ("tropism", "4k3/8/4N3/8/8/8/8/4K3 w - - 0 1", 2),
    ("tropism", "4k3/8/8/8/8/8/8/N3K3 w - - 0 1", -3),
    ("king_centre", "4k3/8/8/8/3K4/8/8/8 w - - 0 1", 3),
    ("by_less", "4k3/8/8/3n4/4P3/8/8/4K3 w - - 0 1", 1),
    ("by_less", "4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1", 1),
    ("by_less", "4k3/8/8/3q4/4P3/8/3R4/4K3 w - - 0 1", 1),
    ("by_less", "4k3/8/5r2/3n4/8/2N5/8/4K3 w - - 0 1", 0),
    ("pawn_targets", "4k3/8/8/3p4/8/2N5/8/4K3 w - - 0 1", 1),
    ("pawn_targets", "4k3/8/2p5/3p4/8/2N5/8/4K3 w - - 0 1", 0),
    ("loose", "N3k3/8/8/8/8/8/8/4K3 w - - 0 1", 1),
    ("loose", "4k3/8/8/8/8/8/8/3RK3 w - - 0 1", 0),
    ("tempo", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", 1),
    ("tempo", "4k3/8/8/8/8/8/8/4K3 b - - 0 1", -1),
];

#[test]
fn features_have_the_values_worked_out_by_hand() {
    let wrong: Vec<String> = BY_HAND
        .iter()
        .map(|&(name, fen, expected)| {
            let feature = FEATURES.iter().find(|f| f.name == name);
            let feature = feature.unwrap_or_else(|| panic!("no feature {name}"));
            let survey = Survey::of(&parse_fen(fen).unwrap(), Color::White);
            (name, fen, survey.value(feature), expected)
        })
        .filter(|row| row.2 != row.3)
        .map(|row| format!("{} in {}: {} is not {}", row.0, row.1, row.2, row.3))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_feature_is_tested_by_hand() {
    for feature in &FEATURES {
        let tested = BY_HAND.iter().any(|row| row.0 == feature.name && row.2 != 0);
        assert!(tested, "{} has no position where it is not 0", feature.name);
    }
}

#[test]
fn names_are_distinct_and_those_of_the_weights() {
    for (i, feature) in FEATURES.iter().enumerate() {
        assert_eq!(FITTED.rows[i].0, feature.name);
        assert!(FEATURES[..i].iter().all(|other| other.name != feature.name), "{}", feature.name);
    }
}

#[test]
fn the_other_side_sees_the_negative() {
    for position in positions() {
        let (us, them) = (values(&position, Color::White), values(&position, Color::Black));
        assert_eq!(us, them.map(|f| -f), "{position:?}");
        assert_eq!(evaluate(&position, Color::White), -evaluate(&position, Color::Black));
    }
}

#[test]
fn colours_and_wings_do_not_matter() {
    let (mut colours, mut wings) = (0, 0);
    for position in positions() {
        let us = position.turn();
        if let Some(mirror) = mirrored(&position, true) {
            assert_eq!(values(&position, us), values(&mirror, !us), "{position:?}");
            colours += 1;
        }
        if position.castles().is_empty()
            && let Some(mirror) = mirrored(&position, false)
        {
            assert_eq!(values(&position, us), values(&mirror, us), "{position:?}");
            wings += 1;
        }
    }
    assert!(colours >= 200 && wings >= 50, "{colours} and {wings} positions compared");
}

/// Halves are rounded away from zero, and the taper is linear.
#[test]
fn the_evaluation_blends_by_phase_and_rounds_once() {
    let mut weights = FITTED.clone();
    for row in &mut weights.rows {
        (row.1, row.2) = (0, 0);
    }
    (weights.rows[0].1, weights.rows[0].2) = (100, 40);
    let mut features = [0; FEATURE_COUNT];
    for (pawns, phase, expected) in
        [(1, 24, 100), (1, 0, 40), (1, 12, 70), (-1, 12, -70), (1, 1, 43), (-1, 1, -43), (2, 1, 85)]
    {
        features[0] = pawns;
        assert_eq!(weights.evaluate(&features, phase), expected, "{pawns} at {phase}");
    }
}

#[test]
fn material_outweighs_everything_else_that_is_usual() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let even = evaluate(&parse_fen(start).unwrap(), Color::White);
    assert!((0..50).contains(&even), "the first move is worth {even}");
    let no_queen = start.replace("PPP/RNBQ", "PPP/RNB1");
    assert!(evaluate(&parse_fen(&no_queen).unwrap(), Color::White) < -400);
}
