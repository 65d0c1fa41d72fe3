use kibitzer_core::net::{Config, Role, Tensor, parameter_count, tensors};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use rand_distr::{Distribution as _, StandardNormal, Uniform};

/// First values of all parameters, distributed as PyTorch's defaults are: linear and
/// convolution layers uniform within ±1/√inputs, biases too; embeddings standard normal; norms
/// and skip connections 1; decay rates 1 to N; attention biases 0.
///
/// The same configuration and seed always give the same values.
pub fn initialise(config: &Config, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut parameters = Vec::with_capacity(parameter_count(config));
    for tensor in tensors(config) {
        let count = tensor.shape.len();
        match distribution(&tensor, config) {
            Initial::Constant(value) => parameters.extend(std::iter::repeat_n(value, count)),
            Initial::Normal => {
                parameters.extend((0..count).map(|_| -> f32 { StandardNormal.sample(&mut rng) }));
            }
            Initial::Fan(inputs) => {
                let bound = (inputs as f32).sqrt().recip();
                let uniform = Uniform::new_inclusive(-bound, bound).expect("the bound is finite");
                parameters.extend((0..count).map(|_| uniform.sample(&mut rng)));
            }
            Initial::DecayRates => {
                let states = tensor.shape.columns();
                parameters.extend((0..count).map(|i| ((i % states + 1) as f32).ln()));
            }
        }
    }
    parameters
}

enum Initial {
    Constant(f32),
    Normal,
    /// Uniform within ±1/√inputs.
    Fan(u32),
    /// The logarithms of 1 … N in every row.
    DecayRates,
}

fn distribution(tensor: &Tensor, config: &Config) -> Initial {
    match tensor.role {
        Role::Piece | Role::Square => Initial::Normal,
        Role::Norm1 | Role::Norm2 | Role::FinalNorm | Role::Skip => Initial::Constant(1.0),
        Role::AttentionBias => Initial::Constant(0.0),
        Role::DecayLog => Initial::DecayRates,
        Role::ConvBias => Initial::Fan(config.ssm_conv),
        Role::StepBias => Initial::Fan(config.ssm_rank),
        Role::PolicyBias
        | Role::FromBias
        | Role::ToBias
        | Role::PromotionBias
        | Role::Value1Bias => Initial::Fan(config.width),
        Role::Value2Bias => Initial::Fan(config.width / 2),
        Role::Aux
        | Role::Query
        | Role::Key
        | Role::AttentionValue
        | Role::Output
        | Role::InProj
        | Role::ConvWeight
        | Role::XProj
        | Role::StepWeight
        | Role::OutProj
        | Role::Gate
        | Role::Up
        | Role::Down
        | Role::PolicyWeight
        | Role::Context
        | Role::FromWeight
        | Role::ToWeight
        | Role::PromotionWeight
        | Role::Value1Weight
        | Role::Value2Weight => Initial::Fan(tensor.shape.columns() as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of a role's values.
    fn moments(config: &Config, parameters: &[f32], role: Role) -> (f64, f64) {
        let values: Vec<f64> = tensors(config)
            .filter(|t| t.role == role)
            .flat_map(|t| parameters[t.range()].iter().map(|&x| f64::from(x)))
            .collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        (mean, (square / values.len() as f64).sqrt())
    }

    #[test]
    fn values_are_distributed_as_pytorch_does_it() {
        let config = Config { width: 64, attention_bias: true, ..Config::default() };
        let parameters = initialise(&config, 1);
        assert_eq!(parameters.len(), parameter_count(&config));
        let uniform = |inputs: f64| (1.0 / inputs.sqrt()) / 3f64.sqrt();
        for (role, mean, deviation) in [
            (Role::Square, 0.0, 1.0),
            (Role::Query, 0.0, uniform(64.0)),
            (Role::Aux, 0.0, uniform(7.0)),
            (Role::ConvWeight, 0.0, uniform(4.0)),
            (Role::ConvBias, 0.0, uniform(4.0)),
            (Role::StepBias, 0.0, uniform(32.0)),
            (Role::InProj, 0.0, uniform(64.0)),
            (Role::Norm1, 1.0, 0.0),
            (Role::AttentionBias, 0.0, 0.0),
        ] {
            let found = moments(&config, &parameters, role);
            assert!((found.0 - mean).abs() < 0.05 * deviation.max(0.1), "{role:?} mean {found:?}");
            assert!((found.1 - deviation).abs() <= 0.05 * deviation, "{role:?} {found:?}");
        }
        let decay = tensors(&config).find(|t| t.role == Role::DecayLog).unwrap();
        assert_eq!(parameters[decay.offset + 32 + 2], 3f32.ln());
    }

    #[test]
    fn the_seed_decides() {
        let config = Config { width: 16, heads: 2, ..Config::default() };
        assert_eq!(initialise(&config, 5), initialise(&config, 5));
        assert_ne!(initialise(&config, 5), initialise(&config, 6));
    }
}
