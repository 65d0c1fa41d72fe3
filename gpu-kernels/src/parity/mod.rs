//! Every operation on one backend against the plain Rust backend, which defines it.
//!
//! The tests run these cases on a software adapter; `kibitzer device --test` runs them on the
//! user's.
pub mod cases;

pub use cases::Case;

use crate::{
    Error, Probed, Probing,
    cpu::CpuProbe,
    program::{Buffer, Op},
};

/// How far an element may be off: so much of its tensor's size, and so much of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Of the root mean square of the expected tensor, or of 1 if that is less: an element that
    /// is small because large ones cancel is no more exact than they are.
    pub tensor: f32,
    /// Of the expected element's size.
    pub element: f32,
}

impl Tolerance {
    /// With 32 bits stored.
    pub const F32: Tolerance = Tolerance { tensor: 1e-4, element: 1e-3 };
    /// With 16 bits stored: 11 of them count, so that values of some units are off by some 1e-3,
    /// and sums of many by more.
    pub const F16: Tolerance = Tolerance { tensor: 2e-2, element: 1e-2 };
}

/// How far a backend is from the plain Rust backend in one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviation {
    /// The largest error of any element.
    pub largest: f32,
    /// The largest share of what an element may be off; above 1 the case fails.
    pub share: f32,
    /// Where that is, such as `gradient of parameters [12]`.
    pub place: String,
}

impl Deviation {
    /// Whether every element is as near as it has to be.
    pub fn passes(&self) -> bool {
        self.share <= 1.0
    }
}

/// Runs a case on a backend and on the plain Rust backend.
///
/// # Errors
/// If the device fails.
pub fn check(
    probing: &mut dyn Probing,
    case: &Case,
    tolerance: Tolerance,
) -> Result<Deviation, Error> {
    let (found, expected) = (probe(probing, case)?, probe(&mut CpuProbe, case)?);
    Ok(deviation(case, tolerance, &found, &expected))
}

/// Runs a case on a backend.
///
/// # Errors
/// If the device fails.
pub fn probe(probing: &mut dyn Probing, case: &Case) -> Result<Probed, Error> {
    let inputs: Vec<_> = case.inputs.iter().map(|(b, v)| (*b, v.as_slice())).collect();
    let gradients: Vec<_> = case.output_gradients.iter().map(|(b, v)| (*b, v.as_slice())).collect();
    probing.probe(&case.probe(&inputs, &gradients, &case.parameters))
}

/// How far one probe of a case is from another.
pub fn deviation(
    case: &Case,
    tolerance: Tolerance,
    found: &Probed,
    expected: &Probed,
) -> Deviation {
    let mut worst = Deviation { largest: 0.0, share: 0.0, place: "nowhere".to_owned() };
    for output in case.program.ops.iter().filter_map(Op::output).map(Buffer::index) {
        let (found, expected) = (&found.activations[output], &expected.activations[output]);
        worst.take(tolerance, "output", found, expected);
    }
    for (found, expected) in found.input_gradients.iter().zip(&expected.input_gradients) {
        worst.take(tolerance, "gradient of an input", found, expected);
    }
    let (found, expected) = (&found.parameter_gradient, &expected.parameter_gradient);
    worst.take(tolerance, "gradient of parameters", found, expected);
    worst
}

impl Deviation {
    fn take(&mut self, tolerance: Tolerance, what: &str, found: &[f32], expected: &[f32]) {
        if found.len() != expected.len() {
            self.fail(format!("number of elements of the {what}"));
            return;
        }
        let floor = tolerance.tensor * root_mean_square(expected).max(1.0);
        for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).abs();
            let share = error / (floor + tolerance.element * expected.abs());
            if share.is_nan() {
                self.fail(format!("{what} [{i}]"));
            } else if share > self.share {
                self.share = share;
                self.place = format!("{what} [{i}]");
            }
            self.largest = self.largest.max(error);
        }
    }

    fn fail(&mut self, place: String) {
        if self.share < f32::INFINITY {
            (self.share, self.place) = (f32::INFINITY, place);
        }
    }
}

fn root_mean_square(values: &[f32]) -> f32 {
    let sum: f64 = values.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    (sum / values.len().max(1) as f64).sqrt() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_backend_equals_itself() {
        let case = cases::products(2, 8, 12);
        let deviation = check(&mut CpuProbe, &case, Tolerance::F32).unwrap();
        assert!(deviation.passes());
        assert_eq!((deviation.largest, deviation.share), (0.0, 0.0));
    }

    #[test]
    fn one_wrong_element_fails_and_is_named() {
        let case = cases::products(2, 8, 12);
        let expected = probe(&mut CpuProbe, &case).unwrap();
        let mut off = expected.clone();
        off.parameter_gradient[5] += 0.5;
        let found = deviation(&case, Tolerance::F32, &off, &expected);
        assert!(!found.passes() && found.place == "gradient of parameters [5]", "{found:?}");
        assert!((found.largest - 0.5).abs() < 1e-3);
        off.parameter_gradient[5] = f32::NAN;
        assert!(!deviation(&case, Tolerance::F32, &off, &expected).passes());
        off.parameter_gradient.pop();
        assert!(!deviation(&case, Tolerance::F32, &off, &expected).passes());
    }
}
