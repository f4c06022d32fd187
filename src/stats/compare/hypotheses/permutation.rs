//! The permutation test of two sides.
#![allow(clippy::inline_always, reason = "kernels are compiled for the processor")]

use super::permutation_divisions::{AllDivisions, Divisions, WORD};
use super::permutation_statistic::{Distance, Means, Medians, Pool};
use crate::error::{Result, require, require_finite};
use crate::memory;
use crate::par;
use crate::results::result;
use crate::simd::{Kernel, vectorised};
use crate::stats::intervals::bootstrap::Resampling;
use crate::stats::samples::random::Stream;
use crate::stats::samples::{Statistic, check, finite};

/// Largest number of resamples, as of the bootstrap.
const MOST: u64 = Resampling::MOST as u64;
/// Values that divisions give to a side between two questions whether to go on: some milliseconds.
const PART: usize = 1 << 23;
/// Divisions that one thread draws at a time, unless they are large ones.
const MOST_OF_JOB: u64 = 4096;
/// Largest number of jobs, for any number of resamples.
const MOST_JOBS: u64 = 1 << 16;

result! {
    /// Result of `permutation_test`.
    pub struct PermutationTest {
        /// The candidate's mean or median less the baseline's, in the unit of the samples.
        pub difference: f64,
        /// The share of divisions that lie at least as far apart, in either direction; with random ones the observed counts too.
        pub p_value: f64,
        /// Number of divisions that were evaluated: as many as requested, or all.
        pub resamples: u64,
        /// True if all divisions were evaluated.
        pub exact: bool,
        /// Seed of random divisions; None if all were evaluated.
        pub seed: Option<u64>,
    }
}

/// Tests whether both sides could be one, divided at random: how often a division of all values into two sides of these sizes
/// puts their means, or medians, at least as far apart as they are.
///
/// If there are no more than `resamples` divisions all are looked at, and the p-value is exact. Else so many are drawn, and
/// the observed one is counted as one more, without which the test would not hold its level (Phipson and Smyth, 2010).
/// Distances count as equal if they differ by no more than rounding explains, some 10⁻¹⁴ of the values' spread.
///
/// The same seed gives the same result whatever the number of `threads`.
///
/// # Errors
/// An empty side; a NaN or an infinity, by position; a number of resamples out of range; a difference that overflows; an
/// interruption.
pub fn permutation_test(
    baseline: &[f64],
    candidate: &[f64],
    statistic: Statistic,
    resamples: u64,
    seed: u64,
    threads: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<PermutationTest> {
    finite("baseline", baseline, 1)?;
    finite("candidate", candidate, 1)?;
    require((1..=MOST).contains(&resamples), "resamples", resamples as f64, "from 1 to 100000000")?;
    let pool = Pool::of(baseline, candidate);
    let (difference, extreme) = match statistic {
        Statistic::Mean => {
            let means = Means::of(&pool);
            let mut observed = memory::filled(0, pool.len().div_ceil(WORD));
            AllDivisions::start(pool.len(), pool.small(), &mut observed);
            let test = Test::new(&pool, &means, &observed);
            (means.difference(&pool), test.extreme(resamples, seed, threads, interrupted))
        }
        Statistic::Median => {
            let (medians, observed) = Medians::of(&pool, interrupted)?;
            let test = Test::new(&pool, &medians, &observed);
            (medians.difference(&observed), test.extreme(resamples, seed, threads, interrupted))
        }
    };
    let difference = pool.difference(difference);
    require_finite("baseline and candidate", &[difference])?;
    let Extreme { divisions, all, exact } = extreme?;
    let p_value = if exact { divisions as f64 / all as f64 } else { (divisions + 1) as f64 / (all as f64 + 1.0) };
    Ok(PermutationTest { difference, p_value, resamples: all, exact, seed: (!exact).then_some(seed) })
}

/// Number of divisions of each line that lie as far apart as the observed one.
struct Extreme {
    divisions: u64,
    all: u64,
    exact: bool,
}

/// A pool, and from which distance on a division of it is extreme.
struct Test<'a, D> {
    distance: &'a D,
    least: f64,
    pool: usize,
    small: usize,
}

impl<'a, D: Distance> Test<'a, D> {
    fn new(pool: &Pool, distance: &'a D, observed: &[u64]) -> Self {
        let least = distance.of(observed) - distance.tolerance();
        Self { distance, least, pool: pool.len(), small: pool.small() }
    }

    fn extreme(&self, resamples: u64, seed: u64, threads: usize, interrupted: &dyn Fn() -> bool) -> Result<Extreme> {
        if let Some(all) = AllDivisions::count(self.pool, self.small, resamples) {
            return Ok(Extreme { divisions: self.of_all(all, interrupted)?, all, exact: true });
        }
        let job = self.part().min(MOST_OF_JOB).max(resamples.div_ceil(MOST_JOBS));
        let jobs = (0..resamples.div_ceil(job)).map(|number| (number, job.min(resamples - number * job)));
        let divisions = Divisions::new(self.pool, self.small);
        let counts = par::map_on(threads, jobs, interrupted, |(number, times), interrupted| {
            let (mut stream, mut bits) = (Stream::new(seed, number), self.nothing());
            self.in_parts(times, interrupted, |times| {
                vectorised(Random { test: self, divisions, stream: &mut stream, bits: &mut bits, times })
            })
        });
        let divisions = counts.into_iter().sum::<Result<u64>>()?;
        Ok(Extreme { divisions, all: resamples, exact: false })
    }

    /// Counts the extreme divisions among all, whose number is given.
    fn of_all(&self, all: u64, interrupted: &dyn Fn() -> bool) -> Result<u64> {
        let mut bits = self.nothing();
        let mut divisions = AllDivisions::start(self.pool, self.small, &mut bits);
        self.in_parts(all, interrupted, |times| {
            vectorised(Successive { test: self, divisions: &mut divisions, bits: &mut bits, times })
        })
    }

    /// Returns the sum of the results of `work` for `times`, a part at a time.
    fn in_parts(&self, times: u64, interrupted: &dyn Fn() -> bool, mut work: impl FnMut(u64) -> u64) -> Result<u64> {
        let (mut left, mut sum) = (times, 0);
        while left > 0 {
            check(interrupted)?;
            let part = self.part().min(left);
            sum += work(part);
            left -= part;
        }
        Ok(sum)
    }

    /// Divisions between two questions whether to go on.
    fn part(&self) -> u64 {
        (PART / self.pool).max(1) as u64
    }

    fn nothing(&self) -> Vec<u64> {
        memory::filled(0, self.pool.div_ceil(WORD))
    }

    #[inline(always)]
    fn is_extreme(&self, bits: &[u64]) -> u64 {
        u64::from(self.distance.of(bits) >= self.least)
    }
}

/// Random divisions: how many are extreme.
struct Random<'a, 'b, D> {
    test: &'b Test<'a, D>,
    divisions: Divisions,
    stream: &'b mut Stream,
    bits: &'b mut [u64],
    times: u64,
}

impl<D: Distance> Kernel for Random<'_, '_, D> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut extreme = 0;
        for _ in 0..self.times {
            self.divisions.draw(self.stream, self.bits);
            extreme += self.test.is_extreme(self.bits);
        }
        extreme
    }
}

/// The next of all divisions: how many are extreme.
struct Successive<'a, 'b, D> {
    test: &'b Test<'a, D>,
    divisions: &'b mut AllDivisions,
    bits: &'b mut [u64],
    times: u64,
}

impl<D: Distance> Kernel for Successive<'_, '_, D> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut extreme = 0;
        for _ in 0..self.times {
            extreme += self.test.is_extreme(self.bits);
            self.divisions.advance(self.bits);
        }
        extreme
    }
}
