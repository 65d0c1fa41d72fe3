//! The terms' values and the drops of every move of a library, computed once and in parallel.
use kibitzer_core::viveka::{Before, Glance, Values, drop_of, values};
use rayon::prelude::*;

use crate::library::LabelledPosition;

/// One position's moves as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    /// The terms' values of each move, in the position's order of moves.
    pub moves: Vec<Values>,
    /// What the worst forcing reply to each move costs, in points.
    pub drops: Vec<i16>,
}

impl Features {
    /// Works out every move of `labelled`.
    pub fn new(labelled: &LabelledPosition) -> Features {
        let before = Before::new(&labelled.position, labelled.last);
        let moves = labelled.moves.iter();
        Features {
            moves: moves.clone().map(|m| values(&Glance::new(&before, m.mv))).collect(),
            drops: moves.map(|m| drop_of(&labelled.position, m.mv).points as i16).collect(),
        }
    }
}

/// Computes every move of every position; `done` is called after each position.
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
