//! The rank-sum test of Wilcoxon, Mann and Whitney.

use super::ranks::Pairs;
use crate::error::{Error, Result, words};
use crate::results::result;
use crate::stats::samples::distributions::{RankSum, normal_two_sided};

/// Number of values on the smaller side up to which the normal approximation is too inaccurate.
const SMALL: usize = 8;

words! {
    /// Source of a p-value.
    pub enum RankMethod {
        /// All divisions of the ranks, counted.
        Exact = "exact",
        /// The normal distribution that U approaches.
        Asymptotic = "asymptotic",
    }
}

impl RankMethod {
    /// The method with this name; `None` for `auto`, which leaves it to the samples.
    ///
    /// # Errors
    /// Another name.
    pub fn parse(name: &str) -> Result<Option<Self>> {
        match name {
            "auto" => Ok(None),
            "exact" => Ok(Some(Self::Exact)),
            "asymptotic" => Ok(Some(Self::Asymptotic)),
            _ => Err(Error::unknown_name("method", name, "auto, exact, asymptotic")),
        }
    }
}

result! {
    /// Result of `mann_whitney`.
    pub struct MannWhitney {
        /// Pairs in which the baseline's value is larger, equal ones counting a half; scipy's statistic.
        pub u_baseline: f64,
        /// Pairs in which the candidate's value is larger, equal ones counting a half.
        pub u_candidate: f64,
        /// Probability of a U at least as far from its mean, on either side, if both sides have the same distribution.
        pub p_value: f64,
        /// Source of the p-value: `exact` or `asymptotic`.
        pub method: RankMethod,
        /// True if any two values are equal.
        pub ties: bool,
        /// The share of pairs in which the candidate's value is larger, equal ones counting a half; from 0 to 1.
        pub probability: f64,
    }
}

/// Tests if values of one side tend to be larger (Mann and Whitney, 1947).
///
/// Without a `method` the distribution of U is exact where no values are equal, one side has at most 8 and it fits into memory, else
/// normal, with the variance that ties leave it (Lehmann, *Nonparametrics*, 1975, section 1.4) and, if `continuity`, the
/// mean half a step closer to U. Two sides of nothing but one value give a p-value of 1.
///
/// # Errors
/// An empty side; a NaN or an infinity, by position; the exact method where values are equal, for which its distribution does not
/// hold, or where its counts would not fit; an interruption.
pub fn mann_whitney(
    baseline: &[f64],
    candidate: &[f64],
    method: Option<RankMethod>,
    continuity: bool,
    interrupted: &dyn Fn() -> bool,
) -> Result<MannWhitney> {
    let pairs = Pairs::of(baseline, candidate, interrupted)?;
    let (n, m) = (baseline.len(), candidate.len());
    let all = n as f64 * m as f64;
    let half = pairs.equal as f64 / 2.0;
    let (u_baseline, u_candidate) = (pairs.less as f64 + half, pairs.greater as f64 + half);
    let ties = pairs.ties > 0.0;
    let distribution = RankSum::new(n, m);
    let smaller = pairs.less.min(pairs.greater) as usize;
    let method = match method {
        Some(RankMethod::Exact) if ties => {
            return Err(Error::unknown_name("method", "exact", "auto, asymptotic where values are equal"));
        }
        Some(RankMethod::Exact) if !distribution.is_feasible(smaller) => {
            return Err(Error::unknown_name("method", "exact", "auto, asymptotic where there are as many values"));
        }
        Some(method) => method,
        None if !ties && n.min(m) <= SMALL && distribution.is_feasible(smaller) => RankMethod::Exact,
        None => RankMethod::Asymptotic,
    };
    let p_value = match method {
        RankMethod::Exact => (2.0 * distribution.lower_tail(smaller, interrupted)?).min(1.0),
        RankMethod::Asymptotic => asymptotic(u_baseline.max(u_candidate), n, m, pairs.ties, continuity),
    };
    Ok(MannWhitney { u_baseline, u_candidate, p_value, method, ties, probability: u_candidate / all })
}

/// `u` is the larger of the two.
fn asymptotic(u: f64, n: usize, m: usize, ties: f64, continuity: bool) -> f64 {
    let (all, ranks) = (n as f64 * m as f64, n as f64 + m as f64);
    let variance = all / 12.0 * (ranks + 1.0 - ties / (ranks * (ranks - 1.0)));
    let distance = u - all / 2.0 - if continuity { 0.5 } else { 0.0 };
    // Nothing but one value leaves no variance, or what rounding makes of none.
    if distance <= 0.0 || variance <= 0.0 { 1.0 } else { normal_two_sided(distance / variance.sqrt()) }
}
