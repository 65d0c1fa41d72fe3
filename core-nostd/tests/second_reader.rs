//! `docs/kbz.md` is enough to read a model file and to compute its answers: a reader written from
//! it gives the core's.
#[allow(dead_code, reason = "each test file uses its own part")]
mod common;
mod configs;
mod positions;
mod random;
mod reader;

use std::fs;

use common::file_with;
use configs::configs;
use kibitzer_core::{
    net::{Config, InputBits, Model, PolicyHead, Precision, WeightBits, hash},
    position::parse_fen,
    shakmaty::Chess,
};
use positions::positions;
use reader::{File, Inputs, evaluate, move_number, probabilities};

/// Every kind of move: castling, en passant, promotions for both sides.
const FENS: [&str; 5] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 297 1",
    "8/8/3p4/KPp4r/1R3p1k/8/4P1P1/8 w - c6 0 2",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 33 20",
];

/// Compares the logit and the probability of every legal move, and the value.
fn compare(bytes: &[u8], positions: &[Chess], what: &str) {
    let model = Model::parse(bytes).unwrap();
    let file = File::read(bytes);
    let mover = file.shape.mover;
    let mut scratch = vec![0; model.scratch_bytes()];
    for position in positions {
        let ours = model.evaluate(position, &mut scratch).unwrap();
        let theirs = evaluate(&file, &Inputs::of(position, mover));
        assert_eq!(i128::from(ours.value()), theirs.value, "{what}: the value of {position:?}");
        let logits: Vec<_> = ours
            .moves()
            .iter()
            .map(|scored| {
                let (number, to) = move_number(position, scored.mv, mover);
                assert_eq!(scored.index.to_usize(), number, "{}", scored.mv);
                theirs.logit(number, to)
            })
            .collect();
        let moves = || ours.moves().iter();
        assert!(moves().map(|m| i128::from(m.logit)).eq(logits.clone()), "{what}: {position:?}");
        assert!(moves().map(|m| i128::from(m.probability)).eq(probabilities(&logits)), "{what}");
    }
}

#[test]
fn files_of_random_integers_mean_the_same() {
    let positions = FENS.map(|fen| parse_fen(fen).unwrap());
    let [a, b, c] = configs();
    let odd = Config { width: 21, heads: 3, ffn_mult: 2, policy_dim: 5, ..a.clone() };
    let pooled = Config { policy_head: PolicyHead::Pooled, ..odd.clone() };
    for (number, config) in [a, b, c, odd, pooled].iter().enumerate() {
        for weights in [WeightBits::Eight, WeightBits::Four] {
            for inputs in [InputBits::Eight, InputBits::Eleven, InputBits::Mixed] {
                for (wild, seed) in [(false, 11), (true, 12), (true, 13)] {
                    let precision = Precision { weights, inputs };
                    let bytes = file_with(config, hash(config), precision, wild, seed);
                    let what = format!("configuration {number}, {precision:?}, seed {seed}");
                    compare(&bytes, &positions, &what);
                }
            }
        }
    }
}

#[test]
fn the_demo_network_means_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/demo.kbz");
    let positions: Vec<_> = positions().into_iter().step_by(40).collect();
    compare(&fs::read(path).unwrap(), &positions, "demo.kbz");
}
