//! The batch both sides learn: random, but of the shape of real positions.
use burn::tensor::{Device, Int, Tensor, TensorData};
use kibitzer_core::inputs::{AUX, SQUARES, TOKENS};
use kibitzer_gpu::{Batch, Pair, pairs};
use rand::{Rng as _, RngExt as _, rngs::ChaCha8Rng, seq::SliceRandom as _};

/// Legal moves of a position, about as many as in a middlegame.
const LEGAL: usize = 35;
/// Underpromotion planes of a square.
const PLANES: i32 = 9;

/// A batch of single positions, each with [`LEGAL`] legal moves.
pub fn random(positions: usize, rng: &mut ChaCha8Rng) -> Batch {
    let mut moves: Vec<u16> = (0u16..).zip(pairs()).filter_map(|(i, p)| p.map(|_| i)).collect();
    let mut batch = Batch { sequences: positions, length: 1, ..Batch::default() };
    batch.legal_offsets.push(0);
    for _ in 0..positions {
        let (legal, _) = moves.partial_shuffle(rng, LEGAL);
        legal.sort_unstable();
        batch.legal.extend_from_slice(legal);
        batch.legal_offsets.push(batch.legal.len() as u32);
        let weights: Vec<f32> = legal.iter().map(|_| rng.random_range(0.01..1.0)).collect();
        let sum: f32 = weights.iter().sum();
        batch.target_policy.extend(weights.iter().map(|weight| weight / sum));
    }
    batch.tokens =
        (0..positions * SQUARES).map(|_| (rng.next_u32() as usize % TOKENS) as u8).collect();
    batch.aux = (0..positions * AUX).map(|_| rng.random()).collect();
    batch.target_value = (0..positions).map(|_| rng.random_range(-1.0..1.0)).collect();
    batch
}

/// The same batch as burn's tensors, already on the device.
#[derive(Debug, Clone)]
pub struct Tensors {
    /// Board tokens `[N, 64]`.
    pub tokens: Tensor<2, Int>,
    /// Scalars `[N, 7]`.
    pub aux: Tensor<2>,
    /// Move indices `[N, 35]`.
    pub legal: Tensor<2, Int>,
    /// `64 · from + to` of each `[N, 35]`.
    pub pair: Tensor<2, Int>,
    /// `9 · from + plane` of each, 0 where there is none `[N, 35]`.
    pub promotion: Tensor<2, Int>,
    /// 1 where a move underpromotes, else 0 `[N, 35]`.
    pub promotes: Tensor<2>,
    /// Wanted probabilities `[N, 35]`.
    pub policy: Tensor<2>,
    /// Wanted values `[N, 1]`.
    pub value: Tensor<2>,
}

impl Tensors {
    /// Uploads a batch that [`random`] made.
    pub fn new(batch: &Batch, device: &Device) -> Tensors {
        let n = batch.positions();
        let moves: Vec<Pair> =
            batch.legal.iter().filter_map(|&index| pairs()[usize::from(index)]).collect();
        let of_moves = |pick: &dyn Fn(&Pair) -> i32| {
            ints(moves.iter().map(pick).collect(), [n, LEGAL], device)
        };
        let promotes = moves.iter().map(|pair| f32::from(u8::from(pair.promotion.is_some())));
        Tensors {
            tokens: ints(batch.tokens.iter().map(|&t| t.into()).collect(), [n, SQUARES], device),
            aux: floats(batch.aux.clone(), [n, AUX], device),
            legal: ints(batch.legal.iter().map(|&m| m.into()).collect(), [n, LEGAL], device),
            pair: of_moves(&|pair| i32::from(pair.from) * SQUARES as i32 + i32::from(pair.to)),
            promotion: of_moves(&|pair| {
                pair.promotion.map_or(0, |plane| i32::from(pair.from) * PLANES + i32::from(plane))
            }),
            promotes: floats(promotes.collect(), [n, LEGAL], device),
            policy: floats(batch.target_policy.clone(), [n, LEGAL], device),
            value: floats(batch.target_value.clone(), [n, 1], device),
        }
    }
}

fn ints(values: Vec<i32>, shape: [usize; 2], device: &Device) -> Tensor<2, Int> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn floats(values: Vec<f32>, shape: [usize; 2], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values, shape), device)
}
