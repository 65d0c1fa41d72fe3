use std::time::Duration;

use super::Meter;
use crate::{
    Error,
    gpu::{
        Prober,
        gemm::{Choices, Class, SHAPES, Shape, Sharing},
        runner::Part,
    },
    parity::{self, Case, Tolerance, cases},
    program::Rows,
};

/// Positions, inputs and outputs of the products that are timed: about those of the presets.
const POSITIONS: usize = 64;
const SHORT_POSITIONS: usize = 1024;
const WIDTH: usize = 128;
/// Sums of thousands of terms, whatever their order.
const TOLERANCE: Tolerance = Tolerance { tensor: 1e-3, element: 1e-3 };
/// A shape that is so much slower than the best is not tried again, nor are those that share
/// loads in the same way.
const HOPELESS: f64 = 2.0;

/// A shape that was timed in a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The class.
    pub class: Class,
    /// The shape.
    pub shape: &'static Shape,
    /// 10⁹ operations a second.
    pub gflops: f64,
}

/// Times the shapes and sets the fastest of each class, for as long as `limit` allows; what was
/// not timed keeps what [`Choices::untimed`] says. A shape whose results differ from the plain
/// Rust backend's is not taken. `tried` hears of every trial.
///
/// # Errors
/// If the device fails.
pub fn tune(
    meter: &Meter<'_>,
    limit: Duration,
    tried: &mut dyn FnMut(&Trial),
) -> Result<Choices, Error> {
    let description = meter.device().description();
    let untimed = Choices::untimed(description.software, description.lanes());
    let mut choices = untimed.clone();
    let end = meter.now() + limit;
    for rows in [Rows::Square, Rows::Position] {
        let mut best: [Option<(f64, &'static Shape)>; 3] = [None; 3];
        let mut hopeless: Vec<Sharing> = vec![];
        let case = cases::layer(rows, positions(rows), WIDTH);
        for shape in order(choices.get(classes(rows)[0])) {
            let kind = |sharing: &Sharing| std::mem::discriminant(sharing);
            let given_up = hopeless.iter().any(|sharing| kind(sharing) == kind(&shape.sharing));
            let all = untimed.clone().all(shape);
            let Some(all) = all.filter(|_| !given_up) else { continue };
            if meter.now() >= end {
                break;
            }
            let Some(flops) = times(meter, all, &case)? else { continue };
            let mut far = true;
            for ((class, gflops), best) in classes(rows).into_iter().zip(flops).zip(&mut best) {
                tried(&Trial { class, shape, gflops });
                far &= best.is_some_and(|(fastest, _)| gflops * HOPELESS < fastest);
                if best.is_none_or(|(fastest, _)| gflops > fastest) {
                    *best = Some((gflops, shape));
                }
            }
            if far {
                hopeless.push(shape.sharing);
            }
        }
        for (class, best) in classes(rows).into_iter().zip(best) {
            if let Some((_, shape)) = best {
                choices.set(class, shape);
            }
        }
        if rows == Rows::Square {
            let slowest = best.iter().flatten().map(|(gflops, _)| *gflops).reduce(f64::min);
            choices.mflops = slowest.map(|gflops| (1e3 * gflops) as u64);
        }
    }
    Ok(choices)
}

/// The shapes, that which is taken untimed first.
fn order(first: &'static Shape) -> impl Iterator<Item = &'static Shape> {
    std::iter::once(first).chain(SHAPES.iter().filter(move |shape| *shape != first))
}

fn positions(rows: Rows) -> usize {
    if rows == Rows::Square { POSITIONS } else { SHORT_POSITIONS }
}

/// The classes of a layer's three products.
fn classes(rows: Rows) -> [Class; 3] {
    if rows == Rows::Square {
        [Class::Output, Class::InputGradient, Class::WeightGradient]
    } else {
        [Class::ShortOutput, Class::ShortInputGradient, Class::ShortWeightGradient]
    }
}

/// 10⁹ operations a second of a layer's output, its input's gradient and its matrix's; `None` if
/// they come out otherwise than on the plain Rust backend.
fn times(meter: &Meter<'_>, choices: Choices, case: &Case) -> Result<Option<[f64; 3]>, Error> {
    let mut prober = Prober::new(meter.device().clone().with_choices(choices));
    if !parity::check(&mut prober, case, TOLERANCE)?.passes() {
        return Ok(None);
    }
    let Case { program, batch, .. } = case;
    let runner = prober.runner(program, batch.positions())?;
    let sizes = runner.plan.capacity;
    let backward = runner.plan.backward.len();
    let parts = [(Part::Forward, 0..1), (Part::Backward, 0..1), (Part::Backward, 1..backward)];
    let flops = 2.0 * (sizes.rows(program.buffers[0].rows) * WIDTH * WIDTH) as f64;
    let mut all = [0.0; 3];
    for ((part, range), gflops) in parts.into_iter().zip(&mut all) {
        let seconds =
            meter.seconds(&|pass| runner.encode_range(pass, part, range.clone(), sizes))?;
        *gflops = flops / seconds * 1e-9;
    }
    Ok(Some(all))
}
