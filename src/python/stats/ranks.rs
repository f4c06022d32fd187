//! Whether values of one side tend to be larger, and by how much.

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::python::convert::floats;
use crate::python::interrupt::interruptibly;
use crate::stats::compare::hypotheses::{self, RankMethod};

/// Tests whether values of one side tend to be larger than those of the other: the rank-sum test of Mann and Whitney.
///
/// U counts the pairs in which one side's value is larger; equal ones count a half (Mann and Whitney, *On a Test of Whether
/// one of Two Random Variables is Stochastically Larger than the Other*, 1947). The exact law of U counts all divisions of the
/// ranks. The asymptotic one is normal, with the variance that equal values leave (Lehmann, *Nonparametrics*, 1975, section
/// 1.4). Neither holds for samples that depend on one another, as those of one process do.
///
/// Args:
///     baseline: One dimension, at least one value, any unit; a contiguous float64 array is read in place.
///     candidate: The same, in the same unit.
///     method: `exact`, `asymptotic` or `auto`: exact where no values are equal, one side has at most 8 and the counts fit
///         into 64 MiB.
///     continuity: Whether the asymptotic law is asked half a step closer to its mean, because U moves in steps.
///
/// Returns:
///     Both U, the two-sided p-value and the share of pairs in which the candidate's value is larger. Where all values are
///     equal the p-value is 1.
///
/// Raises:
///     ValueError: An empty side; a NaN or an infinity, named by position; an unknown method; `exact` where values are equal,
///         whose law it is not, or where its counts would take more than 64 MiB or some seconds.
///     TypeError: Not a sequence of numbers; the message names the position.
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

/// How far two sides lie apart, in pairs: Cliff's delta.
///
/// The share of pairs in which the candidate's value is larger less the share in which it is smaller (Cliff, *Dominance
/// Statistics: Ordinal Analyses to Answer Ordinal Questions*, 1993). It takes sorting, never the pairs.
///
/// Args:
///     baseline: One dimension, at least one value, any unit; a contiguous float64 array is read in place.
///     candidate: The same, in the same unit.
///
/// Returns:
///     From -1, where all of the candidate's values are smaller, to 1, where all are larger; without a unit.
///
/// Raises:
///     ValueError: An empty side; a NaN or an infinity, named by position.
///     TypeError: Not a sequence of numbers; the message names the position.
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

/// By how much the candidate's values lie above the baseline's: the shift of Hodges and Lehmann, with an interval.
///
/// The shift is the exact median of all differences of a candidate's and a baseline's value (Hodges and Lehmann, *Estimates of
/// Location Based on Rank Tests*, 1963), which are counted, never made. The ends of its interval are two of them, whose ranks
/// follow from the law of the Mann-Whitney U (Moses; Hollander and Wolfe, *Nonparametric Statistical Methods*, 2nd ed.,
/// section 4.3): exact for at most 2,500 differences, or where one side has at most 8 values and the counts fit into 64 MiB,
/// else normal. Where the sides differ by a shift and the samples are independent it holds its level, by the
/// normal law to within 1 %; equal values make it wider than it need be.
///
/// Args:
///     baseline: One dimension, at least one value, any unit; a contiguous float64 array is read in place.
///     candidate: The same, in the same unit.
///     confidence_level: Between 0 and 1, both excluded.
///
/// Returns:
///     The shift and its interval, in the unit of the samples.
///
/// Raises:
///     ValueError: An empty side; a NaN or an infinity, named by position; a level outside (0, 1); values so far apart that
///         their differences overflow.
///     TypeError: Not a sequence of numbers; the message names the position.
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
