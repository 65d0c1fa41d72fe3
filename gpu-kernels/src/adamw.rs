use crate::Error;

/// Hyperparameters of AdamW: Adam with weight decay apart from the gradient
/// (Loshchilov and Hutter, Decoupled Weight Decay Regularization).
///
/// A step, with g the gradient after clipping and t the number of steps, this one included:
/// `p -= learning_rate · weight_decay · p`, `m = β₁ m + (1−β₁) g`, `v = β₂ v + (1−β₂) g²`,
/// `p -= learning_rate · (m / (1−β₁ᵗ)) / (√(v / (1−β₂ᵗ)) + ε)`. Every tensor decays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamW {
    /// Step size.
    pub learning_rate: f32,
    /// Decay of the mean gradient, below 1.
    pub beta1: f32,
    /// Decay of the mean squared gradient, below 1.
    pub beta2: f32,
    /// Added to the root of the mean square.
    pub epsilon: f32,
    /// Share of a parameter lost in each step, times the learning rate.
    pub weight_decay: f32,
    /// Longest gradient (Euclidean norm over all parameters); a longer one is scaled down to it.
    pub clip: Option<f32>,
}

impl Default for AdamW {
    fn default() -> AdamW {
        AdamW {
            learning_rate: 1e-3,
            beta1: 0.9,
            beta2: 0.95,
            epsilon: 1e-8,
            weight_decay: 0.01,
            clip: None,
        }
    }
}

impl AdamW {
    /// Checks that a step with these can only diverge by the gradient's fault.
    ///
    /// # Errors
    /// The first hyperparameter that is out of range.
    pub fn validate(&self) -> Result<(), Error> {
        const BETA: &str = "give 0 or more, below 1";
        const POSITIVE: &str = "give more than 0";
        const NOT_NEGATIVE: &str = "give 0 or more";
        let clip = self.clip.unwrap_or(1.0);
        for (name, value, holds, expected) in [
            ("learning_rate", self.learning_rate, self.learning_rate >= 0.0, NOT_NEGATIVE),
            ("beta1", self.beta1, (0.0..1.0).contains(&self.beta1), BETA),
            ("beta2", self.beta2, (0.0..1.0).contains(&self.beta2), BETA),
            ("epsilon", self.epsilon, self.epsilon > 0.0, POSITIVE),
            ("weight_decay", self.weight_decay, self.weight_decay >= 0.0, NOT_NEGATIVE),
            ("clip", clip, clip > 0.0, POSITIVE),
        ] {
            if !holds || value.is_infinite() {
                return Err(Error::Hyperparameter { name, value, expected });
            }
        }
        Ok(())
    }

    /// The factor on a gradient with this norm, as PyTorch's `clip_grad_norm_` has it.
    pub fn clip_factor(&self, gradient_norm: f32) -> f32 {
        self.clip.map_or(1.0, |longest| (longest / (gradient_norm + 1e-6)).min(1.0))
    }

    /// The step size and the root of the second moment's correction in step `step` (from 1):
    /// `(learning_rate / (1−β₁ᵗ), √(1−β₂ᵗ))`.
    pub fn corrections(&self, step: u64) -> (f32, f32) {
        let decayed = |beta: f32| 1.0 - f64::from(beta).powf(step as f64);
        let size = f64::from(self.learning_rate) / decayed(self.beta1);
        (size as f32, decayed(self.beta2).sqrt() as f32)
    }
}

/// By what the loss is multiplied where gradients are stored in 16 bits, so that small ones do
/// not vanish. It is halved when a gradient overflows, and doubled after many steps without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossScale {
    /// The factor, a power of two.
    pub scale: f32,
    /// Steps taken since it was changed.
    pub good_steps: u32,
}

impl Default for LossScale {
    fn default() -> LossScale {
        LossScale { scale: 65_536.0, good_steps: 0 }
    }
}

/// What the optimizer remembers between steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OptimizerState {
    /// Steps taken.
    pub step: u64,
    /// Running mean of the gradient, one for each parameter.
    pub m: Vec<f32>,
    /// Running mean of its square.
    pub v: Vec<f32>,
    /// The loss scale, where gradients are stored in 16 bits.
    pub loss_scale: Option<LossScale>,
}

impl OptimizerState {
    /// The state before the first step.
    pub fn new(parameters: usize) -> OptimizerState {
        let zeros = vec![0.0; parameters];
        OptimizerState { step: 0, m: zeros.clone(), v: zeros, loss_scale: None }
    }

    /// Checks that the state belongs to a network of so many parameters.
    ///
    /// # Errors
    /// If it does not.
    pub fn validate(&self, parameters: usize) -> Result<(), Error> {
        for (what, found) in [("optimizer's m", self.m.len()), ("optimizer's v", self.v.len())] {
            if found != parameters {
                return Err(Error::ParameterCount { what, expected: parameters, found });
            }
        }
        Ok(())
    }
}
