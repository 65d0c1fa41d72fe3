//! Integer weights, searched: not each weight's nearest integer, but the integers that together
//! lose least.
//!
//! Near the fitted weights `w` the loss grows by `½·(v/s − w)ᵀ·H·(v/s − w)`, where `H` is the
//! Hessian, `v` the integers and `s` the points a logit. The choice does not depend on `s`, so
//! its best value for each `v` is put in: what remains is the part of `w` that no multiple of `v`
//! reaches. One integer's error is made up for by the others.
use super::matrix::Matrix;

/// How far a weight is moved at a time.
const MOVES: [i32; 8] = [-1, 1, -2, 2, -5, 5, -10, 10];
/// Multiples that read well, tried in this order.
const ROUND: [i32; 2] = [10, 5];
/// What an integer may lose for being round: nats a position. The last terms to be selected gain
/// several times as much each.
const FREE: f64 = 5e-5;

/// Integers for some weights, and what they lose.
#[derive(Debug, Clone)]
pub struct Rounding<'a> {
    /// The integers.
    pub points: Vec<i32>,
    hessian: &'a Matrix,
    weights: &'a [f64],
    /// Index of the integer that stays as it is.
    pinned: Option<usize>,
    /// `H·w`.
    slope: Vec<f64>,
}

impl<'a> Rounding<'a> {
    /// The best integers found about `points_per_logit` times the weights. The one with the
    /// index `pinned` is not moved.
    pub fn search(
        hessian: &'a Matrix,
        weights: &'a [f64],
        points_per_logit: f64,
        pinned: Option<usize>,
    ) -> Rounding<'a> {
        let points = weights.iter().map(|w| (w * points_per_logit).round() as i32).collect();
        let slope = product(hessian, weights);
        let mut rounding = Rounding { points, hessian, weights, pinned, slope };
        while rounding.improve() {}
        rounding
    }

    /// Makes integers round, and keeps those that lose next to nothing over `positions`.
    pub fn make_round(&mut self, positions: usize) {
        let allowed = self.loss() + FREE * positions as f64;
        for multiple in ROUND {
            for i in self.movable() {
                let old = self.points[i];
                // Smaller numbers would lose their first digit.
                if old.abs() < 2 * multiple || old % multiple == 0 {
                    continue;
                }
                let below = old.div_euclid(multiple) * multiple;
                let tried = [below, below + multiple].map(|round| {
                    self.points[i] = round;
                    (self.loss(), round)
                });
                let best = if tried[1].0 < tried[0].0 { tried[1] } else { tried[0] };
                self.points[i] = if best.0 <= allowed { best.1 } else { old };
            }
        }
    }

    /// What the integers lose, in nats over all positions, at their best scale.
    pub fn loss(&self) -> f64 {
        let points: Vec<f64> = self.points.iter().map(|&p| f64::from(p)).collect();
        let along = dot(&points, &self.slope);
        let length = dot(&points, &product(self.hessian, &points));
        let whole = dot(self.weights, &self.slope);
        let reached = if length > 0.0 { along * along / length } else { 0.0 };
        (whole - reached) / 2.0
    }

    fn movable(&self) -> Vec<usize> {
        (0..self.points.len()).filter(|&i| Some(i) != self.pinned).collect()
    }

    /// Makes the best move of one integer, or of two by one each; false if none helps.
    fn improve(&mut self) -> bool {
        let now = self.loss();
        let movable = self.movable();
        let mut best = (now - 1e-9 * now.abs().max(1e-9), Vec::new());
        let single = movable.iter().flat_map(|&i| MOVES.map(|by| vec![(i, by)]));
        for change in single {
            self.try_change(change, &mut best);
        }
        if best.1.is_empty() {
            for (at, &i) in movable.iter().enumerate() {
                for &j in &movable[..at] {
                    for (a, b) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                        self.try_change(vec![(i, a), (j, b)], &mut best);
                    }
                }
            }
        }
        self.apply(&best.1, 1);
        !best.1.is_empty()
    }

    fn try_change(&mut self, change: Vec<(usize, i32)>, best: &mut (f64, Vec<(usize, i32)>)) {
        self.apply(&change, 1);
        let keeps_sign =
            change.iter().all(|&(i, _)| f64::from(self.points[i]) * self.weights[i] >= 0.0);
        let loss = self.loss();
        self.apply(&change, -1);
        if keeps_sign && loss < best.0 {
            *best = (loss, change);
        }
    }

    fn apply(&mut self, change: &[(usize, i32)], times: i32) {
        for &(i, by) in change {
            self.points[i] += times * by;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn product(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    let row = |i| vector.iter().enumerate().map(|(j, x)| matrix.get(i, j) * x).sum();
    (0..vector.len()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: [[f64; 3]; 3]) -> Matrix {
        rows.map(Vec::from).to_vec().into()
    }

    /// Two terms that nearly always come together, and a third.
    const TWINS: [[f64; 3]; 3] = [[900.0, 30.0, 20.0], [30.0, 500.0, 490.0], [20.0, 490.0, 500.0]];
    const WEIGHTS: [f64; 3] = [2.0, 0.029, 0.028];

    #[test]
    fn one_integer_makes_up_for_another() {
        let hessian = matrix(TWINS);
        // At 100 points for the first weight: 1.45 and 1.4, whose nearest integers are 1 and 1,
        // while together they call for 3.
        let found = Rounding::search(&hessian, &WEIGHTS, 50.0, Some(0));
        assert_eq!(found.points[0], 100);
        assert_eq!(found.points[1] + found.points[2], 3);
        let nearest = Rounding { points: vec![100, 1, 1], ..found.clone() };
        assert!(found.loss() < nearest.loss());
        let mut least = f64::INFINITY;
        for a in -10..=10 {
            for b in -10..=10 {
                let other = Rounding { points: vec![100, a, b], ..found.clone() };
                least = least.min(other.loss());
            }
        }
        assert!(found.loss() <= least + 1e-12, "{} but {least}", found.loss());
    }

    #[test]
    fn numbers_are_round_where_it_costs_nothing() {
        let hessian = matrix([[900.0, 0.0, 0.0], [0.0, 900.0, 0.0], [0.0, 0.0, 1e-3]]);
        let mut found = Rounding::search(&hessian, &[2.0, 0.94, 1.26], 50.0, Some(0));
        assert_eq!(found.points, [100, 47, 63]);
        let before = found.loss();
        found.make_round(1);
        // 47 weighs too much to be moved; 63 weighs next to nothing.
        assert_eq!(found.points, [100, 47, 60]);
        assert!(found.loss() <= before + FREE);
    }
}
