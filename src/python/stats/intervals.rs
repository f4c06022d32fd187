//! Confidence intervals of medians and means.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Processes, Samples, floats, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::intervals;

/// Computes the median of samples of one process, and its interval.
///
/// The interval interpolates between order statistics (Hettmansperger and Sheather, *Confidence intervals based on interpolated
/// order statistics*, Statistics and Probability Letters 4, 1986), whatever the distribution. Autocorrelated samples count as
/// fewer independent samples: their number is divided by an autocorrelation time (Geyer's initial monotone sequence, 1992). The
/// time is the larger one of two series: the side of the median, and the octile, in which each sample lies. In simulations,
/// intervals of 95 % cover 95 to 97 % for independent samples, and 91 % or more for autoregression up to .8 from 100 samples on.
/// A few hundred samples are too few to detect stronger dependence.
///
/// Args:
///     samples: Samples in the order of measurement, one dimension, any unit.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///     independent: True if the samples are known to be independent: then all count, and their order does not matter.
///
/// Returns:
///     The median and its interval, in the unit of the samples. There is no interval if the samples are too few for the level,
///     below 6 at 95 %. If only their effective number is too small, the interval is the range of the samples, which may have
///     less than the level: `ci_method` names it.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; or the level is outside
///         (0, 1). The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
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

/// Computes the mean of samples of one process, and its interval by Student's t.
///
/// The samples are assumed to be independent (Student, *The probable error of a mean*, Biometrika 6, 1908). Times rarely are:
/// use `median_ci` for them.
///
/// Args:
///     samples: Samples, one dimension, any unit.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The mean and its interval, in the unit of the samples; without an interval for one sample.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; the level is outside
///         (0, 1); or the variance overflows. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
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

/// Computes the geometric mean of process medians, and its interval.
///
/// The interval is that of the mean of very many processes; a single next process may lie outside. Each process counts once, by
/// its median, because processes differ several times as much as the samples of one process (Kalibera and Jones, *Rigorous
/// benchmarking in reasonable time*, 2013). The interval is Student's t on the logarithms of the medians.
///
/// Args:
///     processes: One number above 0 per process, or the samples of each process; any unit.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The point estimate and its interval, in the unit of the samples. One or two processes have no interval, only a range.
///
/// Raises:
///     ValueError: If there are no processes; a process has no samples; a value is NaN or infinite; a median is not above 0; the
///         level is outside (0, 1); or the interval overflows. The message has the position.
///     TypeError: If the argument is not a sequence of numbers, or of sequences. The message has the position.
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
