//! From the float network to the integers of each section, layer by layer.
mod encoder;
mod heads;
mod trunk;
mod units;

use kibitzer_core::{
    inputs::SQUARES,
    net::{
        Config, Layer, PolicyHead, Precision, Role, Tensor,
        infer::{Shift, Width},
        kbz::Matrix,
        layers, tensors,
    },
};
use kibitzer_gpu::program::{NORM_EPSILON, Signal};

use super::{
    Statistics,
    file::Values,
    matrix::{Dense, Inputs, largest_weights, quantize},
    number::{half, scale, word},
};
use units::{ACTIVATION_UNIT, HEADROOM, STREAM_STEPS, inputs, squares_inputs};

/// A network being quantized.
pub struct Network<'a> {
    config: &'a Config,
    parameters: &'a [f32],
    statistics: &'a Statistics,
    precision: Precision,
    tensors: Vec<Tensor>,
    squares_unit: f64,
    trunk_unit: f64,
    /// The normalized squares and the normalized trunk, as the heads read them.
    squares_normed: Inputs,
    trunk_normed: Inputs,
    ranges: Vec<InputRanges>,
    out: Vec<Values>,
}

/// How far the inputs of matrices reach.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRanges {
    /// The layer whose signal they are.
    pub layer: Layer,
    /// The signal.
    pub signal: Signal,
    /// Of each of its first channels, the magnitude beyond which it is cut.
    pub ranges: Vec<f64>,
}

impl<'a> Network<'a> {
    /// The sections of all layers, in order, and the ranges of their matrices' inputs.
    pub fn quantize(
        config: &'a Config,
        parameters: &'a [f32],
        statistics: &'a Statistics,
        precision: Precision,
    ) -> (Vec<Values>, Vec<InputRanges>) {
        let normed = |layer| {
            let observed = statistics.of(layer, Signal::Output);
            inputs(observed, 0..observed.width())
        };
        let mut network = Network {
            config,
            parameters,
            statistics,
            precision,
            tensors: tensors(config).collect(),
            squares_unit: 1.0,
            trunk_unit: 1.0,
            squares_normed: normed(Layer::EncoderNorm),
            trunk_normed: normed(Layer::TrunkNorm),
            ranges: vec![],
            out: vec![],
        };
        let (squares, trunk) = network.stream_peaks();
        network.squares_unit = squares * HEADROOM / STREAM_STEPS;
        network.trunk_unit = trunk * HEADROOM / STREAM_STEPS;
        for layer in layers(config) {
            network.layer(layer);
        }
        (network.out, network.ranges)
    }

    /// Largest magnitudes on the squares' stream and on the trunk's.
    fn stream_peaks(&self) -> (f64, f64) {
        let (mut squares, mut trunk) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        for layer in layers(self.config) {
            let stream = match layer {
                Layer::Embedding => &mut squares,
                Layer::Attention(place) | Layer::FeedForward(place, _) | Layer::Ssm(place) => {
                    if place.on_squares() {
                        &mut squares
                    } else {
                        &mut trunk
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
            Layer::Attention(place) if place.on_squares() => self.square_attention(layer),
            Layer::Attention(_) => self.trunk_attention(layer),
            Layer::FeedForward(place, hidden) => self.feed_forward(layer, place, hidden as usize),
            Layer::Ssm(_) => self.state_space(layer),
            Layer::EncoderNorm => {
                let weight = self.vector(layer, Role::FinalNorm);
                let inputs = self.noted(layer, Signal::Output, self.squares_normed.clone());
                self.norm(&weight, self.squares_unit, &inputs.units);
            }
            Layer::Pool => {
                let rows = self.squares_normed.units.iter();
                let factors: Vec<f64> =
                    rows.map(|unit| unit / SQUARES as f64 / self.trunk_unit).collect();
                self.words(scale(&factors));
            }
            Layer::TrunkNorm => {
                let weight = self.vector(layer, Role::FinalNorm);
                let inputs = self.noted(layer, Signal::Output, self.trunk_normed.clone());
                self.norm(&weight, self.trunk_unit, &inputs.units);
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

    /// A whole signal as the inputs of matrices with one token.
    fn inputs(&mut self, layer: Layer, signal: Signal) -> Inputs {
        let observed = self.statistics.of(layer, signal);
        self.noted(layer, signal, inputs(observed, 0..observed.width()))
    }

    /// A whole signal as the inputs of the squares' matrices `readers`.
    fn squares_inputs(
        &mut self,
        layer: Layer,
        signal: Signal,
        width: Width,
        readers: &[Role],
    ) -> Inputs {
        let readers: Vec<Dense> = readers.iter().map(|&role| self.dense(layer, role)).collect();
        let observed = self.statistics.of(layer, signal);
        self.noted(layer, signal, squares_inputs(observed, width, &largest_weights(&readers)))
    }

    /// The same inputs, whose ranges are told with the file.
    fn noted(&mut self, layer: Layer, signal: Signal, inputs: Inputs) -> Inputs {
        let ranges = inputs.units.iter().map(|unit| unit * inputs.limit).collect();
        self.ranges.push(InputRanges { layer, signal, ranges });
        inputs
    }

    /// A matrix's weights and scales.
    fn linear(&mut self, which: Matrix, matrix: &Dense, inputs: &Inputs, output_units: &[f64]) {
        let quantized = quantize(matrix, inputs, output_units, which.bits(self.precision.weights));
        self.bytes(quantized.packed);
        self.words(quantized.scales);
    }

    /// A matrix that adds to a stream.
    fn add_to_stream(&mut self, which: Matrix, matrix: &Dense, inputs: &Inputs, unit: f64) {
        self.linear(which, matrix, inputs, &vec![unit; self.width()]);
    }

    /// A norm over a stream that counts `stream_unit` a step, whose outputs count `units`.
    fn norm(&mut self, weight: &[f64], stream_unit: f64, units: &[f64]) {
        let width = weight.len() as f64;
        let gains: Vec<f64> =
            weight.iter().zip(units).map(|(w, unit)| w * width.sqrt() / unit).collect();
        let most = gains.iter().fold(0.0, |most: f64, gain| most.max(gain.abs()));
        let most = most.max(f64::MIN_POSITIVE);
        let widest = f64::from(Shift::MOST);
        let shift = (f64::from(i16::MAX) / most).log2().floor().clamp(-widest, widest);
        let epsilon = width * f64::from(NORM_EPSILON) / (stream_unit * stream_unit);
        let epsilon = epsilon.round().min(f64::from(u32::MAX)) as u32;
        self.words(vec![shift as i32, epsilon.cast_signed()]);
        self.halves(gains.iter().map(|&gain| half(gain, (-shift).exp2())).collect());
    }

    fn biases(&mut self, bias: &[f64], unit: f64) {
        self.words(bias.iter().map(|&x| word(x, unit)).collect());
    }

    /// From the common fixed point to activations.
    fn rescale(&mut self, units: &[f64]) {
        self.words(scale(&units.iter().map(|unit| ACTIVATION_UNIT / unit).collect::<Vec<_>>()));
    }
}
