//! The shift of Hodges and Lehmann, with the interval of Moses.

use super::mann_whitney::RankMethod;
use super::ranks::sorted_sides;
use crate::error::{Result, require_finite};
use crate::memory::Room as _;
use crate::results::result;
use crate::stats::samples::distributions::{RankSum, normal_quantile};
use crate::stats::samples::{check, confidence_level as check_level};
use crate::stats::samples::{from_key, to_key};

/// Number of differences, or of values on the smaller side, up to which the exact distribution is used: the normal one is too
/// inaccurate there.
const FEW_DIFFERENCES: u64 = 2_500;
const FEW_VALUES: usize = 8;
/// Compared in some milliseconds, between which the caller is asked.
const PART: usize = 1 << 20;
/// Fewer differences than this are not worth narrowing down.
const LEAST_GATHERED: usize = 1024;

result! {
    /// Result of `hodges_lehmann`.
    pub struct HodgesLehmann {
        /// The median of all differences, candidate less baseline, in the unit of the samples.
        pub shift: f64,
        /// Lower end of the shift's interval, in the unit of the samples; None where there are too few values for the level.
        pub ci_low: Option<f64>,
        /// Upper end of the shift's interval, in the unit of the samples; None where there are too few values for the level.
        pub ci_high: Option<f64>,
        /// The level that the interval was asked to hold.
        pub confidence_level: f64,
        /// Distribution of the interval: `exact` or `asymptotic`.
        pub ci_method: RankMethod,
    }
}

/// Estimates the shift from the baseline's values to the candidate's: the median of all n · m differences (Hodges and Lehmann,
/// *Estimates of Location Based on Rank Tests*, 1963), with the interval that the Mann-Whitney test does not reject (attributed
/// to Moses; Hollander and Wolfe, *Nonparametric Statistical Methods*, 2nd ed., section 4.3).
///
/// The ends are differences whose ranks follow from the distribution of U: exact for at most 2,500 differences, or where a side has at
/// most 8 values and the distribution fits into memory; else normal, half a step further out. Both are those without equal
/// values; where some are equal the interval is wider than it need be.
///
/// The differences are never made. Both sides sorted, those up to some value are counted in n + m steps; bisection over the
/// floats narrows down to some n + m of them, which are then gathered.
///
/// # Errors
/// An empty side; a NaN or an infinity, by position; a level outside (0, 1); differences that overflow; an interruption.
pub fn hodges_lehmann(
    baseline: &[f64],
    candidate: &[f64],
    confidence_level: f64,
    interrupted: &dyn Fn() -> bool,
) -> Result<HodgesLehmann> {
    check_level(confidence_level)?;
    let (baseline, candidate) = sorted_sides(baseline, candidate, interrupted)?;
    let differences = Differences { baseline: &baseline, candidate: &candidate, interrupted };
    let (smallest, largest) = differences.extremes();
    require_finite("baseline and candidate", &[smallest, largest])?;
    let all = baseline.len() as u64 * candidate.len() as u64;
    let below = differences.at((all - 1) / 2)?;
    let above = if all.is_multiple_of(2) { differences.at(all / 2)? } else { below };
    let (method, outside) = outside(baseline.len(), candidate.len(), confidence_level, interrupted)?;
    let ends = |rank: u64| Ok((differences.at(rank)?, differences.at(all - 1 - rank)?));
    let interval = outside.map(ends).transpose()?;
    Ok(HodgesLehmann {
        shift: below.midpoint(above),
        ci_low: interval.map(|(low, _)| low),
        ci_high: interval.map(|(_, high)| high),
        confidence_level,
        ci_method: method,
    })
}

/// Returns the number of differences outside the interval on each side; `None` if even the extremes do not reach the level.
fn outside(n: usize, m: usize, level: f64, interrupted: &dyn Fn() -> bool) -> Result<(RankMethod, Option<u64>)> {
    let tail = (1.0 - level) / 2.0;
    let all = n as u64 * m as u64;
    let (distribution, half) = (RankSum::new(n, m), all / 2);
    if (all <= FEW_DIFFERENCES || n.min(m) <= FEW_VALUES) && distribution.is_feasible(half as usize) {
        let outside = distribution.quantile(tail, half as usize, interrupted)?;
        return Ok((RankMethod::Exact, outside.map(|u| u as u64)));
    }
    let spread = (all as f64 / 12.0 * (n as f64 + m as f64 + 1.0)).sqrt();
    let outside = (all as f64 / 2.0 + normal_quantile(tail) * spread - 0.5).floor();
    Ok((RankMethod::Asymptotic, (outside >= 0.0).then_some((outside as u64).min((all - 1) / 2))))
}

/// All differences of a candidate's and a baseline's value, both in ascending order.
struct Differences<'a> {
    baseline: &'a [f64],
    candidate: &'a [f64],
    interrupted: &'a dyn Fn() -> bool,
}

impl Differences<'_> {
    fn extremes(&self) -> (f64, f64) {
        let (n, m) = (self.baseline.len(), self.candidate.len());
        (self.candidate[0] - self.baseline[n - 1], self.candidate[m - 1] - self.baseline[0])
    }

    /// Returns the difference at `rank`, counted from 0, in sorted order.
    fn at(&self, rank: u64) -> Result<f64> {
        let gathered = (self.baseline.len() + self.candidate.len()).max(LEAST_GATHERED) as u64;
        let (smallest, largest) = self.extremes();
        // The wanted one is above `low`, of which there are `below`, and not above `high`.
        let (mut low, mut high) = (to_key(smallest.next_down()), to_key(largest));
        let (mut below, mut up_to) = (0, self.baseline.len() as u64 * self.candidate.len() as u64);
        while high - low > 1 {
            if up_to - below <= gathered {
                let mut between = self.between(from_key(low), from_key(high))?;
                let (_, found, _) = between.select_nth_unstable_by((rank - below) as usize, f64::total_cmp);
                return Ok(*found + 0.0);
            }
            let middle = low.midpoint(high);
            let count = self.count(from_key(middle))?;
            if count > rank {
                (high, up_to) = (middle, count);
            } else {
                (low, below) = (middle, count);
            }
        }
        // Of the two zeros the ordinary one.
        Ok(from_key(high) + 0.0)
    }

    /// Counts the differences that are at most `limit`. A rounded difference still ascends with the candidate's value and
    /// descends with the baseline's, so that a row does not end before the one in front of it.
    fn count(&self, limit: f64) -> Result<u64> {
        let (baseline, candidate) = (self.baseline, self.candidate);
        let (mut i, mut j, mut count, mut steps) = (0, 0, 0, 0);
        while i < baseline.len() && j < candidate.len() {
            check(self.interrupted)?;
            steps += PART;
            while i < baseline.len() && j < candidate.len() && i + j < steps {
                // No branch: which of the two goes on cannot be foreseen.
                let within = candidate[j] - baseline[i] <= limit;
                count += if within { (baseline.len() - i) as u64 } else { 0 };
                i += usize::from(!within);
                j += usize::from(within);
            }
        }
        Ok(count)
    }

    /// Those above `low` and at most `high`.
    fn between(&self, low: f64, high: f64) -> Result<Vec<f64>> {
        let mut found = Vec::new();
        let (mut start, mut end) = (0, 0);
        for part in self.candidate.chunks(PART) {
            check(self.interrupted)?;
            for &value in part {
                start += self.baseline[start..].iter().take_while(|&&other| value - other > high).count();
                end += self.baseline[end..].iter().take_while(|&&other| value - other > low).count();
                found.room(end.saturating_sub(start));
                found.extend(self.baseline[start..end].iter().map(|other| value - other));
            }
        }
        Ok(found)
    }
}
