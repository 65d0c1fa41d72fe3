//! The weights, and what follows from them: points, penalties, orders, the entropy.
use fixed::types::I32F32;
use heapless::Vec;
use shakmaty::{Chess, Move};

use super::{
    analysis::POSITIONS,
    check::{self, Drop},
    double_check,
    glance::Glance,
    taper::Tapered,
    terms::{TERM_COUNT, TERMS},
};
use crate::{
    budget::Budget,
    exchange::exchanges_within,
    moves::MAX_LEGAL,
    net::infer::{EXPONENT_FRACTION, POWER_FRACTION, exp2_negative},
    numeric,
    position::after,
};

/// Candidates that the scan keeps.
pub const CANDIDATES: usize = 8;

/// Score distances beyond this have no weight in the entropy.
const FARTHEST: i32 = 1 << 20;

/// The values of all terms for one move.
pub type Values = [i16; TERM_COUNT];

/// What is fitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// One row a term, in the order of [`TERMS`].
    pub rows: [TermWeights; TERM_COUNT],
    /// β of the check, in percent.
    pub check_percent: i32,
    /// τ of the move distribution, in points.
    pub temperature: Tapered,
    /// A position whose entropy is below this, in thousandths of a nat, is critical.
    pub critical_entropy: i32,
}

/// What one term counts, in points, a pawn being 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermWeights {
    /// The term's name.
    pub name: &'static str,
    /// Its weight in the score.
    pub score: Tapered,
    /// Its scan points.
    pub scan: i32,
}

impl TermWeights {
    /// A row: name, weights in the score for middlegame and endgame, scan points.
    pub const fn new(name: &'static str, middlegame: i32, endgame: i32, scan: i32) -> TermWeights {
        TermWeights { name, score: Tapered { middlegame, endgame }, scan }
    }

    /// Whether it counts nothing anywhere.
    pub const fn is_zero(&self) -> bool {
        self.score.is_zero() && self.scan == 0
    }
}

/// Largest size of a score weight or of scan points: with values as terms have them, a few hundred
/// at most, no sum over the terms comes near the limits of an i32.
pub const MAX_WEIGHT: i32 = 1_000;
/// Largest β, in percent.
const MAX_CHECK_PERCENT: i32 = 1_000;
/// Largest temperature, in points.
const MAX_TEMPERATURE: i32 = 1_000_000;

impl Weights {
    /// Whether every number lies in its range: weights and scan points up to [`MAX_WEIGHT`] in
    /// size, β from 0 to 1,000 percent, τ from 1 to a million points. The other functions rely
    /// on it; the error names the field.
    pub fn validate(&self) -> Result<(), &'static str> {
        let range = -MAX_WEIGHT..=MAX_WEIGHT;
        let fits =
            |row: &&TermWeights| row.score.lies_in(range.clone()) && range.contains(&row.scan);
        if let Some(row) = self.rows.iter().find(|row| !fits(row)) {
            return Err(row.name);
        }
        if !(0..=MAX_CHECK_PERCENT).contains(&self.check_percent) {
            return Err("check_percent");
        }
        if !self.temperature.lies_in(1..=MAX_TEMPERATURE) {
            return Err("temperature");
        }
        Ok(())
    }

    /// `Σ wᵢ·xᵢ`, in points, in a position of this [phase](super::facts::phase) before the move:
    /// the sum of the terms' points, each rounded by itself.
    pub fn score(&self, values: &Values, phase: i32) -> i32 {
        let terms = self.rows.iter().zip(values);
        terms.map(|(row, &value)| row.score.times(value.into(), phase)).sum()
    }

    /// Scan points: on the score's scale, but of terms seen at a glance alone.
    pub fn scan(&self, values: &Values) -> i32 {
        self.scan_sum(|i| values[i])
    }

    /// Scan points of a move, working out only what has some.
    pub(super) fn scan_of(&self, glance: &Glance) -> i32 {
        self.scan_sum(|i| value(i, glance))
    }

    /// Sums points times value over the terms with points; other values are not asked for. The
    /// sum is kept in 16 bits: a board keeps that of every move.
    fn scan_sum(&self, mut value: impl FnMut(usize) -> i16) -> i32 {
        let points = self.rows.iter().map(|row| row.scan).enumerate();
        let sum: i32 = points.filter(|&(_, w)| w != 0).map(|(i, w)| w * i32::from(value(i))).sum();
        sum.clamp(i16::MIN.into(), i16::MAX.into())
    }

    /// τ at a phase, in points.
    pub fn temperature_at(&self, phase: i32) -> i32 {
        self.temperature.times(1, phase)
    }

    /// Whether a position with `moves` legal moves and this entropy, in thousandths of a nat, is
    /// flagged as critical. With a single move there is nothing to decide.
    pub const fn is_critical(&self, moves: usize, entropy: i32) -> bool {
        moves > 1 && entropy < self.critical_entropy
    }

    /// What a drop takes off the score: `β·drop`, in points.
    pub fn penalty(&self, drop: Drop) -> i32 {
        self.check_percent * drop.points / 100
    }
}

/// The values of all terms for a move.
pub fn values(glance: &Glance) -> Values {
    core::array::from_fn(|i| value(i, glance))
}

/// The value of term number `i`.
pub(super) fn value(i: usize, glance: &Glance) -> i16 {
    (TERMS[i].value)(glance).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// The points with which each legal move enters the move distribution: its total for a candidate,
/// given as scan points and total; for the others, which were not examined, their scan points
/// stand in, shifted by what the candidates' totals differ from their scan points on average.
pub fn standings(
    candidates: impl Iterator<Item = (i32, i32)> + Clone,
    others: &[i16],
) -> Vec<i32, { MAX_LEGAL + CANDIDATES }> {
    let count = candidates.clone().count().max(1) as i32;
    let shift = candidates.clone().map(|(scan, total)| total - scan).sum::<i32>() / count;
    let totals = candidates.map(|(_, total)| total);
    totals
        .chain(others.iter().map(|&scan| i32::from(scan) + shift))
        .take(MAX_LEGAL + CANDIDATES)
        .collect()
}

/// What the worst forcing reply to `mv`, a legal move of `position`, costs.
pub fn drop_of(position: &Chess, mv: Move) -> Drop {
    let after = after(position, mv);
    let budget = Budget::new(POSITIONS);
    check::drop(&after, -exchanges_within(&after, &budget), &budget)
}

/// The same at a second look, our answers being checked in their turn.
pub fn drop_twice_of(position: &Chess, mv: Move) -> Drop {
    let after = after(position, mv);
    let budget = Budget::new(POSITIONS);
    double_check::drop(&after, -exchanges_within(&after, &budget), &budget)
}

/// The scan's order of moves: most scan points first, then by squares, so that the candidates
/// are the same everywhere.
pub fn scan_order(scan: i32, mv: Move) -> impl Ord {
    (-scan, order(mv))
}

/// A total order on moves that does not depend on how they were generated.
pub(super) fn order(mv: Move) -> u16 {
    let from = mv.from().map_or(0, u16::from);
    let promotion = mv.promotion().map_or(0, |role| role as u16);
    (from * 64 + u16::from(mv.to())) * 8 + promotion
}

/// Entropy of softmax(score/τ), in thousandths of a nat; 0 for one move or none. τ is in points,
/// at least 1.
pub fn entropy(scores: &[i32], temperature: i32) -> i32 {
    let temperature = temperature.max(1);
    let best = scores.iter().copied().max().unwrap_or(0);
    let (mut total, mut weighted) = (I32F32::ZERO, I32F32::ZERO);
    for &score in scores {
        let distance = I32F32::from_num(best.saturating_sub(score).min(FARTHEST));
        let distance = distance / i64::from(temperature);
        let exponent = (distance * I32F32::LOG2_E).to_bits() >> (32 - EXPONENT_FRACTION);
        let weight = exp2_negative(u32::try_from(exponent).unwrap_or(u32::MAX));
        let weight = I32F32::from_bits(i64::from(weight) << (32 - POWER_FRACTION));
        total += weight;
        weighted += weight * distance;
    }
    if total <= 1 {
        return 0;
    }
    ((numeric::ln(total) + weighted / total) * 1000).round().to_num()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn entropy_is_that_of_the_softmax() {
        for scores in [&[0, 0, 0, 0][..], &[300, 20, -50, -400], &[100_000, 0], &[7], &[]] {
            let best = scores.iter().copied().max().unwrap_or(0);
            let w: Vec<f64> = scores.iter().map(|&s| (f64::from(s - best) / 103.0).exp()).collect();
            let z: f64 = w.iter().sum();
            let exact: f64 = w.iter().filter(|&&w| w > 0.0).map(|w| -(w / z) * (w / z).ln()).sum();
            let ours = f64::from(entropy(scores, 103));
            assert!((ours - 1000.0 * exact).abs() <= 1.0, "{scores:?}: {ours} {exact}");
        }
    }
}
