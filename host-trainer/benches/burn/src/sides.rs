//! The same training step on two sides.
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::{AdamWConfig, GradientsParams, ModuleOptimizer},
    tensor::{Device, Tensor, activation::log_softmax},
};
use kibitzer_core::net::Config;
use kibitzer_gpu::{
    AdamW, Backend as _, Batch, OptimizerState,
    gpu::{self, Gpu},
};

use crate::{batch::Tensors, network::Network, parameters::Parameters};

const VALUE_WEIGHT: f32 = 0.25;
const CLIP: f32 = 1.0;
const HYPER: AdamW = AdamW {
    learning_rate: 1e-4,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.01,
    clip: Some(CLIP),
};
/// Steps that may be under way before a loss is waited for.
const UNDER_WAY: usize = 2;

/// One of the two.
pub trait Side {
    /// Takes steps on the batch; the loss before the last of them.
    fn train(&mut self, steps: usize) -> Result<f32>;

    /// How long that takes.
    fn time(&mut self, steps: usize) -> Result<Duration> {
        let start = Instant::now();
        self.train(steps)?;
        Ok(start.elapsed())
    }
}

/// Kibitzer's own shaders.
pub struct Kibitzer {
    gpu: Gpu,
    batch: Batch,
}

impl Kibitzer {
    /// The network with the given parameters on a device.
    pub fn new(
        device: gpu::Device,
        config: &Config,
        parameters: &[f32],
        batch: Batch,
    ) -> Result<Kibitzer> {
        let mut gpu = Gpu::new(device, config, 0, batch.positions())?;
        gpu.restore(parameters, &OptimizerState::new(parameters.len()))?;
        Ok(Kibitzer { gpu, batch })
    }
}

impl Side for Kibitzer {
    fn train(&mut self, steps: usize) -> Result<f32> {
        for _ in 0..steps {
            self.gpu.submit(&self.batch, &HYPER, VALUE_WEIGHT)?;
            self.gpu.losses(UNDER_WAY)?;
        }
        let mut last = None;
        while let Some(losses) = self.gpu.losses(0)? {
            last = Some(losses);
        }
        Ok(last.context("no step was taken")?.total)
    }
}

/// burn.
pub struct Burn {
    network: Option<Network>,
    optimizer: ModuleOptimizer,
    batch: Tensors,
}

impl Burn {
    /// The network with the given parameters on a device.
    pub fn new(device: &Device, config: &Config, parameters: &[f32], batch: &Batch) -> Burn {
        let network = Network::new(config, &Parameters::new(config, parameters, device));
        let optimizer = AdamWConfig::new()
            .with_beta_1(HYPER.beta1)
            .with_beta_2(HYPER.beta2)
            .with_epsilon(HYPER.epsilon)
            .with_weight_decay(HYPER.weight_decay);
        Burn {
            network: Some(network),
            optimizer: optimizer.init(),
            batch: Tensors::new(batch, device),
        }
    }

    fn step(&mut self, network: Network) -> (Network, Tensor<1>) {
        let (logits, value) = network.forward(&self.batch);
        let policy = (log_softmax(logits, 1) * self.batch.policy.clone()).sum_dim(1).mean().neg();
        let value = (value - self.batch.value.clone()).square().mean();
        let loss = policy + value * VALUE_WEIGHT;
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        let gradients = clip(&network, gradients);
        let learning_rate: f64 = HYPER.learning_rate.into();
        (self.optimizer.step(learning_rate, network, gradients), loss)
    }
}

impl Side for Burn {
    fn train(&mut self, steps: usize) -> Result<f32> {
        let mut last = None;
        for _ in 0..steps {
            let network = self.network.take().context("a step was broken off")?;
            let (network, loss) = self.step(network);
            self.network = Some(network);
            last = Some(loss);
        }
        Ok(last.context("no step was taken")?.into_scalar())
    }
}

/// Scales all gradients down together where their common norm exceeds [`CLIP`]; burn's own
/// clipping takes each parameter by itself.
fn clip(network: &Network, mut gradients: GradientsParams) -> GradientsParams {
    let mut squares = Squares { gradients: &gradients, sums: Vec::new() };
    network.visit(&mut squares);
    let norm = Tensor::cat(squares.sums, 0).sum().sqrt();
    let factor = ((norm + 1e-6).recip() * CLIP).clamp_max(1.0);
    network.visit(&mut Scale { gradients: &mut gradients, factor });
    gradients
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    sums: Vec<Tensor<1>>,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.sums.push(gradient.square().sum());
        }
    }
}

struct Scale<'a> {
    gradients: &'a mut GradientsParams,
    factor: Tensor<1>,
}

impl ModuleVisitor for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            self.gradients.register(param.id, gradient * self.factor.clone().unsqueeze::<D>());
        }
    }
}
