//! The permutation test.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::{floats, threads as threads_of, whole_or};
use crate::python::interrupt::interruptibly;
use crate::stats::compare::hypotheses::{self, Statistic};

/// Tests whether two sides could be one, divided at random.
///
/// How often does a division of all values into two sides of these sizes put their means, or medians, at least as far apart as
/// they are, in either direction? If there are no more than `resamples` divisions all of them are looked at, and the p-value is
/// exact. Else `resamples` are drawn, and the p-value is (count + 1) / (resamples + 1), which keeps the level of the test
/// (Phipson and Smyth, *Permutation P-values Should Never Be Zero*, 2010). Distances count as equal if they differ by no more
/// than rounding explains, about 1e-14 of the values' spread. It does not hold for samples that depend on one another.
///
/// `scipy.stats.permutation_test` doubles the smaller tail instead, which is another number where the sizes differ.
///
/// Args:
///     baseline: One dimension, at least one value, any unit; a contiguous float64 array is read in place.
///     candidate: The same, in the same unit.
///     statistic: What is compared, `mean` or `median`.
///     resamples: At least 1.
///     seed: What random divisions are drawn from, 64 bits. The same seed gives the same result whatever `threads` is.
///     threads: From 1 to 256; as many as there are processors, at most 8, if None.
///
/// Returns:
///     The difference, in the unit of the samples, and the two-sided p-value.
///
/// Raises:
///     ValueError: An empty side; a NaN or an infinity, named by position; an unknown statistic; no resamples; a number of
///         resamples, a seed or a number of threads out of range; values so far apart that their difference overflows.
///     TypeError: Not a sequence of numbers; the message names the position.
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
