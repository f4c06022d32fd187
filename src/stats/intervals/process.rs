//! Interval of a benchmark from several processes: the replicate is the process.

use super::IntervalMethod;
use crate::error::{Result, require_finite};
use crate::results::result;
use crate::stats::samples::distributions::t_half_width;
use crate::stats::samples::{confidence_level as check_level, positive};

/// With fewer processes there is no interval: of two, Student's t has one degree of freedom and says next to nothing.
pub(crate) const LEAST: usize = 3;
/// 0.8 ^ 14 = 4.4 %: with fewer, a run has none of a kind that is one process in five, in more than 5 % of runs.
const LEAST_FOR_KINDS: usize = 14;

result! {
    /// Result of `process_ci`. Times are in the unit of the samples.
    pub struct ProcessInterval {
        /// The geometric mean of the process medians.
        pub estimate: f64,
        /// Lower end of its interval; None below three processes.
        pub ci_low: Option<f64>,
        /// Upper end of its interval; None below three processes.
        pub ci_high: Option<f64>,
        /// The level that the interval was asked to hold.
        pub confidence_level: f64,
        /// Method of the interval: `t_log_process_medians`; None without an interval.
        pub ci_method: Option<IntervalMethod>,
        /// Number of processes.
        pub n_processes: usize,
        /// Standard deviation of the medians' natural logarithms, about their relative spread; None for one process.
        pub log_stddev: Option<f64>,
        /// ci_high / estimate - 1: the half width as a share of the estimate; None without an interval.
        pub half_width: Option<f64>,
        /// The smallest process median.
        pub min: f64,
        /// The largest process median.
        pub max: f64,
        /// True of one process: nothing then says how processes differ.
        pub within_one_process: bool,
        /// True below 14 processes: a kind of one process in five is then missed in more than 5 % of runs, and the interval is too
        /// narrow if processes are of two kinds.
        pub may_miss_a_kind: bool,
    }
}

/// The geometric mean of process medians and its interval: Student's t on their logarithms.
///
/// Samples within a process say little about the next process, so that each process counts once, by its median (Kalibera and
/// Jones, *Rigorous benchmarking in reasonable time*, 2013: the highest level that varies is the one to repeat).
///
/// # Errors
/// No processes; a median that is not finite or not above 0, named by position; a level outside (0, 1); medians so far apart
/// that an end overflows.
pub fn process_ci(medians: &[f64], confidence_level: f64) -> Result<ProcessInterval> {
    const ARGUMENT: &str = "processes";
    check_level(confidence_level)?;
    positive(ARGUMENT, medians, 1)?;
    let mut logs = LogMedians::from_first(medians[0]);
    for &median in medians {
        logs.add(median);
    }
    let log_half = logs.half_width(confidence_level);
    let at = |distance: f64| {
        // In two steps, of which none overflows where the result does not.
        let half = f64::midpoint(logs.mean, distance);
        logs.first * half.exp() * half.exp()
    };
    let ci = log_half.map(|half| (at(-half), at(half)));
    let half_width = log_half.map(half_width).transpose()?;
    require_finite(ARGUMENT, ci.map(|(_, high)| high).as_slice())?;
    Ok(ProcessInterval {
        estimate: at(0.0),
        ci_low: ci.map(|(low, _)| low),
        ci_high: ci.map(|(_, high)| high),
        confidence_level,
        ci_method: ci.map(|_| IntervalMethod::TLogProcessMedians),
        n_processes: logs.count,
        log_stddev: logs.stddev(),
        half_width,
        min: medians.iter().copied().fold(f64::INFINITY, f64::min),
        max: medians.iter().copied().fold(0.0, f64::max),
        within_one_process: logs.count == 1,
        may_miss_a_kind: logs.count < LEAST_FOR_KINDS,
    })
}

/// A distance between logarithms as a share.
pub(crate) fn half_width(log_half: f64) -> Result<f64> {
    let share = log_half.exp_m1();
    require_finite("processes", &[share])?;
    Ok(share)
}

/// Mean and spread of logarithms, one median after the other (Welford, 1962).
pub(crate) struct LogMedians {
    /// Logarithms are taken of ratios to it, which keeps the digits of medians that are close together.
    first: f64,
    count: usize,
    mean: f64,
    squared_deviations: f64,
}

impl LogMedians {
    /// Starts without processes; `first` is the first process to come.
    pub(crate) fn from_first(first: f64) -> Self {
        Self { first, count: 0, mean: 0.0, squared_deviations: 0.0 }
    }

    pub(crate) fn add(&mut self, median: f64) {
        let ratio = median / self.first;
        // Only of the smallest and the largest numbers there are is the ratio none, or not a full one.
        let log = if ratio.is_normal() { ratio.ln() } else { median.ln() - self.first.ln() };
        self.count += 1;
        let from_old = log - self.mean;
        self.mean += from_old / self.count as f64;
        self.squared_deviations += from_old * (log - self.mean);
    }

    fn stddev(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squared_deviations / (self.count - 1) as f64).sqrt())
    }

    /// Standard error of the mean logarithm; `None` below three processes.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        self.stddev().filter(|_| self.count >= LEAST).map(|stddev| stddev / (self.count as f64).sqrt())
    }

    /// Half the width of the interval of the mean logarithm; `None` below three processes.
    pub(crate) fn half_width(&self, confidence_level: f64) -> Option<f64> {
        self.standard_error().map(|error| t_half_width(confidence_level, self.count as f64 - 1.0) * error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nasty_medians() {
        assert_eq!(process_ci(&[3.3; 7], 0.95).expect("sound medians").half_width, Some(0.0));
        for scale in [5e-324, 1e-300, 1e307] {
            let found = process_ci(&[scale, scale, 4.0 * scale, 4.0 * scale], 0.5).expect("sound medians");
            assert!(found.estimate >= scale && found.estimate.is_finite(), "{found:?}");
        }
    }
}
