//! The same bytes from every way to run the inner loops: those in plain Rust, for any target, and
//! those with the vectors of x86-64 (feature `std`).
#[allow(dead_code, reason = "each test file uses its own part")]
mod common;
mod positions;
mod random;

#[cfg(kernels = "x86")]
use common::file;
use common::file_with;
use kibitzer_core::{
    fnv,
    inputs::Perspective,
    net::{
        Config, InputBits, Model, PolicyHead, Precision, WeightBits, ample_scratch_bytes, hash,
        scratch_bytes,
    },
};
use positions::positions;

/// Answers to the fixture's positions by the inner loops in plain Rust, without `std`.
const PLAIN: [&str; 5] = [
    "43ffcf36fd10749c",
    "d33f97f33bd19d64",
    "a38c40219c424934",
    "d5d2196629a993b4",
    "2913101d63984011",
];

/// Widths that fill vectors, and widths that do not; odd vectors; every layer and option.
fn configs() -> [Config; 3] {
    let wide = Config {
        width: 64,
        heads: 4,
        encoder_blocks: 2,
        trunk: "SA".try_into().unwrap(),
        ffn_mult: 2,
        ssm_state: 8,
        ssm_rank: 8,
        ssm_ffn_mult: 2,
        perspective: Perspective::Mover,
        policy_head: PolicyHead::FromTo,
        policy_dim: 32,
        attention_bias: true,
        ..Config::default()
    };
    let uneven = Config { width: 42, heads: 6, policy_dim: 9, ffn_mult: 3, ..wide.clone() };
    let deep = Config {
        width: 40,
        heads: 1,
        ffn_mult: 8,
        policy_head: PolicyHead::Pooled,
        attention_bias: false,
        ..wide.clone()
    };
    [wide, uneven, deep]
}

/// A digest of the answers to every other one of the positions, in turn with as little scratch as
/// will do and with as much as helps.
fn digest(model: &Model<'_>) -> u64 {
    let config = model.config();
    let mut rooms = [scratch_bytes(config), ample_scratch_bytes(config)].map(|n| vec![0; n]);
    positions().iter().step_by(2).enumerate().fold(fnv::START, |digest, (i, position)| {
        let answer = model.evaluate(position, &mut rooms[i % 2]).unwrap();
        let logits = answer.moves().iter().map(|m| u64::from(m.logit.cast_unsigned()));
        let value = u64::from(answer.value().cast_unsigned());
        logits.fold(fnv::step(digest, value), fnv::step)
    })
}

/// The digests of every configuration, at last the first one's with weights of 4 bits, and with
/// inputs of 8.
fn digests() -> [u64; 5] {
    let of = |config: &Config, precision| {
        digest(&Model::parse(&file_with(config, hash(config), precision, false, 3)).unwrap())
    };
    let [a, b, c] = &configs();
    let usual = Precision::default();
    let [x, y, z] = [a, b, c].map(|config| of(config, usual));
    let nibbles = of(a, Precision { weights: WeightBits::Four, ..usual });
    [x, y, z, nibbles, of(a, Precision { inputs: InputBits::Eight, ..usual })]
}

/// Digests of answers at widths that fill vectors of several lengths, and by scales and shifts such as
/// no network has, of which vectors do a part.
#[cfg(kernels = "x86")]
fn more_digests() -> Vec<u64> {
    let [config, ..] = configs();
    let of = |config: &Config, wild| digest(&Model::parse(&file(config, wild, 5)).unwrap());
    let widths = (8..=96).step_by(8).map(|width| of(&Config { width, ..config.clone() }, false));
    widths.chain(configs().iter().map(|config| of(config, true))).collect()
}

#[test]
fn answers_equal_those_of_the_plain_loops() {
    let digests = || digests().map(|digest| format!("{digest:016x}"));
    assert_eq!(digests(), PLAIN);
    #[cfg(kernels = "x86")]
    {
        let mut more = None;
        for vectors in kibitzer_core::net::infer::Vectors::ALL {
            vectors.limit();
            assert_eq!(digests(), PLAIN, "{vectors:?}");
            let digests = more_digests();
            assert_eq!(more.get_or_insert(digests.clone()), &digests, "{vectors:?}");
        }
        limited_meanwhile();
    }
}

/// While another thread limits the vectors, answers stay the same.
#[cfg(kernels = "x86")]
fn limited_meanwhile() {
    use kibitzer_core::net::infer::Vectors;
    use std::{
        sync::atomic::{AtomicBool, Ordering::Relaxed},
        thread,
    };

    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Relaxed) {
                Vectors::ALL.into_iter().for_each(Vectors::limit);
            }
        });
        let config = &configs()[0];
        let bytes = file(config, false, 5);
        let model = Model::parse(&bytes).unwrap();
        let position = positions().swap_remove(0);
        let mut scratch = vec![0; ample_scratch_bytes(config)];
        let mut evaluate = || model.evaluate(&position, &mut scratch);
        let first = evaluate();
        let is_same = (0..1000).all(|_| evaluate() == first);
        // Before anything can panic: the thread would go on.
        is_done.store(true, Relaxed);
        assert!(first.is_ok() && is_same, "{:?}", first.err());
    });
    Vectors::best().limit();
}
