//! The columns of the logit: what a weight may belong to.
//!
//! Each term has two. The first is its value; its weight is the term's in the middlegame. The
//! second is its value times the share of the pieces that are gone; its weight is what the term
//! counts more, or less, in the endgame. Without a weight there, the term counts the same at
//! every phase.
use kibitzer_core::viveka::{FULL_PHASE, MAX_WEIGHT, Sense, TERM_COUNT, TERMS, Tapered};

/// The column of what `term` counts more in the endgame.
pub const fn endgame(term: usize) -> usize {
    TERM_COUNT + term
}

/// The term of a column.
pub const fn term(column: usize) -> usize {
    column % TERM_COUNT
}

/// Whether the column is about the endgame.
pub const fn is_endgame(column: usize) -> bool {
    column >= TERM_COUNT
}

/// The column's name: the term's, and where it counts.
pub fn name(column: usize) -> String {
    let name = TERMS[term(column)].name;
    if is_endgame(column) { format!("{name} (endgame)") } else { name.to_string() }
}

/// The share of the pieces that are gone at a phase: 0 in the middlegame, 1 in the endgame.
pub fn share_gone(phase: i32) -> f32 {
    1.0 - phase as f32 / FULL_PHASE as f32
}

/// Which of `columns` have a weight with a sign that their term may have, in the middlegame and
/// in the endgame.
pub fn sensible(columns: &[usize], weights: &[f64]) -> Vec<bool> {
    let weight = |column| columns.iter().position(|&c| c == column).map_or(0.0, |at| weights[at]);
    let counted = |&column: &usize| match is_endgame(column) {
        true => weight(column) + weight(term(column)),
        false => weight(column),
    };
    columns.iter().map(|column| makes_sense(term(*column), counted(column))).collect()
}

/// Whether a term may have this weight.
fn makes_sense(term: usize, weight: f64) -> bool {
    match TERMS[term].sense {
        Sense::Good => weight >= 0.0,
        Sense::Bad => weight <= 0.0,
        Sense::Either => true,
    }
}

/// The points of `column` among points by column; 0 if there are none.
pub fn points(points: &[(usize, i32)], column: usize) -> i32 {
    points.iter().find(|p| p.0 == column).map_or(0, |p| p.1)
}

/// The weights of `term`, given points by column. Where rounding has turned an endgame weight's
/// sign against the term's sense, it is 0.
pub fn tapered(points: &[(usize, i32)], term: usize) -> Tapered {
    let middlegame = self::points(points, term);
    let endgame = (middlegame + self::points(points, endgame(term))).clamp(-MAX_WEIGHT, MAX_WEIGHT);
    let endgame = if makes_sense(term, endgame.into()) { endgame } else { 0 };
    Tapered { middlegame, endgame }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_sense(sense: Sense) -> usize {
        TERMS.iter().position(|term| term.sense == sense).unwrap()
    }

    #[test]
    fn each_term_has_two_columns() {
        assert_eq!(name(endgame(3)), format!("{} (endgame)", TERMS[3].name));
        for column in 0..2 * TERM_COUNT {
            let (term, late) = (term(column), is_endgame(column));
            assert_eq!(if late { endgame(term) } else { term }, column);
        }
        assert_eq!((share_gone(FULL_PHASE), share_gone(12), share_gone(0)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn a_good_term_must_be_good_in_both() {
        let (good, bad) = (with_sense(Sense::Good), with_sense(Sense::Bad));
        let columns = [good, endgame(good), endgame(bad)];
        assert_eq!(sensible(&columns, &[1.0, -0.5, -0.1]), [true; 3]);
        assert_eq!(sensible(&columns, &[1.0, -1.5, 0.1]), [true, false, false]);
        assert_eq!(sensible(&columns, &[-1.0, 1.5, 0.0]), [false, true, true]);
    }

    #[test]
    fn points_become_weights_of_both_phases() {
        let good = with_sense(Sense::Good);
        let weights = |middle, more| {
            let Tapered { middlegame, endgame } =
                tapered(&[(endgame(good), more), (good, middle)], good);
            (middlegame, endgame)
        };
        assert_eq!(weights(7, 0), (7, 7));
        assert_eq!(weights(7, -3), (7, 4));
        assert_eq!(weights(2, -3), (2, 0), "rounded against its sense");
        assert_eq!(tapered(&[(good, 7)], good), Tapered::level(7));
    }
}
