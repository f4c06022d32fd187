//! Either statistic of a resample.

use super::jobs::Work;
use super::mean::Means;
use super::median::Medians;
use super::positions::{Drawn, Given, InOrder, Source};
use super::{Resampling, Statistic};
use crate::error::Result;
use crate::memory;
use crate::par;
use crate::stats::samples::check;

/// Computes a statistic of resamples of one sorted list.
pub(super) enum Resampler<'a> {
    Means(Means<'a>),
    Medians(Medians<'a>),
}

impl<'a> Resampler<'a> {
    pub(super) fn new(statistic: Statistic, sorted: &'a [f64]) -> Self {
        match statistic {
            Statistic::Mean => Self::Means(Means::new(sorted)),
            Statistic::Median => Self::Medians(Medians::new(sorted)),
        }
    }

    pub(super) fn of(&mut self, source: &mut impl Source) -> Result<f64> {
        match self {
            Self::Means(means) => means.of(source),
            Self::Medians(medians) => medians.of(source),
        }
    }
}

/// The statistic of the samples, and that of random resamples of them.
pub(super) fn drawn(
    statistic: Statistic,
    sorted: &[f64],
    resampling: Resampling,
    interrupted: &dyn Fn() -> bool,
) -> Result<(f64, Vec<f64>)> {
    let n = sorted.len();
    let resampler = || Resampler::new(statistic, sorted);
    let estimate = resampler().of(&mut InOrder::default())?;
    let one = |resampler: &mut Resampler<'_>, drawn: &mut Drawn<'_>| resampler.of(drawn);
    let work = Work { steps: n, memory: size_of::<u32>() * n, same_bound: true };
    Ok((estimate, resampling.statistics(work, resampler, one, interrupted)?))
}

/// Returns the statistic of the samples, and that of the resamples whose positions are `rows`. The sample at each position has
/// a rank.
pub(super) fn given(
    statistic: Statistic,
    (sorted, ranks): (&[f64], &[u32]),
    rows: &[&[i64]],
    threads: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<(f64, Vec<f64>)> {
    /// Some 100 000 values of an ordinary sample.
    const ROWS: usize = 128;
    let everyone: Vec<i64> = memory::collected((0_i64..).take(ranks.len()));
    let estimate = Resampler::new(statistic, sorted).of(&mut Given::new(&everyone, ranks)?)?;
    let work = |(number, rows): (usize, &[&[i64]]), interrupted: &dyn Fn() -> bool| {
        check(interrupted)?;
        let mut resampler = Resampler::new(statistic, sorted);
        let mut one = |row: &[i64]| resampler.of(&mut Given::new(row, ranks)?);
        let named = |(place, &row): (usize, &&[i64])| {
            one(row).map_err(|error| error.in_process("indices", number * ROWS + place))
        };
        rows.iter().enumerate().map(named).collect::<Result<Vec<f64>>>()
    };
    let done = par::map_on(threads, rows.chunks(ROWS).enumerate(), interrupted, work);
    let mut statistics = memory::list(rows.len());
    for part in done {
        statistics.extend(part?);
    }
    Ok((estimate, statistics))
}
