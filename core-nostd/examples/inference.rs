//! The digest of this machine's answer to the initial position, as a board prints it, and the
//! multiply-adds that it takes: `inference NET.kbz`.
use std::error::Error;
use std::{env, fs};

use kibitzer_core::net::infer::self_test::{FIRST_MOVES, score_first_moves};
use kibitzer_core::net::{Config, Layer, Model, PolicyHead, kbz::from_to_rows, layers};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name the network's file")?;
    let bytes = fs::read(path)?;
    let model = Model::parse(&bytes)?;
    let mut scratch = vec![0; model.scratch_bytes()];
    let digest = score_first_moves(&model, &mut [0; FIRST_MOVES], &mut scratch)?;
    println!("digest {digest:016x}");
    println!("multiply-adds {}", multiply_adds(model.config()));
    Ok(())
}

/// Squares that the twenty moves leave, and squares that they reach.
const ENDS: u64 = 10 + 16;

/// Multiply-adds of all matrices and attention, scoring the initial position's moves.
fn multiply_adds(c: &Config) -> u64 {
    let [d, inner, rank, states, dim] =
        [c.width, c.ssm_inner(), c.ssm_rank, c.ssm_state, c.policy_dim].map(u64::from);
    let moves = FIRST_MOVES as u64;
    let of = |layer: Layer| {
        let on_squares = layer.place().on_squares();
        let rows = if on_squares { 64 } else { 1 };
        match layer {
            Layer::Embedding => 7 * d,
            Layer::Attention(_) if on_squares => 64 * (4 * d * d + 2 * 64 * d),
            Layer::Attention(_) => d * d,
            Layer::FeedForward(_, hidden) => rows * 3 * d * u64::from(hidden),
            Layer::Ssm(_) => inner * (3 * d + (rank + 2 * states) + rank) + states,
            Layer::EncoderNorm | Layer::Pool | Layer::TrunkNorm => 0,
            Layer::Policy(PolicyHead::Pooled) => moves * d,
            Layer::Policy(PolicyHead::FromTo) => {
                d * (u64::from(from_to_rows(c)) + ENDS * dim) + moves * dim
            }
            Layer::Value => d / 2 * (d + 1),
        }
    };
    layers(c).map(of).sum()
}
