//! Changes of a series, and steady state of iteration times.

use pyo3::prelude::*;

use crate::error::Error;
use crate::guard::guarded;
use crate::python::convert::{Processes, floats, whole_or};
use crate::python::interrupt::interruptibly;
use crate::stats::series::{self, ChangePointOptions, Cost, SteadyOptions};

/// Finds the changes of a series by PELT.
///
/// The result is the partition into segments with the lowest cost.
///
/// PELT is Killick, Fearnhead and Eckley, *Optimal Detection of Changepoints with a Linear Computational Cost* (2012). The
/// costs of a segment are those of `ruptures`:
///
/// - `mean` (`CostL2`): the squared deviations from the segment's mean, in the unit of the samples squared.
/// - `mean_variance` (`CostNormal`): n ln(variance + added_variance). n is the segment's length, and the variance has the divisor
///   n. `added_variance` is `ruptures`' small diagonal: 1e-6 there with `add_small_diag=True`, its default, and 0 without. It must
///   be small compared with the square of the noise: the default hides noise far below 0.001 units. Else rescale the samples, or
///   use their logarithms. With 0, the variance of a constant segment counts as the smallest normal float64.
///
/// Every segment's cost is computed from its own values, so that large samples with small differences, or neighbours of an outlier,
/// keep their digits. The run time grows with the square of the number of samples if nothing changes (seconds for 1e5), and
/// linearly if changes are frequent.
///
/// Args:
///     samples: Samples in the order of measurement, one dimension, any unit. A contiguous numpy array of float64 is read in place
///         and must not be written to meanwhile; anything else is copied.
///     cost: `mean` or `mean_variance`.
///     penalty: Penalty of one more segment, in the unit of the cost, 0 or more. By default 15 ln n for `mean_variance`, and
///         2 s**2 ln n for `mean` (Yao, *Estimating the number of change-points via Schwarz' criterion*, 1988). s is the noise:
///         the median size of the differences of neighbours, or their root mean square if more than half of them are 0.
///         Autocorrelated samples need a larger penalty.
///     min_size: Least number of samples in a segment, 1 or more; `mean_variance` uses at least 2.
///     jump: Segments begin only at multiples of this number, which divides the run time by its square.
///     added_variance: Variance that is added to each variance, in the unit of the samples squared, 0 or more; for
///         `mean_variance` only.
///     optimal: False gives the segments of `ruptures.Pelt`. It drops a place as soon as its cost is too high, although another
///         can replace it only `min_size` samples later, and so may miss the best partition if `min_size` is 2 or more: rarely
///         at penalties of a few ln n, often at small ones. True drops a place only when that is safe.
///
/// Returns:
///     The segments.
///
/// Raises:
///     ValueError: If there are fewer than `min_size` samples; a sample is NaN or infinite; an option is out of range; or the
///         variance overflows. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
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

/// Finds the steady state of the iteration times of one process.
///
/// The classes are those of Barrett, Bolz-Tereick, Killick, Mount and Tratt, *Virtual Machine Warmup Blows Hot and Cold*
/// (2017):
///
/// - `flat`: steady from the first iteration on. A single slow first iteration does not count: then `steady_from` is 1.
/// - `warmup`: slower before the steady state.
/// - `slowdown`: faster before the steady state, for example before a processor is throttled; also if something slow came first.
/// - `no_steady_state`: less than `least_share` of the iterations are at the last level, or that level still moves.
/// - `too_few`: fewer than 10 iterations, which are not classified.
///
/// Algorithm:
///
/// 1. Take logarithms of the times; beyond 2000 times, of the medians of equal blocks.
/// 2. Replace outliers by the median of the 21 points around. An outlier is farther from it than 7.4 median distances (5 standard
///    deviations of normal samples) and than the tolerance. If more than 10 % of the points are outliers, they are a mode, and stay.
/// 3. Find segments by `changepoints` (`mean_variance`, `added_variance` 1e-6, so that noise below 0.1 % is ignored, and
///    `optimal`).
/// 4. Collect the steady part from the last segment backwards: segments within the tolerance of it, or within four standard errors,
///    for the last segment's noise and the autocorrelation of neighbours. Others are skipped as interruptions while they have at
///    most 5 % of the points, also at the very end.
/// 5. Remove its beginning as far as that is slower than the rest by the tolerance and 4.5 standard errors.
/// 6. The level still moves if a line through the means of ten parts rises or falls by the tolerance with a t-value above 4.501
///    (0.2 % with 8 degrees of freedom), or if one line explains it and the level before it as well as two levels.
///
/// For 500 iterations with 3 % of slightly autocorrelated noise (AR(.2)), a step of 5 % after 100 iterations is found in more than
/// 99 % of processes. An exponential warmup within 75 iterations is found in as many if it starts at 10 %, and in half of them if it
/// starts at 5 %. Noise with an autocorrelation of 0.7 is classified as flat in more than 99 %, with 0.9 in 88 %.
///
/// Args:
///     samples: Duration of each iteration in order, one dimension, any unit, above 0. A contiguous numpy array of float64 is read
///         in place and must not be written to meanwhile; anything else is copied.
///     tolerance: Largest relative difference of equal levels: 0.01 for 1 %. Between 0 and 1, both excluded.
///     least_share: Least share of steady iterations, above 0 and at most 1.
///     penalty: Penalty of one more segment, 0 or more; 15 ln of the number of points by default.
///
/// Returns:
///     The class, and the first iteration of the steady part.
///
/// Raises:
///     ValueError: If there are no samples; a time is not above 0, NaN or infinite; or an option is out of range. The message has
///         the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
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

/// Classifies the warmup of each process, and checks that all classes agree.
///
/// `steady_state` classifies each process. Processes of different classes are `inconsistent` (Barrett et al., *Virtual Machine
/// Warmup Blows Hot and Cold*, 2017).
///
/// Args:
///     processes: Durations of each process's iterations, in order: one sequence per process, any unit, above 0. A sequence of
///         numbers is one process.
///     tolerance: Largest relative difference of equal levels. Between 0 and 1, both excluded.
///     least_share: Least share of steady iterations of a process, above 0 and at most 1.
///     penalty: Penalty of one more segment, 0 or more; 15 ln of the number of points by default.
///
/// Returns:
///     The common class, and the result of each process.
///
/// Raises:
///     ValueError: If there are no processes; a process has no samples; a time is not above 0, NaN or infinite; or an option is
///         out of range. The message has the process and the position.
///     TypeError: If the argument is not a sequence of sequences of numbers. The message has the position.
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
