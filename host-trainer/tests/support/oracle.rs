//! The network at a sequence length of one in plain double precision, written from its formulas.
use std::collections::HashMap;

use kibitzer_core::{
    inputs::{AUX, AUX_DENOMINATOR, Inputs, SQUARES},
    moves::{MOVES, MoveIndex},
    net::{Config, Layer, Place, PolicyHead, Role, layers, tensors},
};
use kibitzer_gpu::program::Signal;

/// Where every intermediate result goes: layer, signal, width, rows.
pub type Observe<'a> = &'a mut dyn FnMut(Layer, Signal, usize, &[f64]);

/// The float network.
pub struct Oracle<'a> {
    config: &'a Config,
    parameters: HashMap<String, Vec<f64>>,
    layers: Vec<Layer>,
}

/// Logits of all 4,672 moves (meaningless off the board) and the value.
pub struct Answer {
    pub logits: Vec<f64>,
    pub value: f64,
}

fn key(layer: Layer, role: Role) -> String {
    format!("{layer:?}{role:?}")
}

/// `rows · weightᵀ`.
fn linear(rows: &[f64], weight: &[f64], columns: usize) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    rows.chunks_exact(columns)
        .flat_map(|row| weight.chunks_exact(columns).map(move |w| dot(w, row)))
        .collect()
}

fn add(to: &mut [f64], what: &[f64]) {
    let period = what.len();
    for (i, x) in to.iter_mut().enumerate() {
        *x += what[i % period];
    }
}

fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

impl<'a> Oracle<'a> {
    pub fn new(config: &'a Config, parameters: &[f32]) -> Oracle<'a> {
        let named = tensors(config).map(|t| {
            let values = parameters[t.range()].iter().map(|&x| f64::from(x)).collect();
            (key(t.layer, t.role), values)
        });
        Oracle { config, parameters: named.collect(), layers: layers(config).collect() }
    }

    fn get(&self, layer: Layer, role: Role) -> &[f64] {
        &self.parameters[&key(layer, role)]
    }

    fn width(&self) -> usize {
        self.config.width as usize
    }

    fn norm(&self, x: &[f64], weight: &[f64]) -> Vec<f64> {
        x.chunks_exact(self.width())
            .flat_map(|row| {
                let square = row.iter().map(|x| x * x).sum::<f64>() / self.width() as f64;
                let factor = (square + 1e-6).sqrt().recip();
                row.iter().zip(weight).map(move |(x, w)| x * factor * w)
            })
            .collect()
    }

    pub fn run(&self, inputs: &Inputs, observe: Observe<'_>) -> Answer {
        let mut answer = Answer { logits: vec![], value: 0.0 };
        let (mut x, mut squares) = (vec![], vec![]);
        for &layer in &self.layers {
            match layer {
                Layer::Embedding => x = self.embedding(layer, inputs),
                Layer::Attention(place) => self.attention(layer, place, &mut x, observe),
                Layer::FeedForward(_, hidden) => {
                    self.feed_forward(layer, hidden as usize, &mut x, observe);
                }
                Layer::Ssm(_) => self.ssm(layer, &mut x, observe),
                Layer::EncoderNorm => {
                    x = self.norm(&x, self.get(layer, Role::FinalNorm));
                    squares.clone_from(&x);
                }
                Layer::Pool => {
                    let mean = |c| squares.iter().skip(c).step_by(self.width()).sum::<f64>() / 64.0;
                    x = (0..self.width()).map(mean).collect();
                }
                Layer::TrunkNorm => x = self.norm(&x, self.get(layer, Role::FinalNorm)),
                Layer::Policy(PolicyHead::Pooled) => {
                    answer.logits = linear(&x, self.get(layer, Role::PolicyWeight), self.width());
                    add(&mut answer.logits, self.get(layer, Role::PolicyBias));
                    continue;
                }
                Layer::Policy(PolicyHead::FromTo) => {
                    answer.logits = self.pairs(layer, &squares, &x, observe);
                    continue;
                }
                Layer::Value => {
                    answer.value = self.value(layer, &x, observe);
                    continue;
                }
            }
            observe(layer, Signal::Output, self.width(), &x);
        }
        answer
    }

    fn embedding(&self, layer: Layer, inputs: &Inputs) -> Vec<f64> {
        let (width, aux) = (self.width(), self.get(layer, Role::Aux));
        let value = |square: usize, c: usize| {
            let token = usize::from(inputs.tokens[square]);
            let scalar = |j| f64::from(inputs.aux[j]) / f64::from(AUX_DENOMINATOR[j]);
            self.get(layer, Role::Piece)[token * width + c]
                + self.get(layer, Role::Square)[square * width + c]
                + (0..AUX).map(|j| aux[c * AUX + j] * scalar(j)).sum::<f64>()
        };
        (0..SQUARES * width).map(|i| value(i / width, i % width)).collect()
    }

    fn attention(&self, layer: Layer, place: Place, x: &mut [f64], observe: Observe<'_>) {
        let (width, heads) = (self.width(), self.config.heads as usize);
        let (rows, dim) = (x.len() / width, width / heads);
        let normed = self.norm(x, self.get(layer, Role::Norm1));
        observe(layer, Signal::Normed, width, &normed);
        let [q, k, v] = [Role::Query, Role::Key, Role::AttentionValue]
            .map(|role| linear(&normed, self.get(layer, role), width));
        let side = |row: usize| [&q, &k, &v].map(|m| m[row * width..][..width].to_vec()).concat();
        observe(layer, Signal::Qkv, 3 * width, &(0..rows).flat_map(side).collect::<Vec<_>>());
        let mut context = vec![0.0; x.len()];
        for head in 0..heads {
            let at = |row: usize, c: usize| row * width + head * dim + c;
            for query in 0..rows {
                let score = |key: usize| {
                    let sum: f64 = (0..dim).map(|c| q[at(query, c)] * k[at(key, c)]).sum();
                    let bias = match place {
                        Place::EncoderBlock(_) if self.config.attention_bias => {
                            self.get(layer, Role::AttentionBias)[(head * 64 + query) * 64 + key]
                        }
                        _ => 0.0,
                    };
                    sum / (dim as f64).sqrt() + bias
                };
                let probabilities = softmax(&(0..rows).map(score).collect::<Vec<_>>());
                for (key, p) in probabilities.iter().enumerate() {
                    (0..dim).for_each(|c| context[at(query, c)] += p * v[at(key, c)]);
                }
            }
        }
        observe(layer, Signal::Attended, width, &context);
        add(x, &linear(&context, self.get(layer, Role::Output), width));
    }

    fn feed_forward(&self, layer: Layer, hidden: usize, x: &mut [f64], observe: Observe<'_>) {
        let width = self.width();
        let normed = self.norm(x, self.get(layer, Role::Norm2));
        observe(layer, Signal::Normed, width, &normed);
        let weights = [self.get(layer, Role::Gate), self.get(layer, Role::Up)].concat();
        let gate_up = linear(&normed, &weights, width);
        observe(layer, Signal::GateUp, 2 * hidden, &gate_up);
        let gated = gate_up.chunks_exact(2 * hidden).flat_map(|row| {
            let (gate, up) = row.split_at(hidden);
            gate.iter().zip(up).map(|(g, u)| silu(*g) * u)
        });
        let gated: Vec<f64> = gated.collect();
        observe(layer, Signal::Hidden, hidden, &gated);
        add(x, &linear(&gated, self.get(layer, Role::Down), hidden));
    }

    fn ssm(&self, layer: Layer, x: &mut [f64], observe: Observe<'_>) {
        let c = self.config;
        let (inner, states) = (c.ssm_inner() as usize, c.ssm_state as usize);
        let (rank, taps) = (c.ssm_rank as usize, c.ssm_conv as usize);
        let normed = self.norm(x, self.get(layer, Role::Norm1));
        observe(layer, Signal::Normed, self.width(), &normed);
        let in_proj = linear(&normed, self.get(layer, Role::InProj), self.width());
        let (u, z) = in_proj.split_at(inner);
        let weight = self.get(layer, Role::ConvWeight);
        let bias = self.get(layer, Role::ConvBias);
        let u: Vec<f64> =
            (0..inner).map(|i| silu(u[i] * weight[(i + 1) * taps - 1] + bias[i])).collect();
        observe(layer, Signal::Convolved, inner, &u);
        let projected = linear(&u, self.get(layer, Role::XProj), inner);
        observe(layer, Signal::XProj, rank + 2 * states, &projected);
        let mut step = linear(&projected[..rank], self.get(layer, Role::StepWeight), rank);
        add(&mut step, self.get(layer, Role::StepBias));
        let (b, c) = projected[rank..].split_at(states);
        let product: f64 = b.iter().zip(c).map(|(b, c)| b * c).sum();
        let skip = self.get(layer, Role::Skip);
        let y = |i: usize| u[i] * (step[i].exp().ln_1p() * product + skip[i]) * silu(z[i]);
        let y: Vec<f64> = (0..inner).map(y).collect();
        observe(layer, Signal::Scanned, inner, &y);
        add(x, &linear(&y, self.get(layer, Role::OutProj), inner));
    }

    fn pairs(&self, layer: Layer, squares: &[f64], x: &[f64], observe: Observe<'_>) -> Vec<f64> {
        let (width, dim) = (self.width(), self.config.policy_dim as usize);
        let mut squares = squares.to_vec();
        add(&mut squares, &linear(x, self.get(layer, Role::Context), width));
        let apply = |weight, bias| {
            let mut out = linear(&squares, self.get(layer, weight), width);
            add(&mut out, self.get(layer, bias));
            out
        };
        let from = apply(Role::FromWeight, Role::FromBias);
        let to = apply(Role::ToWeight, Role::ToBias);
        let promotion = apply(Role::PromotionWeight, Role::PromotionBias);
        observe(layer, Signal::From, dim, &from);
        observe(layer, Signal::To, dim, &to);
        let logit = |i: usize| {
            let index = MoveIndex::from_usize(i)?;
            let (f, t) = (index.from() as usize, index.to()? as usize);
            let sum: f64 = (0..dim).map(|c| from[f * dim + c] * to[t * dim + c]).sum();
            let extra = index.underpromotion().map_or(0.0, |plane| promotion[f * 9 + plane]);
            Some(sum / (dim as f64).sqrt() + extra)
        };
        (0..MOVES).map(|i| logit(i).unwrap_or(f64::NEG_INFINITY)).collect()
    }

    fn value(&self, layer: Layer, x: &[f64], observe: Observe<'_>) -> f64 {
        let mut hidden = linear(x, self.get(layer, Role::Value1Weight), self.width());
        add(&mut hidden, self.get(layer, Role::Value1Bias));
        let gelu = |x: &f64| x * 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        let hidden: Vec<f64> = hidden.iter().map(gelu).collect();
        observe(layer, Signal::Hidden, hidden.len(), &hidden);
        let out = linear(&hidden, self.get(layer, Role::Value2Weight), hidden.len());
        (out[0] + self.get(layer, Role::Value2Bias)[0]).tanh()
    }
}
