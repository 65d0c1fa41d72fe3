//! What the opponent answers.
use kibitzer_core::{
    shakmaty::{CastlingMode, Chess, Move, Position as _},
    viveka::{Analysis, LastMove, Weights, analyse},
};

/// The position after `mv`.
pub fn after(position: &Chess, mv: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(mv);
    after
}

/// What Viveka would have the opponent answer to `mv`.
pub fn answer(position: &Chess, mv: Move, weights: &Weights) -> Analysis {
    let last = LastMove::from_uci(&mv.to_uci(CastlingMode::Standard));
    analyse(&after(position, mv), last, weights)
}
