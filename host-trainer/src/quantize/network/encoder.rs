//! The squares' layers, and the feed-forward layer that they share with the trunk.
use kibitzer_core::{
    inputs::{AUX, AUX_DENOMINATOR, SQUARES},
    net::{
        Layer, Place, Role,
        infer::{ATTENTION_FRACTION, pair_limit},
        kbz::Matrix,
    },
};
use kibitzer_gpu::program::Signal;

use super::{
    Network,
    units::{ACTIVATION_UNIT, EXPONENT_UNIT, HEADROOM, STREAM_STEPS, fixed, units, up_units},
};
use crate::quantize::number::{byte, half, scale, scale_one};

impl Network<'_> {
    pub(super) fn embedding(&mut self, layer: Layer) {
        let unit = self.squares_unit;
        for role in [Role::Piece, Role::Square] {
            let table = self.vector(layer, role);
            self.halves(table.into_iter().map(|x| half(x, unit)).collect());
        }
        let aux = self.vector(layer, Role::Aux);
        let weights: Vec<f64> = aux
            .iter()
            .zip(AUX_DENOMINATOR.iter().cycle())
            .map(|(w, &denominator)| w / f64::from(denominator))
            .collect();
        debug_assert_eq!(weights.len(), self.width() * AUX);
        let most = weights.iter().fold(f64::MIN_POSITIVE, |most, w| most.max(w.abs()));
        let aux_unit = most / STREAM_STEPS;
        self.halves(weights.into_iter().map(|w| half(w, aux_unit)).collect());
        self.words(scale_one(aux_unit / unit));
    }

    pub(super) fn square_attention(&mut self, layer: Layer) {
        let (width, heads) = (self.width(), self.config.heads as usize);
        let dim = width / heads;
        let input = self.squares_inputs(
            layer,
            Signal::Normed,
            self.precision.inputs.normed(),
            &[Role::Query, Role::Key, Role::AttentionValue],
        );
        self.norm(&self.vector(layer, Role::Norm1), self.squares_unit, &input.units);

        let peaks = self.peaks(layer, Signal::Qkv);
        let pair_steps = f64::from(pair_limit(dim)) / HEADROOM;
        let by_head = |peaks: &[f64]| -> Vec<f64> {
            let heads = peaks.chunks_exact(dim);
            units(
                &heads.map(|p| p.iter().copied().fold(0.0, f64::max)).collect::<Vec<_>>(),
                pair_steps,
            )
        };
        let (query, key) = (by_head(&peaks[..width]), by_head(&peaks[width..2 * width]));
        let spread = |units: &[f64]| units.iter().flat_map(|&u| vec![u; dim]).collect::<Vec<_>>();
        let value = units(&peaks[2 * width..], STREAM_STEPS / HEADROOM);
        self.linear(Matrix::Query, &self.dense(layer, Role::Query), &input, &spread(&query));
        self.linear(Matrix::Key, &self.dense(layer, Role::Key), &input, &spread(&key));
        self.linear(Matrix::Value, &self.dense(layer, Role::AttentionValue), &input, &value);

        let root = (dim as f64).sqrt();
        let to_exponent = std::f64::consts::LOG2_E / EXPONENT_UNIT;
        let pairs = query.iter().zip(&key);
        self.words(scale(&pairs.map(|(q, k)| q * k / root * to_exponent).collect::<Vec<_>>()));
        if self.config.attention_bias {
            self.attention_bias(layer, to_exponent);
        }
        let context = self.squares_inputs(
            layer,
            Signal::Attended,
            self.precision.inputs.unnormed(),
            &[Role::Output],
        );
        let probability = fixed(ATTENTION_FRACTION);
        let channels = value.iter().zip(&context.units);
        self.words(scale(&channels.map(|(v, c)| v * probability / c).collect::<Vec<_>>()));
        self.add_to_stream(
            Matrix::Output,
            &self.dense(layer, Role::Output),
            &context,
            self.squares_unit,
        );
    }

    /// Each row is centred first: a constant over the keys does not change a softmax.
    fn attention_bias(&mut self, layer: Layer, to_exponent: f64) {
        let bias = self.vector(layer, Role::AttentionBias);
        let (mut weights, mut factors) = (vec![], vec![]);
        for row in bias.chunks_exact(SQUARES) {
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (middle, unit) = ((least + most) / 2.0, (most - least) / 2.0 / 127.0);
            let divisor = if unit > 0.0 { unit } else { 1.0 };
            weights.extend(row.iter().map(|x| byte(x - middle, divisor)));
            factors.push(unit * to_exponent);
        }
        self.bytes(weights);
        self.words(scale(&factors));
    }

    pub(super) fn feed_forward(&mut self, layer: Layer, place: Place, hidden: usize) {
        let bits = self.precision.inputs;
        let (stream_unit, input, hiddens) = match place.on_squares() {
            true => (
                self.squares_unit,
                self.squares_inputs(layer, Signal::Normed, bits.normed(), &[Role::Gate, Role::Up]),
                self.squares_inputs(layer, Signal::Hidden, bits.unnormed(), &[Role::Down]),
            ),
            false => (
                self.trunk_unit,
                self.inputs(layer, Signal::Normed),
                self.inputs(layer, Signal::Hidden),
            ),
        };
        self.norm(&self.vector(layer, Role::Norm2), stream_unit, &input.units);
        self.linear(
            Matrix::Gate,
            &self.dense(layer, Role::Gate),
            &input,
            &vec![ACTIVATION_UNIT; hidden],
        );

        let up_peaks = &self.peaks(layer, Signal::GateUp)[hidden..];
        let (shift, up_units) = up_units(up_peaks, &hiddens.units);
        self.linear(Matrix::Up, &self.dense(layer, Role::Up), &input, &up_units);
        self.words(vec![shift]);
        self.add_to_stream(
            Matrix::down(place),
            &self.dense(layer, Role::Down),
            &hiddens,
            stream_unit,
        );
    }
}
