//! From the float network to the integers of each section, layer by layer.
use std::ops::Range;

use kibitzer_core::{
    inputs::{AUX, AUX_DENOMINATOR, SQUARES},
    net::{
        Config, Layer, Place, PolicyHead, Role, Tensor,
        infer::{
            ACTIVATION_FRACTION, ATTENTION_FRACTION, EXPONENT_FRACTION, LOGIT_FRACTION, Shift,
            TANH_FRACTION, UP_LIMIT, pair_limit, wide_limit,
        },
        layers, tensors,
    },
};
use kibitzer_gpu::program::{NORM_EPSILON, Signal};

use super::{
    Observed, Statistics,
    file::Values,
    matrix::{Dense, Inputs, quantize},
    number::{byte, half, scale, scale_one, word},
    rounding::Metric,
};

/// How much larger than anything calibration saw a 16-bit quantity may get. Activations have
/// long tails: a hidden unit that fires in one position of a thousand can be ten times as strong
/// as in all others.
const HEADROOM: f64 = 4.0;
/// The same for 16-bit inputs of matrices, which have bits to spare beside 8-bit weights.
const INPUT_HEADROOM: f64 = 16.0;
/// Least unit of a channel, as a share of the largest in its layer: a channel that calibration
/// saw silent does not saturate at the first sound.
const LEAST_UNIT: f64 = 1e-3;
/// The same for 16-bit inputs.
const LEAST_WIDE_UNIT: f64 = 1.0 / 16.0;
const STREAM_STEPS: f64 = i16::MAX as f64;

const fn fixed(fraction: u32) -> f64 {
    1.0 / (1u64 << fraction) as f64
}

const ACTIVATION_UNIT: f64 = fixed(ACTIVATION_FRACTION);
const EXPONENT_UNIT: f64 = fixed(EXPONENT_FRACTION);
const LOGIT_UNIT: f64 = fixed(LOGIT_FRACTION);

/// Units in which `steps` steps reach each channel's peak, none less than `share` of the largest.
fn units_above(share: f64, peaks: &[f64], steps: f64) -> Vec<f64> {
    let most = peaks.iter().copied().fold(0.0, f64::max);
    let least = if most > 0.0 { most * share } else { 1.0 };
    peaks.iter().map(|peak| peak.max(least) / steps).collect()
}

/// Units in which `steps` steps reach each channel's peak.
fn units(peaks: &[f64], steps: f64) -> Vec<f64> {
    units_above(LEAST_UNIT, peaks, steps)
}

/// The inputs of a matrix that reads `columns` of a signal.
fn inputs(observed: &Observed, columns: Range<usize>, width: Width) -> Inputs {
    let peaks = &observed.peaks[columns.clone()];
    let units = units_above(width.least_unit(), peaks, width.steps(peaks.len()));
    Inputs { metric: Metric::new(observed.samples(columns), &units), units }
}

/// How a stream's inputs to a matrix are represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    /// 8 bits: the squares.
    Narrow,
    /// 16 bits: the trunk and the heads.
    Wide,
}

impl Width {
    const fn of(place: Place) -> Width {
        match place {
            Place::Encoder | Place::EncoderBlock(_) => Width::Narrow,
            Place::TrunkBlock(_) | Place::Head => Width::Wide,
        }
    }

    /// Least unit of a channel, as a share of the largest.
    const fn least_unit(self) -> f64 {
        match self {
            Width::Narrow => LEAST_UNIT,
            Width::Wide => LEAST_WIDE_UNIT,
        }
    }

    /// Steps that reach what calibration saw.
    fn steps(self, columns: usize) -> f64 {
        match self {
            Width::Narrow => 127.0,
            Width::Wide => f64::from(wide_limit(columns)) / INPUT_HEADROOM,
        }
    }
}

/// A network being quantized.
pub struct Network<'a> {
    config: &'a Config,
    parameters: &'a [f32],
    statistics: &'a Statistics,
    tensors: Vec<Tensor>,
    squares_unit: f64,
    trunk_unit: f64,
    /// The normalized squares and the normalized trunk, as the heads read them.
    squares_normed: Inputs,
    trunk_normed: Inputs,
    out: Vec<Values>,
}

impl<'a> Network<'a> {
    /// The sections of all layers, in order.
    pub fn quantize(
        config: &'a Config,
        parameters: &'a [f32],
        statistics: &'a Statistics,
    ) -> Vec<Values> {
        let normed = |layer| {
            let observed = statistics.of(layer, Signal::Output);
            inputs(observed, 0..observed.width(), Width::Wide)
        };
        let mut network = Network {
            config,
            parameters,
            statistics,
            tensors: tensors(config).collect(),
            squares_unit: 1.0,
            trunk_unit: 1.0,
            squares_normed: normed(Layer::EncoderNorm),
            trunk_normed: normed(Layer::TrunkNorm),
            out: vec![],
        };
        let (squares, trunk) = network.stream_peaks();
        network.squares_unit = squares * HEADROOM / STREAM_STEPS;
        network.trunk_unit = trunk * HEADROOM / STREAM_STEPS;
        for layer in layers(config) {
            network.layer(layer);
        }
        network.out
    }

    /// Largest magnitudes on the squares' stream and on the trunk's.
    fn stream_peaks(&self) -> (f64, f64) {
        let (mut squares, mut trunk) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        for layer in layers(self.config) {
            let stream = match layer {
                Layer::Embedding => &mut squares,
                Layer::Attention(place) | Layer::FeedForward(place, _) | Layer::Ssm(place) => {
                    match Width::of(place) {
                        Width::Narrow => &mut squares,
                        Width::Wide => &mut trunk,
                    }
                }
                Layer::Pool => &mut trunk,
                Layer::EncoderNorm | Layer::TrunkNorm | Layer::Policy(_) | Layer::Value => continue,
            };
            *stream = stream.max(self.statistics.of(layer, Signal::Output).peak());
        }
        (squares, trunk)
    }

    fn layer(&mut self, layer: Layer) {
        match layer {
            Layer::Embedding => self.embedding(layer),
            Layer::Attention(Place::EncoderBlock(_)) => self.square_attention(layer),
            Layer::Attention(_) => self.trunk_attention(layer),
            Layer::FeedForward(place, hidden) => self.feed_forward(layer, place, hidden as usize),
            Layer::Ssm(_) => self.state_space(layer),
            Layer::EncoderNorm => {
                let weight = self.vector(layer, Role::FinalNorm);
                self.norm(&weight, self.squares_unit, &self.squares_normed.units.clone());
            }
            Layer::Pool => {
                let rows = self.squares_normed.units.iter();
                let factors: Vec<f64> =
                    rows.map(|unit| unit / SQUARES as f64 / self.trunk_unit).collect();
                self.words(scale(&factors));
            }
            Layer::TrunkNorm => {
                let weight = self.vector(layer, Role::FinalNorm);
                self.norm(&weight, self.trunk_unit, &self.trunk_normed.units.clone());
            }
            Layer::Policy(PolicyHead::Pooled) => self.pooled_policy(layer),
            Layer::Policy(PolicyHead::FromTo) => self.pairs_policy(layer),
            Layer::Value => self.value(layer),
        }
    }

    fn bytes(&mut self, values: Vec<i8>) {
        self.out.push(Values::I8(values));
    }

    fn halves(&mut self, values: Vec<i16>) {
        self.out.push(Values::I16(values));
    }

    fn words(&mut self, values: Vec<i32>) {
        self.out.push(Values::I32(values));
    }

    fn width(&self) -> usize {
        self.config.width as usize
    }

    fn vector(&self, layer: Layer, role: Role) -> Vec<f64> {
        self.dense(layer, role).rows().flatten().copied().collect()
    }

    fn dense(&self, layer: Layer, role: Role) -> Dense {
        let found = self.tensors.iter().find(|t| (t.layer, t.role) == (layer, role));
        let tensor = found.unwrap_or_else(|| panic!("{layer:?} has no {role:?}"));
        let values = &self.parameters[tensor.range()];
        Dense::new(tensor.shape.columns(), values.iter().map(|&x| f64::from(x)))
    }

    fn peaks(&self, layer: Layer, signal: Signal) -> &'a [f64] {
        &self.statistics.of(layer, signal).peaks
    }

    /// A whole signal as the inputs of a matrix.
    fn inputs(&self, layer: Layer, signal: Signal, width: Width) -> Inputs {
        let observed = self.statistics.of(layer, signal);
        inputs(observed, 0..observed.width(), width)
    }

    /// A matrix's weights and scales.
    fn linear(&mut self, matrix: &Dense, inputs: &Inputs, output_units: &[f64]) {
        let quantized = quantize(matrix, inputs, output_units);
        self.bytes(quantized.weights);
        self.words(quantized.scales);
    }

    /// A matrix that adds to a stream.
    fn add_to_stream(&mut self, matrix: &Dense, inputs: &Inputs, unit: f64) {
        self.linear(matrix, inputs, &vec![unit; self.width()]);
    }

    /// A norm over a stream that counts `stream_unit` a step, whose outputs count `units`.
    fn norm(&mut self, weight: &[f64], stream_unit: f64, units: &[f64]) {
        let width = weight.len() as f64;
        let gains: Vec<f64> =
            weight.iter().zip(units).map(|(w, unit)| w * width.sqrt() / unit).collect();
        let most = gains.iter().fold(0.0, |most: f64, gain| most.max(gain.abs()));
        let shift = if most > 0.0 { (f64::from(i16::MAX) / most).log2().floor() } else { 0.0 };
        let epsilon = width * f64::from(NORM_EPSILON) / (stream_unit * stream_unit);
        let epsilon = epsilon.round().min(f64::from(u32::MAX)) as u32;
        self.words(vec![shift as i32, epsilon.cast_signed()]);
        self.halves(gains.iter().map(|&gain| half(gain, (-shift).exp2())).collect());
    }

    fn embedding(&mut self, layer: Layer) {
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

    fn square_attention(&mut self, layer: Layer) {
        let (width, heads) = (self.width(), self.config.heads as usize);
        let dim = width / heads;
        let input = self.inputs(layer, Signal::Normed, Width::Narrow);
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
        self.linear(&self.dense(layer, Role::Query), &input, &spread(&query));
        self.linear(&self.dense(layer, Role::Key), &input, &spread(&key));
        self.linear(&self.dense(layer, Role::AttentionValue), &input, &value);

        let root = (dim as f64).sqrt();
        let to_exponent = std::f64::consts::LOG2_E / EXPONENT_UNIT;
        let pairs = query.iter().zip(&key);
        self.words(scale(&pairs.map(|(q, k)| q * k / root * to_exponent).collect::<Vec<_>>()));
        if self.config.attention_bias {
            self.attention_bias(layer, to_exponent);
        }
        let context = self.inputs(layer, Signal::Attended, Width::Narrow);
        let probability = fixed(ATTENTION_FRACTION);
        let channels = value.iter().zip(&context.units);
        self.words(scale(&channels.map(|(v, c)| v * probability / c).collect::<Vec<_>>()));
        self.add_to_stream(&self.dense(layer, Role::Output), &context, self.squares_unit);
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

    fn trunk_attention(&mut self, layer: Layer) {
        let input = self.inputs(layer, Signal::Normed, Width::Wide);
        self.norm(&self.vector(layer, Role::Norm1), self.trunk_unit, &input.units);
        let value = self.dense(layer, Role::AttentionValue);
        let product = self.dense(layer, Role::Output).times(&value);
        self.add_to_stream(&product, &input, self.trunk_unit);
    }

    fn feed_forward(&mut self, layer: Layer, place: Place, hidden: usize) {
        let width = Width::of(place);
        let stream_unit = match width {
            Width::Narrow => self.squares_unit,
            Width::Wide => self.trunk_unit,
        };
        let input = self.inputs(layer, Signal::Normed, width);
        self.norm(&self.vector(layer, Role::Norm2), stream_unit, &input.units);
        self.linear(&self.dense(layer, Role::Gate), &input, &vec![ACTIVATION_UNIT; hidden]);

        let hiddens = self.inputs(layer, Signal::Hidden, width);
        let up_peaks = &self.peaks(layer, Signal::GateUp)[hidden..];
        let (shift, up_units) = up_units(up_peaks, &hiddens.units);
        self.linear(&self.dense(layer, Role::Up), &input, &up_units);
        self.words(vec![shift]);
        self.add_to_stream(&self.dense(layer, Role::Down), &hiddens, stream_unit);
    }

    fn state_space(&mut self, layer: Layer) {
        let c = self.config;
        let (inner, rank, states) =
            (c.ssm_inner() as usize, c.ssm_rank as usize, c.ssm_state as usize);
        let input = self.inputs(layer, Signal::Normed, Width::Wide);
        self.norm(&self.vector(layer, Role::Norm1), self.trunk_unit, &input.units);

        let taps = self.dense(layer, Role::ConvWeight);
        let last = taps.rows().map(|row| row[taps.columns() - 1]);
        let in_proj = self.dense(layer, Role::InProj);
        let in_proj = in_proj.scale_rows(last.chain(std::iter::repeat_n(1.0, inner)));
        self.linear(&in_proj, &input, &vec![ACTIVATION_UNIT; 2 * inner]);
        let mut bias = self.vector(layer, Role::ConvBias);
        bias.resize(2 * inner, 0.0);
        self.biases(&bias, ACTIVATION_UNIT);

        let u = self.inputs(layer, Signal::Convolved, Width::Wide);
        self.rescale(&u.units);
        let peaks = self.peaks(layer, Signal::XProj);
        let step = inputs(self.statistics.of(layer, Signal::XProj), 0..rank, Width::Wide);
        let pair_steps = f64::from(pair_limit(states)) / HEADROOM;
        let state_unit = |peaks: &[f64]| {
            let most = peaks.iter().copied().fold(0.0, f64::max);
            units(&[most], pair_steps)[0]
        };
        let (b, c) = (state_unit(&peaks[rank..rank + states]), state_unit(&peaks[rank + states..]));
        let rows = step.units.iter().copied();
        let rows = rows.chain(std::iter::repeat_n(b, states)).chain(std::iter::repeat_n(c, states));
        self.linear(&self.dense(layer, Role::XProj), &u, &rows.collect::<Vec<_>>());
        self.words(scale_one(b * c / ACTIVATION_UNIT));
        self.linear(&self.dense(layer, Role::StepWeight), &step, &vec![ACTIVATION_UNIT; inner]);
        self.biases(&self.vector(layer, Role::StepBias), ACTIVATION_UNIT);
        self.biases(&self.vector(layer, Role::Skip), ACTIVATION_UNIT);

        let output = self.inputs(layer, Signal::Scanned, Width::Wide);
        self.rescale(&output.units);
        self.add_to_stream(&self.dense(layer, Role::OutProj), &output, self.trunk_unit);
    }

    fn biases(&mut self, bias: &[f64], unit: f64) {
        self.words(bias.iter().map(|&x| word(x, unit)).collect());
    }

    /// From the common fixed point to activations.
    fn rescale(&mut self, units: &[f64]) {
        self.words(scale(&units.iter().map(|unit| ACTIVATION_UNIT / unit).collect::<Vec<_>>()));
    }

    fn pooled_policy(&mut self, layer: Layer) {
        let weight = self.dense(layer, Role::PolicyWeight);
        let bias = self.vector(layer, Role::PolicyBias);
        let input = self.trunk_normed.clone();
        self.linear(&weight, &input, &vec![LOGIT_UNIT; bias.len()]);
        self.biases(&bias, LOGIT_UNIT);
    }

    fn pairs_policy(&mut self, layer: Layer) {
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
        self.linear(&matrix, &self.squares_normed.clone(), &output);
        let context = matrix.times(&self.dense(layer, Role::Context));
        self.linear(&context, &self.trunk_normed.clone(), &output);
        let bias =
            [self.vector(layer, Role::FromBias), self.vector(layer, Role::ToBias), promotions];
        let pairs = bias.iter().flatten().zip(&output);
        self.words(pairs.map(|(&x, &unit)| word(x, unit)).collect());
        self.words(scale_one(from * to / (dim as f64).sqrt() / LOGIT_UNIT));
    }

    fn value(&mut self, layer: Layer) {
        let hidden = self.inputs(layer, Signal::Hidden, Width::Wide);
        let input = self.trunk_normed.clone();
        let weight = self.dense(layer, Role::Value1Weight);
        self.linear(&weight, &input, &vec![ACTIVATION_UNIT; hidden.units.len()]);
        self.biases(&self.vector(layer, Role::Value1Bias), ACTIVATION_UNIT);
        self.rescale(&hidden.units);
        self.linear(&self.dense(layer, Role::Value2Weight), &hidden, &[fixed(TANH_FRACTION)]);
        self.biases(&self.vector(layer, Role::Value2Bias), fixed(TANH_FRACTION));
    }
}

/// The shift after the gate's product, and the units of the up projection's rows that make one
/// shift lead to the hidden units: as fine as the projection's range allows.
fn up_units(up_peaks: &[f64], hidden_units: &[f64]) -> (i32, Vec<f64>) {
    let ratios = up_peaks.iter().zip(hidden_units).map(|(peak, unit)| peak / unit);
    let most = ratios.fold(f64::MIN_POSITIVE, f64::max);
    let room = (f64::from(UP_LIMIT) / INPUT_HEADROOM / most).log2().floor() as i32;
    let shift = (ACTIVATION_FRACTION as i32 + room).clamp(1, i32::from(Shift::MOST));
    let factor = f64::from(shift - ACTIVATION_FRACTION as i32).exp2();
    (shift, hidden_units.iter().map(|unit| unit / factor).collect())
}
