//! What an analysis and its dear parts take on the host, over the fixture positions.
#[path = "../tests/positions/mod.rs"]
mod positions;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kibitzer_core::{
    exchange::{balance, exchanges, reaches},
    shakmaty::{Chess, Position as _},
    viveka::{FITTED, analyse, drop_of},
};
use positions::positions;

/// Each position after each of its moves, with the mover's balance before.
fn successors(positions: &[Chess]) -> Vec<(Chess, i32)> {
    let after = |position: &Chess| {
        let before = balance(position);
        let next = |mv| {
            let mut next = position.clone();
            next.play_unchecked(mv);
            (next, before)
        };
        position.legal_moves().into_iter().map(next).collect::<Vec<_>>()
    };
    positions.iter().flat_map(after).collect()
}

/// Times are for all positions together; the throughput is in positions or moves.
fn benches(criterion: &mut Criterion) {
    let positions = positions();
    let successors = successors(&positions);
    let mut group = criterion.benchmark_group("viveka");
    group.sample_size(10);
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("analysis", |bencher| {
        bencher.iter(|| {
            positions.iter().for_each(|position| {
                black_box(analyse(position, None, &FITTED));
            });
        });
    });
    group.bench_function("check of the first move", |bencher| {
        bencher.iter(|| {
            let first = |position: &Chess| position.legal_moves().first().copied();
            for position in &positions {
                black_box(first(position).map(|mv| drop_of(position, mv)));
            }
        });
    });
    group.throughput(Throughput::Elements(successors.len() as u64));
    group.bench_function("exchanges after a move", |bencher| {
        bencher.iter(|| successors.iter().map(|(next, _)| exchanges(next)).sum::<i32>());
    });
    group.bench_function("whether a move loses by exchanges", |bencher| {
        bencher.iter(|| successors.iter().filter(|(next, own)| reaches(next, 1 - own)).count());
    });
    group.finish();
}

criterion_group!(viveka, benches);
criterion_main!(viveka);
