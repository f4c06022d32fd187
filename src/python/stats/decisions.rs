//! Verdicts of comparisons, and the number of processes for a verdict.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::require;
use crate::guard::guarded;
use crate::python::convert::{Processes, whole};
use crate::python::interrupt::interruptibly;
use crate::stats::compare::decisions::{self, Side};
use crate::stats::compare::hypotheses::{Design, StandardError};

/// Compares baseline and candidate, and computes a verdict.
///
/// The verdict is `faster`, `slower`, `equivalent` or `inconclusive`.
///
/// Each process counts once, by the median of its samples. Samples of one process share the conditions of its start, so more
/// samples do not predict the next process (Kalibera and Jones, *Rigorous benchmarking in reasonable time*, 2013). Welch's t on
/// the logarithms of these medians gives two intervals of the ratio candidate / baseline:
///
/// 1. If the narrower interval (90 % for a `confidence_level` of 95 %) lies inside [1 / (1 + margin), 1 + margin]:
///    `equivalent` (two one-sided tests, Schuirmann 1987).
/// 2. Else, if the interval at `confidence_level` lies below 1: `faster`; above 1: `slower`.
/// 3. Else `inconclusive`. Fewer than three processes on a side have no interval, and are `inconclusive` too.
///
/// Swapping the sides mirrors the verdict and inverts the ratio. With three or four processes on one side and more on the other,
/// the degrees of freedom are limited to those of equal numbers, because Satterthwaite's would cause too many false alarms.
///
/// Args:
///     baseline: One number per process, or the samples of each process, whose median is used; any unit.
///     candidate: The same in the same unit. The numbers of processes may differ.
///     margin: Equivalence margin as a relative difference, from 0 to 1: 0.01 is 1 %.
///     confidence_level: Level of the interval for differences, between 0.5 and 1, both excluded.
///     session_error: Standard error of the log ratio if sessions differ, and its degrees of freedom. It replaces Welch's
///         if it is larger. None if all processes belong to one session.
///     paired: True if processes of the same position were measured right after each other, and both sides have equal
///         numbers. Student's t on the differences of these pairs replaces Welch's t: what changes slowly, such as a
///         temperature, widens no interval.
///     anytime: True if the verdict so far may have ended the measurement. A confidence sequence and an anytime-valid p-value
///         replace Student's t (Wang and Ramdas, 2025): they hold after every pair, and are wider. Below four pairs there
///         is no interval at a level of 95 %. Needs `paired`.
///
/// Returns:
///     The verdict, its numbers and the reason in words.
///
/// Raises:
///     ValueError: If a side or a process is empty; a value is NaN or infinite; a process median is not above 0; a margin, a
///         level or a session error is out of range; pairs have unequal numbers; or the ratio of the sides overflows. The message has the position.
///     TypeError: If a side is not a sequence of numbers, or of sequences. The message has the position.
#[pyfunction]
#[pyo3(signature = (baseline, candidate, *, margin = 0.01, confidence_level = 0.95, session_error = None, paired = false, anytime = false))]
#[allow(clippy::too_many_arguments, reason = "all but two have defaults in Python")]
pub(in crate::python) fn compare_samples(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    margin: f64,
    confidence_level: f64,
    session_error: Option<(f64, f64)>,
    paired: bool,
    anytime: bool,
) -> PyResult<decisions::Comparison> {
    guarded(|| {
        let design = match (paired, anytime) {
            (false, false) => Design::Independent,
            (true, false) => Design::Pairs,
            (true, true) => Design::AnytimePairs,
            (false, true) => return Err(PyValueError::new_err("anytime=True needs paired=True")),
        };
        let baseline = Processes::read("baseline", baseline)?;
        let candidate = Processes::read("candidate", candidate)?;
        let (baseline, candidate) = (baseline.given(), candidate.given());
        interruptibly(py, |interrupted| {
            let baseline = baseline.medians("baseline", interrupted)?;
            let candidate = candidate.medians("candidate", interrupted)?;
            let session = session_error.map(|(value, degrees_of_freedom)| StandardError { value, degrees_of_freedom });
            decisions::compare_samples(&baseline, &candidate, margin, confidence_level, session, design, interrupted)
        })
    })
}

/// Predicts the probability of each verdict of `compare_samples`.
///
/// The result is exact if the logarithms of process medians are normal: Welch's statistic has a noncentral t distribution for
/// each of the possible degrees of freedom, over which the result is integrated.
///
/// Args:
///     spread: Standard deviation between processes: that of their log medians, from 1e-9 to 10: 0.01 is 1 %.
///     processes: Number of processes per side, from 3 to 1,000,000.
///     difference: Additional time of the candidate as a share of the baseline, above -1: 0.02 is 2 % slower, -0.02 faster.
///     candidate_spread: Standard deviation of the candidate if the sides differ; `spread` is then the baseline's.
///     candidate_processes: Number of processes of the candidate if the sides differ; `processes` is then the baseline's.
///     margin: Equivalence margin; see `compare_samples`.
///     confidence_level: Level of the interval; see `compare_samples`.
///
/// Returns:
///     The probability of each verdict.
///
/// Raises:
///     ValueError: If a number is out of range.
#[pyfunction]
#[pyo3(signature = (
    spread, processes, *, difference = 0.02, candidate_spread = None, candidate_processes = None, margin = 0.01,
    confidence_level = 0.95,
))]
#[allow(clippy::too_many_arguments, reason = "a plan has as many parameters as it has")]
pub(in crate::python) fn detection_power(
    py: Python<'_>,
    spread: f64,
    processes: &Bound<'_, PyAny>,
    difference: f64,
    candidate_spread: Option<f64>,
    candidate_processes: Option<&Bound<'_, PyAny>>,
    margin: f64,
    confidence_level: f64,
) -> PyResult<decisions::DetectionPower> {
    guarded(|| {
        let baseline = Side { spread, processes: count("processes", processes)? };
        let candidate = Side {
            spread: candidate_spread.unwrap_or(spread),
            processes: candidate_processes
                .map_or(Ok(baseline.processes), |given| count("candidate_processes", given))?,
        };
        Ok(py.detach(|| decisions::detection_power(baseline, candidate, difference, margin, confidence_level))?)
    })
}

/// Reads a count from Python. A negative count is out of range like any other that is too small.
fn count(argument: &'static str, processes: &Bound<'_, PyAny>) -> PyResult<usize> {
    let processes = whole(argument, processes)?;
    require((3..=1_000_000).contains(&processes), argument, processes as f64, "from 3 to 1000000")?;
    Ok(processes as usize)
}

/// Returns the number of processes per side that `compare_samples` needs.
///
/// It is the smallest number that gives the right verdict with probability `power`: `faster` or `slower` for a difference outside
/// the margin or on it, `equivalent` for one inside, such as 0. See `detection_power` for the assumptions.
///
/// Args:
///     spread: Standard deviation between processes: that of their log medians, from 1e-9 to 10: 0.01 is 1 %.
///     difference: Additional time of the candidate as a share of the baseline, above -1: 0.02 is 2 % slower, -0.02 faster.
///     power: Probability of the right verdict, between 0 and 1, both excluded.
///     margin: Equivalence margin; see `compare_samples`.
///     confidence_level: Level of the interval; see `compare_samples`.
///
/// Returns:
///     The number of processes, and its power.
///
/// Raises:
///     ValueError: If a number is out of range.
#[pyfunction]
#[pyo3(signature = (spread, *, difference = 0.02, power = 0.9, margin = 0.01, confidence_level = 0.95))]
pub(in crate::python) fn required_processes(
    py: Python<'_>,
    spread: f64,
    difference: f64,
    power: f64,
    margin: f64,
    confidence_level: f64,
) -> PyResult<decisions::RequiredProcesses> {
    guarded(|| {
        interruptibly(py, |interrupted| {
            decisions::required_processes(spread, difference, power, margin, confidence_level, interrupted)
        })
    })
}
