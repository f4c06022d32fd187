//! Comparison of ranks: test, effect size and shift.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::floats;
use crate::python::interrupt::interruptibly;
use crate::stats::compare::hypotheses::{self, RankMethod};

/// Tests if values of one side tend to be larger (Mann and Whitney).
///
/// U counts the pairs in which one side's value is larger; equal values count a half (Mann and Whitney, *On a Test of Whether
/// one of Two Random Variables is Stochastically Larger than the Other*, 1947). The exact distribution of U counts all divisions of
/// the ranks. The asymptotic distribution is normal, with the variance that equal values leave (Lehmann, *Nonparametrics*, 1975,
/// section 1.4). Both are wrong for autocorrelated samples, such as those of one process.
///
/// Args:
///     baseline: Samples, one dimension, any unit, at least one; a contiguous float64 array is read in place.
///     candidate: Samples in the same unit.
///     method: `exact`, `asymptotic` or `auto`: exact if no values are equal, one side has at most 8 and the counts fit into
///         64 MiB.
///     continuity: True to use the asymptotic distribution half a step closer to its mean, because U is discrete.
///
/// Returns:
///     Both U, the two-sided p-value and the share of pairs in which the candidate's value is larger. If all values are equal,
///     the p-value is 1.
///
/// Raises:
///     ValueError: If a side is empty; a sample is NaN or infinite; the method is unknown; or `exact` is requested and values are
///         equal, or the counts would take more than 64 MiB or some seconds. The message has the position.
///     TypeError: If a side is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (baseline, candidate, *, method = "auto", continuity = true))]
pub(in crate::python) fn mann_whitney(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    method: &str,
    continuity: bool,
) -> PyResult<hypotheses::MannWhitney> {
    guarded(|| {
        let method = RankMethod::parse(method)?;
        let (baseline, candidate) = (floats("baseline", baseline)?, floats("candidate", candidate)?);
        interruptibly(py, |interrupted| {
            hypotheses::mann_whitney(&baseline, &candidate, method, continuity, interrupted)
        })
    })
}

/// Computes the effect size of two sides: Cliff's delta.
///
/// It is the share of pairs in which the candidate's value is larger, less the share in which it is smaller (Cliff, *Dominance
/// Statistics: Ordinal Analyses to Answer Ordinal Questions*, 1993). The values are sorted; pairs are never made.
///
/// Args:
///     baseline: Samples, one dimension, any unit, at least one; a contiguous float64 array is read in place.
///     candidate: Samples in the same unit.
///
/// Returns:
///     The effect size from -1, if all of the candidate's values are smaller, to 1, if all are larger; without a unit.
///
/// Raises:
///     ValueError: If a side is empty, or a sample is NaN or infinite. The message has the position.
///     TypeError: If a side is not a sequence of numbers. The message has the position.
#[pyfunction]
pub(in crate::python) fn cliffs_delta(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    guarded(|| {
        let (baseline, candidate) = (floats("baseline", baseline)?, floats("candidate", candidate)?);
        interruptibly(py, |interrupted| hypotheses::cliffs_delta(&baseline, &candidate, interrupted))
    })
}

/// Estimates the shift between two sides (Hodges and Lehmann), with an interval.
///
/// The shift is the exact median of all differences of a candidate's and a baseline's value (Hodges and Lehmann, *Estimates of
/// Location Based on Rank Tests*, 1963). Differences are counted, never made. The ends of the interval are two of the differences,
/// whose ranks follow from the distribution of the Mann-Whitney U (Moses; Hollander and Wolfe, *Nonparametric Statistical
/// Methods*, 2nd ed., section 4.3). That distribution is exact for at most 2,500 differences, and if one side has at most 8 values
/// and the counts fit into 64 MiB; else it is normal. The interval has its level if the samples are independent and the sides
/// differ by a shift, with the normal distribution to within 1 %. Equal values make the interval wider than necessary.
///
/// Args:
///     baseline: Samples, one dimension, any unit, at least one; a contiguous float64 array is read in place.
///     candidate: Samples in the same unit.
///     confidence_level: Level of the interval, between 0 and 1, both excluded.
///
/// Returns:
///     The shift and its interval, in the unit of the samples.
///
/// Raises:
///     ValueError: If a side is empty; a sample is NaN or infinite; the level is outside (0, 1); or a difference overflows. The
///         message has the position.
///     TypeError: If a side is not a sequence of numbers. The message has the position.
#[pyfunction]
#[pyo3(signature = (baseline, candidate, *, confidence_level = 0.95))]
pub(in crate::python) fn hodges_lehmann(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    candidate: &Bound<'_, PyAny>,
    confidence_level: f64,
) -> PyResult<hypotheses::HodgesLehmann> {
    guarded(|| {
        let (baseline, candidate) = (floats("baseline", baseline)?, floats("candidate", candidate)?);
        interruptibly(py, |interrupted| {
            hypotheses::hodges_lehmann(&baseline, &candidate, confidence_level, interrupted)
        })
    })
}
