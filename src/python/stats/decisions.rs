//! From two sides to a word, and how many processes that takes.

use pyo3::prelude::*;

use crate::error::require;
use crate::guard::guarded;
use crate::python::convert::{Processes, whole};
use crate::python::interrupt::interruptibly;
use crate::stats::compare::decisions::{self, Side};
use crate::stats::compare::hypotheses::StandardError;

/// Compares two sides of a benchmark and says `faster`, `slower`, `equivalent` or `inconclusive`.
///
/// Each process counts once, by the median of its samples: what its start decided is in all of them, so that more samples
/// of one process do not tell what the next one will do (Kalibera and Jones, *Rigorous benchmarking in reasonable time*,
/// 2013). Welch's t on the logarithms of these medians gives two intervals of the ratio candidate / baseline:
///
/// 1. If the narrower one, 90 % where `confidence_level` is 95 %, lies inside [1 / (1 + margin), 1 + margin]:
///    `equivalent` (two one-sided tests, Schuirmann 1987).
/// 2. Else, if the one at `confidence_level` lies below 1: `faster`; above 1: `slower`.
/// 3. Else `inconclusive`; so are fewer than three processes on a side, which have no intervals.
///
/// Swapping the sides mirrors the verdict, and inverts the ratio. With three or four processes on one side and more on the
/// other, degrees of freedom are at most those of equal numbers: Satterthwaite's would let more false alarms pass than the
/// level allows.
///
/// Args:
///     baseline: One number for each process, or the samples of each process, whose median is taken; any unit.
///     candidate: The same in the same unit. The numbers of processes may differ.
///     margin: The relative difference that does not matter, from 0 to 1: 0.01 is 1 %.
///     confidence_level: Between 0.5 and 1, both excluded.
///     session_error: Standard error of the log ratio if sessions differ, and its degrees of freedom. It replaces Welch's
///         where it is larger. None if all processes are of one session.
///
/// Returns:
///     The verdict, the numbers that it rests on and the reason in words.
///
/// Raises:
///     ValueError: An empty side or process; a NaN or an infinity, named by position; a process whose median is not above
///         0, named by position; a margin, a level or a session error out of range; sides so far apart that their ratio overflows.
///     TypeError: Not a sequence of numbers, or of sequences; the message names the position.
#[pyfunction]
#[pyo3(signature = (baseline, candidate, *, margin = 0.01, confidence_level = 0.95, session_error = None))]
pub(in crate::python) fn compare_samples(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    margin: f64,
    confidence_level: f64,
    session_error: Option<(f64, f64)>,
) -> PyResult<decisions::Comparison> {
    guarded(|| {
        let baseline = Processes::read("baseline", baseline)?;
        let candidate = Processes::read("candidate", candidate)?;
        let (baseline, candidate) = (baseline.given(), candidate.given());
        interruptibly(py, |interrupted| {
            let baseline = baseline.medians("baseline", interrupted)?;
            let candidate = candidate.medians("candidate", interrupted)?;
            let session = session_error.map(|(value, degrees_of_freedom)| StandardError { value, degrees_of_freedom });
            decisions::compare_samples(&baseline, &candidate, margin, confidence_level, session, interrupted)
        })
    })
}

/// Predicts how likely each verdict of `compare_samples` is, before anything is measured.
///
/// Exact where the logarithms of process medians are normal: Welch's statistic follows a noncentral t for each of the
/// degrees of freedom that may be observed, over which an integral is taken.
///
/// Args:
///     spread: Relative spread between processes, the standard deviation of their log medians, from 1e-9 to 10: 0.01 is 1 %.
///     processes: On each side, from 3 to 1,000,000.
///     difference: What the candidate takes more, as a share of the baseline, above -1: 0.02 is 2 % slower, -0.02 faster.
///     candidate_spread: Of the candidate where the sides differ; `spread` is then the baseline's.
///     candidate_processes: Of the candidate where the sides differ; `processes` is then the baseline's.
///     margin: As for `compare_samples`.
///     confidence_level: As for `compare_samples`.
///
/// Returns:
///     The probability of each verdict.
///
/// Raises:
///     ValueError: A number out of range, named.
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

/// A count from Python, where a negative one is out of range like any other that is too small.
fn count(argument: &'static str, processes: &Bound<'_, PyAny>) -> PyResult<usize> {
    let processes = whole(argument, processes)?;
    require((3..=1_000_000).contains(&processes), argument, processes as f64, "from 3 to 1000000")?;
    Ok(processes as usize)
}

/// Says how many processes `compare_samples` needs on each side.
///
/// The smallest number with which it gives the right verdict with probability `power`: `faster` or `slower` for a
/// difference outside the margin or on it, `equivalent` for one inside, such as 0. See `detection_power` for how exact.
///
/// Args:
///     spread: Relative spread between processes, the standard deviation of their log medians, from 1e-9 to 10: 0.01 is 1 %.
///     difference: What the candidate takes more, as a share of the baseline, above -1: 0.02 is 2 % slower, -0.02 faster.
///     power: Between 0 and 1, both excluded.
///     margin: As for `compare_samples`.
///     confidence_level: As for `compare_samples`.
///
/// Returns:
///     The number, and the power that it has.
///
/// Raises:
///     ValueError: A number out of range, named.
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
