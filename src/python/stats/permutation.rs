//! The permutation test.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{floats, threads as threads_of, whole_or};
use crate::python::interrupt::interruptibly;
use crate::stats::compare::hypotheses::{self, Statistic};

/// Tests if two sides differ, with random divisions of their values.
///
/// The p-value is the share of divisions into two sides of these sizes whose means, or medians, lie at least as far apart as the
/// observed ones, in either direction. If there are no more than `resamples` divisions, all are evaluated, and the p-value is
/// exact. Else `resamples` divisions are drawn, and the p-value is (count + 1) / (resamples + 1), which keeps the level of the
/// test (Phipson and Smyth, *Permutation P-values Should Never Be Zero*, 2010). Distances are equal if they differ by no more than
/// the rounding error, about 1e-14 of the range of the values. The test does not hold for autocorrelated samples.
///
/// `scipy.stats.permutation_test` doubles the smaller tail instead, which is another number if the sizes differ.
///
/// Args:
///     baseline: Samples, one dimension, any unit, at least one; a contiguous float64 array is read in place.
///     candidate: Samples in the same unit.
///     statistic: Compared statistic, `mean` or `median`.
///     resamples: Number of divisions to draw, from 1 to 10**8.
///     seed: Seed of random divisions, 64 bits. The same seed gives the same result with any number of threads.
///     threads: Number of threads, from 1 to 256; None for the number of processors, at most 8.
///
/// Returns:
///     The difference, in the unit of the samples, and the two-sided p-value.
///
/// Raises:
///     ValueError: If a side is empty; a sample is NaN or infinite; the statistic is unknown; a number of resamples, a seed or a
///         number of threads is out of range; or the difference overflows. The message has the position.
///     TypeError: If a side is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (
    baseline, candidate, *, statistic = "mean", resamples = None, seed = None, threads = None
), text_signature = "(baseline, candidate, *, statistic='mean', resamples=99999, seed=0, threads=None)")]
pub(in crate::python) fn permutation_test(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    statistic: &str,
    resamples: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<hypotheses::PermutationTest> {
    guarded(|| {
        let (statistic, threads) = (Statistic::named("statistic", statistic)?, threads_of(threads)?);
        let (resamples, seed) = (whole_or("resamples", resamples, 99_999)?, whole_or("seed", seed, 0)?);
        let (baseline, candidate) = (floats("baseline", baseline)?, floats("candidate", candidate)?);
        interruptibly(py, |interrupted| {
            hypotheses::permutation_test(&baseline, &candidate, statistic, resamples, seed, threads, interrupted)
        })
    })
}
