//! Viveka from outside: terms worked out by hand, symmetry, explanations, choices.
use kibitzer_core::{
    moves::destination,
    position::parse_fen,
    shakmaty::{
        CastlingMode, Chess, EnPassantMode, FromSetup as _, Position as _, Square, uci::UciMove,
    },
    viveka::{
        Before, CANDIDATES, FITTED, Glance, LastMove, TERMS, Values, Weights, analyse, explain,
        scan_order, values,
    },
};

fn positions() -> Vec<Chess> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/positions.fen");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| parse_fen(line).unwrap()).collect()
}

fn term(name: &str) -> usize {
    TERMS.iter().position(|t| t.name == name).unwrap_or_else(|| panic!("no term {name}"))
}

fn values_of(fen: &str, last: Option<&str>, uci: &str) -> Values {
    let position = parse_fen(fen).unwrap();
    let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
    let last = last.and_then(|uci| LastMove::from_uci(&uci.parse().unwrap()));
    values(&Glance::new(&Before::new(&position, last), mv))
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Term, position, move, and the value that the term's meaning gives.
#[rustfmt::skip]
const BY_HAND: &[(&str, &str, &str, i16)] = &[
    ("material", "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", 3),
    ("material", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", -2),
    ("exchange_one", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", -2),
    ("exchange_one", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 1),
    ("exchange_one", "4k3/8/8/8/2p5/1N6/8/4K3 w - - 0 1", "e1e2", 0),
    ("capture", "4k3/8/8/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", 3),
    ("capture", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "d2d5", 0),
    ("capture", "4k3/8/4p3/3q4/8/8/3R4/4K3 w - - 0 1", "d2d5", 4),
    ("takes", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 1),
    ("promotes", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 1),
    ("promotes", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", 0),
    ("simplify", "3rk3/8/8/8/8/8/3RP3/3RK3 w - - 0 1", "d2d8", 0),
    ("simplify", "2nrk3/8/8/8/8/8/3RPP2/3RKN2 w - - 0 1", "d2d8", 0),
    ("simplify", "r2rk3/8/8/8/8/8/QP1R4/3RK3 w - - 0 1", "d2d8", 3),
    ("mate", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", 1),
    ("mate", "6k1/5pp1/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", 0),
    ("draws", "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", "c1c7", -9),
    ("rescue", "4k3/8/8/2p5/3N4/8/8/4K3 w - - 0 1", "d4f3", 3),
    ("rescue", "4k3/8/8/2p5/3N4/8/8/4K3 w - - 0 1", "e1e2", 0),
    ("leaves_loose", "4k3/8/8/8/1b6/8/3N4/4K3 w - - 0 1", "e1f2", 1),
    ("lands_loose", "4k3/8/8/2p5/8/5N2/8/4K3 w - - 0 1", "f3d4", 3),
    ("lands_loose", "4k3/8/8/2p5/8/5N2/8/4K3 w - - 0 1", "f3e5", 0),
    ("pawn_chases", "4k3/8/8/2p5/8/5N2/8/4K3 w - - 0 1", "f3d4", 1),
    ("pawn_chases", "4k3/8/2p5/8/8/5N2/8/4K3 w - - 0 1", "f3d4", 1),
    ("pawn_chases", "4k3/2p5/8/8/8/5N2/8/4K3 w - - 0 1", "f3d4", 0),
    ("new_targets", "4k3/8/8/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", 1),
    ("target_value", "4k3/8/8/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", 3),
    ("fork", "r3k3/8/8/1N6/8/8/8/4K3 w - - 0 1", "b5c7", 1),
    ("fork", "4k3/8/8/1N6/8/8/8/4K3 w - - 0 1", "b5c7", 0),
    ("mate_threat", "6k1/5ppp/8/8/8/8/1R6/4K3 w - - 0 1", "b2b7", 1),
    ("mate_threat", "6k1/5pp1/8/8/8/8/1R6/4K3 w - - 0 1", "b2b7", 0),
    ("check", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2a8", 1),
    ("safe_check", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2a8", 1),
    ("safe_check", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2e2", 1),
    ("safe_check", "3nk3/8/2N5/8/8/8/8/4K3 w - - 0 1", "c6d8", 0),
    ("allows_mate", "r5k1/8/8/8/8/8/5PPP/6K1 w - - 0 1", "h2h4", 0),
    ("allows_mate", "r5k1/8/8/8/8/8/5PPP/5K2 w - - 0 1", "f1g1", 1),
    ("allows_checks", "r5k1/8/8/8/8/8/5PPP/5K2 w - - 0 1", "f1g1", 1),
    ("safe_replies", "k7/8/8/8/8/8/8/K7 w - - 0 1", "a1b1", 3),
    ("replies", "k7/8/8/8/8/8/8/K7 w - - 0 1", "a1b1", 3),
    ("few_replies", "k7/8/8/8/8/8/7R/K7 w - - 0 1", "h2b2", 1),
    ("few_replies", "k7/8/8/8/8/8/8/K7 w - - 0 1", "a1b1", 0),
    ("own_pins", "4k3/8/8/8/4r3/8/8/3KN3 w - - 0 1", "d1d2", 0),
    ("own_pins", "4k3/8/8/8/4r3/8/4N3/3K4 w - - 0 1", "d1e1", 1),
    ("trapped", "3k4/p1N5/8/8/8/8/8/4K3 w - - 0 1", "c7a8", 1),
    ("trapped", "4k3/8/1p6/8/8/5N2/8/4K3 w - - 0 1", "f3e5", 0),
    ("trapped", "4k3/p7/1p6/2p5/8/8/8/B3K3 w - - 0 1", "a1d4", 0),
    ("trapped", "k7/p7/1n6/8/8/8/8/N3K3 w - - 0 1", "a1b3", 0),
    ("defends", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "h1h3", 1),
    ("defends", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "h1h4", 0),
    ("development", START, "g1f3", 1),
    ("development", START, "e2e4", 0),
    ("undeveloped_queen", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "d1h5", 4),
    ("castles", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 1),
    ("loses_castling", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1e2", 2),
    ("loses_castling", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "a1a2", 1),
    ("loses_castling", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", 0),
    ("centralisation", START, "g1f3", 3),
    ("centralisation", "4k3/8/8/3Q4/8/8/8/4K3 w - - 0 1", "d5a8", -6),
    ("knight_centre", START, "g1h3", 1),
    ("mobility", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2", 4),
    ("their_mobility", "4k3/8/8/8/b7/1P6/8/4K3 w - - 0 1", "b3b4", 2),
    ("their_mobility", "4k3/8/8/8/b7/8/8/4K1N1 w - - 0 1", "e1d2", 0),
    ("outpost", "4k3/8/8/8/4P3/2N5/8/4K3 w - - 0 1", "c3d5", 1),
    ("outpost", "4k3/2p5/8/8/4P3/2N5/8/4K3 w - - 0 1", "c3d5", 0),
    ("open_file", "4k3/8/8/8/8/8/P7/R3K3 w - - 0 1", "a1d1", 2),
    ("open_file", "4k3/3p4/8/8/8/8/P7/R3K3 w - - 0 1", "a1d1", 1),
    ("seventh_rank", "4k3/8/8/8/8/8/1R6/4K3 w - - 0 1", "b2b7", 1),
    ("bishop_pair", "2b1kb2/8/8/5N2/8/8/3N4/4K3 w - - 0 1", "f5d6", 0),
    ("bishop_pair", "4kb2/8/3b4/5N2/8/8/8/4K3 w - - 0 1", "f5d6", 1),
    ("moves_rook", "4k3/8/8/8/8/8/1R6/4K3 w - - 0 1", "b2b7", 1),
    ("moves_queen", "4k3/8/8/3Q4/8/8/8/4K3 w - - 0 1", "d5a8", 1),
    ("moves_queen", START, "e2e4", 0),
    ("king_walk", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "e1e2", 4),
    ("king_walk", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e1d2", 0),
    ("king_active", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e1d2", 3),
    ("king_active", "4k3/8/8/8/8/4K3/4P3/8 w - - 0 1", "e3f2", -6),
    ("king_attack", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2a7", 3),
    ("king_exposure", "4k3/8/8/8/8/8/r7/5K2 w - - 0 1", "f1g1", 0),
    ("king_exposure", "4k3/8/8/8/8/7r/5K2/8 w - - 0 1", "f2f1", -3),
    ("king_shelter", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", -1),
    ("king_shelter", "rnbqk2r/pppppppp/8/8/8/8/PPPP1PPP/RNBQK2R w KQkq - 0 1", "e1g1", 1),
    ("centre_pawn", START, "e2e4", 1),
    ("centre_pawn", START, "e2e3", 0),
    ("flank_pawn", START, "h2h4", 1),
    ("flank_pawn", "4k3/8/8/8/8/8/7P/4K3 w - - 0 1", "h2h4", 0),
    ("passed_push", "4k3/8/8/P7/8/8/8/4K3 w - - 0 1", "a5a6", 8),
    ("passed_push", "4k3/1p6/8/P7/8/8/8/4K3 w - - 0 1", "a5a6", 0),
    ("passed_pawns", "4k3/1p6/P7/8/8/8/8/4K3 w - - 0 1", "a6b7", 1),
    ("pawn_faults", "4k3/8/8/8/8/2p5/1P1P4/4K3 w - - 0 1", "b2c3", -1),
    ("makes_pins", "4k3/8/2n5/8/8/8/8/4KB2 w - - 0 1", "f1b5", 1),
    ("makes_pins", "4k3/3p4/2n5/8/8/8/8/4KB2 w - - 0 1", "f1b5", 0),
    ("makes_pins", "4k3/8/2n5/1B6/8/8/8/4K3 w - - 0 1", "b5a6", -1),
    ("queen_pins", "3qk3/8/5n2/8/8/8/8/2B1K3 w - - 0 1", "c1g5", 1),
    ("queen_pins", "3qk3/8/5n2/8/8/8/8/2Q1K3 w - - 0 1", "c1g5", 0),
    ("attacks_pinned", "4k3/8/2n5/1B6/8/8/8/3QK3 w - - 0 1", "d1c2", 1),
    ("attacks_pinned", "8/4k3/2n5/1B6/8/8/8/3QK3 w - - 0 1", "d1c2", 0),
    ("skewer", "8/8/8/2k2r2/8/8/8/R6K w - - 0 1", "a1a5", 5),
    ("skewer", "8/8/4p3/2k2n2/8/8/8/R6K w - - 0 1", "a1a5", 0),
    ("skewer", "8/8/1k6/2q2r2/8/8/8/R6K w - - 0 1", "a1a5", 0),
    ("discovered_check", "4k3/8/8/8/4N3/8/8/3KR3 w - - 0 1", "e4c5", 1),
    ("discovered_check", "5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 0),
    ("double_check", "4k3/8/8/8/4N3/8/8/3KR3 w - - 0 1", "e4d6", 1),
    ("double_check", "4k3/8/8/8/4N3/8/8/3KR3 w - - 0 1", "e4c5", 0),
    ("discovered_attack", "4k3/8/4q3/8/4N3/8/8/3KR3 w - - 0 1", "e4c3", 9),
    ("discovered_attack", "4k3/5p2/4n3/8/4N3/8/8/3KR3 w - - 0 1", "e4c3", 0),
    ("opens_lines", "4k3/8/8/8/8/8/4P3/4KB2 w - - 0 1", "e2e4", 5),
    ("opens_lines", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "e1d1", -1),
    ("opens_lines", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2", 0),
    ("closes_lines", "4k3/8/8/8/b7/8/1P6/4K3 w - - 0 1", "b2b3", 2),
    ("closes_lines", "4k3/8/8/8/b7/1P6/8/4K3 w - - 0 1", "b3b4", -2),
    ("battery", "4k3/8/8/8/8/8/3R4/R3K3 w - - 0 1", "a1d1", 1),
    ("battery", "4k3/8/8/8/8/3R4/8/R3K3 w - - 0 1", "a1a3", 0),
    ("battery", "4k3/8/8/8/8/8/1B6/3QK3 w - - 0 1", "d1d4", 1),
    ("few_escapes", "3k4/p1N5/8/8/8/8/8/4K3 w - - 0 1", "c7a8", 3),
    ("few_escapes", "6k1/5b2/8/8/B7/8/2P5/4K3 w - - 0 1", "a4b3", 2),
    ("few_escapes", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", 0),
    ("queen_raid", "r4k2/1p1p4/1n6/8/4Q3/5K2/8/8 w - - 0 1", "e4b7", 1),
    ("queen_raid", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", "a1a5", 0),
    ("queen_raid", "r4k2/1p1p4/1n6/8/4Q3/5K2/8/1R6 w - - 0 1", "e4b7", 1),
    ("queen_raid", "r4k2/1p1p4/8/8/4Q3/5K2/8/1R6 w - - 0 1", "e4b7", 0),
    ("poisoned_pawn", "r4k2/1ppp4/1n6/8/4Q3/5K2/8/8 w - - 0 1", "e4b7", 1),
    ("poisoned_pawn", "r4k2/1p1p4/1n6/8/4Q3/5K2/8/8 w - - 0 1", "e4b7", 0),
    ("pawn_grab", "rnbqkbnr/ppp1pppp/8/3p4/8/8/PPP1PPPP/RNBQKBNR w KQkq - 0 1", "d1d5", 4),
    ("pawn_grab", "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1", "e4d5", 0),
    ("traps", "n7/8/2K5/8/6k1/8/1R6/8 w - - 0 1", "b2a2", 3),
    ("traps", "n7/8/2K5/8/6k1/8/1R6/8 w - - 0 1", "b2b1", 0),
    ("traps", "n7/8/8/3K4/6k1/8/1R6/8 w - - 0 1", "b2a2", 0),
    ("cramps", "7k/8/8/n7/8/5B2/3P4/4K3 w - - 0 1", "d2d3", 1),
    ("cramps", "7k/8/8/n7/8/5B2/3P4/4K3 w - - 0 1", "d2d4", 0),
    ("cramps", "7k/8/8/n7/8/P4B2/1K1P4/8 w - - 0 1", "f3b7", -1),
    ("own_cramped", "7k/p7/3p4/8/N7/8/8/2B1K3 w - - 0 1", "c1b2", 1),
    ("own_cramped", "7k/p7/3p4/8/N7/8/8/2B1K3 w - - 0 1", "c1d2", 0),
    ("flight_squares", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2a7", -3),
    ("flight_squares", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2a8", -2),
    ("own_flights", "4k3/8/8/8/8/8/5PPP/6K1 w - - 0 1", "g2g3", 1),
    ("king_net", "7k/5K2/8/8/8/8/8/5B2 w - - 0 1", "f1d3", 1),
    ("king_net", "7k/5K2/8/8/8/8/8/5B2 w - - 0 1", "f1e2", 0),
    ("king_net", START, "e2e4", 0),
    ("check_net", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", 1),
    ("check_net", "6k1/5pp1/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", 0),
    ("check_net", START, "e2e4", 0),
    ("luft", "4k3/8/8/8/8/8/5PPP/6RK w - - 0 1", "h2h3", 1),
    ("luft", "4k3/8/8/8/8/8/5PPP/6RK w - - 0 1", "f2f3", 0),
    ("luft", "4k3/8/8/8/8/8/5PPP/6RK w - - 0 1", "g1e1", 0),
    ("king_attackers", "4k3/8/8/8/8/8/R7/4K3 w - - 0 1", "a2a7", 1),
    ("king_attackers", "4k3/8/8/5P2/8/8/8/4K3 w - - 0 1", "f5f6", 0),
    ("own_king_attackers", "4k3/8/8/8/8/7r/5K2/8 w - - 0 1", "f2f1", -1),
    ("own_king_attackers", "4k3/8/8/8/8/7r/8/5K2 w - - 0 1", "f1f2", 1),
    ("king_guards", "4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", "b1c3", 1),
    ("king_guards", "4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", "b1a3", 0),
    ("nears_king", "6k1/8/8/8/8/8/8/1N2K3 w - - 0 1", "b1c3", 2),
    ("nears_king", "4k3/8/8/5P2/8/8/8/4K3 w - - 0 1", "f5f6", 0),
    ("blocks_check", "4k3/8/8/8/4r3/8/8/2B1K3 w - - 0 1", "c1e3", 1),
    ("blocks_check", "4k3/8/8/8/4r3/8/8/2B1K3 w - - 0 1", "e1d1", 0),
    ("blocks_check", "4k3/8/8/8/4r3/8/8/1B2K3 w - - 0 1", "b1e4", 0),
    ("takes_checker", "4k3/8/8/8/4r3/8/8/1B2K3 w - - 0 1", "b1e4", 1),
    ("takes_checker", "4k3/8/8/3pP3/4K3/8/8/8 w - d6 0 2", "e5d6", 1),
    ("takes_checker", "4k3/8/8/8/4r3/8/8/2B1K3 w - - 0 1", "c1e3", 0),
    ("pawn_hits", "4k3/8/2n1n3/8/3P4/8/8/4K3 w - - 0 1", "d4d5", 2),
    ("pawn_hits", "4k3/8/2n1p3/8/3P4/8/8/4K3 w - - 0 1", "d4d5", 0),
    ("pawn_hits", "4k3/8/2p1p3/8/3P4/8/2P5/4K3 w - - 0 1", "c2c4", 0),
    ("pawn_fork", "4k3/8/2n1n3/8/3P4/8/8/4K3 w - - 0 1", "d4d5", 1),
    ("pawn_fork", "8/8/2n1k3/8/3P4/8/8/4K3 w - - 0 1", "d4d5", 0),
    ("pawn_fork", "8/8/2n1k3/8/3P4/2N5/8/4K3 w - - 0 1", "d4d5", 1),
    ("lever", "4k3/8/2n1p3/8/3P4/8/8/4K3 w - - 0 1", "d4d5", 1),
    ("lever", START, "e2e4", 0),
    ("lever", "n3k3/1P1p4/2p5/8/8/8/8/4K3 w - - 0 1", "b7a8n", 0),
    ("fixes_pawn", "4k3/8/4p3/8/4P3/8/8/4K3 w - - 0 1", "e4e5", 1),
    ("fixes_pawn", "4k3/8/4n3/8/4P3/8/8/4K3 w - - 0 1", "e4e5", 0),
    ("takes_to_centre", "4k3/8/8/8/8/2p5/1P1P4/4K3 w - - 0 1", "b2c3", 1),
    ("takes_to_centre", "4k3/8/8/8/8/2p5/1P1P4/4K3 w - - 0 1", "d2c3", -1),
    ("takes_to_centre", START, "g1f3", 0),
    ("en_passant", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", 1),
    ("en_passant", "4k3/8/3p4/4P3/8/8/8/4K3 w - - 0 2", "e5d6", 0),
    ("pawn_storm", "rnbq1rk1/pppppppp/5n2/8/8/8/PPPPPPPP/1NKRQBNR w - - 0 1", "h2h4", 2),
    ("pawn_storm", "rnbq1rk1/pppppppp/5n2/8/8/8/PPPPPPPP/1NKRQBNR w - - 0 1", "a2a4", 0),
    ("pawn_storm", START, "e2e4", 0),
    ("pawn_contact", START, "e2e3", 1),
    ("pawn_contact", START, "e2e4", 0),
    ("pawn_contact", "4k3/8/8/8/3P4/8/4P3/4K3 w - - 0 1", "e2e4", 1),
    ("connected_passers", "4k3/8/8/8/1P6/8/P7/4K3 w - - 0 1", "a2a3", 2),
    ("connected_passers", "4k3/p7/8/8/1P6/8/P7/4K3 w - - 0 1", "a2a3", 0),
    ("supports_passer", "4k3/8/8/P7/8/8/8/1R2K3 w - - 0 1", "b1a1", 1),
    ("supports_passer", "4k3/8/8/P7/8/8/8/1R2K3 w - - 0 1", "b1b6", 1),
    ("supports_passer", "4k3/8/8/P7/8/8/8/1R2K3 w - - 0 1", "b1b2", 0),
    ("supports_passer", "4k3/1p6/8/P7/8/8/8/1R2K3 w - - 0 1", "b1a1", 0),
    ("blockade", "4k3/8/8/8/3p4/8/8/2N1K3 w - - 0 1", "c1d3", 1),
    ("blockade", "4k3/8/8/8/3p4/3N4/8/4K3 w - - 0 1", "d3f4", -1),
    ("blockade", "4k3/8/8/8/3p4/8/2P5/2N1K3 w - - 0 1", "c1d3", 0),
    ("blockade", "4k3/8/8/8/3p4/3R4/8/4K3 w - - 0 1", "d3d4", 0),
    ("rook_behind", "4k3/8/8/P7/8/8/8/1R2K3 w - - 0 1", "b1a1", 1),
    ("rook_behind", "1R6/4k3/8/P7/8/8/8/4K3 w - - 0 1", "b8a8", 0),
    ("rook_behind", "1R6/4k3/8/8/p7/8/8/4K3 w - - 0 1", "b8a8", 1),
    ("rook_behind", "4k3/8/8/P7/8/N7/8/1R2K3 w - - 0 1", "b1a1", 0),
    ("promotion_threat", "4k3/8/P7/8/8/8/8/4K3 w - - 0 1", "a6a7", 1),
    ("promotion_threat", "2k5/8/P7/8/8/8/8/4K3 w - - 0 1", "a6a7", 1),
    ("promotion_threat", "4k3/8/P7/3b4/8/8/8/4K3 w - - 0 1", "a6a7", 0),
    ("backward_pawns", "4k3/8/8/8/3p4/8/2PP4/4K3 w - - 0 1", "d2d3", 1),
    ("backward_pawns", "4k3/8/8/8/8/8/2PP4/4K3 w - - 0 1", "d2d3", 0),
    ("pawn_islands", "4k3/8/8/8/8/2p5/PP1P4/4K3 w - - 0 1", "b2c3", 1),
    ("pawn_islands", "4k3/8/8/8/8/2p5/1P1P4/4K3 w - - 0 1", "b2c3", 0),
    ("holes", "4k3/8/8/8/8/8/2P1P3/4K3 w - - 0 1", "e2e4", 2),
    ("holes", "4k3/8/8/8/8/8/2P1P3/4K3 w - - 0 1", "e2e3", 1),
    ("holes", START, "e2e4", 0),
    ("opens_files", "4k3/8/8/8/8/2p5/1P1P4/R3K3 w - - 0 1", "b2c3", 1),
    ("opens_files", "4k3/8/8/8/8/2p5/1P1P4/4K3 w - - 0 1", "b2c3", 0),
    ("opens_files", "4k3/8/8/8/8/2n5/1P6/R3K3 w - - 0 1", "b2c3", 0),
    ("runner", "8/8/8/P3k3/8/8/8/4K3 w - - 0 1", "a5a6", 1),
    ("runner", "8/8/8/P2k4/8/8/8/4K3 w - - 0 1", "a5a6", 0),
    ("runner", "8/8/8/P6k/8/8/7n/4K3 w - - 0 1", "a5a6", 0),
    ("runner", "7k/8/8/8/8/8/P7/4K3 w - - 0 1", "e1e2", 1),
    ("allows_runner", "8/8/8/8/p3K3/8/8/6k1 w - - 0 1", "e4f4", 1),
    ("allows_runner", "8/8/8/8/p3K3/8/8/6k1 w - - 0 1", "e4d3", 0),
    ("opposition", "8/8/4k3/8/8/3K4/4P3/8 w - - 0 1", "d3e4", 1),
    ("opposition", "8/8/4k3/8/8/3K4/4P3/8 w - - 0 1", "d3d4", 0),
    ("opposition", "R7/8/4k3/8/8/3K4/4P3/8 w - - 0 1", "d3e4", 0),
    ("king_to_passer", "8/8/8/p7/8/8/4K3/7k w - - 0 1", "e2d3", 1),
    ("king_to_passer", "8/8/8/p7/8/8/4K3/7k w - - 0 1", "e2f2", -1),
    ("king_to_passer", "8/8/8/p7/8/8/1P2K3/7k w - - 0 1", "e2d3", 0),
    ("threatens", "4k3/8/8/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", 3),
    ("threatens", "4k3/8/4p3/3n4/8/8/2R5/4K3 w - - 0 1", "c2d2", 0),
    ("wins_by_force", "r3k3/8/8/1N6/8/8/8/4K3 w - - 0 1", "b5c7", 5),
    ("wins_by_force", "4k3/8/8/1N6/8/8/8/4K3 w - - 0 1", "b5c7", 0),
    // The check drives the king to the last rank, where the other rook mates.
    ("wins_by_force", "8/7k/R7/1R6/8/8/8/4K3 w - - 0 1", "b5b7", 10),
    ("wins_by_force", "8/7k/8/1R6/8/8/8/4K3 w - - 0 1", "b5b7", 0),
    ("allows_mating_check", "4k3/8/8/8/1r6/r7/8/7K w - - 0 1", "h1h2", 1),
    ("allows_mating_check", "4k3/8/8/8/1r6/8/8/7K w - - 0 1", "h1h2", 0),
];

/// Term, position, the last move that led to it, move, and the value by the term's meaning.
#[rustfmt::skip]
const AFTER_LAST: &[(&str, &str, &str, &str, i16)] = &[
    ("recapture", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "c7d5", "d2d5", 1),
    ("recapture", "4k3/8/4p3/3n4/8/8/3R4/4K3 w - - 0 1", "e7e6", "d2d5", 0),
    ("answers_threat", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "h1h3", 3),
    ("answers_threat", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "a5b4", "h1h3", 0),
    ("answers_threat", "4k3/8/8/1b6/8/3N4/8/4K2R w - - 0 1", "a6b5", "d3c5", 0),
    ("answers_threat", "4k3/8/8/1b6/8/3N4/8/4K2R w - - 0 1", "d7b5", "d3c5", 3),
    ("ignores_threat", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "e1e2", 3),
    ("ignores_threat", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "a5b4", "e1e2", 0),
    ("ignores_threat", "b3k3/8/8/3n4/8/5N2/8/4K3 w - - 0 1", "e7d5", "e1e2", 0),
    ("ignores_threat", "b3k3/4n3/8/8/8/8/6N1/3K4 w - - 0 1", "d5e7", "d1e1", 3),
    ("blocks_threat", "r3k3/8/8/8/8/8/8/N1B1K3 w - - 0 1", "b8a8", "c1a3", 1),
    ("blocks_threat", "r3k3/8/8/8/8/8/8/N1B1K3 w - - 0 1", "b8a8", "c1b2", 0),
    ("counterattack", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "h1h4", 1),
    ("counterattack", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "e1e2", 0),
    ("attacks_mover", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "f8b4", "h1h4", 1),
    ("attacks_mover", "4k3/8/8/8/1b6/2N5/8/4K2R w - - 0 1", "e7e8", "h1h4", 0),
    ("unguarded_square", "4k3/8/8/8/4n3/8/8/3RK3 w - - 0 1", "f6e4", "d1d5", 1),
    ("unguarded_square", "4k3/8/8/8/4n3/8/8/3RK3 w - - 0 1", "f6e4", "d1d3", 0),
    ("unguarded_square", "4k3/8/4p3/8/4n3/8/8/3RK3 w - - 0 1", "f6e4", "d1d5", 0),
    ("takes_unguarded", "4k3/8/8/3p4/4n3/8/8/3RK3 w - - 0 1", "f6e4", "d1d5", 1),
    ("takes_unguarded", "4k3/8/8/3p4/4n3/8/8/3RK3 w - - 0 1", "g5e4", "d1d5", 0),
];

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

/// The position with `change` applied to its setup.
fn mirrored(position: &Chess, flip_ranks: bool) -> Option<Chess> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    if flip_ranks {
        setup.mirror();
    } else {
        setup.board.flip_horizontal();
        setup.ep_square = setup.ep_square.map(Square::flip_horizontal);
    }
    Chess::from_setup(setup, CastlingMode::Standard).ok()
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
        assert_eq!(row.0, term.name);
        assert!(term.glance || row.2 == 0 || term.name == "mate", "{} is not a glance", term.name);
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
    let mut weights = FITTED.clone();
    weights.rows[3].1 = 2_000_000_000;
    assert_eq!(weights.validate(), Err(TERMS[3].name));
    let weights = Weights { temperature: 0, ..FITTED.clone() };
    assert_eq!(weights.validate(), Err("temperature"));
}

/// Every sentence, also of terms whose fitted weight is 0: only known fields.
#[test]
fn templates_hold_known_fields_only() {
    for term in &TERMS {
        for template in [term.positive, term.negative] {
            for field in template.split('{').skip(1) {
                let (field, _) = field.split_once('}').expect("a closed field");
                let known = matches!(field, "n" | "piece" | "to") || field.starts_with("n:");
                assert!(known, "{}: {{{field}}}", term.name);
            }
        }
    }
}

#[test]
fn explanations_sum_to_the_score_in_whole_sentences() {
    for position in positions() {
        for candidate in &analyse(&position, None, &FITTED).candidates {
            let mut sum = 0;
            for part in explain(candidate, &FITTED) {
                let sentence = part.to_string();
                assert!(!sentence.is_empty(), "{} of {:?}", part.term.name, candidate.mv);
                assert!(!sentence.contains(['{', '}']), "{sentence}");
                sum += part.points;
            }
            assert_eq!(sum, candidate.score);
            assert_eq!(candidate.total, candidate.score - FITTED.penalty(candidate.drop));
        }
    }
}

#[test]
fn a_mate_in_one_is_chosen() {
    for (fen, mate) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8"),
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7"),
        ("rnbqkbnr/pppp1ppp/4p3/8/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", "d8h4"),
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
