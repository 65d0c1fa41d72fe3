//! How much of the winning chances' variance an evaluation explains.
use std::{collections::BTreeMap, ops::RangeInclusive};

use kibitzer_core::viveka::{FULL_PHASE, positional::PositionalWeights};
use serde::{Deserialize, Serialize};

use super::quiet::Quiet;
use crate::library::{chance_slope, chances};

/// Phases from which a position counts as of the opening, and of the middlegame; below is the
/// endgame.
const OPENING: i32 = 20;
const MIDDLEGAME: i32 = 10;

/// One position: its winning chances, and what each evaluation predicts.
#[derive(Debug, Clone)]
pub struct Rivals {
    opening: String,
    phase: i32,
    truth: f64,
    /// The features; material as it is; material on the scale that fits best.
    predicted: [f64; 3],
}

impl Rivals {
    /// Predicts `positions` by integer weights, by material, and by material times `slope`.
    pub fn predict(positions: &[&Quiet], weights: &PositionalWeights, slope: f64) -> Vec<Rivals> {
        let rivals = |q: &&Quiet| {
            let material = f64::from(q.balance);
            let features = f64::from(weights.evaluate(&q.features, q.phase));
            Rivals {
                opening: q.opening.clone(),
                phase: q.phase,
                truth: chances(f64::from(q.score)),
                predicted: [features, material, slope * material].map(chances),
            }
        };
        positions.iter().map(rivals).collect()
    }
}

/// The scale of material 1/3/3/5/9 with the least squared error in winning chances: Gauss and
/// Newton's steps in one dimension.
pub fn material_slope(positions: &[&Quiet]) -> f64 {
    let mut slope = 1.0;
    for _ in 0..30 {
        let (mut gradient, mut curvature) = (0.0, 1e-9);
        for q in positions {
            let material = f64::from(q.balance);
            let along = chance_slope(slope * material) * material;
            gradient += (chances(slope * material) - chances(f64::from(q.score))) * along;
            curvature += along * along;
        }
        slope -= gradient / curvature;
    }
    slope
}

/// Share of the variance of winning chances that evaluations explain, `1 − SSE/SST`, over some
/// positions; SST is taken about their own mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// `all`, or the part of the game.
    pub part: String,
    /// Positions.
    pub positions: usize,
    /// By the features.
    pub features: f64,
    /// Its standard error, by a jackknife over openings.
    pub se: f64,
    /// By material 1/3/3/5/9.
    pub material: f64,
    /// By the same on the scale that fits best.
    pub material_scaled: f64,
}

/// Explained variance of all positions and of each part of the game that has any.
pub fn explained(rivals: &[Rivals]) -> Vec<Explained> {
    let parts = [
        ("all", 0..=FULL_PHASE),
        ("opening", OPENING..=FULL_PHASE),
        ("middlegame", MIDDLEGAME..=OPENING - 1),
        ("endgame", 0..=MIDDLEGAME - 1),
    ];
    let explain_part = |(name, phases): (&str, RangeInclusive<i32>)| {
        let mut openings: BTreeMap<&str, Sums> = BTreeMap::new();
        for r in rivals.iter().filter(|r| phases.contains(&r.phase)) {
            openings.entry(&r.opening).or_default().add(r);
        }
        let openings: Vec<Sums> = openings.into_values().collect();
        (!openings.is_empty()).then(|| explain(name, &openings))
    };
    parts.into_iter().filter_map(explain_part).collect()
}

/// Sums over positions from which explained variance follows.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: f64,
    truth: f64,
    truth_squared: f64,
    errors: [f64; 3],
}

impl Sums {
    fn add(&mut self, r: &Rivals) {
        self.count += 1.0;
        self.truth += r.truth;
        self.truth_squared += r.truth * r.truth;
        for (error, p) in self.errors.iter_mut().zip(r.predicted) {
            *error += (r.truth - p) * (r.truth - p);
        }
    }

    /// The sums of `self` and `sign` times `other`.
    fn plus(&self, other: &Sums, sign: f64) -> Sums {
        Sums {
            count: self.count + sign * other.count,
            truth: self.truth + sign * other.truth,
            truth_squared: self.truth_squared + sign * other.truth_squared,
            errors: std::array::from_fn(|i| self.errors[i] + sign * other.errors[i]),
        }
    }

    fn explained(&self) -> [f64; 3] {
        let total = self.truth_squared - self.truth * self.truth / self.count;
        self.errors.map(|error| 1.0 - error / total.max(1e-9))
    }
}

fn explain(part: &str, openings: &[Sums]) -> Explained {
    let whole = openings.iter().fold(Sums::default(), |all, sums| all.plus(sums, 1.0));
    let [features, material, material_scaled] = whole.explained();
    let without: Vec<f64> = openings.iter().map(|s| whole.plus(s, -1.0).explained()[0]).collect();
    Explained {
        part: part.to_string(),
        positions: whole.count as usize,
        features,
        se: jackknife(&without),
        material,
        material_scaled,
    }
}

/// Standard error of an estimate from its values with each group left out.
fn jackknife(without: &[f64]) -> f64 {
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let squares: f64 = without.iter().map(|v| (v - mean) * (v - mean)).sum();
    ((n - 1.0) / n * squares).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rivals(opening: &str, phase: i32, truth: f64, features: f64) -> Rivals {
        Rivals { opening: opening.into(), phase, truth, predicted: [features, 50.0, truth] }
    }

    #[test]
    fn explained_variance_by_hand() {
        // Mean 50, SST 2·400 + 2·100 = 1000; the features miss by 5 four times.
        let all = [
            rivals("a", 24, 70.0, 75.0),
            rivals("a", 24, 30.0, 35.0),
            rivals("b", 24, 60.0, 55.0),
            rivals("b", 5, 40.0, 45.0),
        ];
        let explained = explained(&all);
        let parts: Vec<&str> = explained.iter().map(|e| e.part.as_str()).collect();
        assert_eq!(parts, ["all", "opening", "endgame"]);
        assert!((explained[0].features - 0.9).abs() < 1e-12);
        assert_eq!((explained[0].material, explained[0].material_scaled), (0.0, 1.0));
        // Without a: 1 - 50/200; without b: 1 - 50/800; half their distance.
        assert!((explained[0].se - (0.9375 - 0.75) / 2.0).abs() < 1e-12);
        assert_eq!(explained[2].positions, 1);
    }

    #[test]
    fn the_material_scale_is_found() {
        let quiet = |balance: i32| Quiet {
            opening: String::new(),
            phase: 0,
            features: [0; _],
            balance,
            score: balance * 3 / 2,
        };
        let positions: Vec<Quiet> = (-9..10).map(|b| quiet(100 * b)).collect();
        let all: Vec<&Quiet> = positions.iter().collect();
        assert!((material_slope(&all) - 1.5).abs() < 1e-6);
    }
}
