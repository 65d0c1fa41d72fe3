//! Explanations: right sentences in known positions, and true ones everywhere.
mod positions;

use kibitzer_core::{
    position::parse_fen,
    shakmaty::{Board, Chess, Color, Move, Position as _, Role, Square, uci::UciMove},
    viveka::{
        Before, FITTED, FULL_PHASE, Glance, LastMove, TERM_COUNT, TERMS, TermWeights, Warning,
        Weights, analyse, drop_of, drop_twice_of, explain, points, values,
    },
};
use positions::positions;

/// Weights that give every term with a value some points, so that every term speaks.
fn all_ones() -> Weights {
    let rows = std::array::from_fn(|i| TermWeights::new(TERMS[i].name, 1, 1, 1));
    Weights { rows, ..FITTED.clone() }
}

fn legal(position: &Chess, uci: &str) -> Move {
    uci.parse::<UciMove>().unwrap().to_move(position).unwrap()
}

fn last_move(uci: &str) -> LastMove {
    LastMove::from_uci(&uci.parse().unwrap()).unwrap()
}

/// Weights of many sizes and both signs, other ones in the endgame.
fn uneven() -> Weights {
    let weight = |i: usize, by: i32| i as i32 * by % 23 - 11;
    let row = |i: usize| TermWeights::new(TERMS[i].name, weight(i, 7), weight(i, 5), 0);
    Weights { rows: std::array::from_fn(row), ..FITTED.clone() }
}

/// The sentence of a term for a move.
fn sentence(name: &str, fen: &str, last: Option<&str>, uci: &str) -> String {
    let position = parse_fen(fen).unwrap();
    let before = Before::new(&position, last.map(last_move));
    let glance = Glance::new(&before, legal(&position, uci));
    let (values, weights) = (values(&glance), all_ones());
    let mut parts = explain(&glance, &values, &weights);
    parts.find(|part| part.term.name == name).map_or("nothing".into(), |part| part.to_string())
}

/// Term, position, move, and what is to be said of it.
#[rustfmt::skip]
const BY_HAND: &[(&str, &str, &str, &str)] = &[
    ("material", "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", "wins the knight on d5"),
    ("material", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", "loses the rook on d5 for the knight on d5 (…exd5)"),
    ("material", "3rk3/8/8/3n4/8/8/3R4/3RK3 w - - 0 1", "d2d5", "wins the knight on d5"),
    ("material", "4k3/8/8/8/2p3p1/1N3N2/8/4K3 w - - 0 1", "b3a1", "loses the knight on f3 (…gxf3)"),
    ("material", "4k3/8/8/8/2p3p1/1N1N4/8/4K3 w - - 0 1", "d3e5", "loses the knight on b3 for the pawn on g4 (…cxb3 Nxg4)"),
    ("material", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "wins the pawn on d5"),
    ("material", "3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8q", "wins the rook on d8 for the pawn on c7 (…Kxd8)"),
    ("material", "7k/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7c8q", "wins a new queen on c8"),
    ("material", "4k3/8/3n4/2p5/8/1N6/8/4K3 b - - 0 1", "e8e7", "loses the pawn on c5 (Nxc5)"),
    ("material", "4k3/8/2p5/3n4/8/1B6/3Q4/4K3 b - - 0 1", "d5c3", "loses the knight on c3 (Qxc3)"),
    ("takes", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "takes the pawn on d5"),
    ("rescue", "4k3/8/8/8/6b1/8/8/3QK3 w - - 0 1", "d1d2", "saves the queen on d1 from the bishop on g4"),
    ("leaves_loose", "4k3/8/8/8/1b6/8/8/3N2K1 w - - 0 1", "g1f1", "nothing"),
    ("leaves_loose", "4k3/8/8/8/1b6/8/3N4/4K3 w - - 0 1", "e1f1", "leaves the knight on d2 loose"),
    ("lands_loose", "4k3/8/8/2p5/8/5N2/8/4K3 w - - 0 1", "f3d4", "puts the knight on d4 where the pawn on c5 can take it"),
    ("pawn_chases", "4k3/8/2p5/8/8/5N2/8/4K3 w - - 0 1", "f3d4", "lets the pawn on c6 chase the knight from d4"),
    ("new_targets", "4k3/8/8/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", "leaves the knight on d5 loose"),
    ("target_value", "4k3/8/8/8/5r2/8/7B/6K1 w - - 0 1", "h2g3", "nothing"),
    ("target_value", "4kr2/8/8/8/8/8/1B6/6K1 w - - 0 1", "b2a3", "attacks the rook on f8"),
    ("fork", "r3k3/8/8/1N6/8/8/8/4K3 w - - 0 1", "b5c7", "forks the king and the rook on a8"),
    ("mate_threat", "6k1/5ppp/8/8/8/8/1R6/4K3 w - - 0 1", "b2b7", "threatens Rb8#"),
    ("allows_mate", "r5k1/8/8/8/8/8/5PPP/5K2 w - - 0 1", "f1g1", "allows …Ra1#"),
    ("defends", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "h1h3", "protects the knight on c3"),
    ("makes_pins", "4k3/8/2n5/8/8/8/8/4KB2 w - - 0 1", "f1b5", "pins the knight on c6 to the king"),
    ("makes_pins", "4k3/8/2n5/1B6/8/8/8/4K3 w - - 0 1", "b5a6", "gives up the pin of the knight on c6"),
    ("queen_pins", "3qk3/8/5n2/8/8/8/8/2B1K3 w - - 0 1", "c1g5", "pins the knight on f6 to the queen"),
    ("own_pins", "4k3/8/8/8/4r3/8/4N3/3K4 w - - 0 1", "d1e1", "leaves the knight on e2 pinned to the king"),
    ("skewer", "8/8/8/2k2r2/8/8/8/R6K w - - 0 1", "a1a5", "skewers the rook on f5"),
    ("discovered_check", "4k3/8/8/8/4N3/8/8/3KR3 w - - 0 1", "e4c5", "uncovers a check by the rook on e1"),
    ("discovered_attack", "4k3/8/4q3/8/4N3/8/8/3KR3 w - - 0 1", "e4c3", "uncovers an attack on the queen on e6"),
    ("traps", "n7/8/2K5/8/6k1/8/1R6/8 w - - 0 1", "b2a2", "traps the knight on a8"),
    ("threatens", "4k3/8/8/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", "threatens to win the knight on d5 (Rxd5)"),
    ("threat_value", "4k3/8/8/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", "leaves the knight on d5 hanging"),
    ("removes_defender", "4k3/8/3n4/8/4p3/8/3R2B1/6K1 w - - 0 1", "d2d6", "takes the guard of the pawn on e4"),
    ("blockade", "4k3/8/8/8/8/3p4/8/2B1K3 w - - 0 1", "c1d2", "stops the pawn on d3 with the bishop"),
    ("development", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "g1f3", "develops the knight"),
];

/// The same after a last move.
#[rustfmt::skip]
const AFTER_LAST: &[(&str, &str, &str, &str, &str)] = &[
    ("recapture", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "c7d5", "d2d5", "takes the knight on d5, which just moved"),
    ("answers_threat", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "h1h3", "answers the threat to the knight on c3"),
    ("ignores_threat", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "e1e2", "leaves the knight on c3 under attack"),
    ("blocks_threat", "r3k3/8/8/8/8/8/8/N1B1K3 w - - 0 1", "b8a8", "c1a3", "shields the knight on a1 from the rook on a8"),
    ("counterattack", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "h1h4", "meets the attack on the knight on c3 with one on the bishop on b4"),
    ("attacks_mover", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "h1h4", "attacks the bishop on b4, which just moved"),
];

#[test]
fn terms_say_what_was_worked_out_by_hand() {
    let rows = BY_HAND.iter().map(|&(name, fen, uci, text)| (name, fen, None, uci, text));
    let later =
        AFTER_LAST.iter().map(|&(name, fen, last, uci, text)| (name, fen, Some(last), uci, text));
    for (name, fen, last, uci, text) in rows.chain(later) {
        assert_eq!(sentence(name, fen, last, uci), text, "{name} of {uci} in {fen}");
    }
}

/// The check's sentence against a move.
fn warning(fen: &str, uci: &str) -> Option<String> {
    let position = parse_fen(fen).unwrap();
    let mv = legal(&position, uci);
    Warning::new(&position, mv, drop_of(&position, mv)).map(|warning| warning.to_string())
}

/// Position, move, and what the check says against it.
#[rustfmt::skip]
const WARNINGS: &[(&str, &str, &str)] = &[
    ("4k3/8/8/8/1n6/7P/8/R3K3 w - - 0 1", "h3h4", "…Nc2+ forks the king and the rook on a1: the rook on a1 cannot be saved (Kd1 Nxa1)"),
    ("3r2k1/8/8/8/8/8/5PPP/6K1 w - - 0 1", "g1h1", "…Rd1# is mate"),
    ("6k1/8/1q6/8/8/8/PP5P/RN5K w - - 0 1", "h2h3", "after …Qxb2 the rook on a1 cannot be saved (Nd2 Qxa1+)"),
    ("8/8/8/8/8/4k3/2p4P/7K w - - 0 1", "h1g1", "…c1=Q+ makes a new queen on c1 (Kg2)"),
];

#[test]
fn the_check_says_what_was_worked_out_by_hand() {
    for &(fen, uci, text) in WARNINGS {
        assert_eq!(warning(fen, uci).as_deref(), Some(text), "{uci} in {fen}");
    }
    assert_eq!(warning("3r2k1/8/8/8/8/8/5PPP/6K1 w - - 0 1", "g2g3"), None);
}

/// At a second look: mate is told where no answer escapes it. In the other position the queen can
/// step between at d1, and is lost instead.
#[test]
fn mate_is_told_where_it_is_forced() {
    let warning = |fen: &str, uci: &str| {
        let position = parse_fen(fen).unwrap();
        let mv = legal(&position, uci);
        Warning::new(&position, mv, drop_twice_of(&position, mv)).map(|w| w.to_string())
    };
    let forced = warning("4k3/8/8/8/1r6/r7/P7/7K w - - 0 1", "h1h2").unwrap();
    assert_eq!(forced, "after …Rg4 there is mate (Kh1 Rh3#)");
    let open = warning("1r3r2/R5pk/2p4p/3pp3/Q7/8/5qPP/5RK1 w - - 0 33", "f1f2");
    let told = "after …Rb1+ there is mate or 10.0 pawns are lost (Rf1 Rbxf1#)";
    assert_eq!(open.as_deref(), Some(told));
}

/// Every "the PIECE on SQUARE" of a sentence, as a square and a role.
fn named(text: &str) -> Vec<(Square, Role)> {
    let words: Vec<&str> = text.split([' ', ',', ':', '(', ')']).collect();
    let role = |word: &str| Role::ALL.into_iter().find(|r| format!("{r:?}").to_lowercase() == word);
    words
        .windows(4)
        .filter(|w| w[0] == "the" && w[2] == "on")
        .filter_map(|w| Some((w[3].parse().ok()?, role(w[1])?)))
        .collect()
}

fn stands(board: &Board, (square, role): (Square, Role)) -> bool {
    board.role_at(square) == Some(role)
}

/// Fails unless a sentence is whole and names only pieces that stand where it says, before the
/// move or after it.
fn require_true(text: &str, glance: &Glance, what: &str) {
    let context = || format!("{what} of {:?} in {:?}: {text}", glance.mv, glance.before.position);
    assert!(!text.is_empty() && !text.contains(['{', '}']), "{}", context());
    for nobody in ["a piece", "material by exchanges", "mate."] {
        assert!(!text.contains(nobody), "{}", context());
    }
    let boards = [glance.before.position.board(), glance.after.board()];
    for piece in named(text) {
        assert!(boards.iter().any(|board| stands(board, piece)), "{}", context());
    }
}

/// All moves of the fixture positions, each after some last move where one can be guessed.
fn glances(mut each: impl FnMut(&Glance)) {
    for position in positions() {
        let last = position.board().by_color(position.turn().other()).into_iter().last();
        let last = last.map(|to| LastMove { from: to.flip_vertical(), to });
        let before = Before::new(&position, last);
        position.legal_moves().into_iter().for_each(|mv| each(&Glance::new(&before, mv)));
    }
}

#[test]
fn every_sentence_names_pieces_where_they_stand() {
    let weights = all_ones();
    let mut said = [0; TERM_COUNT];
    glances(|glance| {
        for part in explain(glance, &values(glance), &weights) {
            require_true(&part.to_string(), glance, part.term.name);
            let place = TERMS.iter().position(|term| term.name == part.term.name).unwrap();
            said[place] += 1;
        }
    });
    let silent: Vec<_> = TERMS.iter().zip(said).filter(|s| s.1 == 0).map(|s| s.0.name).collect();
    assert!(silent.len() < TERM_COUNT / 10, "{silent:?} are never told");
}

#[test]
fn parts_sum_to_the_score_the_largest_first() {
    let mut phases = std::collections::BTreeSet::new();
    for weights in [FITTED.clone(), uneven()] {
        for position in positions() {
            let before = Before::new(&position, None);
            phases.insert(before.phase);
            for candidate in &analyse(&position, None, &weights).candidates {
                let glance = Glance::new(&before, candidate.mv);
                let parts: Vec<_> = explain(&glance, &candidate.values, &weights).collect();
                assert_eq!(parts.iter().map(|part| part.points).sum::<i32>(), candidate.score);
                assert!(parts.is_sorted_by_key(|part| -part.points.abs()), "{parts:?}");
                let mut told: Vec<_> =
                    parts.iter().map(|part| (part.term.name, part.points)).collect();
                let all = points(&candidate.values, &weights, before.phase);
                let mut all: Vec<_> = all.map(|(term, points)| (term.name, points)).collect();
                told.sort_unstable();
                all.sort_unstable();
                assert_eq!(told, all);
            }
        }
    }
    assert!(phases.len() > FULL_PHASE as usize / 2, "{phases:?}");
}

/// With all pieces the middlegame's weights count and no others, with kings and pawns the
/// endgame's.
#[test]
fn full_and_empty_boards_have_one_weight_a_term() {
    let weights = uneven();
    for (fen, uci, phase) in [
        ("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3", "f1b5", FULL_PHASE),
        ("8/5k2/3p4/2pP4/2P2K2/8/6P1/8 w - - 0 1", "f4f5", 0),
    ] {
        let position = parse_fen(fen).unwrap();
        let before = Before::new(&position, None);
        assert_eq!(before.phase, phase);
        let glance = Glance::new(&before, legal(&position, uci));
        let values = values(&glance);
        let mut told = 0;
        for part in explain(&glance, &values, &weights) {
            let place = TERMS.iter().position(|term| term.name == part.term.name).unwrap();
            let score = weights.rows[place].score;
            let weight = if phase == 0 { score.endgame } else { score.middlegame };
            assert_eq!(part.points, weight * i32::from(values[place]), "{}", part.term.name);
            told += 1;
        }
        assert!(told > 10, "{told} terms speak");
    }
}

#[test]
fn every_warning_names_pieces_where_they_stand() {
    let (mut told, mut vague) = (0, 0);
    for position in positions() {
        let before = Before::new(&position, None);
        for candidate in &analyse(&position, None, &FITTED).candidates {
            let warning = Warning::new(&position, candidate.mv, candidate.drop);
            assert_eq!(warning.is_some(), candidate.drop.points > 0);
            let Some(warning) = warning else { continue };
            let text = warning.to_string();
            require_true(&text, &Glance::new(&before, candidate.mv), "the check");
            told += 1;
            // At a second look the moves that follow are told instead.
            vague += i32::from(text.contains("are lost") && !text.contains('('));
        }
    }
    assert!(told > 100 && vague * 50 < told, "{vague} of {told} warnings name nothing");
}

/// Moves are written as people do: Black's first one after three dots.
#[test]
fn colours_are_told_by_dots() {
    let position = parse_fen("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1").unwrap();
    let castling = legal(&position, "e1g1");
    assert_eq!(kibitzer_core::viveka::notation(&position, castling).to_string(), "O-O");
    let black = parse_fen("4k3/8/8/8/8/8/8/R3K2R b KQ - 0 1").unwrap();
    assert_eq!(black.turn(), Color::Black);
    let step = legal(&black, "e8e7");
    assert_eq!(kibitzer_core::viveka::notation(&black, step).to_string(), "…Ke7");
}
