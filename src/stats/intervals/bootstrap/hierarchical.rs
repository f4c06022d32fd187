//! Processes drawn again, then the samples of each.

use super::Statistic;
use super::jobs::Work;
use super::limits::Distribution;
use super::median::median_of;
use super::positions::{Drawn, InOrder, Source, pieces};
use super::request::{BootstrapInterval, Method, Request, summable};
use super::resample::Resampler;
use crate::error::{Error, Result};
use crate::memory;
use crate::stats::samples::{Moments, check, confidence_level as check_level, sorted};

/// The interval of the mean of the processes' means, or of the median of their medians, by resampling both levels: as many
/// processes as there are, and of each that is drawn as many samples as it has (Davison and Hinkley, *Bootstrap Methods and their
/// Application*, 1997, section 3.8). Every process counts the same, however many samples it has; the ends are percentiles.
///
/// With few processes it is too narrow, since their variance is estimated with the divisor P: a t interval is not.
///
/// # Errors
/// Fewer than two processes; one without samples, with a NaN or an infinity, or with values whose sum or squares overflow, named
/// by position; an argument out of its range, or one that this method does not have; [`Error::Interrupted`], if `interrupted`
/// says so.
pub fn hierarchical_ci(
    processes: &[&[f64]],
    request: &Request,
    indices: Option<&[&[i64]]>,
    interrupted: &dyn Fn() -> bool,
) -> Result<BootstrapInterval> {
    check_level(request.confidence_level)?;
    let resampling = request.resampling.check()?;
    if indices.is_some() {
        return Err(Error::unknown_name(
            "method",
            Method::Hierarchical.name(),
            "percentile, bca where indices are given",
        ));
    }
    if request.block_length.is_some() {
        return Err(Error::unknown_name("method", Method::Hierarchical.name(), "block where a block_length is given"));
    }
    let count = processes.len();
    if count < 2 {
        return Err(match count {
            0 => Error::Empty { argument: "samples" },
            found => Error::TooFew { argument: "samples", needed: 2, found },
        });
    }
    check(interrupted)?;
    let statistic = request.statistic;
    let in_order = |(process, samples): (usize, &&[f64])| {
        summable(samples).map_err(|error| error.in_process("samples", process))?;
        sorted(memory::copied(samples), interrupted)
    };
    let in_order = processes.iter().enumerate().map(in_order).collect::<Result<Vec<_>>>()?;
    let resamplers = || in_order.iter().map(|samples| Resampler::new(statistic, samples)).collect::<Vec<_>>();

    let everyone =
        resamplers().iter_mut().map(|process| process.of(&mut InOrder::default())).collect::<Result<Vec<_>>>()?;
    // Means of means and their squares must not overflow either.
    summable(&everyone)?;
    let n = processes.iter().map(|samples| samples.len()).sum::<usize>();
    let ends = in_order.iter().flat_map(|samples| [samples[0], samples[samples.len() - 1]]);
    let range = Moments::extremes(&ends.collect::<Vec<_>>());
    let workspace = || (resamplers(), memory::filled(0, count), memory::list(count));
    let one = |(resamplers, picks, values): &mut (Vec<Resampler<'_>>, Vec<u32>, Vec<f64>), drawn: &mut Drawn<'_>| {
        let mut places = picks.as_mut_slice();
        for size in pieces(count) {
            let (piece, rest) = places.split_at_mut(size);
            piece.copy_from_slice(drawn.take(count, size)?);
            places = rest;
        }
        values.clear();
        for &pick in &*picks {
            values.push(resamplers[pick as usize].of(drawn)?);
        }
        Ok(combined(statistic, values))
    };
    let steps = n + count;
    let work = Work { steps, memory: size_of::<u32>() * steps, same_bound: false };
    let statistics = resampling.statistics(work, workspace, one, interrupted)?;
    let tail = (1.0 - request.confidence_level) / 2.0;
    let point = BootstrapInterval::at(combined(statistic, &mut everyone.clone()), n, request);
    let found = point.between(&Distribution::new(statistics)?, (tail, 1.0 - tail), interrupted)?;
    Ok(BootstrapInterval {
        n_processes: Some(count),
        ci_method: Method::Hierarchical,
        within_one_process: false,
        ..found
    }
    .within(range))
}

/// The statistic of the processes' own.
fn combined(statistic: Statistic, values: &mut [f64]) -> f64 {
    match statistic {
        Statistic::Mean => values.iter().sum::<f64>() / values.len() as f64,
        Statistic::Median => {
            values.sort_unstable_by(f64::total_cmp);
            median_of(values)
        }
    }
}
