//! Policy and value.
use kibitzer_core::net::{
    Layer, Role,
    infer::{TANH_FRACTION, pair_limit},
    kbz::Matrix,
};
use kibitzer_gpu::program::Signal;

use super::{
    Network,
    units::{ACTIVATION_UNIT, HEADROOM, LOGIT_UNIT, fixed, units},
};
use crate::quantize::number::{scale_one, word};

impl Network<'_> {
    pub(super) fn pooled_policy(&mut self, layer: Layer) {
        let weight = self.dense(layer, Role::PolicyWeight);
        let bias = self.vector(layer, Role::PolicyBias);
        let input = self.trunk_normed.clone();
        self.linear(Matrix::Policy, &weight, &input, &vec![LOGIT_UNIT; bias.len()]);
        self.biases(&bias, LOGIT_UNIT);
    }

    pub(super) fn pairs_policy(&mut self, layer: Layer) {
        let dim = self.config.policy_dim as usize;
        let steps = f64::from(pair_limit(dim)) / HEADROOM;
        let unit = |signal| units(&[self.statistics.of(layer, signal).peak()], steps)[0];
        let (from, to) = (unit(Signal::From), unit(Signal::To));
        let promotions = self.vector(layer, Role::PromotionBias);
        let mut output = vec![from; dim];
        output.extend(vec![to; dim]);
        output.extend(vec![LOGIT_UNIT; promotions.len()]);

        let matrix = self.dense(layer, Role::FromWeight);
        let matrix = matrix.stack(&self.dense(layer, Role::ToWeight));
        let matrix = matrix.stack(&self.dense(layer, Role::PromotionWeight));
        self.linear(Matrix::Squares, &matrix, &self.squares_normed.clone(), &output);
        let context = matrix.times(&self.dense(layer, Role::Context));
        self.linear(Matrix::Context, &context, &self.trunk_normed.clone(), &output);
        let bias =
            [self.vector(layer, Role::FromBias), self.vector(layer, Role::ToBias), promotions];
        let pairs = bias.iter().flatten().zip(&output);
        self.words(pairs.map(|(&x, &unit)| word(x, unit)).collect());
        self.words(scale_one(from * to / (dim as f64).sqrt() / LOGIT_UNIT));
    }

    pub(super) fn value(&mut self, layer: Layer) {
        let hidden = self.inputs(layer, Signal::Hidden);
        let input = self.trunk_normed.clone();
        let weight = self.dense(layer, Role::Value1Weight);
        self.linear(Matrix::Value1, &weight, &input, &vec![ACTIVATION_UNIT; hidden.units.len()]);
        self.biases(&self.vector(layer, Role::Value1Bias), ACTIVATION_UNIT);
        self.rescale(&hidden.units);
        self.linear(
            Matrix::Value2,
            &self.dense(layer, Role::Value2Weight),
            &hidden,
            &[fixed(TANH_FRACTION)],
        );
        self.biases(&self.vector(layer, Role::Value2Bias), fixed(TANH_FRACTION));
    }
}
