//! How sure a median or a mean is.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Processes, Samples, floats, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::intervals;

/// The median of samples of one process, and its interval.
///
/// The interval interpolates between order statistics (Hettmansperger and Sheather, *Confidence intervals based on
/// interpolated order statistics*, Statistics and Probability Letters 4, 1986), whatever the distribution. Samples that
/// depend on those before them are taken for as many independent ones as they amount to: their number is divided by an
/// autocorrelation time (Geyer's initial monotone sequence, 1992), the larger one of whether each sample lies above the
/// median, and of the octile that it lies in. In simulations intervals of 95 % cover 95 to 97 % for independent samples, and
/// 91 % or more for autoregression up to .8 from 100 samples on; of stronger dependence a few hundred samples do not tell.
///
/// Args:
///     samples: One dimension, any unit, in the order in which they were taken.
///     confidence_level: Between 0 and 1, both excluded.
///     independent: True where the samples are known not to depend on one another: their number is then taken as it is, and
///         their order does not matter.
///
/// Returns:
///     The median and its interval, in the unit of the samples; without an interval where there are too few samples for the
///     level, below 6 at 95 %. Where only the independent ones that they amount to are too few, the interval is the range
///     of the samples, the widest there is, and may hold less than the level: `ci_method` says so.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; a level outside (0, 1).
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, confidence_level = 0.95, independent = false))]
pub(in crate::python) fn median_ci(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    confidence_level: f64,
    independent: bool,
) -> PyResult<intervals::MedianInterval> {
    guarded(|| {
        let samples = floats("samples", samples)?;
        interruptibly(py, |interrupted| intervals::median_ci(&samples, confidence_level, independent, interrupted))
    })
}

/// The mean of samples of one process, and its interval by Student's t.
///
/// The samples are taken to be independent (Student, *The probable error of a mean*, Biometrika 6, 1908); of times, which
/// seldom are, `median_ci` gives the more honest interval.
///
/// Args:
///     samples: One dimension, any unit.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The mean and its interval, in the unit of the samples; without an interval for one sample.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; a level outside (0, 1);
///         values so far apart that their variance overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, confidence_level = 0.95))]
pub(in crate::python) fn mean_ci(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<intervals::MeanInterval> {
    guarded(|| {
        let samples = Samples::read_once("samples", samples)?;
        with_slice!(&samples, slice => Ok(py.detach(|| intervals::mean_ci(slice, confidence_level))?))
    })
}

/// The typical time of several processes, and where that of very many would lie; a single next process may lie outside.
///
/// Each process counts once, by its median, since what differs between processes is several times what one process sees of
/// itself (Kalibera and Jones, *Rigorous benchmarking in reasonable time*, 2013). The estimate is the geometric mean of the
/// medians, the interval is Student's t on their logarithms.
///
/// Args:
///     processes: One number above 0 for each process, or the samples of each process; any unit.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The estimate and its interval, in the unit of the samples. One or two processes have no interval, only a range.
///
/// Raises:
///     ValueError: No processes, or one without samples; a NaN or an infinity, named by position; a median that is not above
///         0; a level outside (0, 1); medians so far apart that the interval overflows.
///     TypeError: Not a sequence of numbers, or of such; the message names the position.
#[pyfunction]
#[pyo3(signature = (processes, *, confidence_level = 0.95))]
pub(in crate::python) fn process_ci(
    py: Python<'_>,
    processes: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<intervals::ProcessInterval> {
    guarded(|| {
        let medians = medians(py, processes)?;
        Ok(py.detach(|| intervals::process_ci(&medians, confidence_level))?)
    })
}

/// One number for each process of the argument `processes`.
pub(super) fn medians(py: Python<'_>, processes: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    const ARGUMENT: &str = "processes";
    let processes = Processes::read(ARGUMENT, processes)?;
    let given = processes.given();
    interruptibly(py, |interrupted| given.medians(ARGUMENT, interrupted))
}
