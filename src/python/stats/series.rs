//! Where a series changes, and where iteration times settle.

use pyo3::prelude::*;

use crate::error::Error;
use crate::guard::guarded;
use crate::python::convert::{Processes, floats, whole_or};
use crate::python::interrupt::interruptibly;
use crate::stats::series::{self, ChangePointOptions, Cost, SteadyOptions};

/// Finds where a series changes: the partition into segments that costs least, by PELT.
///
/// PELT is Killick, Fearnhead and Eckley, *Optimal Detection of Changepoints with a Linear Computational Cost* (2012). The
/// costs of a segment are those of `ruptures`:
///
/// - `mean` (`CostL2`): the squared deviations from the segment's mean, in the unit of the samples squared.
/// - `mean_variance` (`CostNormal`): n ln(variance + added_variance), n being the segment's length and the variance having
///   the divisor n. `added_variance` is `ruptures`' small diagonal: 1e-6 there with `add_small_diag=True`, its default, and 0
///   without. It is what a constant segment has left; let it be small against the square of the noise, or rescale the samples
///   or take their logarithms, since noise far below 0.001 units is not seen with the default. With 0 a constant segment
///   counts as one with the smallest normal float64 as its variance.
///
/// Every segment's cost is computed from its own values, so that samples that are large and close together, or stand beside
/// an outlier, keep their digits. The time grows with the square of the number of samples where nothing changes (seconds for
/// 1e5), and with the number itself where changes are frequent.
///
/// Args:
///     samples: One dimension, any unit, in the order of measurement. A contiguous numpy array of float64 is read in place
///         and must not be written to meanwhile; anything else is copied.
///     cost: `mean` or `mean_variance`.
///     penalty: What one more segment costs, in the unit of the cost, 0 or more. By default 15 ln n for `mean_variance`; for
///         `mean` 2 s**2 ln n (Yao, *Estimating the number of change-points via Schwarz' criterion*, 1988), where s is the
///         noise as the median size of the differences of neighbours shows it (their root mean square where more than half
///         of them are 0). Samples that resemble their neighbours without a change need more.
///     min_size: The fewest samples of a segment, 1 or more; `mean_variance` takes 1 as 2.
///     jump: Segments begin at multiples of this only, which takes less time by its square.
///     added_variance: In the unit of the samples squared, 0 or more; for `mean_variance` only.
///     optimal: False gives the segments that `ruptures.Pelt` gives. That drops a place as soon as it is too dear, although
///         only `min_size` samples later another can take over, and so may miss the cheapest partition if `min_size` is 2 or
///         more: seldom at penalties of a few ln n, often at small ones. True drops it when that is safe.
///
/// Returns:
///     The segments.
///
/// Raises:
///     ValueError: Fewer than `min_size` samples; a NaN or an infinity, named by position; an option out of its range;
///         samples so far apart that their variance overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (
    samples, *, cost = "mean_variance", penalty = None, min_size = None, jump = None, added_variance = 1e-6,
    optimal = false
), text_signature = "(samples, *, cost='mean_variance', penalty=None, min_size=2, jump=1, added_variance=1e-06, \
    optimal=False)")]
#[allow(clippy::too_many_arguments, reason = "the keyword arguments of Python")]
pub(in crate::python) fn changepoints(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    cost: &str,
    penalty: Option<f64>,
    min_size: Option<&Bound<'_, PyAny>>,
    jump: Option<&Bound<'_, PyAny>>,
    added_variance: f64,
    optimal: bool,
) -> PyResult<series::ChangePoints> {
    guarded(|| {
        let cost = match cost {
            "mean" => Cost::Mean,
            "mean_variance" => Cost::MeanVariance { added_variance },
            _ => return Err(Error::unknown_name("cost", cost, "mean, mean_variance").into()),
        };
        let samples = floats("samples", samples)?;
        let (min_size, jump) = (whole_or("min_size", min_size, 2)? as usize, whole_or("jump", jump, 1)? as usize);
        let options = ChangePointOptions { cost, penalty, min_size, jump, optimal };
        interruptibly(py, |interrupted| series::changepoints(&samples, &options, interrupted))
    })
}

/// Finds where the iteration times of one process settle.
///
/// The classes are those of Barrett, Bolz-Tereick, Killick, Mount and Tratt, *Virtual Machine Warmup Blows Hot and Cold*
/// (2017):
///
/// - `flat`: steady from the first iteration on. One that is slow alone at the very start, the first call, does not count:
///   then `steady_from` is 1.
/// - `warmup`: slower before it was steady.
/// - `slowdown`: faster before it was steady, as when a processor's clock is throttled; also if something slow came first.
/// - `no_steady_state`: less than `least_share` of the iterations are at the last level, or that still moves.
/// - `too_few`: fewer than 10 iterations, of which nothing is said.
///
/// How:
///
/// 1. Logarithms of the times; of more than 2000, of the medians of equal blocks.
/// 2. A point farther from the median of the 21 around it than 7.4 median distances (5 standard deviations of normal samples)
///    and than the tolerance takes that median's place, unless more than 10 % of the points would: those are a mode.
/// 3. Segments by `changepoints` (`mean_variance`, `added_variance` 1e-6, so that noise below 0.1 % is none, and `optimal`).
/// 4. From the last segment backwards, those within the tolerance of it are the steady part, and those within four standard
///    errors, for the last one's noise and the autocorrelation of neighbours. Others are passed over as interruptions while
///    they hold 5 % of the points at most, at the very end too.
/// 5. From its beginning is cut off what is slower than the rest by the tolerance and 4.5 standard errors.
/// 6. It still moves if a line through the means of ten parts of it rises or falls by the tolerance with a t-value above
///    4.501 (0.2 % with 8 degrees of freedom), or if one line explains it and the level before it as well as two levels.
///
/// Of 500 iterations with 3 % of noise that resembles its neighbours a little (AR(.2)), a step of 5 % after 100 is found in
/// more than 99 % of processes, an exponential settling within 75 iterations from 10 % in as many, from 5 % in half of
/// them. Noise with an autocorrelation of 0.7 is called flat in more than 99 %; with one of 0.9 in 88 %.
///
/// Args:
///     samples: The duration of each iteration in order, one dimension, any unit, above 0. A contiguous numpy array of
///         float64 is read in place and must not be written to meanwhile; anything else is copied.
///     tolerance: Levels within this ratio of the last one are the same: 0.01 for 1 %. Between 0 and 1, both excluded.
///     least_share: The least share of the iterations that must be steady, above 0 and at most 1.
///     penalty: What one more segment costs, 0 or more; 15 ln of the number of points by default.
///
/// Returns:
///     The class, and where the steady part begins.
///
/// Raises:
///     ValueError: No samples; a time that is not above 0, NaN or infinite, named by position; an option out of its range.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, tolerance = 0.01, least_share = 0.25, penalty = None))]
pub(in crate::python) fn steady_state(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    tolerance: f64,
    least_share: f64,
    penalty: Option<f64>,
) -> PyResult<series::SteadyState> {
    guarded(|| {
        let samples = floats("samples", samples)?;
        let options = SteadyOptions { tolerance, least_share, penalty };
        interruptibly(py, |interrupted| series::steady_state(&samples, &options, interrupted))
    })
}

/// Finds whether the processes of a benchmark settle, and all in the same way.
///
/// Each process is classified as `steady_state` does it; processes of different classes are `inconsistent` (Barrett et al.,
/// *Virtual Machine Warmup Blows Hot and Cold*, 2017).
///
/// Args:
///     processes: The durations of each process's iterations, in order: one sequence a process, any unit, above 0. Numbers
///         alone are the iterations of one process.
///     tolerance: Levels within this ratio of the last one are the same. Between 0 and 1, both excluded.
///     least_share: The least share of a process's iterations that must be steady, above 0 and at most 1.
///     penalty: What one more segment costs, 0 or more; 15 ln of the number of points by default.
///
/// Returns:
///     The class of all, and what was found of each.
///
/// Raises:
///     ValueError: No processes; no samples of one; a time that is not above 0, NaN or infinite, named by process and
///         position; an option out of its range.
///     TypeError: Not sequences of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (processes, *, tolerance = 0.01, least_share = 0.25, penalty = None))]
pub(in crate::python) fn classify_warmup(
    py: Python<'_>,
    processes: &Bound<'_, PyAny>,
    tolerance: f64,
    least_share: f64,
    penalty: Option<f64>,
) -> PyResult<series::Warmup> {
    guarded(|| {
        let processes = Processes::read("processes", processes)?;
        let processes = processes.samples();
        let options = SteadyOptions { tolerance, least_share, penalty };
        interruptibly(py, |interrupted| series::classify_warmup(&processes, &options, interrupted))
    })
}
