//! How samples of one process depend on those before them.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{floats, whole};
use crate::python::interrupt::interruptibly;
use crate::stats::samples::{Statistic, dependence};

/// The correlation of samples with themselves some steps later.
///
/// The biased estimator: every sum of products is divided by the same number, which keeps the sequence positive
/// semi-definite (Priestley, *Spectral Analysis and Time Series*, 1981). Samples that are all equal have no
/// correlation and are given that of white noise: 1, then zeros. Few lags are computed directly, many by Fourier transforms
/// of overlapping blocks.
///
/// Args:
///     samples: One dimension, any unit, in the order in which they were taken.
///     max_lag: The last lag, below the number of samples; by default 10 * log10(n), rounded down, as R's `acf`.
///
/// Returns:
///     The correlations at the lags 0, 1, ... max_lag, of which the first is 1.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; a lag out of this
///         range.
///     TypeError: Not a sequence of numbers; the message names the position.
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

/// To how many independent samples dependent ones amount.
///
/// The autocorrelation time is -1 plus twice the sum of Geyer's initial monotone sequence (*Practical Markov Chain Monte
/// Carlo*, Statistical Science 7, 1992): correlations are added in pairs of neighbouring lags as long as the
/// pairs are positive, and none may exceed the one before it. Negative dependence, which would make it less than 1, is not
/// relied on. Samples that are all equal count in full.
///
/// Args:
///     samples: One dimension, any unit, in the order in which they were taken.
///     of: Of which estimate: "mean" looks at the samples themselves, "median" at whether each lies above their median or
///         below.
///
/// Returns:
///     The number, and what it comes from.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; an unknown estimate.
///     TypeError: Not a sequence of numbers; the message names the position.
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
