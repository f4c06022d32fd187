//! The description of a large sample against one read of it, the least that any statistic needs.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fastrnns_rs::stats::describe::summarize;

/// Durations with a long tail, from a generator of our own so that every machine has the same.
fn samples(count: usize) -> Vec<u64> {
    let mut state = 1_u64;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            (1e6 * (1.0 - 0.1 * uniform.ln())) as u64
        })
        .collect()
}

fn summary(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("1e6 samples");
    group.sample_size(20);
    let samples = samples(1_000_000);
    group.throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("a sum (the floor)", |bencher| bencher.iter(|| black_box(&samples).iter().sum::<u64>()));
    group.bench_function("summarize", |bencher| bencher.iter(|| summarize(black_box(&samples), 0.95, &|| false)));
    group.finish();
}

criterion_group!(benches, summary);
criterion_main!(benches);
