//! Why a candidate has its score: one line a term, and the lines sum to it exactly.
//!
//! - `names`: pieces by name and square.
//! - `notation`: moves as people write them.
//! - `ledger`: who wins what along a line of moves.
//! - `template`: a term's sentence, its fields filled in.
//! - `warning`: what the check found.
mod ledger;
mod names;
mod notation;
mod template;
mod warning;

use core::cmp::Reverse;

use super::{
    choice::{Values, Weights},
    glance::Glance,
    terms::{TERMS, Term},
};
pub(crate) use names::role_name;
pub use notation::notation;
pub use warning::Warning;

/// Positions that the sentences about one move look at, at most; as many again the warning.
pub const EXPLAINED: u32 = 20_000;

/// One term's part of a score; its text is a sentence such as "develops the knight".
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The term.
    pub term: &'static Term,
    /// Its value for the move.
    pub value: i32,
    /// Its points: weight at the position's phase, times value.
    pub points: i32,
    /// The move.
    glance: &'a Glance<'a>,
}

/// The terms that take part in a score, in the table's order, and their points at `phase`, which
/// sum to [`Weights::score`].
pub fn points<'a>(
    values: &'a Values,
    weights: &'a Weights,
    phase: i32,
) -> impl Iterator<Item = (&'static Term, i32)> + 'a {
    let terms = TERMS.iter().zip(&weights.rows).zip(values);
    terms
        .map(move |((term, row), &value)| (term, row.score.times(value.into(), phase)))
        .filter(|&(_, points)| points != 0)
}

/// The same with sentences, the most points first, for or against; `values` are those of the
/// move that `glance` looks at.
pub fn explain<'a>(
    glance: &'a Glance<'a>,
    values: &'a Values,
    weights: &'a Weights,
) -> impl Iterator<Item = Part<'a>> + 'a {
    let parts = move || {
        let terms = TERMS.iter().zip(&weights.rows).zip(values);
        terms.enumerate().filter_map(|(place, ((term, row), &value))| {
            let value = i32::from(value);
            let points = row.score.times(value, glance.before.phase);
            let key = (Reverse(points.abs()), place);
            (points != 0).then_some((key, Part { term, value, points, glance }))
        })
    };
    // The list is short, and a board has no room to sort it in.
    let mut last = None;
    core::iter::from_fn(move || {
        let rest = parts().filter(|&(key, _)| Some(key) > last);
        let (next, part) = rest.min_by_key(|&(key, _)| key)?;
        last = Some(next);
        Some(part)
    })
}
