//! Any program, run once: what the tests of single operations need.
use super::{
    allocation::Purpose,
    device::Device,
    runner::{Control, Part, Runner, Settings},
};
use crate::{AdamW, Error, LossScale, Probe, Probed, Probing, program::Program};

/// A device that runs any program once, forward and backward.
#[derive(Debug)]
pub struct Prober {
    device: Device,
    /// The last program, ready to run again.
    last: Option<(Program, Runner)>,
}

impl Prober {
    /// A prober on an open device.
    pub const fn new(device: Device) -> Prober {
        Prober { device, last: None }
    }

    /// The runner of a program's last probe, or a new one.
    pub(super) fn runner(
        &mut self,
        program: &Program,
        positions: usize,
    ) -> Result<&mut Runner, Error> {
        let suits = |(last, runner): &(Program, Runner)| {
            last == program && runner.plan.capacity.positions() == positions
        };
        if !self.last.as_ref().is_some_and(suits) {
            let purpose = Purpose::Training { average: false };
            let runner = Runner::new(self.device.clone(), program, positions, purpose)?;
            self.last = Some((program.clone(), runner));
        }
        let (_, runner) = self.last.as_mut().expect("it was set above");
        Ok(runner)
    }
}

impl Probing for Prober {
    fn probe(&mut self, probe: &Probe<'_>) -> Result<Probed, Error> {
        let Probe { program, batch, parameters, inputs, output_gradients, value_weight } = *probe;
        batch.validate()?;
        let positions = batch.positions();
        let runner = self.runner(program, positions)?;
        runner.write_chunks(parameters, |chunk| chunk.parameters);
        for &(buffer, values) in inputs {
            runner.memory.write(&runner.device, runner.plan.activations[buffer.index()], values);
        }
        // Gradients as they are: a probe's do not overflow.
        let loss_scale = LossScale { scale: 1.0, good_steps: 0 };
        runner.set_control(Control { steps: 0, loss_scale });
        let settings = Settings::new(batch, &AdamW::default(), value_weight);
        let mut encoder = runner.begin();
        runner.clear(&mut encoder);
        let gradients = runner.plan.gradients.iter().copied().flatten();
        runner.clear_slices(&mut encoder, gradients);
        let sizes = runner.load(&mut encoder, batch, 0..positions, &settings);
        runner.encode(&mut encoder, &[Part::Forward, Part::Loss], sizes)?;
        runner.submit(encoder)?;
        let mut probed = Probed::default();
        for (info, &slice) in program.buffers.iter().zip(&runner.plan.activations) {
            probed.activations.push(runner.read(slice, sizes.rows(info.rows) * info.width)?);
        }
        for &(buffer, values) in output_gradients {
            if let Some(slice) = runner.plan.gradients[buffer.index()] {
                runner.memory.write(&runner.device, slice, values);
            }
        }
        let mut encoder = runner.begin();
        runner.encode(&mut encoder, &[Part::Backward], sizes)?;
        runner.submit(encoder)?;
        for &(buffer, values) in inputs {
            let slice = runner.plan.gradients[buffer.index()];
            probed.input_gradients.push(match slice {
                Some(slice) => runner.read(slice, values.len())?,
                None => vec![0.0; values.len()],
            });
        }
        probed.parameter_gradient = runner.read_chunks(|chunk| chunk.gradient)?;
        Ok(probed)
    }
}
