//! Where a batch first stops being finite.
use anyhow::Result;
use kibitzer_core::net::{Config, Layer, Place, tensors};
use kibitzer_gpu::{
    Batch, Probe, Probing as _,
    cpu::CpuProbe,
    program::{BufferInfo, Op, Program},
};

use crate::batches;

/// Positions looked at together: everything in between is kept for each of them.
const TOGETHER: usize = 8;

/// Names the first tensor that is not finite when the batch is run again on the processor, in
/// f32: a parameter, what an operation produced, or, last operation first, a gradient.
///
/// # Errors
/// If the batch or the configuration is malformed.
pub fn first(
    config: &Config,
    parameters: &[f32],
    batch: &Batch,
    value_weight: f32,
) -> Result<String> {
    let broken = |values: &[f32]| values.iter().copied().find(|x| !x.is_finite());
    for tensor in tensors(config) {
        if let Some(x) = broken(&parameters[tensor.range()]) {
            return Ok(format!("parameter {tensor} holds {x}"));
        }
    }
    let program = Program::new(config)?;
    let together = (TOGETHER / batch.length).max(1);
    for first in (0..batch.sequences).step_by(together) {
        let last = (first + together).min(batch.sequences);
        let part = batches::part(batch, first..last);
        let (inputs, output_gradients) = (&[][..], &[][..]);
        let probe = Probe {
            program: &program,
            batch: &part,
            parameters,
            inputs,
            output_gradients,
            value_weight,
        };
        let seen = CpuProbe.probe(&probe)?;
        for buffer in program.ops.iter().filter_map(Op::output) {
            if let Some(x) = broken(&seen.activations[buffer.index()]) {
                return Ok(format!("{} holds {x}", activation(program.info(buffer))));
            }
        }
        let mut backwards: Vec<_> = tensors(config).collect();
        backwards.reverse();
        for tensor in backwards {
            if let Some(x) = broken(&seen.parameter_gradient[tensor.range()]) {
                return Ok(format!("the gradient of {tensor} holds {x}"));
            }
        }
    }
    Ok("none when the batch is run again on the processor".into())
}

/// What a buffer is called, as in `hidden of trunk.0's feed-forward`.
fn activation(info: &BufferInfo) -> String {
    let place = match info.layer.place() {
        Place::Encoder => "encoder".into(),
        Place::EncoderBlock(i) => format!("encoder.blocks.{i}"),
        Place::TrunkBlock(i) => format!("trunk.{i}"),
        Place::Head => "head".into(),
    };
    let layer = match info.layer {
        Layer::Embedding => "embedding",
        Layer::Attention(_) => "attention",
        Layer::Ssm(_) => "state space",
        Layer::FeedForward(..) => "feed-forward",
        Layer::EncoderNorm | Layer::TrunkNorm => "final norm",
        Layer::Pool => "pool",
        Layer::Policy(_) => "policy",
        Layer::Value => "value",
    };
    format!("{:?} of {place}'s {layer}", info.signal)
}

#[cfg(test)]
mod tests {
    use kibitzer_core::shakmaty::{Chess, Position as _};
    use kibitzer_gpu::initialise;

    use super::*;
    use crate::records::Record;

    fn config() -> Config {
        Config {
            width: 8,
            heads: 2,
            encoder_blocks: 1,
            trunk: "S".try_into().unwrap(),
            ssm_state: 2,
            ssm_rank: 2,
            ..Config::default()
        }
    }

    fn batch() -> Batch {
        let position = Chess::default();
        let mut batch = batches::with_capacity(20);
        for &mv in &position.legal_moves() {
            let record = Record::new(&position, mv, 0);
            batches::push_record(&mut batch, &record, config().perspective).unwrap();
        }
        batch
    }

    /// What is named when the first value of a parameter is replaced.
    fn named(parameter: &str, value: f32) -> String {
        let mut parameters = initialise(&config(), 1);
        let tensor = tensors(&config()).find(|t| t.to_string() == parameter).unwrap();
        parameters[tensor.range()].fill(value);
        first(&config(), &parameters, &batch(), 0.25).unwrap()
    }

    #[test]
    fn the_first_one_in_order_of_execution_is_named() {
        assert_eq!(
            named("trunk.0.norm2.weight", f32::NAN),
            "parameter trunk.0.norm2.weight holds NaN"
        );
        let line = named("encoder.blocks.0.ffn.down.weight", 3e38);
        assert!(line.starts_with("Output of encoder.blocks.0's feed-forward holds "), "{line}");
        let line = named("trunk.0.norm1.weight", 3e38);
        assert!(line.starts_with("Normed of trunk.0's state space holds "), "{line}");
        let line = named("value1.weight", 0.5);
        assert_eq!(line, "none when the batch is run again on the processor");
    }

    /// The forward pass is finite, the value's gradient is not.
    #[test]
    fn a_gradient_is_named_where_the_forward_pass_is_finite() {
        let parameters = initialise(&config(), 1);
        let line = first(&config(), &parameters, &batch(), f32::INFINITY).unwrap();
        assert!(line.starts_with("the gradient of value2.bias holds "), "{line}");
    }
}
