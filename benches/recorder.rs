//! One sample, a start and a stop, against the two clock reads that it cannot do without.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use fastrnns_rs::timing::{Clock, Recorder};

fn recorder(criterion: &mut Criterion) {
    let clock = Clock::start();
    let mut group = criterion.benchmark_group("one sample");
    group.bench_function("two clock reads (the floor)", |bencher| {
        bencher.iter(|| (black_box(clock.ticks()), black_box(clock.ticks())));
    });
    group.bench_function("two reads of std::time::Instant", |bencher| {
        bencher.iter(|| (black_box(std::time::Instant::now()), black_box(std::time::Instant::now())));
    });
    group.bench_function("two marks of the recorder", |bencher| {
        // Twice as much as a loop is likely to need would not stay in the cache, and the loop's own samples do.
        const ITERATIONS: usize = 10_000;
        bencher.iter_custom(|count| {
            let mut spent = std::time::Duration::ZERO;
            let mut left = count as usize;
            while left > 0 {
                let now = left.min(ITERATIONS);
                let recorder = Recorder::new(ITERATIONS, 2).expect("small");
                let began = std::time::Instant::now();
                for _ in 0..now {
                    recorder.mark();
                    recorder.mark();
                }
                spent += began.elapsed();
                black_box(recorder.iterations());
                left -= now;
            }
            spent
        });
    });
    group.finish();
}

criterion_group!(benches, recorder);
criterion_main!(benches);
