//! The trunk's layers over a single position.
use kibitzer_core::net::{Layer, Role, infer::pair_limit, kbz::Matrix};
use kibitzer_gpu::program::Signal;

use super::{
    Network,
    units::{ACTIVATION_UNIT, HEADROOM, inputs, units},
};
use crate::quantize::number::scale_one;

impl Network<'_> {
    pub(super) fn trunk_attention(&mut self, layer: Layer) {
        let input = self.inputs(layer, Signal::Normed);
        self.norm(&self.vector(layer, Role::Norm1), self.trunk_unit, &input.units);
        let value = self.dense(layer, Role::AttentionValue);
        let product = self.dense(layer, Role::Output).times(&value);
        self.add_to_stream(Matrix::OutputValue, &product, &input, self.trunk_unit);
    }

    pub(super) fn state_space(&mut self, layer: Layer) {
        let c = self.config;
        let (inner, rank, states) =
            (c.ssm_inner() as usize, c.ssm_rank as usize, c.ssm_state as usize);
        let input = self.inputs(layer, Signal::Normed);
        self.norm(&self.vector(layer, Role::Norm1), self.trunk_unit, &input.units);

        let taps = self.dense(layer, Role::ConvWeight);
        let last = taps.rows().map(|row| row[taps.columns() - 1]);
        let in_proj = self.dense(layer, Role::InProj);
        let in_proj = in_proj.scale_rows(last.chain(std::iter::repeat_n(1.0, inner)));
        self.linear(Matrix::InProj, &in_proj, &input, &vec![ACTIVATION_UNIT; 2 * inner]);
        let mut bias = self.vector(layer, Role::ConvBias);
        bias.resize(2 * inner, 0.0);
        self.biases(&bias, ACTIVATION_UNIT);

        let u = self.inputs(layer, Signal::Convolved);
        self.rescale(&u.units);
        let peaks = self.peaks(layer, Signal::XProj);
        let step = inputs(self.statistics.of(layer, Signal::XProj), 0..rank);
        let step = self.noted(layer, Signal::XProj, step);
        let pair_steps = f64::from(pair_limit(states)) / HEADROOM;
        let state_unit = |peaks: &[f64]| {
            let most = peaks.iter().copied().fold(0.0, f64::max);
            units(&[most], pair_steps)[0]
        };
        let (b, c) = (state_unit(&peaks[rank..rank + states]), state_unit(&peaks[rank + states..]));
        let rows = step.units.iter().copied();
        let rows = rows.chain(std::iter::repeat_n(b, states)).chain(std::iter::repeat_n(c, states));
        self.linear(Matrix::XProj, &self.dense(layer, Role::XProj), &u, &rows.collect::<Vec<_>>());
        self.words(scale_one(b * c / ACTIVATION_UNIT));
        self.linear(
            Matrix::StepProj,
            &self.dense(layer, Role::StepWeight),
            &step,
            &vec![ACTIVATION_UNIT; inner],
        );
        self.biases(&self.vector(layer, Role::StepBias), ACTIVATION_UNIT);
        self.biases(&self.vector(layer, Role::Skip), ACTIVATION_UNIT);

        let output = self.inputs(layer, Signal::Scanned);
        self.rescale(&output.units);
        self.add_to_stream(
            Matrix::OutProj,
            &self.dense(layer, Role::OutProj),
            &output,
            self.trunk_unit,
        );
    }
}
