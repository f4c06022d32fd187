//! `fastrnns_rs.stats`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::convert::{Samples, with_slice};
use crate::stats;
use crate::units::significant;

/// Describes samples.
///
/// The interval of the median is the narrowest symmetric pair of order statistics that holds it with at least
/// `confidence_level`, whatever the distribution, if the samples are independent (David and Nagaraja, *Order Statistics*,
/// 3rd ed., section 7.1). Quantiles interpolate linearly between order statistics (type 7 of Hyndman and Fan, *Sample
/// Quantiles in Statistical Packages*, 1996; numpy's default).
///
/// Args:
///     samples: One dimension, any unit. A contiguous numpy array of float64, float32, int64, int32, uint64 or uint32 is
///         read in place and must not be written to meanwhile; anything else is copied. Integers beyond 2**53 are rounded
///         to the nearest float64.
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
pub(super) fn summarize(py: Python<'_>, samples: &Bound<'_, PyAny>, confidence_level: f64) -> PyResult<Summary> {
    let samples = Samples::read("samples", samples)?;
    let summary = with_slice!(&samples, slice => py.detach(|| stats::summarize(slice, confidence_level)))?;
    Ok(Summary(summary))
}

/// What `summarize` returns. Every value is in the unit of the samples.
#[pyclass(frozen, eq, module = "fastrnns_rs.stats")]
#[derive(PartialEq)]
pub(super) struct Summary(stats::Summary);

#[pymethods]
impl Summary {
    /// How many samples.
    #[getter]
    fn count(&self) -> usize {
        self.0.count
    }

    /// Arithmetic mean.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean
    }

    /// Standard deviation with the divisor n - 1; None for one sample.
    #[getter]
    fn stddev(&self) -> Option<f64> {
        self.0.stddev
    }

    /// Smallest sample.
    #[getter]
    fn min(&self) -> f64 {
        self.0.min
    }

    /// Largest sample.
    #[getter]
    fn max(&self) -> f64 {
        self.0.max
    }

    /// Median.
    #[getter]
    fn median(&self) -> f64 {
        self.0.median
    }

    /// First quartile.
    #[getter]
    fn q1(&self) -> f64 {
        self.0.q1
    }

    /// Third quartile.
    #[getter]
    fn q3(&self) -> f64 {
        self.0.q3
    }

    /// 95th percentile.
    #[getter]
    fn p95(&self) -> f64 {
        self.0.p95
    }

    /// 99th percentile.
    #[getter]
    fn p99(&self) -> f64 {
        self.0.p99
    }

    /// Median absolute deviation from the median, not scaled.
    #[getter]
    fn mad(&self) -> f64 {
        self.0.mad
    }

    /// Lower end of the median's interval; None where there are too few samples for the level.
    #[getter]
    fn ci_low(&self) -> Option<f64> {
        self.0.interval.map(|interval| interval.low)
    }

    /// Upper end of the median's interval; None where there are too few samples for the level.
    #[getter]
    fn ci_high(&self) -> Option<f64> {
        self.0.interval.map(|interval| interval.high)
    }

    /// How the interval was made: `median_rank`, from two order statistics.
    #[getter]
    fn ci_method(&self) -> Option<&'static str> {
        self.0.interval.map(|interval| interval.method.name())
    }

    /// The level that the interval was asked to hold; order statistics hold at least it.
    #[getter]
    fn confidence_level(&self) -> f64 {
        self.0.confidence_level
    }

    /// The attributes by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("count", self.count())?;
        for (key, value) in [
            ("mean", Some(self.0.mean)),
            ("stddev", self.0.stddev),
            ("min", Some(self.0.min)),
            ("max", Some(self.0.max)),
            ("median", Some(self.0.median)),
            ("q1", Some(self.0.q1)),
            ("q3", Some(self.0.q3)),
            ("p95", Some(self.0.p95)),
            ("p99", Some(self.0.p99)),
            ("mad", Some(self.0.mad)),
            ("ci_low", self.ci_low()),
            ("ci_high", self.ci_high()),
            ("confidence_level", Some(self.0.confidence_level)),
        ] {
            dict.set_item(key, value)?;
        }
        dict.set_item("ci_method", self.ci_method())?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let interval = self.0.interval.map_or_else(
            || "no interval".to_owned(),
            |interval| format!("[{}, {}]", significant(interval.low), significant(interval.high)),
        );
        format!(
            "Summary(count={}, median={} {interval}, mean={}, stddev={})",
            self.0.count,
            significant(self.0.median),
            significant(self.0.mean),
            self.0.stddev.map_or_else(|| "None".to_owned(), significant),
        )
    }
}
