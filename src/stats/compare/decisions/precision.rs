//! Stop rule for processes by precision alone, never by the verdict.

use crate::error::{Result, require, words};
use crate::results::result;
use crate::stats::intervals::{LogMedians, half_width};
use crate::stats::samples::distributions::normal_quantile;
use crate::stats::samples::{check, confidence_level as check_level, positive};

/// Number of processes that confirm a half width that fits: a constant, and a factor of its share of the target.
///
/// Stopping at the first fit favours processes whose spread happens to look small: intervals of 95 % then cover 92 %, where
/// the rule stops at about 15 processes. Simons (*On the cost of not knowing the variance when making a fixed-width
/// confidence interval for the mean*, Annals of Mathematical Statistics 39, 1968) showed that a fixed number of further
/// observations makes up for it, whatever the standard deviation. Here the number is smaller the further the half width lies
/// below the target, where there is less to make up for. By simulation with these numbers coverage is at least 94.3 %
/// whatever the ratio of target and spread; without the first it would be 94.1, with 8 as the second 94.4.
const CONFIRMATIONS: (usize, f64) = (2, 7.0);
/// Number of prefixes between two checks for an interruption: a few milliseconds.
const PATIENCE: usize = 1 << 10;

words! {
    /// Reasons of a loop over processes to continue or to end.
    pub enum PrecisionReason {
        /// There are not yet as many as the minimum.
        TooFewProcesses = "too_few_processes",
        /// The half width is above the target.
        TooWide = "too_wide",
        /// The half width fits, but was not confirmed by enough further processes.
        Unconfirmed = "unconfirmed",
        /// The target is reached.
        Reached = "reached",
    }
}

result! {
    /// Result of `precision_reached`.
    pub struct Precision {
        /// Half width of the interval as a share of the estimate; None below three processes.
        pub half_width: Option<f64>,
        /// The half width wanted.
        pub target: f64,
        /// True if the loop may end.
        pub reached: bool,
        /// Reason: `reached`, `too_few_processes` (below the minimum), `too_wide`, or `unconfirmed` (the half width fits, but
        /// might do so by chance).
        pub reason: PrecisionReason,
        /// Number of processes.
        pub n_processes: usize,
        /// Least number of further processes; 0 once reached.
        pub further: usize,
        /// The level of the interval.
        pub confidence_level: f64,
    }
}

/// Decides if process medians, in the order in which they ran, are enough for an interval with the half width `target`.
///
/// Every number of processes from `minimum` on is looked at, up to the first one, n, whose half width h is at most `target`.
/// The target is reached at n + 2 + ⌈7·h / target⌉ processes, and later wherever the half width is still at most `target`.
///
/// # Errors
/// No processes; a median that is not finite or not above 0, named by position; a target that is not above 0, a minimum below
/// 3, a level outside (0, 1); medians so far apart that the half width overflows; an interruption.
pub fn precision_reached(
    medians: &[f64],
    target: f64,
    confidence_level: f64,
    minimum: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Precision> {
    check_level(confidence_level)?;
    require(target > 0.0 && target.is_finite(), "target", target, "above 0 and finite")?;
    let expected = "at least 3, since two processes have no interval";
    require(minimum >= 3, "minimum", minimum as f64, expected)?;
    positive("processes", medians, 1)?;

    let log_target = target.ln_1p();
    // Student's t is wider than the normal distribution: a standard error above this need not be put through it.
    let widest = log_target / -normal_quantile((1.0 - confidence_level) / 2.0);
    let mut logs = LogMedians::from_first(medians[0]);
    let mut enough = None;
    for (before, &median) in medians.iter().enumerate() {
        if before % PATIENCE == 0 {
            check(interrupted)?;
        }
        logs.add(median);
        let n = before + 1;
        if n >= minimum && enough.is_none() && logs.standard_error().is_some_and(|error| error <= widest) {
            let half = logs.half_width(confidence_level).filter(|&half| half <= log_target);
            enough = half.map(|half| n + CONFIRMATIONS.0 + (CONFIRMATIONS.1 * half / log_target).ceil() as usize);
        }
    }

    let n = medians.len();
    let log_half = logs.half_width(confidence_level);
    let fits = log_half.is_some_and(|half| half <= log_target);
    let (reason, further) = match enough {
        _ if n < minimum => (PrecisionReason::TooFewProcesses, (minimum - n).saturating_add(CONFIRMATIONS.0)),
        Some(enough) if fits && n >= enough => (PrecisionReason::Reached, 0),
        Some(enough) if fits => (PrecisionReason::Unconfirmed, enough - n),
        Some(enough) => (PrecisionReason::TooWide, enough.saturating_sub(n).max(1)),
        None => (PrecisionReason::TooWide, 1 + CONFIRMATIONS.0),
    };
    Ok(Precision {
        half_width: log_half.map(half_width).transpose()?,
        target,
        reached: reason == PrecisionReason::Reached,
        reason,
        n_processes: n,
        further,
        confidence_level,
    })
}
