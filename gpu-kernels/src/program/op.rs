//! The operations: formula, shapes and gradient of each.
use std::ops::Range;

use kibitzer_core::net::Tensor;

use super::{Buffer, View};

/// Added to the mean square in RMSNorm.
pub const NORM_EPSILON: f32 = 1e-6;

/// A parameter tensor's elements in the flat parameter vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// First element.
    pub offset: usize,
    /// Number of elements.
    pub len: usize,
}

impl Param {
    /// The range in the flat parameter vector.
    pub const fn range(self) -> Range<usize> {
        self.offset..self.offset + self.len
    }
}

impl From<Tensor> for Param {
    fn from(tensor: Tensor) -> Param {
        Param { offset: tensor.offset, len: tensor.shape.len() }
    }
}

/// A matrix `[outputs, inputs]` in the flat parameter vector. It may span several tensors that
/// lie one after the other and multiply the same input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// First element.
    pub offset: usize,
    /// Rows.
    pub outputs: usize,
    /// Columns.
    pub inputs: usize,
}

impl Matrix {
    /// The range in the flat parameter vector.
    pub const fn range(self) -> Range<usize> {
        self.offset..self.offset + self.outputs * self.inputs
    }
}

/// What attention looks over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The 64 squares of a position, all of them.
    Squares,
    /// The positions of a sequence, up to the query's own.
    Sequence,
}

/// A function applied element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointwise {
    /// `x · Φ(x)`, with the exact normal distribution function.
    Gelu,
    /// Hyperbolic tangent.
    Tanh,
}

/// An operation.
///
/// In the formulas x is the input, y the output, a dash marks the loss's gradient for what it
/// follows, and sums over rows run over all rows of the batch. The gradients of parameters add
/// to the flat gradient vector, which starts at zero; those of inputs follow
/// [`View::accumulate`]. R is the number of rows of the output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    /// `y[n, s] = piece[token[n, s]] + square[s] + aux · scalars[n]`, y `[N·64, D]`,
    /// piece `[13, D]`, square `[64, D]`, aux `[D, 7]`.
    Embed {
        /// y.
        output: Buffer,
        /// Embedding of the tokens.
        piece: Param,
        /// Embedding of the squares.
        square: Param,
        /// Projection of the scalars.
        aux: Param,
    },
    /// `y = x · r · w` with `r = 1 / √(mean(x²) + ε)`, x and y `[R, D]`, w `[D]`.
    /// `x' = r · (w·y' − x · r² · mean(w·y'·x))`, `w' = Σ_rows y' · x · r`.
    RmsNorm {
        /// x.
        input: View,
        /// y.
        output: Buffer,
        /// w.
        weight: Param,
    },
    /// `y = x Wᵀ + b + residual`, x `[R, I]`, W `[O, I]`, b `[O]`, y and residual `[R, O]`.
    /// `x' = y' W`, `W' = y'ᵀ x`, `b' = Σ_rows y'`; the residual's gradient is y' itself and
    /// shares its slot, so there is nothing to do for it.
    Linear {
        /// x.
        input: View,
        /// y.
        output: Buffer,
        /// W.
        weight: Matrix,
        /// b.
        bias: Option<Param>,
        /// A buffer of the output's shape that is added.
        residual: Option<Buffer>,
    },
    /// For each group of T rows and each head h, with `d = D / heads`: `P = softmax(Q Kᵀ / √d +
    /// bias[h])`, `y = P V`. The input's rows are `[q | k | v]`, 3·D wide, each D being the heads
    /// side by side; y is `[R, D]`, bias `[heads, 64, 64]` (query, key).
    /// Over squares T is 64 and there are N groups; over a sequence T is its length, and row i
    /// sees only rows up to i.
    /// `log_sum[row, h]`, `[R, heads]`, keeps the logarithm of the sum of exponentials of the
    /// scores, so that the backward pass finds `P = exp(score − log_sum)` again.
    /// `V' = Pᵀ y'`, `P' = y' Vᵀ`, `S' = P ∘ (P' − Σ_keys P∘P')`, `Q' = S' K / √d`,
    /// `K' = S'ᵀ Q / √d`, `bias' = Σ_groups S'`.
    Attention {
        /// Queries, keys and values.
        qkv: View,
        /// y.
        output: Buffer,
        /// Logarithms of the sums of exponentials.
        log_sum: Buffer,
        /// Number of heads.
        heads: usize,
        /// What the groups are.
        over: Over,
        /// Added to the scores; only over squares.
        bias: Option<Param>,
    },
    /// `y = silu(g) · u`, the input's rows being `[g | u]`, 2·H wide, y `[R, H]`;
    /// `silu(g) = g · σ(g)`.
    /// `u' = y' silu(g)`, `g' = y' u σ(g) (1 + g (1 − σ(g)))`.
    SwiGlu {
        /// Gate and up projection.
        input: View,
        /// y.
        output: Buffer,
    },
    /// `y[n] = mean_s x[n, s]`, x `[N·64, D]`, y `[N, D]`. `x'[n, s] = y'[n] / 64`.
    Pool {
        /// x.
        input: View,
        /// y.
        output: Buffer,
    },
    /// `y[n, s] = x[n, s] + c[n]`, x and y `[N·64, D]`, c `[N, D]`.
    /// `c'[n] = Σ_s y'[n, s]`; the gradient of x is y' itself and shares its slot, so there is
    /// nothing to do for it.
    AddContext {
        /// x.
        squares: Buffer,
        /// c.
        context: View,
        /// y.
        output: Buffer,
    },
    /// Causal depthwise convolution over the positions t of each sequence, then SiLU:
    /// `a[t, i] = b[i] + Σ_k w[i, k] · x[t − (K−1) + k, i]`, `y = silu(a)`, x and y `[N, I]`,
    /// w `[I, K]`, b `[I]`; x before the sequence's start is 0. At length 1 only the last tap
    /// counts. `a' = y' σ(a) (1 + a (1 − σ(a)))`, `x'[t] = Σ_k w[k] a'[t + (K−1) − k]`,
    /// `w'[k] = Σ a'[t] x[t − (K−1) + k]`, `b' = Σ a'`.
    Conv {
        /// x.
        input: View,
        /// y.
        output: Buffer,
        /// w.
        weight: Param,
        /// b.
        bias: Param,
        /// Number of taps K.
        taps: usize,
    },
    /// Selective scan over the positions t of each sequence, for every channel i of I, with
    /// `Δ = softplus(step)`, `A = −exp(a_log)`, states s of S, and h zero before the start:
    /// `h[t, i, s] = exp(Δ[t, i] A[i, s]) h[t−1, i, s] + Δ[t, i] u[t, i] B[t, s]`,
    /// `g[t, i] = Σ_s h[t, i, s] C[t, s] + skip[i] u[t, i]`, `y = g · silu(z)`.
    /// u, step, z and y are `[N, I]`; the rows of `bc` are `[B | C]`, 2·S wide; a_log `[I, S]`,
    /// skip `[I]`. At length 1: `g = Δ u (B·C) + skip u`, and a_log has no gradient.
    Scan {
        /// u.
        u: View,
        /// Step size before the softplus.
        step: View,
        /// B and C.
        bc: View,
        /// z.
        z: View,
        /// y.
        output: Buffer,
        /// Logarithm of the decay rates.
        decay_log: Param,
        /// Skip connection; it follows the decay rates.
        skip: Param,
        /// Number of states S.
        states: usize,
    },
    /// `y = f(x)`, element by element, same shapes.
    Pointwise {
        /// f.
        function: Pointwise,
        /// x.
        input: View,
        /// y.
        output: Buffer,
    },
    /// One logit a legal entry e of position n with move index m: `y[e] = x[n] · W[m] + b[m]`,
    /// x `[N, D]`, W `[4672, D]`, b `[4672]`, y `[E, 1]`.
    /// `x'[n] = Σ_e y'[e] W[m]`, `W'[m] += y'[e] x[n]`, `b'[m] += y'[e]`.
    LegalLinear {
        /// x.
        input: View,
        /// y.
        output: Buffer,
        /// W.
        weight: Matrix,
        /// b.
        bias: Param,
    },
    /// One logit a legal entry e of position n, from square f to square t ([`crate::pairs`]):
    /// `y[e] = from[n, f] · to[n, t] / √P`, and for underpromotion plane k `+ promotion[n, f, k]`;
    /// from and to `[N·64, P]`, promotion `[N·64, 9]`, y `[E, 1]`.
    /// Squares without a legal entry get gradient 0.
    FromTo {
        /// From vectors.
        from: View,
        /// To vectors.
        to: View,
        /// Underpromotion scores.
        promotion: View,
        /// y.
        output: Buffer,
    },
    /// With p the softmax of a position's logits, q the target probabilities, v and w the value
    /// and its target: `policy = −mean_n Σ_e q log p`, `value = mean_n (v − w)²`,
    /// `total = policy + value_weight · value`, means over N.
    /// `logits' = (p − q) / N` (the targets adding up to 1), `v' = 2 value_weight (v − w) / N`.
    /// Evaluation leaves it out.
    Loss {
        /// Logits `[E, 1]`.
        logits: View,
        /// Values `[N, 1]`.
        values: View,
    },
}

impl Op {
    /// The ranges of the flat parameter vector that the operation reads, in the order of its
    /// fields; a scan's decay rates and skip connection lie one after the other and are one range.
    pub fn parameters(&self) -> Vec<Range<usize>> {
        match *self {
            Op::Embed { piece, square, aux, .. } => {
                vec![piece.range(), square.range(), aux.range()]
            }
            Op::RmsNorm { weight, .. } => vec![weight.range()],
            Op::Linear { weight, bias, .. } => {
                std::iter::once(weight.range()).chain(bias.map(|bias| bias.range())).collect()
            }
            Op::Attention { bias, .. } => bias.map(|bias| bias.range()).into_iter().collect(),
            Op::Conv { weight, bias, .. } => vec![weight.range(), bias.range()],
            Op::Scan { decay_log, skip, .. } => {
                debug_assert_eq!(decay_log.range().end, skip.offset, "they are bound as one");
                let both = Param { offset: decay_log.offset, len: decay_log.len + skip.len };
                vec![both.range()]
            }
            Op::LegalLinear { weight, bias, .. } => vec![weight.range(), bias.range()],
            Op::SwiGlu { .. }
            | Op::Pool { .. }
            | Op::AddContext { .. }
            | Op::Pointwise { .. }
            | Op::FromTo { .. }
            | Op::Loss { .. } => vec![],
        }
    }
}
