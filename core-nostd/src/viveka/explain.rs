//! Why a candidate has its score: one line a term, and the lines sum to it exactly.
use core::fmt;

use shakmaty::{Role, Square};

use super::{
    choice::{Candidate, Weights},
    terms::{TERMS, Term},
};
use crate::moves::destination;

/// One term's part of a score.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The term.
    pub term: &'static Term,
    /// Its value for the move.
    pub value: i32,
    /// Its points: weight times value.
    pub points: i32,
    role: Role,
    to: Square,
}

/// The terms that take part in `candidate`'s score, in the table's order. Their points sum to
/// [`Candidate::score`].
pub fn explain<'a>(
    candidate: &'a Candidate,
    weights: &'a Weights,
) -> impl Iterator<Item = Part> + 'a {
    let (role, to) = (candidate.mv.role(), destination(candidate.mv));
    let parts = TERMS.iter().zip(&weights.rows).zip(&candidate.values);
    parts
        .map(move |((term, row), &value)| {
            let value = i32::from(value);
            Part { term, value, points: row.1 * value, role, to }
        })
        .filter(|part| part.points != 0)
}

/// The sentence, as in "develops the knight".
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let template = if self.value < 0 { self.term.negative } else { self.term.positive };
        let mut rest = template;
        while let Some((text, field)) = rest.split_once('{') {
            f.write_str(text)?;
            let (field, after) = field.split_once('}').unwrap_or((field, ""));
            let size = self.value.unsigned_abs();
            match field {
                "n" => write!(f, "{size}")?,
                "piece" => f.write_str(role_name(self.role))?,
                "to" => write!(f, "{}", self.to)?,
                _ => {
                    let noun = field.strip_prefix("n:").unwrap_or(field);
                    let plural = if size == 1 { "" } else { "s" };
                    write!(f, "{size} {noun}{plural}")?;
                }
            }
            rest = after;
        }
        f.write_str(rest)
    }
}

/// The English name of a piece.
const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}
