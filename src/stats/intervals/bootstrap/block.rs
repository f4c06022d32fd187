//! Resamples of blocks of neighbours, on a circle so that every sample is as likely as any other (Politis and Romano, *A circular
//! block-resampling procedure for stationary data*, 1992).

use super::jobs::Work;
use super::mean::Means;
use super::median::{Counts, median_of};
use super::positions::{Drawn, InOrder, Source, pieces};
use super::request::Request;
use super::{Resampling, Statistic, automatic_block_length};
use crate::error::{Result, require};
use crate::memory;
use crate::stats::samples::check;

/// Returns the length of blocks: as requested, or by the rule for the series whose mean the statistic is, in large samples.
pub(super) fn length(samples: &[f64], request: &Request, interrupted: &dyn Fn() -> bool) -> Result<usize> {
    let Some(length) = request.block_length else {
        return automatic_block_length(samples, request.statistic, interrupted);
    };
    let fits = (1..=samples.len()).contains(&length);
    require(fits, "block_length", length as f64, "from 1 to the number of samples")?;
    Ok(length)
}

/// The statistic of the samples, and that of random resamples of them.
pub(super) fn statistics(
    samples: &[f64],
    (sorted, ranks): (&[f64], &dyn Fn() -> Result<Vec<u32>>),
    (statistic, length): (Statistic, usize),
    resampling: Resampling,
    interrupted: &dyn Fn() -> bool,
) -> Result<(f64, Vec<f64>)> {
    let n = samples.len();
    let blocks = n.div_ceil(length);
    let rest = n - (blocks - 1) * length;
    match statistic {
        Statistic::Mean => {
            let estimate = Means::new(samples).of(&mut InOrder::default())?;
            let whole = circular_sums(samples, length, interrupted)?;
            let cut = circular_sums(samples, rest, interrupted)?;
            let mean = |(): &mut (), drawn: &mut Drawn<'_>| {
                let mut total = cut[drawn.take(n, 1)?[0] as usize];
                for size in pieces(blocks - 1) {
                    total += drawn.take(n, size)?.iter().map(|&start| whole[start as usize]).sum::<f64>();
                }
                Ok(total / n as f64)
            };
            let work = Work { steps: blocks, memory: 0, same_bound: true };
            Ok((estimate, resampling.statistics(work, || (), mean, interrupted)?))
        }
        Statistic::Median => {
            // Once around and on, so that no block has to turn back.
            let mut around = ranks()?;
            around.extend_from_within(..length);
            let median = |counts: &mut Counts, drawn: &mut Drawn<'_>| {
                drawn.worked(n)?;
                counts.add(&around[drawn.take(n, 1)?[0] as usize..][..rest]);
                for size in pieces(blocks - 1) {
                    for &start in drawn.take(n, size)? {
                        counts.add(&around[start as usize..][..length]);
                    }
                }
                Ok(counts.take_median(sorted))
            };
            let work = Work { steps: n, memory: size_of::<u32>() * n, same_bound: true };
            Ok((median_of(sorted), resampling.statistics(work, || Counts::new(n), median, interrupted)?))
        }
    }
}

/// The sum of `length` values from each place on, around the circle, by doubling: as exact as a pairwise sum, and without one
/// pass for each of the values.
fn circular_sums(values: &[f64], length: usize, interrupted: &dyn Fn() -> bool) -> Result<Vec<f64>> {
    let n = values.len();
    // Sums of `width` values, a power of two, and of the `done` values that the lower bits of the length stand for.
    let (mut power, mut width) = (memory::copied(values), 1);
    let (mut sums, mut done) = (memory::filled(0.0, n), 0);
    while width <= length {
        check(interrupted)?;
        if length & width != 0 {
            add_turned(&mut sums, &power, done);
            done += width;
        }
        let before = power.clone();
        add_turned(&mut power, &before, width);
        width *= 2;
    }
    Ok(sums)
}

/// Adds to each value the one `by` places further.
fn add_turned(values: &mut [f64], others: &[f64], by: usize) {
    let by = by % values.len();
    let further = others[by..].iter().chain(&others[..by]);
    values.iter_mut().zip(further).for_each(|(value, other)| *value += other);
}

/// For each sample the rank of one that equals it.
pub(super) fn ranks(samples: &[f64], sorted: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Vec<u32>> {
    /// Looked up in a few milliseconds.
    const PART: usize = 1 << 16;
    let mut ranks = memory::list(samples.len());
    for part in samples.chunks(PART) {
        check(interrupted)?;
        ranks.extend(part.iter().map(|&sample| sorted.partition_point(|&other| other < sample) as u32));
    }
    Ok(ranks)
}
