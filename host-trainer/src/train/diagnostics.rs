//! What tells whether training is sound, measured beside a step every so often.
//!
//! Nothing of it changes the run: the batch of the step is evaluated and differentiated once more
//! before the step, and the parameters are read before and after.
use std::{fmt, ops::Range, time::Instant};

use kibitzer_core::net::{Config, Layer, Place, tensors};
use kibitzer_gpu::{Backend, Batch, Error};
use serde::Serialize;

use crate::{
    batches,
    evaluation::{Answers, Tally},
};

/// Parts into which a batch is cut to see how its gradients differ.
const PARTS: usize = 8;

/// What is measured of one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Answers on the step's batch, before the step.
    pub answers: Answers,
    /// Noise of the gradient; null for a batch of one position.
    pub noise: Option<Noise>,
    /// The groups of layers, in the network's order.
    pub groups: Vec<GroupReport>,
    /// Seconds that measuring took.
    pub seconds: f64,
}

/// Noise of the gradient, from the gradients of equal parts of a batch (McCandlish et al., An
/// Empirical Model of Large-Batch Training, appendix A.1): with b positions in a part and B in
/// all of them, the squared norms G_b² (mean of the parts') and G_B² (of their mean) give
/// `signal = (B·G_B² − b·G_b²) / (B − b)` and `noise = (G_b² − G_B²) / (1/b − 1/B)`,
/// which are right in the mean over many steps, and the signal of one may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Noise {
    /// Squared norm of the gradient that an endless batch would have.
    pub signal: f64,
    /// Trace of the covariance of one position's gradient.
    pub noise: f64,
    /// `noise / signal`, B_simple: batches much smaller are mostly noise, in batches much larger
    /// positions are wasted. Null where the signal is not positive.
    pub scale: Option<f64>,
    /// Signal to noise of the batch: `B · signal / noise`, of squares.
    pub signal_to_noise: f64,
}

impl Noise {
    /// From the mean squared norm of the gradients of parts of `part` positions each, and the
    /// squared norm of their mean over `whole` positions.
    fn new(part: f64, part_square: f64, whole: f64, whole_square: f64) -> Noise {
        let signal = (whole * whole_square - part * part_square) / (whole - part);
        let noise = (part_square - whole_square) / (1.0 / part - 1.0 / whole);
        let scale = (signal > 0.0).then_some(noise / signal);
        Noise { signal, noise, scale, signal_to_noise: whole * signal / noise }
    }
}

/// What is measured of a group of layers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupReport {
    /// Its name.
    pub name: String,
    /// Norm of the parameters before the step.
    pub norm: f64,
    /// Norm of the step over it: a thousandth is usual, a tenth is a warning.
    pub update_ratio: f64,
    /// Norm of the loss's gradient, of the batch as far as its parts are equal; null for a batch
    /// of one position.
    pub gradient_norm: Option<f64>,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answers { top1, top5, policy_entropy, value, .. } = &self.answers;
        write!(
            f,
            "top-1 {:.1} %, top-5 {:.1} %, policy entropy {policy_entropy:.3}, value correlation \
             {:.3}, calibration error {:.3}",
            100.0 * top1,
            100.0 * top5,
            value.correlation,
            value.ece,
        )?;
        if let Some(noise) = &self.noise {
            write!(f, ", gradient signal to noise {:.3}", noise.signal_to_noise)?;
        }
        let largest = self.groups.iter().max_by(|a, b| a.update_ratio.total_cmp(&b.update_ratio));
        match largest {
            Some(group) => {
                write!(f, ", largest update {:.2e} ({})", group.update_ratio, group.name)
            }
            None => Ok(()),
        }
    }
}

/// A group of layers: its name and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    name: String,
    ranges: Vec<Range<usize>>,
}

/// What is known before the step.
#[derive(Debug)]
pub struct Before {
    parameters: Vec<f32>,
    answers: Answers,
    gradient: Option<(Noise, Vec<f32>)>,
    seconds: f64,
}

/// The measuring of one network.
#[derive(Debug)]
pub struct Diagnostics {
    groups: Vec<Group>,
}

impl Diagnostics {
    /// For networks of this configuration.
    pub fn new(config: &Config) -> Diagnostics {
        let mut groups: Vec<Group> = Vec::new();
        for tensor in tensors(config) {
            let name = group_name(tensor.layer);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.ranges.push(tensor.range()),
                None => groups.push(Group { name, ranges: vec![tensor.range()] }),
            }
        }
        Diagnostics { groups }
    }

    /// Measures before the step on `batch`; changes nothing.
    ///
    /// # Errors
    /// The device's.
    pub fn before(
        &self,
        backend: &mut dyn Backend,
        batch: &Batch,
        value_weight: f32,
    ) -> Result<Before, Error> {
        let start = Instant::now();
        let mut tally = Tally::default();
        tally.add(batch, &backend.evaluate(batch)?);
        Ok(Before {
            parameters: backend.parameters()?,
            answers: tally.answers(),
            gradient: noise(backend, batch, value_weight)?,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Measures after the step.
    ///
    /// # Errors
    /// The device's.
    pub fn after(&self, backend: &mut dyn Backend, before: Before) -> Result<Diagnosis, Error> {
        let start = Instant::now();
        let after = backend.parameters()?;
        let Before { parameters, answers, gradient, seconds } = before;
        let (noise, gradient) = gradient.unzip();
        let report = |group: &Group| {
            let norm = group.norm(|i| parameters[i].into());
            let update = group.norm(|i| f64::from(after[i]) - f64::from(parameters[i]));
            let gradient = gradient.as_ref();
            GroupReport {
                name: group.name.clone(),
                norm,
                update_ratio: update / norm,
                gradient_norm: gradient.map(|gradient| group.norm(|i| gradient[i].into())),
            }
        };
        let groups = self.groups.iter().map(report).collect();
        let seconds = seconds + start.elapsed().as_secs_f64();
        Ok(Diagnosis { answers, noise, groups, seconds })
    }
}

impl Group {
    fn norm(&self, value: impl Fn(usize) -> f64) -> f64 {
        self.ranges.iter().cloned().flatten().map(|i| value(i).powi(2)).sum::<f64>().sqrt()
    }
}

/// The group that a layer's parameters belong to.
fn group_name(layer: Layer) -> String {
    match layer {
        Layer::Embedding => "embeddings".into(),
        Layer::Attention(place) | Layer::Ssm(place) | Layer::FeedForward(place, _) => match place {
            Place::EncoderBlock(i) => format!("encoder {i}"),
            Place::TrunkBlock(i) => format!("trunk {i}"),
            Place::Encoder | Place::Head => "other blocks".into(),
        },
        Layer::EncoderNorm => "encoder norm".into(),
        Layer::Pool => "pool".into(),
        Layer::TrunkNorm => "trunk norm".into(),
        Layer::Policy(_) => "policy head".into(),
        Layer::Value => "value head".into(),
    }
}

/// The noise of the batch's gradient, and the mean gradient of its parts; none for a batch of
/// one position.
fn noise(
    backend: &mut dyn Backend,
    batch: &Batch,
    value_weight: f32,
) -> Result<Option<(Noise, Vec<f32>)>, Error> {
    let parts = batch.sequences.min(PARTS);
    let length = batch.sequences / parts;
    if parts < 2 {
        return Ok(None);
    }
    let mut mean = Vec::new();
    let mut part_square = 0.0;
    for i in 0..parts {
        let part = batches::part(batch, i * length..(i + 1) * length);
        let (_, gradient) = backend.gradient(&part, value_weight)?;
        part_square += square(&gradient) / parts as f64;
        mean.resize(gradient.len(), 0.0);
        let share = 1.0 / parts as f32;
        mean.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += share * g);
    }
    let part = (length * batch.length) as f64;
    let noise = Noise::new(part, part_square, part * parts as f64, square(&mean));
    Ok(Some((noise, mean)))
}

fn square(gradient: &[f32]) -> f64 {
    gradient.iter().map(|&g| f64::from(g).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use kibitzer_core::{
        net::{parameter_count, preset},
        shakmaty::{Chess, Position as _},
    };
    use kibitzer_gpu::{AdamW, cpu::Cpu};

    use super::*;
    use crate::records::Record;

    fn demo() -> Config {
        preset("demo").unwrap().config()
    }

    /// Different moves after different moves.
    fn batch(config: &Config, positions: usize) -> Batch {
        let mut batch = batches::with_capacity(positions);
        let mut position = Chess::default();
        for ply in 0..positions {
            let legal = position.legal_moves();
            let mv = legal[(ply * 7 + 3) % legal.len()];
            let record = Record::new(&position, mv, ply).with_result((ply % 3) as i8 - 1);
            batches::push_record(&mut batch, &record, config.perspective).unwrap();
            position.play_unchecked(mv);
        }
        batch
    }

    #[test]
    fn every_parameter_is_in_one_group() {
        for config in [demo(), Config::default()] {
            let groups = Diagnostics::new(&config).groups;
            let mut ranges: Vec<_> = groups.iter().flat_map(|g| g.ranges.clone()).collect();
            ranges.sort_by_key(|range| range.start);
            assert_eq!(ranges[0].start, 0);
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(ranges.last().unwrap().end, parameter_count(&config));
            let names: Vec<&str> = groups.iter().map(|group| &group.name[..]).collect();
            assert_eq!(names[0], "embeddings");
            for name in ["encoder 0", "trunk 0", "policy head", "value head"] {
                assert!(names.contains(&name), "{names:?}");
            }
            assert!(!names.contains(&"other blocks") && !names.contains(&"pool"));
        }
    }

    #[test]
    fn noise_and_signal_are_told_apart() {
        // Gradients 3 and 5 of one position each: mean 4, variance 2 (of a sample of two).
        let noise = Noise::new(1.0, (9.0 + 25.0) / 2.0, 2.0, 16.0);
        assert_eq!((noise.signal, noise.noise), (15.0, 2.0));
        assert_eq!(noise.scale, Some(2.0 / 15.0));
        assert_eq!(noise.signal_to_noise, 15.0);
        let opposite = Noise::new(1.0, 1.0, 2.0, 0.0);
        assert_eq!((opposite.signal, opposite.scale), (-1.0, None));
    }

    #[test]
    fn a_diagnosis_describes_the_step_and_changes_nothing() {
        let config = demo();
        let batch = batch(&config, 16);
        let hyper = AdamW::default();
        let mut plain = Cpu::new(&config, 1, 32).unwrap();
        let mut watched = Cpu::new(&config, 1, 32).unwrap();
        let diagnostics = Diagnostics::new(&config);
        for _ in 0..2 {
            let losses = plain.step(&batch, &hyper, 0.25).unwrap();
            let before = diagnostics.before(&mut watched, &batch, 0.25).unwrap();
            assert_eq!(watched.step(&batch, &hyper, 0.25).unwrap(), losses);
            let found = diagnostics.after(&mut watched, before).unwrap();
            assert_eq!(watched.parameters().unwrap(), plain.parameters().unwrap());
            assert_eq!(watched.optimizer_state().unwrap(), plain.optimizer_state().unwrap());
            assert!((found.answers.cross_entropy - f64::from(losses.policy)).abs() < 1e-4);
            assert!((found.answers.value.mse - f64::from(losses.value)).abs() < 1e-4);
            // The parts are the whole batch: their groups' norms are those of its gradient.
            let squares = found.groups.iter().map(|g| g.gradient_norm.unwrap().powi(2));
            let norm = squares.sum::<f64>().sqrt();
            assert!((norm / f64::from(losses.gradient_norm) - 1.0).abs() < 1e-3);
            assert!(found.groups.iter().all(|g| g.update_ratio > 0.0 && g.update_ratio < 0.5));
            let noise = found.noise.unwrap();
            assert!(noise.noise > 0.0 && noise.signal < norm * norm, "{noise:?}");
        }
    }

    #[test]
    fn one_position_has_no_noise() {
        let config = demo();
        let diagnostics = Diagnostics::new(&config);
        let mut backend = Cpu::new(&config, 1, 32).unwrap();
        let before = diagnostics.before(&mut backend, &batch(&config, 1), 0.25).unwrap();
        let found = diagnostics.after(&mut backend, before).unwrap();
        assert_eq!(found.noise, None);
        assert!(found.groups.iter().all(|g| g.gradient_norm.is_none() && g.update_ratio == 0.0));
    }
}
