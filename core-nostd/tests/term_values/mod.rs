//! Values of Viveka's terms by position and move.
use kibitzer_core::{
    position::parse_fen,
    shakmaty::uci::UciMove,
    viveka::{Before, Glance, LastMove, TERMS, Values, values},
};

/// Place of the term of this name.
pub fn term(name: &str) -> usize {
    TERMS.iter().position(|t| t.name == name).unwrap_or_else(|| panic!("no term {name}"))
}

/// Values of all terms for a move, after the opponent's last move if it is given.
pub fn values_of(fen: &str, last: Option<&str>, uci: &str) -> Values {
    let position = parse_fen(fen).unwrap();
    let mv = uci.parse::<UciMove>().unwrap().to_move(&position).unwrap();
    let last = last.and_then(|uci| LastMove::from_uci(&uci.parse().unwrap()));
    values(&Glance::new(&Before::new(&position, last), mv))
}
