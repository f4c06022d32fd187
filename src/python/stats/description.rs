//! Description of samples.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use crate::guard::guarded;
use crate::python::convert::{Samples, floats, with_slice};
use crate::python::interrupt::interruptibly;
use crate::stats::describe::{self, QuantileMethod};

/// Counts outliers by Tukey's classes, and finds runs of outliers.
///
/// Outliers lie beyond fences 1.5 interquartile ranges from the quartiles, severe outliers beyond 3 (Tukey, *Exploratory Data
/// Analysis*, 1977). Quartiles interpolate linearly between order statistics, as in `summarize`. A run of neighbouring outliers
/// has another cause than single outliers: a processor that throttles, another process. Nothing is deleted, and nothing should
/// be.
///
/// Fewer than four samples, and equal samples, have no outliers. If only the quartiles are equal, as with a coarse clock, every
/// other sample is severe. A fence that a float cannot hold is the largest float.
///
/// Args:
///     samples: Samples in the order of measurement, one dimension, any unit; read as by `summarize`.
///
/// Returns:
///     The number of samples in each class, the fences, and the runs.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; or there is more than one dimension. The message has
///         the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (samples))]
pub(in crate::python) fn outliers(py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<describe::Outliers> {
    guarded(|| {
        let samples = Samples::read("samples", samples)?;
        with_slice!(&samples, slice => {
            interruptibly(py, |interrupted| describe::outliers(slice, interrupted))
        })
    })
}

/// Tests if samples have more than one mode, and finds their modes.
///
/// The test is the dip test of Hartigan and Hartigan, *The Dip Test of Unimodality* (The Annals of Statistics 13, 1985). The
/// dip is the largest distance between the distribution function of the samples and the nearest one with a single mode. Its
/// p-value is the share of uniform samples with a larger dip, interpolated in a table of 100 000 simulated samples of each size.
///
/// If the p-value is below 0.05, the modes are the fewest of any distribution within the distance that chance explains. They are
/// found by the taut string of Davies and Kovac, *Local Extremes, Runs, Strings and Multiresolution* (The Annals of Statistics
/// 29, 2001).
///
/// Else a kernel density estimate is used: a valley separates two modes if it is deeper than in 95 % of samples with one mode,
/// long tails included. It finds separate modes in 50 samples, where the dip needs some hundred; below 20 samples only the dip is
/// used. Its limits are from simulation: two modes are reported for at most about 5 % of normal, exponential and lognormal
/// samples, and for up to 10 % with a tail like Pareto's of shape 2. For uniform samples, the limit of the dip test, it is 5 to
/// 7 %.
///
/// The mvalue is that of Gregg, *Frequency Trails: Modes and Modality* (2013), from a histogram by the rule of Freedman and
/// Diaconis; above 2.4 he suspects two modes.
///
/// Samples of a coarse clock share values, and each tick would be a mode. They are distributed evenly over their tick before the
/// test. Without `tick`, the tick is derived from the distances between shared values; samples of only two values then count as
/// one mode, unless `tick` shows that the two are far apart. Without `tick`, samples whose range is at most 1e-12 of the largest
/// magnitude among them count as constant, with one mode and the p-value 1: the difference of times that are some thousand times
/// as large has a rounding error of that size.
///
/// Args:
///     samples: Samples, one dimension, any unit; read as by `summarize`.
///     tick: Resolution of the clock, in the unit of the samples. 0 means exact samples.
///
/// Returns:
///     The dip, its p-value, the mvalue and the modes.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; or the tick is
///         negative or not finite. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (samples, *, tick = None))]
pub(in crate::python) fn modality(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    tick: Option<f64>,
) -> PyResult<describe::Modality> {
    guarded(|| {
        let samples = floats("samples", samples)?;
        interruptibly(py, |interrupted| describe::modality(&samples, tick, interrupted))
    })
}

/// Computes quantiles by any of the nine definitions.
///
/// The definitions are those of Hyndman and Fan, *Sample Quantiles in Statistical Packages* (The American Statistician 50,
/// 1996), by numpy's names. Nothing is sorted: only the necessary order statistics are selected. The quantile between two samples
/// is finite, even if they are further apart than the largest float.
///
/// Args:
///     samples: Samples, one dimension, any unit; read as by `summarize`.
///     probabilities: List or 1-D array of numbers from 0 to 1, in any order.
///     method: `inverted_cdf`, `averaged_inverted_cdf`, `closest_observation`, `interpolated_inverted_cdf`, `hazen`,
///         `weibull`, `linear`, `median_unbiased` or `normal_unbiased`: numbers 1 to 9 of the paper.
///
/// Returns:
///     One quantile for each probability, in their order, in the unit of the samples.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; a probability is outside [0, 1]; there is more than one
///         dimension; or the method is unknown. The message has the position.
///     TypeError: If an argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (samples, probabilities, *, method = "linear"))]
pub(in crate::python) fn quantiles(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    probabilities: &Bound<'_, PyAny>,
    method: &str,
) -> PyResult<Vec<f64>> {
    guarded(|| {
        if probabilities.is_instance_of::<PyFloat>() || probabilities.is_instance_of::<PyInt>() {
            let message = format!("probabilities is a number; pass a list, as [{}]", probabilities.str()?);
            return Err(PyTypeError::new_err(message));
        }
        let method = QuantileMethod::named("method", method)?;
        let samples = Samples::read("samples", samples)?;
        let probabilities = floats("probabilities", probabilities)?;
        with_slice!(&samples, slice => {
            interruptibly(py, |interrupted| describe::quantiles(slice, &probabilities, method, interrupted))
        })
    })
}

/// Computes mean, median with interval, quartiles, variance and extremes.
///
/// The interval of the median is the narrowest symmetric pair of order statistics that contains the median with at least
/// `confidence_level`, whatever the distribution, if the samples are independent (David and Nagaraja, *Order Statistics*,
/// 3rd ed., section 7.1). Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan, *Sample
/// Quantiles in Statistical Packages*, 1996; numpy's default).
///
/// Args:
///     samples: Samples, one dimension, any unit. A contiguous numpy array of float64 or int64 is read in place and must not be
///         written to meanwhile; anything else is copied. Integers beyond 2**53 are rounded to the nearest float64.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The summary, in the unit of the samples.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; the level is outside
///         (0, 1); or the variance overflows. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (samples, *, confidence_level = 0.95))]
pub(in crate::python) fn summarize(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<describe::Summary> {
    guarded(|| {
        let samples = Samples::read("samples", samples)?;
        with_slice!(&samples, slice => {
            interruptibly(py, |interrupted| describe::summarize(slice, confidence_level, interrupted))
        })
    })
}
