//! The program in plain Rust, on the processor's threads: the backend for machines without a
//! GPU, and what the GPU's is compared with.
//!
//! Everything is f32, as in PyTorch. The result of a step does not depend on the number of
//! threads or on their timing: sums are always formed in the same order.
mod adamw;
mod chunk;
mod few_rows;
mod gemm;
mod lanes;
mod machine;
mod matrix;
mod ops;
mod vector;

use std::collections::VecDeque;

use kibitzer_core::net::{Config, Layer, Role};

use self::{
    chunk::Chunk,
    lanes::Lanes,
    machine::{Machine, ParameterGradient, Purpose},
    ops::loss::Sums,
};
use crate::{
    AdamW, Backend, Batch, Error, Losses, MemoryPlan, OptimizerState, Outputs, Probe, Probed,
    Probing, initialise,
    program::{Program, Signal, View},
};

/// A network with its optimizer on the processor.
#[derive(Debug)]
pub struct Cpu {
    machine: Machine,
    /// What small networks run in; the machine is then unused.
    lanes: Option<Lanes>,
    capacity: usize,
    purpose: Purpose,
    parameters: Vec<f32>,
    /// Empty in evaluation, as are the moments.
    gradient: Vec<f32>,
    /// Running average of the parameters; empty before it is first asked for.
    average: Vec<f32>,
    squares: Vec<f64>,
    state: OptimizerState,
    /// What steps that have not been asked for came to. Those after one that diverged were not
    /// taken, and stand for the same.
    untold: VecDeque<Result<Losses, Error>>,
    /// Positions that the buffers hold, if they hold the whole of the last batch.
    last: Option<usize>,
}

/// Rows of a buffer after an evaluation.
#[derive(Debug, Clone, Copy)]
pub struct Activation<'a> {
    data: &'a [f32],
    stride: usize,
    column: usize,
    width: usize,
}

impl<'a> Activation<'a> {
    /// Number of columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The rows: one a position, or 64 a position, in the batch's order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [f32]> {
        let columns = self.column..self.column + self.width;
        self.data.chunks_exact(self.stride).map(move |row| &row[columns.clone()])
    }
}

impl Cpu {
    /// A network with the initial parameters of a seed. A large one has buffers for `capacity`
    /// positions and runs operation by operation, each on all threads; batches may be larger:
    /// they are then taken in parts, and their gradients added. A small one runs a few positions
    /// a thread, each through the whole network.
    ///
    /// # Errors
    /// If the configuration is out of range, or [`Error::HostMemory`].
    pub fn new(config: &Config, seed: u64, capacity: usize) -> Result<Cpu, Error> {
        let cpu = Cpu::open(config, capacity, Purpose::Training)?;
        Ok(Cpu { parameters: initialise(config, seed), ..cpu })
    }

    /// A network that is only evaluated, in a part of the memory. Its parameters are zeros until
    /// they are restored; gradients and steps are refused.
    ///
    /// # Errors
    /// As [`Cpu::new`].
    pub fn for_evaluation(config: &Config, capacity: usize) -> Result<Cpu, Error> {
        Cpu::open(config, capacity, Purpose::Evaluation)
    }

    /// What [`Cpu::new`] keeps in memory, with a running average of the parameters or without;
    /// nothing is allocated, and what single operations need for themselves is not counted.
    ///
    /// # Errors
    /// If the configuration is out of range.
    pub fn plan(config: &Config, capacity: usize, average: bool) -> Result<MemoryPlan, Error> {
        Ok(planned(&Program::new(config)?, capacity, Purpose::Training, average))
    }

    /// What [`Cpu::for_evaluation`] keeps in memory, as [`Cpu::plan`].
    ///
    /// # Errors
    /// If the configuration is out of range.
    pub fn evaluation_plan(config: &Config, capacity: usize) -> Result<MemoryPlan, Error> {
        Ok(planned(&Program::new(config)?, capacity, Purpose::Evaluation, false))
    }

    fn open(config: &Config, capacity: usize, purpose: Purpose) -> Result<Cpu, Error> {
        let program = Program::new(config)?;
        require(&planned(&program, capacity, purpose, false))?;
        let lanes = Lanes::new(&program, purpose);
        let capacity = if lanes.is_some() { 1 } else { capacity };
        Ok(Cpu { lanes, ..Cpu::of(program, capacity, purpose) })
    }

    /// With parameters of zeros.
    fn of(program: Program, capacity: usize, purpose: Purpose) -> Cpu {
        let (all, capacity) = (program.parameters, capacity.max(1));
        let trained = if purpose == Purpose::Training { all } else { 0 };
        Cpu {
            machine: Machine::new(program, capacity, purpose),
            lanes: None,
            capacity,
            purpose,
            parameters: vec![0.0; all],
            gradient: vec![0.0; trained],
            average: vec![],
            squares: vec![],
            state: OptimizerState::new(trained),
            untold: VecDeque::new(),
            last: None,
        }
    }

    /// [`Cpu::new`] that always runs operation by operation, so that [`Cpu::activation`] and
    /// [`Cpu::matrix_input`] can tell what it computed.
    ///
    /// # Errors
    /// If the configuration is out of range, or [`Error::HostMemory`].
    pub fn by_operation(config: &Config, seed: u64, capacity: usize) -> Result<Cpu, Error> {
        let (program, purpose) = (Program::new(config)?, Purpose::Training);
        let network = Machine::plan(&program, capacity.max(1), purpose);
        require(&(network + flat(&program, purpose, false)))?;
        let cpu = Cpu::of(program, capacity, purpose);
        Ok(Cpu { parameters: initialise(config, seed), ..cpu })
    }

    /// Refuses what an evaluated network cannot do.
    fn trains(&self) -> Result<(), Error> {
        match self.purpose {
            Purpose::Training => Ok(()),
            Purpose::Evaluation => {
                Err(Error::Device("the network was opened for evaluation only".to_owned()))
            }
        }
    }

    /// The program that it runs.
    pub const fn program(&self) -> &Program {
        self.machine.program()
    }

    /// What a layer produced in the last evaluation. `None` if the layer has no such signal, or
    /// if the batch did not fit the buffers whole; see [`Cpu::by_operation`].
    pub fn activation(&self, layer: Layer, signal: Signal) -> Option<Activation<'_>> {
        let buffer = self.program().find(layer, signal)?;
        let width = self.program().info(buffer).width;
        self.look(View { buffer, column: 0, width, accumulate: false })
    }

    /// What a parameter multiplied as a matrix in the last evaluation: one row for each product
    /// of the matrix and a vector. `None` if the layer has no such matrix, or if the batch did
    /// not fit the buffers whole; see [`Cpu::by_operation`].
    pub fn matrix_input(&self, layer: Layer, role: Role) -> Option<Activation<'_>> {
        let products = &self.program().products;
        let product = products.iter().find(|p| (p.layer, p.role) == (layer, role))?;
        self.look(product.input)
    }

    fn look(&self, view: View) -> Option<Activation<'_>> {
        self.last?;
        let stride = self.program().info(view.buffer).width;
        let data = self.machine.activation(view.buffer);
        Some(Activation { data, stride, column: view.column, width: view.width })
    }

    /// Leaves the gradient of the batch's loss in `self.gradient`.
    fn losses_and_gradient(&mut self, batch: &Batch, value_weight: f32) -> Result<Losses, Error> {
        self.trains()?;
        batch.validate()?;
        batch.validate_targets()?;
        let sums = match &mut self.lanes {
            Some(lanes) => {
                lanes.backpropagate(batch, &self.parameters, value_weight, &mut self.gradient)
            }
            None => self.backpropagate(batch, value_weight),
        };
        let positions = batch.positions() as f64;
        let (policy, value) = (sums.policy / positions, sums.value / positions);
        Ok(Losses {
            policy: policy as f32,
            value: value as f32,
            total: (policy + f64::from(value_weight) * value) as f32,
            gradient_norm: adamw::norm(&self.gradient, &mut self.squares),
            skipped: false,
        })
    }

    /// The losses' sums; the gradient stays in `self.gradient`.
    fn backpropagate(&mut self, batch: &Batch, value_weight: f32) -> Sums {
        let mut sums = Sums::default();
        for (i, chunk) in Chunk::all(batch, self.capacity).enumerate() {
            self.machine.forward(&chunk, &self.parameters);
            self.machine.loss(&chunk, value_weight, &mut sums);
            let mut gradient = ParameterGradient { data: &mut self.gradient, fresh: i == 0 };
            self.machine.backward(&chunk, &self.parameters, &mut gradient);
        }
        sums
    }

    /// The outputs of a valid batch, and whether the buffers hold all of it afterwards.
    fn run(&mut self, batch: &Batch) -> (Outputs, bool) {
        if let Some(lanes) = &mut self.lanes {
            return (lanes.evaluate(batch, &self.parameters), false);
        }
        let mut outputs = Outputs::default();
        for chunk in Chunk::all(batch, self.capacity) {
            self.machine.forward(&chunk, &self.parameters);
            self.machine.append_outputs(&mut outputs);
        }
        let first = Chunk::all(batch, self.capacity).next();
        (outputs, first.is_some_and(|chunk| chunk.sizes.sequences == batch.sequences))
    }
}

/// What a network keeps in memory.
fn planned(program: &Program, capacity: usize, purpose: Purpose, average: bool) -> MemoryPlan {
    let network = Lanes::plan(program, purpose);
    let network = network.unwrap_or_else(|| Machine::plan(program, capacity.max(1), purpose));
    network + flat(program, purpose, average)
}

/// The flat vectors of a network: its parameters, their gradient, the moments and an average.
fn flat(program: &Program, purpose: Purpose, average: bool) -> MemoryPlan {
    let trained = purpose.flat(program);
    MemoryPlan {
        parameters: 4 * program.parameters as u64,
        parameter_gradients: trained,
        optimizer: trained * (2 + u64::from(average)),
        ..MemoryPlan::default()
    }
}

/// Asks the system for all of a plan at once and gives it back: a vector that it refuses later
/// would end the process.
fn require(plan: &MemoryPlan) -> Result<(), Error> {
    let refused = Error::HostMemory(plan.total());
    let bytes = usize::try_from(plan.total()).map_err(|_| refused.clone())?;
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| refused)
}

/// Runs `work` on a thread of the current pool, so that operations too small to be shared do not
/// wait for one.
fn pooled<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

impl Backend for Cpu {
    fn evaluate(&mut self, batch: &Batch) -> Result<Outputs, Error> {
        batch.validate()?;
        let (outputs, whole) = pooled(|| self.run(batch));
        // In evaluation the buffers are shared, and only the last of what they held is left.
        let whole = whole && self.purpose == Purpose::Training;
        self.last = whole.then(|| batch.positions());
        Ok(outputs)
    }

    fn gradient(&mut self, batch: &Batch, value_weight: f32) -> Result<(Losses, Vec<f32>), Error> {
        let losses = pooled(|| self.losses_and_gradient(batch, value_weight))?;
        Ok((losses, self.gradient.clone()))
    }

    fn submit(&mut self, batch: &Batch, hyper: &AdamW, value_weight: f32) -> Result<(), Error> {
        hyper.validate()?;
        if let Some(Err(error)) = self.untold.back() {
            let error = error.clone();
            self.untold.push_back(Err(error));
            return Ok(());
        }
        let outcome = pooled(|| {
            let losses = self.losses_and_gradient(batch, value_weight)?;
            let (loss, gradient_norm) = (losses.total, losses.gradient_norm);
            if !loss.is_finite() || !gradient_norm.is_finite() {
                return Err(Error::Diverged { loss, gradient_norm });
            }
            let factor = hyper.clip_factor(gradient_norm);
            adamw::step(&mut self.parameters, &self.gradient, &mut self.state, hyper, factor);
            Ok(losses)
        });
        match outcome {
            Ok(_) | Err(Error::Diverged { .. }) => self.untold.push_back(outcome),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn losses(&mut self, under_way: usize) -> Result<Option<Losses>, Error> {
        let told = self.untold.len() > under_way;
        let oldest = if told { self.untold.pop_front() } else { None };
        oldest.transpose().inspect_err(|_| self.untold.clear())
    }

    fn parameters(&mut self) -> Result<Vec<f32>, Error> {
        Ok(self.parameters.clone())
    }

    fn optimizer_state(&mut self) -> Result<OptimizerState, Error> {
        self.trains()?;
        Ok(self.state.clone())
    }

    fn memory(&self) -> MemoryPlan {
        let bytes = |floats: usize| 4 * floats as u64;
        let network = self.lanes.as_ref().map_or_else(|| self.machine.memory(), Lanes::memory);
        let flat = MemoryPlan {
            parameters: bytes(self.parameters.len()),
            parameter_gradients: bytes(self.gradient.len()),
            optimizer: bytes(self.state.m.len() + self.state.v.len() + self.average.len()),
            ..MemoryPlan::default()
        };
        network + flat
    }

    fn average(&mut self, weight: f32) -> Result<(), Error> {
        self.trains()?;
        self.average.resize(self.parameters.len(), 0.0);
        adamw::average(&mut self.average, &self.parameters, weight);
        Ok(())
    }

    fn averaged(&mut self) -> Result<Vec<f32>, Error> {
        self.trains()?;
        self.average.resize(self.parameters.len(), 0.0);
        Ok(self.average.clone())
    }

    fn restore_average(&mut self, average: &[f32]) -> Result<(), Error> {
        self.trains()?;
        let (what, expected, found) = ("average", self.parameters.len(), average.len());
        if found != expected {
            return Err(Error::ParameterCount { what, expected, found });
        }
        self.average = average.to_vec();
        Ok(())
    }

    fn restore(&mut self, parameters: &[f32], state: &OptimizerState) -> Result<(), Error> {
        let (expected, found) = (self.parameters.len(), parameters.len());
        if found != expected {
            return Err(Error::ParameterCount { what: "parameters", expected, found });
        }
        state.validate(expected)?;
        self.parameters.copy_from_slice(parameters);
        self.untold.clear();
        if self.purpose == Purpose::Evaluation {
            return Ok(());
        }
        self.state.clone_from(state);
        // In 32 bits no loss is scaled.
        self.state.loss_scale = None;
        Ok(())
    }
}

/// Runs any program on the processor, for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuProbe;

impl Probing for CpuProbe {
    fn probe(&mut self, probe: &Probe<'_>) -> Result<Probed, Error> {
        probe.batch.validate()?;
        let capacity = probe.batch.positions();
        let mut machine = Machine::new(probe.program.clone(), capacity, Purpose::Training);
        let chunk = Chunk::all(probe.batch, capacity).next().expect("a batch is not empty");
        for &(buffer, data) in probe.inputs {
            machine.set_activation(chunk.sizes, buffer, data);
        }
        machine.forward(&chunk, probe.parameters);
        if probe.program.outputs().is_some() {
            probe.batch.validate_targets()?;
            machine.loss(&chunk, probe.value_weight, &mut Sums::default());
        }
        for &(buffer, data) in probe.output_gradients {
            machine.set_gradient(buffer, data);
        }
        let mut data = vec![0.0; probe.parameters.len()];
        let mut gradient = ParameterGradient { data: &mut data, fresh: true };
        machine.backward(&chunk, probe.parameters, &mut gradient);
        let buffers = probe.program.all_buffers();
        Ok(Probed {
            activations: buffers.map(|b| machine.activation(b).to_vec()).collect(),
            input_gradients: probe
                .inputs
                .iter()
                .map(|&(buffer, _)| machine.gradient(buffer).to_vec())
                .collect(),
            parameter_gradient: data,
        })
    }
}
