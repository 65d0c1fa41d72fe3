//! The terms' values for every move of a library, computed once and in parallel.
use std::sync::OnceLock;

use kibitzer_core::viveka::{Before, Drop, Glance, Values, drop_of, values};
use rayon::prelude::*;

use crate::library::LabelledPosition;

/// One position's moves as numbers.
#[derive(Debug)]
pub struct Features {
    /// The terms' values of each move, in the position's order of moves.
    pub moves: Vec<Values>,
    /// Drops, worked out when first asked for: only candidates need them.
    drops: Vec<OnceLock<Drop>>,
}

impl Features {
    fn new(labelled: &LabelledPosition) -> Features {
        let before = Before::new(&labelled.position, labelled.last);
        let moves: Vec<Values> =
            labelled.moves.iter().map(|m| values(&Glance::new(&before, m.mv))).collect();
        Features { drops: moves.iter().map(|_| OnceLock::new()).collect(), moves }
    }

    /// What the worst forcing reply to move number `i` of `labelled` costs.
    pub fn drop(&self, labelled: &LabelledPosition, i: usize) -> Drop {
        *self.drops[i].get_or_init(|| drop_of(&labelled.position, labelled.moves[i].mv))
    }
}

/// Computes the terms of every move of every position.
pub fn compute(positions: &[LabelledPosition], done: impl Fn() + Sync) -> Vec<Features> {
    positions
        .par_iter()
        .map(|labelled| {
            let features = Features::new(labelled);
            done();
            features
        })
        .collect()
}
