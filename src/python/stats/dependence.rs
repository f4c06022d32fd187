//! Dependence of samples of one process.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{floats, whole};
use crate::python::interrupt::interruptibly;
use crate::stats::samples::{Statistic, dependence};

/// Computes the autocorrelation of samples.
///
/// The biased estimator divides every sum of products by the same number, which keeps the sequence positive semi-definite
/// (Priestley, *Spectral Analysis and Time Series*, 1981). Equal samples have no correlation, and get that of white noise: 1,
/// then zeros. Few lags are computed directly, many by Fourier transforms of overlapping blocks.
///
/// Args:
///     samples: Samples in the order of measurement, one dimension, any unit.
///     max_lag: Last lag, below the number of samples; by default 10 * log10(n), rounded down, as R's `acf`.
///
/// Returns:
///     The correlations at the lags 0, 1, ... max_lag. The first is 1.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; or the lag is out of
///         range. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (samples, *, max_lag = None))]
pub(in crate::python) fn autocorrelation(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    max_lag: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<f64>> {
    guarded(|| {
        let max_lag = max_lag.map(|given| whole("max_lag", given)).transpose()?.map(|lag| lag as usize);
        let samples = floats("samples", samples)?;
        interruptibly(py, |interrupted| dependence::autocorrelation(&samples, max_lag, interrupted))
    })
}

/// Estimates the effective sample size of autocorrelated samples.
///
/// The autocorrelation time is -1 plus twice the sum of Geyer's initial monotone sequence (*Practical Markov Chain Monte
/// Carlo*, Statistical Science 7, 1992): correlations are added in pairs of neighbouring lags while the pairs are positive, and
/// no pair may exceed the one before. Negative dependence, which would reduce the time below 1, is ignored. Equal samples count
/// in full.
///
/// Args:
///     samples: Samples in the order of measurement, one dimension, any unit.
///     of: Point estimate that the size holds for: "mean" uses the samples, "median" the signs of their distances from the
///         median.
///
/// Returns:
///     The effective sample size and the autocorrelation time.
///
/// Raises:
///     ValueError: If there are no samples; a sample is NaN or infinite; there is more than one dimension; or the estimate is
///         unknown. The message has the position.
///     TypeError: If the argument is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (samples, *, of = "mean"))]
pub(in crate::python) fn effective_sample_size(
    py: Python<'_>,
    samples: &Bound<'_, PyAny>,
    of: &str,
) -> PyResult<dependence::EffectiveSize> {
    guarded(|| {
        let of = Statistic::named("of", of)?;
        let samples = floats("samples", samples)?;
        interruptibly(py, |interrupted| dependence::effective_sample_size(&samples, of, interrupted))
    })
}
