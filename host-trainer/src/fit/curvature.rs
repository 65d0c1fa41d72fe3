//! Gradient and Hessian of the conditional logit, and what another term would add.
use rayon::prelude::*;

use super::{
    logit::{CHUNK, RIDGE, softmax},
    matrix::Matrix,
    sample::Sample,
};

/// First and second derivatives of the penalised loss at some weights.
pub struct Curvature {
    /// By the weight of each column.
    pub gradient: Vec<f64>,
    /// By each pair of columns.
    pub hessian: Matrix,
    /// Of terms that have no weight yet, as if they had weight 0.
    pub candidates: Vec<Candidate>,
}

/// Derivatives by the weight of a term that has none yet.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// By its own weight.
    pub gradient: f64,
    /// By its own weight, twice.
    pub second: f64,
    /// By its own weight and that of each column.
    pub cross: Vec<f64>,
}

/// Works out the derivatives at `weights` of the terms `columns`, and those of `candidates`.
pub fn curvature(
    samples: &[&Sample],
    columns: &[usize],
    weights: &[f64],
    candidates: &[usize],
) -> Curvature {
    let n = columns.len();
    let parts: Vec<Sums> = samples
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut sums = Sums::new(n, candidates.len());
            for sample in chunk {
                sums.add_sample(sample, columns, weights, candidates);
            }
            sums
        })
        .collect();
    let mut sums = Sums::new(n, candidates.len());
    parts.iter().for_each(|part| sums.add(part));
    sums.penalised(weights)
}

/// Sums over positions. The rows are those of the columns, then those of the candidates.
struct Sums {
    columns: usize,
    gradient: Vec<f64>,
    /// (rows, columns): the lower triangle, then one row a candidate.
    cross: Vec<f64>,
    /// One a candidate.
    second: Vec<f64>,
}

impl Sums {
    fn new(columns: usize, candidates: usize) -> Sums {
        let rows = columns + candidates;
        Sums {
            columns,
            gradient: vec![0.0; rows],
            cross: vec![0.0; rows * columns],
            second: vec![0.0; candidates],
        }
    }

    fn add(&mut self, other: &Sums) {
        let add = |to: &mut [f64], what: &[f64]| {
            to.iter_mut().zip(what).for_each(|(to, what)| *to += what);
        };
        add(&mut self.gradient, &other.gradient);
        add(&mut self.cross, &other.cross);
        add(&mut self.second, &other.second);
    }

    fn add_sample(
        &mut self,
        sample: &Sample,
        columns: &[usize],
        weights: &[f64],
        candidates: &[usize],
    ) {
        let n = self.columns;
        let probabilities = softmax(&sample.scores(columns, weights));
        let excess: Vec<f32> =
            probabilities.iter().zip(&sample.targets).map(|(p, t)| (p - t) as f32).collect();
        let probabilities: Vec<f32> = probabilities.iter().map(|&p| p as f32).collect();
        // The columns' values less their means under the probabilities.
        let mut centred: Vec<Vec<f32>> = Vec::with_capacity(n);
        let mut scaled = vec![0.0; sample.moves()];
        for (row, &term) in columns.iter().chain(candidates).enumerate() {
            let x = sample.column(term);
            if x.iter().all(|&value| value == x[0]) {
                // All moves alike: the term says nothing here.
                if row < n {
                    centred.push(vec![0.0; x.len()]);
                }
                continue;
            }
            self.gradient[row] += f64::from(dot(&excess, x));
            let mean = dot(&probabilities, x);
            for ((scaled, p), x) in scaled.iter_mut().zip(&probabilities).zip(x) {
                *scaled = p * (x - mean);
            }
            if row < n {
                centred.push(x.iter().map(|x| x - mean).collect());
            } else {
                self.second[row - n] += f64::from(dot(&scaled, x));
            }
            let to = &mut self.cross[row * n..][..n];
            for (to, centred) in to.iter_mut().zip(&centred) {
                *to += f64::from(dot(&scaled, centred));
            }
        }
    }

    /// The derivatives, with those of the ridge penalty.
    fn penalised(self, weights: &[f64]) -> Curvature {
        let n = self.columns;
        let mut hessian = Matrix::zero(n);
        for i in 0..n {
            for j in 0..=i {
                let value = self.cross[i * n + j] + if i == j { 2.0 * RIDGE } else { 0.0 };
                hessian.set(i, j, value);
                hessian.set(j, i, value);
            }
        }
        let ridge = weights.iter().map(|w| 2.0 * RIDGE * w);
        let gradient = self.gradient.iter().zip(ridge).map(|(g, r)| g + r).collect();
        let candidate = |(i, &second): (usize, &f64)| Candidate {
            gradient: self.gradient[n + i],
            second: second + 2.0 * RIDGE,
            cross: self.cross[(n + i) * n..][..n].to_vec(),
        };
        let candidates = self.second.iter().enumerate().map(candidate).collect();
        Curvature { gradient, hessian, candidates }
    }
}

/// Inner product, in lanes that a compiler can keep in one register.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
