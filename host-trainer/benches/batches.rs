//! Positions a second that one thread makes ready for training.
//!
//! `cargo bench -p kibitzer-trainer --bench batches`; to be held against the positions a second
//! that a network learns, which `kibitzer train` shows with its share of waiting.
use std::{hint::black_box, path::Path};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kibitzer_core::inputs::{Frame, Inputs, Perspective};
use kibitzer_core::{moves::MoveIndex, shakmaty::Position as _};
use kibitzer_trainer::{batches, order::Order, records::Records};

fn prepare(criterion: &mut Criterion) {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/selfplay.pgn.zst");
    let records = Records::open(&games).expect("the fixture is there");
    let mut group = criterion.benchmark_group("position");
    group.throughput(Throughput::Elements(1));
    let mut number = 0;
    let mut next = || {
        number = (number + 7919) % records.len();
        &records[number]
    };
    group.bench_function("rebuilt", |bench| bench.iter(|| black_box(next().position())));
    group.bench_function("with its moves", |bench| {
        bench.iter(|| black_box(next().position().expect("whole").legal_moves().len()));
    });
    group.bench_function("with its inputs", |bench| {
        bench.iter(|| {
            let position = next().position().expect("whole");
            black_box(Inputs::new(&position, Perspective::Mover))
        });
    });
    group.bench_function("with its moves' indices", |bench| {
        bench.iter(|| {
            let position = next().position().expect("whole");
            let frame = Frame::new(Perspective::Mover, position.turn());
            let moves = position.legal_moves();
            black_box(moves.iter().map(|&mv| MoveIndex::new(mv, frame).to_usize()).sum::<usize>())
        });
    });
    let mut batch = batches::with_capacity(256);
    group.bench_function("in a batch", |bench| {
        bench.iter(|| {
            if batch.sequences == 256 {
                batch = batches::with_capacity(256);
            }
            batches::push_record(&mut batch, next(), Perspective::Mover).expect("whole");
        });
    });
    let (mut order, mut place) =
        (Order::new((0..40_000_000).filter(|i| i % 1600 > 80).collect(), 1), 0);
    group.bench_function("found in the order", |bench| {
        bench.iter(|| {
            place += 1;
            black_box(order.at(place))
        });
    });
    group.finish();
}

criterion_group!(benches, prepare);
criterion_main!(benches);
