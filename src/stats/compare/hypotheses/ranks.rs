//! Pairwise comparison of the values of two sides, without making the pairs.

use crate::error::Result;
use crate::memory;
use crate::stats::samples::{check, finite, sorted};

/// Merged in some milliseconds, between which the caller is asked.
const PART: usize = 1 << 20;

/// Number of pairs of a baseline's and a candidate's value in which the candidate's is smaller, equal, larger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pairs {
    pub(super) less: u64,
    pub(super) equal: u64,
    pub(super) greater: u64,
    /// The sum of t³ − t over the groups of t equal values, of whichever side.
    pub(super) ties: f64,
}

impl Pairs {
    /// Refuses an empty side, NaN and infinities by position.
    pub(super) fn of(baseline: &[f64], candidate: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Self> {
        let (baseline, candidate) = sorted_sides(baseline, candidate, interrupted)?;
        Merge { last: f64::NAN, ..Merge::default() }.all(&baseline, &candidate, interrupted)
    }
}

/// Cliff's δ, how far two sides lie apart in pairs: the probability that a value of the candidate's exceeds one of the baseline's, less that of the contrary: 1 where all of
/// the candidate's are larger, 0 where neither side tends to be (Cliff, *Dominance Statistics: Ordinal Analyses to Answer
/// Ordinal Questions*, 1993).
///
/// # Errors
/// An empty side; a NaN or an infinity, by position; an interruption.
pub fn cliffs_delta(baseline: &[f64], candidate: &[f64], interrupted: &dyn Fn() -> bool) -> Result<f64> {
    let Pairs { less, equal, greater, .. } = Pairs::of(baseline, candidate, interrupted)?;
    // The difference of whole numbers is exact; that of the probabilities would not be.
    let difference = greater.abs_diff(less) as f64 / (less + equal + greater) as f64;
    Ok(if greater < less { -difference } else { difference })
}

/// The values of each side in ascending order; equal values are the same bits, since zeros lose their sign.
///
/// # Errors
/// An empty side, a NaN or an infinity by position; an interruption.
pub(super) fn sorted_sides(
    baseline: &[f64],
    candidate: &[f64],
    interrupted: &dyn Fn() -> bool,
) -> Result<(Vec<f64>, Vec<f64>)> {
    finite("baseline", baseline, 1)?;
    finite("candidate", candidate, 1)?;
    let sort = |side: &[f64]| sorted(memory::collected(side.iter().map(|sample| sample + 0.0)), interrupted);
    Ok((sort(baseline)?, sort(candidate)?))
}

/// Merge of both sides in ascending order, the baseline's values first among equals, with the counts so far.
#[derive(Default)]
struct Merge {
    /// The value before; a NaN, which equals none, before the first.
    last: f64,
    /// Number of values before it that are equal, and number of the baseline's among them, itself included.
    equals: u64,
    equals_of_baseline: u64,
    /// Pairs in which the candidate's value is not smaller, and is equal.
    not_less: u64,
    equal: u64,
    ties: u128,
}

impl Merge {
    fn all(mut self, baseline: &[f64], candidate: &[f64], interrupted: &dyn Fn() -> bool) -> Result<Pairs> {
        let (mut i, mut j) = (0, 0);
        while i < baseline.len() && j < candidate.len() {
            check(interrupted)?;
            let end = i + j + PART;
            while i < baseline.len() && j < candidate.len() && i + j < end {
                let of_baseline = baseline[i] <= candidate[j];
                self.take(if of_baseline { baseline[i] } else { candidate[j] }, of_baseline, i);
                i += usize::from(of_baseline);
                j += usize::from(!of_baseline);
            }
        }
        for (rest, of_baseline) in [(&baseline[i..], true), (&candidate[j..], false)] {
            for part in rest.chunks(PART) {
                check(interrupted)?;
                for &value in part {
                    self.take(value, of_baseline, baseline.len());
                }
            }
        }
        let all = baseline.len() as u64 * candidate.len() as u64;
        let Self { not_less, equal, ties, .. } = self;
        Ok(Pairs { less: all - not_less, equal, greater: not_less - equal, ties: ties as f64 })
    }

    /// Takes the next value, after so many of the baseline's. There is no branch, because the side cannot be predicted.
    #[inline]
    #[allow(clippy::float_cmp, reason = "ties are values that are exactly equal")]
    fn take(&mut self, value: f64, of_baseline: bool, before: usize) {
        let is_equal = value == self.last;
        self.last = value;
        self.equals = if is_equal { self.equals + 1 } else { 0 };
        self.equals_of_baseline = if is_equal { self.equals_of_baseline } else { 0 } + u64::from(of_baseline);
        self.not_less += if of_baseline { 0 } else { before as u64 };
        self.equal += if of_baseline { 0 } else { self.equals_of_baseline };
        // What one more equal value adds to t³ − t.
        self.ties += u128::from(3 * self.equals * (self.equals + 1));
    }
}
