//! The description of one set of samples.

use pyo3::prelude::*;

use crate::python::convert::{Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::python::stats::result::result;
use crate::stats::describe;

/// Describes samples.
///
/// The interval of the median is the narrowest symmetric pair of order statistics that holds it with at least
/// `confidence_level`, whatever the distribution, if the samples are independent (David and Nagaraja, *Order Statistics*,
/// 3rd ed., section 7.1). Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan, *Sample
/// Quantiles in Statistical Packages*, 1996; numpy's default).
///
/// Args:
///     samples: One dimension, any unit. A contiguous numpy array of float64 or int64 is read in place and must not be
///         written to meanwhile; anything else is copied. Integers beyond 2**53 are rounded to the nearest float64.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The description, in the unit of the samples.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; a level outside (0, 1);
///         values so far apart that their variance overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
#[pyo3(signature = (samples, *, confidence_level = 0.95))]
pub(in crate::python) fn summarize(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<Summary> {
    let samples = Samples::read("samples", samples)?;
    let summary = with_slice!(&samples, slice => interruptibly(py, |interrupted| describe::summarize(slice, confidence_level, interrupted)))?;
    Ok(summary.into())
}

result! {
    /// What `summarize` returns. Every value is in the unit of the samples.
    Summary from found: describe::Summary {
        /// How many samples.
        count: usize,
        /// Arithmetic mean.
        mean: f64,
        /// Standard deviation with the divisor n - 1; None for one sample.
        stddev: Option<f64>,
        /// Smallest sample.
        min: f64,
        /// Largest sample.
        max: f64,
        /// Median.
        median: f64,
        /// First quartile.
        q1: f64,
        /// Third quartile.
        q3: f64,
        /// 95th percentile.
        p95: f64,
        /// 99th percentile.
        p99: f64,
        /// Median absolute deviation from the median, not scaled.
        mad: f64,
        /// Lower end of the median's interval; None where there are too few samples for the level.
        ci_low: Option<f64> = found.interval.map(|interval| interval.low),
        /// Upper end of the median's interval; None where there are too few samples for the level.
        ci_high: Option<f64> = found.interval.map(|interval| interval.high),
        /// The level that the interval was asked to hold; order statistics hold at least it.
        confidence_level: f64,
        /// How the interval was made: `median_rank`, from two order statistics; None without one.
        ci_method: Option<&'static str> = found.interval.map(|interval| interval.method.name()),
    }
}
