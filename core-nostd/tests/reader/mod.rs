//! A second reader of model files and a second inference, written from `docs/kbz.md` alone: plain
//! loops over wide integers, and nothing of the core's but the rules of chess.
//!
//! | file | holds |
//! | --- | --- |
//! | `file.rs` | frame, header, hash; sections in their order |
//! | `numbers.rs` | rescaling, norms, curves, powers |
//! | `layers.rs` | the layers that work on the streams |
//! | `heads.rs` | policy, value, probabilities |
//! | `position.rs` | what the network reads, and the moves' numbers |
mod file;
mod heads;
mod layers;
mod numbers;
mod position;

pub use file::File;
pub use heads::probabilities;
pub use position::{Inputs, move_number};

use heads::{FromTo, Policy, Pooled};
use layers::{attention, embedding, feed_forward, state_space, trunk_attention};
use numbers::{Curves, Norm};

/// What the network says of a position.
pub struct Answer {
    policy: Policy,
    /// In units of 2^-15.
    pub value: i128,
}

impl Answer {
    /// The logit of a move's number, which leads to square `to`.
    pub fn logit(&self, number: usize, to: usize) -> i128 {
        match &self.policy {
            Policy::Pooled(pooled) => pooled.logit(number),
            Policy::FromTo(from_to) => from_to.logit(number, to),
        }
    }
}

/// Reads the sections one after another and runs each layer as it is read.
pub fn evaluate(file: &File<'_>, inputs: &Inputs) -> Answer {
    let shape = &file.shape;
    let sections = &mut file.sections();
    let curves = Curves::read(sections);
    let mut squares = embedding(sections, shape, inputs);
    for _ in 0..shape.encoder_blocks {
        attention(sections, shape, &mut squares);
        feed_forward(sections, shape, &curves, &mut squares, shape.ffn_mult, true);
    }
    let norm = Norm::read(sections, shape.width);
    let squares: Vec<_> = squares.iter().map(|row| norm.apply(row, shape.wide())).collect();
    let mut trunk = vec![layers::pool(sections, &squares)];
    for letter in shape.trunk.clone() {
        if letter == b'A' {
            trunk_attention(sections, shape, &mut trunk[0]);
            feed_forward(sections, shape, &curves, &mut trunk, shape.ffn_mult, false);
        } else {
            state_space(sections, shape, &curves, &mut trunk[0]);
            feed_forward(sections, shape, &curves, &mut trunk, shape.ssm_ffn_mult, false);
        }
    }
    let trunk = Norm::read(sections, shape.width).apply(&trunk[0], shape.wide());
    let policy = if shape.from_to {
        Policy::FromTo(FromTo::read(sections, shape, &squares, &trunk))
    } else {
        Policy::Pooled(Pooled::read(sections, shape, &trunk))
    };
    let value = heads::value(sections, shape, &curves, &trunk);
    assert!(sections.is_at_end(), "sections are left");
    Answer { policy, value }
}
