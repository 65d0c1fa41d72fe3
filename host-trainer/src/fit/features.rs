//! The terms' values and the drops of every move of a library, computed once and in parallel.
use std::sync::OnceLock;

use kibitzer_core::viveka::{Before, Glance, Values, drop_of, drop_twice_of, values};
use rayon::prelude::*;

use crate::library::LabelledPosition;

/// One position's moves as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    /// The terms' values of each move, in the position's order of moves.
    pub moves: Vec<Values>,
    /// What the worst forcing reply to each move costs, in points.
    pub drops: Vec<i16>,
    /// The same at a second look; worked out when first asked for, since only leaders get one.
    twice: Vec<OnceLock<i16>>,
}

impl Features {
    /// Works out every move of `labelled`.
    pub fn new(labelled: &LabelledPosition) -> Features {
        let before = Before::new(&labelled.position, labelled.last);
        let moves = labelled.moves.iter();
        Features::of(
            moves.clone().map(|m| values(&Glance::new(&before, m.mv))).collect(),
            moves.map(|m| drop_of(&labelled.position, m.mv).points as i16).collect(),
        )
    }

    /// Features that were worked out before.
    pub fn of(moves: Vec<Values>, drops: Vec<i16>) -> Features {
        Features { twice: moves.iter().map(|_| OnceLock::new()).collect(), moves, drops }
    }

    /// What the worst forcing reply to move number `i` of `labelled` costs at a second look, in
    /// points.
    pub fn drop_twice(&self, labelled: &LabelledPosition, i: usize) -> i16 {
        let drop = || drop_twice_of(&labelled.position, labelled.moves[i].mv).points as i16;
        *self.twice[i].get_or_init(drop)
    }
}

#[cfg(test)]
impl Features {
    /// Makes a second look at move number `i` find this.
    pub fn expect_twice(&self, i: usize, points: i16) {
        self.twice[i].set(points).expect("nobody looked before");
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
