//! Mean, variance and extremes.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{Samples, with_slice};
use crate::python::interrupt::interruptibly;
use crate::results::result;
use crate::stats::samples;

/// Mean, variance and extremes of samples, in one read of them; of more than four million on several threads.
///
/// Blocks that fit into a cache are read for their mean, extremes and squared deviations in turn, and merged by the
/// pairwise update of Chan, Golub and LeVeque (*Algorithms for Computing the Sample Variance: Analysis and
/// Recommendations*, The American Statistician 37(3), 1983): as exact as two passes over everything. The result is the same
/// bits on every processor. Deviations below some 1e-162 have squares that are too small for a float, and count as none, here
/// and in every function that needs a variance and does not say otherwise.
///
/// Args:
///     samples: One dimension, any unit. A contiguous numpy array of float64 or int64 is read in place and must not be
///         written to meanwhile; anything else is copied. Integers beyond 2**53 are rounded to the nearest float64.
///
/// Returns:
///     The moments, in the unit of the samples, the variance in its square.
///
/// Raises:
///     ValueError: No samples; a NaN or an infinity, named by position; more than one dimension; values so far apart that
///         their variance overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
#[pyfunction]
pub(in crate::python) fn moments(py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<Moments> {
    guarded(|| {
        let samples = Samples::read_once("samples", samples)?;
        let found =
            with_slice!(&samples, slice => interruptibly(py, |interrupted| samples::moments(slice, interrupted)))?;
        Ok(Moments {
            count: found.count,
            mean: found.mean,
            variance: found.variance(),
            stddev: found.stddev(),
            min: found.min,
            max: found.max,
        })
    })
}

result! {
    /// What `moments` returns.
    pub(in crate::python) struct Moments {
        /// How many samples.
        pub(in crate::python) count: usize,
        /// Arithmetic mean, in the unit of the samples.
        pub(in crate::python) mean: f64,
        /// Variance with the divisor n - 1, in the square of that unit; None for one sample.
        pub(in crate::python) variance: Option<f64>,
        /// Standard deviation, the root of the variance, in the unit of the samples; None for one sample.
        pub(in crate::python) stddev: Option<f64>,
        /// Smallest sample.
        pub(in crate::python) min: f64,
        /// Largest sample.
        pub(in crate::python) max: f64,
    }
}
