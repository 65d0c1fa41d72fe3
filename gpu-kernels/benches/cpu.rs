//! Positions a second of the CPU backend, forward and in training.
//!
//! `cargo bench -p kibitzer-gpu --bench cpu`; RAYON_NUM_THREADS limits the threads.
use std::hint::black_box;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use kibitzer_core::{
    inputs::{Perspective, SQUARES},
    net::{Config, PolicyHead},
};
use kibitzer_gpu::{AdamW, Backend as _, Batch, cpu::Cpu, pairs};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

/// Legal moves of a position, about as many as in a middlegame.
const LEGAL: usize = 35;

fn batch(positions: usize) -> Batch {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let moves: Vec<u16> = (0u16..).zip(pairs()).filter_map(|(m, p)| p.map(|_| m)).collect();
    let entries = positions * LEGAL;
    Batch {
        sequences: positions,
        length: 1,
        tokens: (0..positions * SQUARES).map(|_| rng.random_range(0..13)).collect(),
        aux: (0..positions * 7).map(|_| rng.random_range(-1.0..1.0)).collect(),
        legal_offsets: (0..=positions).map(|n| (n * LEGAL) as u32).collect(),
        legal: (0..entries).map(|_| moves[rng.random_range(0..moves.len())]).collect(),
        target_policy: vec![1.0 / LEGAL as f32; entries],
        target_value: (0..positions).map(|_| rng.random_range(-1.0..1.0)).collect(),
    }
}

fn small() -> Config {
    Config {
        width: 64,
        heads: 4,
        trunk: "ASSA".try_into().expect("a short trunk"),
        ssm_state: 16,
        ssm_rank: 8,
        perspective: Perspective::Mover,
        policy_head: PolicyHead::FromTo,
        attention_bias: true,
        ..Config::default()
    }
}

fn speed(criterion: &mut Criterion) {
    for (name, config, positions) in [("full", Config::default(), 64), ("w64", small(), 256)] {
        let batch = batch(positions);
        let mut cpu = Cpu::new(&config, 1, positions).expect("a sound configuration");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(positions as u64));
        group.sampling_mode(SamplingMode::Flat).sample_size(10);
        group.bench_function("forward", |b| {
            b.iter(|| cpu.evaluate(black_box(&batch)).expect("a sound batch"));
        });
        let hyper = AdamW::default();
        group.bench_function("train", |b| {
            b.iter(|| cpu.step(black_box(&batch), &hyper, 0.25).expect("a sound batch"));
        });
        group.finish();
    }
}

criterion_group!(benches, speed);
criterion_main!(benches);
