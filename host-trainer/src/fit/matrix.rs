//! Small symmetric matrices, and the equations they stand for.

/// A square matrix.
#[derive(Debug, Clone)]
pub struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zero(size: usize) -> Matrix {
        Matrix { size, values: vec![0.0; size * size] }
    }

    /// The entry in row `i` and column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.size + j]
    }

    /// Sets the entry in row `i` and column `j`.
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.values[i * self.size + j] = value;
    }

    /// Cholesky's factor of a symmetric positive definite matrix.
    pub fn factor(&self) -> Factor {
        let mut l = self.clone();
        for j in 0..self.size {
            for i in j..self.size {
                let sum: f64 = (0..j).map(|k| l.get(i, k) * l.get(j, k)).sum();
                let value = l.get(i, j) - sum;
                let value = if i == j { value.max(1e-12).sqrt() } else { value / l.get(j, j) };
                l.set(i, j, value);
            }
        }
        Factor(l)
    }
}

impl From<Vec<Vec<f64>>> for Matrix {
    /// From its rows, as many as they are long.
    fn from(rows: Vec<Vec<f64>>) -> Matrix {
        Matrix { size: rows.len(), values: rows.concat() }
    }
}

/// The lower triangle `L` of a matrix `L·Lᵀ`.
pub struct Factor(Matrix);

impl Factor {
    /// Solves `L·Lᵀ·x = b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let Factor(l) = self;
        let mut x = b.to_vec();
        for i in 0..x.len() {
            let sum: f64 = (0..i).map(|k| l.get(i, k) * x[k]).sum();
            x[i] = (x[i] - sum) / l.get(i, i);
        }
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|k| l.get(k, i) * x[k]).sum();
            x[i] = (x[i] - sum) / l.get(i, i);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_solves() {
        let rows = [[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 5.0]];
        let matrix = Matrix::from(rows.map(Vec::from).to_vec());
        let b = [1.0, -2.0, 0.25];
        let x = matrix.factor().solve(&b);
        for (row, b) in rows.iter().zip(b) {
            let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((product - b).abs() < 1e-12, "{product} is not {b}");
        }
    }
}
