//! Four colours for moves, by what a move loses against the best one.
use crate::lamps::Colour;

/// What a move loses against the best one, in points, a pawn being 100: from 0 to [`MAX_LOSS`].
pub type Loss = i32;

/// Losses are told up to here.
pub const MAX_LOSS: Loss = 1_000;

/// Nats of a network's move distribution that weigh as much as a point of Viveka's scores: a
/// network that gives a move `exp(-1)` of the best one's probability thinks it so many points worse.
/// From engines' losses against the logits of a network trained on games, a line through the origin
/// (`tests/examples/grades.rs`).
const POINTS_PER_NAT: i64 = 100;

/// How good a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Grade {
    /// The best move, or as good: it loses up to 30 points.
    Good,
    /// A little worse: up to 100 points.
    Fair,
    /// It gives something away: up to 250 points.
    Poor,
    /// It loses more.
    Bad,
}

impl Grade {
    /// All grades, the best first, with the greatest loss of each.
    pub const THRESHOLDS: [(Grade, Loss); 4] =
        [(Grade::Good, 30), (Grade::Fair, 100), (Grade::Poor, 250), (Grade::Bad, MAX_LOSS)];

    /// The grade of a loss.
    pub fn of(loss: Loss) -> Grade {
        let row = Grade::THRESHOLDS.into_iter().find(|&(_, most)| loss <= most);
        row.map_or(Grade::Bad, |(grade, _)| grade)
    }

    /// How it is shown.
    pub const fn colour(self) -> Colour {
        match self {
            Grade::Good => Colour::Green,
            Grade::Fair => Colour::Yellow,
            Grade::Poor => Colour::Orange,
            Grade::Bad => Colour::Red,
        }
    }
}

/// What a network thinks that a move loses: by its logit and the best one's, whose difference is
/// that of the logarithms of their probabilities.
pub(super) fn loss_by_logits(best: i32, logit: i32, one: i32) -> Loss {
    let nats = i64::from(best) - i64::from(logit);
    let points = nats * POINTS_PER_NAT / i64::from(one.max(1));
    points.clamp(0, MAX_LOSS.into()) as Loss
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_has_the_first_grade_that_reaches_it() {
        let grades = [0, 30, 31, 100, 101, 250, 251, MAX_LOSS].map(Grade::of);
        use Grade::{Bad, Fair, Good, Poor};
        assert_eq!(grades, [Good, Good, Fair, Fair, Poor, Poor, Bad, Bad]);
    }

    #[test]
    fn a_nat_is_a_number_of_points() {
        let points = POINTS_PER_NAT as i32;
        assert_eq!(loss_by_logits(500, 500, 100), 0);
        assert_eq!(loss_by_logits(500, 300, 100), 2 * points);
        assert_eq!(loss_by_logits(i32::MAX, i32::MIN, 1), MAX_LOSS);
    }
}
