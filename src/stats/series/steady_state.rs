//! Steady state of the iteration times of one process.

use super::candidates::Cost;
use super::changepoints::default_penalty;
use super::levels::{Equality, Level};
use super::pelt::{ChangePointOptions, partition};
use super::points::{FAR, Points};
use super::steady_part::{INTERRUPTION, SteadyPart};
use crate::error::{Result, require, words};
use crate::memory;
use crate::results::result;
use crate::stats::samples::{check, inside_0_and_1, median, not_negative, positive};

/// Fewer iterations say nothing about settling.
const LEAST_ITERATIONS: usize = 10;
/// Noise of a thousandth and less is no reason for segments; in squared logarithms.
const COST: Cost = Cost::MeanVariance { added_variance: 1e-6 };
/// One slow iteration at the start is the first call; more are a warm-up.
const FIRST_CALLS: usize = 1;

/// Options of [`steady_state`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyOptions {
    /// Levels within this of the last one, as a ratio, are the same.
    pub tolerance: f64,
    /// The least share of the iterations that must be steady.
    pub least_share: f64,
    /// Penalty of one more segment; `None` for 15 ln of the number of points.
    pub penalty: Option<f64>,
}

impl Default for SteadyOptions {
    fn default() -> Self {
        Self { tolerance: 0.01, least_share: 0.25, penalty: None }
    }
}

words! {
    /// Class of a process's iteration times (Barrett et al., 2017).
    pub enum Classification {
        /// Steady from the first iteration on, or from the second.
        Flat = "flat",
        /// Slower before it was steady.
        Warmup = "warmup",
        /// Faster before it was steady.
        Slowdown = "slowdown",
        /// Not steady for long enough at the end.
        NoSteadyState = "no_steady_state",
        /// Too few iterations to say.
        TooFew = "too_few",
    }
}

result! {
    /// Iterations of about one level.
    pub struct Segment {
        /// The first iteration, counted from 0.
        pub begin: usize,
        /// The one after the last.
        pub end: usize,
        /// The median of its iterations, in the unit of the samples.
        pub level: f64,
    }
}

result! {
    /// Result of `steady_state`. Iterations are counted from 0.
    pub struct SteadyState {
        /// Number of iterations.
        pub count: usize,
        /// `flat`, `warmup`, `slowdown`, `no_steady_state` or `too_few`.
        pub classification: Classification,
        /// First iteration of the steady part, which lasts to the end; None without a steady part.
        pub steady_from: Option<usize>,
        /// Median of the steady part, in the unit of the samples; None without a steady part.
        pub level: Option<f64>,
        /// The share of the iterations that is steady, from 0 to 1; without a steady state, that which is at the last level.
        pub share: f64,
        /// Iterations in a point of the search.
        pub block_size: usize,
        /// Number of points that were set aside as outliers.
        pub outliers: usize,
        /// Segments that were found, before those of the same level are joined.
        pub segments: Vec<Segment>,
    }
}

/// Finds the steady state of one process's iteration times, after Barrett, Bolz-Tereick, Killick, Mount and Tratt, *Virtual
/// Machine Warmup Blows Hot and Cold* (2017).
///
/// # Errors
/// No samples; a time that is not above 0 or not finite, named by position; an option out of its range.
pub fn steady_state(samples: &[f64], options: &SteadyOptions, interrupted: &dyn Fn() -> bool) -> Result<SteadyState> {
    let tolerance = options.checked()?.tolerance.ln_1p();
    positive("samples", samples, 1)?;
    let n = samples.len();
    let points = Points::of(samples, tolerance, interrupted)?;
    let too_few = n < LEAST_ITERATIONS;
    let ends = if too_few { vec![n] } else { ends(&points, options, interrupted)? };

    let begins = std::iter::once(0).chain(ends.iter().copied());
    let levels: Vec<Level> =
        memory::collected(begins.zip(&ends).map(|(begin, &end)| Level::of(&points.values, (begin, end))));
    let mut segments = memory::list(levels.len());
    for level in &levels {
        check(interrupted)?;
        let range = points.samples(level.begin, level.end);
        segments.push(Segment {
            begin: range.start,
            end: range.end,
            level: median("samples", &samples[range], interrupted)?,
        });
    }
    let mut found = SteadyState {
        count: n,
        classification: Classification::TooFew,
        steady_from: None,
        level: None,
        share: 0.0,
        block_size: points.block_size,
        outliers: points.outliers,
        segments,
    };
    if !too_few {
        let equality = Equality::of(&points.values, &levels, tolerance);
        found.judge(samples, &points, &SteadyPart::of(&levels, &equality), &equality, options, interrupted)?;
    }
    Ok(found)
}

impl SteadyOptions {
    pub(super) fn checked(&self) -> Result<&Self> {
        let Self { tolerance, least_share, penalty } = *self;
        inside_0_and_1("tolerance", tolerance)?;
        require(least_share > 0.0 && least_share <= 1.0, "least_share", least_share, "above 0 and at most 1")?;
        penalty.map_or(Ok(()), |penalty| not_negative("penalty", penalty))?;
        Ok(self)
    }
}

fn ends(points: &Points, options: &SteadyOptions, interrupted: &dyn Fn() -> bool) -> Result<Vec<usize>> {
    let penalty = options.penalty.map_or_else(|| default_penalty(&points.values, COST, interrupted), Ok)?;
    let rules = ChangePointOptions { cost: COST, penalty: None, min_size: COST.least_size(), jump: 1, optimal: true };
    Ok(partition(&points.values, rules, penalty, interrupted)?.0)
}

impl SteadyState {
    fn judge(
        &mut self,
        samples: &[f64],
        points: &Points,
        part: &SteadyPart,
        equality: &Equality,
        options: &SteadyOptions,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<()> {
        let steady: Vec<f64> = memory::collected(part.steady.iter().map(|&point| points.values[point]));
        let settling = equality.settling(&steady);
        let settled = part.steady[settling];
        let begin = points.samples(settled, points.values.len()).start;
        let level = median("samples", &samples[begin..], interrupted)?;
        // Where nothing but the first calls is slow, they are the part that is not steady.
        let first_calls = if begin == 0 { slow_at_the_start(samples, level, options.tolerance)? } else { 0 };
        let begin = begin + first_calls;
        self.share = (self.count - begin) as f64 / self.count as f64;
        let moves =
            equality.drifts(&steady[settling..]) || equality.slopes(&points.values[part.before.clone()], &steady);
        if self.share < options.least_share || moves {
            self.classification = Classification::NoSteadyState;
            return Ok(());
        }
        self.classification = if settled == 0 {
            if first_calls > FIRST_CALLS { Classification::Warmup } else { Classification::Flat }
        } else if part.faster {
            Classification::Slowdown
        } else {
            Classification::Warmup
        };
        self.steady_from = Some(begin);
        self.level = Some(if first_calls > 0 { median("samples", &samples[begin..], interrupted)? } else { level });
        Ok(())
    }
}

/// Returns the number of iterations at the start that are slow beyond the noise; 0 if such slow ones are common anywhere.
fn slow_at_the_start(samples: &[f64], level: f64, tolerance: f64) -> Result<usize> {
    // The start says enough about the noise, whatever the number of samples.
    const LOOKED_AT: usize = 10_000;
    let samples = &samples[..samples.len().min(LOOKED_AT)];
    let distances: Vec<f64> = memory::collected(samples.iter().map(|sample| (sample - level).abs()));
    let far = (FAR * median("samples", &distances, &|| false)?).max(tolerance * level);
    let slow = |sample: &f64| sample - level > far;
    let first = samples.iter().position(|sample| !slow(sample)).unwrap_or(0);
    let later = samples[first..].iter().filter(|sample| slow(sample)).count();
    Ok(if later as f64 > INTERRUPTION * samples.len() as f64 { 0 } else { first })
}
