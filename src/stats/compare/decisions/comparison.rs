//! Two sides, each a number of processes, and what may be said of them.

use super::processes::additional_processes;
use super::reason::reason;
use super::verdict::{LEAST_PROCESSES, Rule, Verdict};
use crate::error::{Error, Result};
use crate::stats::compare::hypotheses::{MeanDifference, cliffs_delta, hodges_lehmann, logarithms};
use crate::stats::samples::{Moments, positive};

/// What [`compare_samples`] finds. Ratios are candidate / baseline: below 1 the candidate is faster.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The word.
    pub verdict: Verdict,
    /// Which comparison of which numbers decided.
    pub reason: String,
    /// Ratio of the geometric means.
    pub ratio: f64,
    /// What else depends on the spread between processes; `None` with fewer than three on a side.
    pub judged: Option<Judged>,
    /// How small a difference does not matter.
    pub margin: f64,
    /// The level at which a difference was judged.
    pub confidence_level: f64,
    /// The level at which equivalence was judged.
    pub equivalence_level: f64,
    /// Geometric mean of the baseline's processes, in the unit of the samples.
    pub baseline: f64,
    /// Geometric mean of the candidate's processes, in the unit of the samples.
    pub candidate: f64,
    /// How many processes the baseline has.
    pub n_baseline: usize,
    /// How many processes the candidate has.
    pub n_candidate: usize,
    /// Cliff's delta of the process medians: above 0, the candidate's are larger more often than not.
    pub cliffs_delta: f64,
    /// The Hodges-Lehmann shift from baseline to candidate, in the unit of the samples.
    pub shift: f64,
    /// How many more processes on each side are predicted to settle an inconclusive comparison.
    pub additional_processes: Option<usize>,
}

/// What a comparison knows of the spread between processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The ratio's interval at the level of the comparison.
    pub ratio_ci: (f64, f64),
    /// The narrower interval that is held against the margin.
    pub equivalence_ci: (f64, f64),
    /// Welch's, two-sided, of no difference.
    pub p_value: f64,
    /// Satterthwaite's, of fewer than five processes on a side at most what equal numbers have; `None` where no side has a
    /// spread.
    pub degrees_of_freedom: Option<f64>,
    /// Standard error of the difference of mean logarithms: a relative error of the ratio.
    pub log_standard_error: f64,
    /// Standard deviation of the baseline's log process medians: its relative spread between processes.
    pub log_stddev_baseline: f64,
    /// The same of the candidate.
    pub log_stddev_candidate: f64,
}

impl Comparison {
    /// How it is made.
    pub const METHOD: &str = "welch_log_process_medians";
}

/// Compares two sides by one positive number a process, such as the median of its samples: Welch's t on the logarithms,
/// judged by [`Verdict::of_intervals`] at `confidence_level` and 1 − 2 (1 − `confidence_level`).
///
/// The process is what is repeated (Kalibera and Jones, *Rigorous benchmarking in reasonable time*, 2013): samples of one
/// process share what its start decided, so that their number says little about the next process.
///
/// With three or four processes on one side and more on the other, degrees of freedom are at most those of equal numbers:
/// Satterthwaite's let more false alarms pass than the level allows.
///
/// # Errors
/// An empty side; a number that is not finite or not above 0, by position; a margin outside [0, 1]; a level outside
/// (0.5, 1); sides or intervals too far apart for a float; an interruption.
pub fn compare_samples(
    baseline: &[f64],
    candidate: &[f64],
    margin: f64,
    confidence_level: f64,
    interrupted: &dyn Fn() -> bool,
) -> Result<Comparison> {
    positive("baseline", baseline, 1)?;
    positive("candidate", candidate, 1)?;
    let rule = Rule::new(margin, confidence_level)?;
    let log_baseline = logarithms(baseline, interrupted)?;
    let log_candidate = logarithms(candidate, interrupted)?;
    let means = (Moments::of(&log_baseline)?.mean, Moments::of(&log_candidate)?.mean);
    let ratio = within_range((means.1 - means.0).exp())?;

    let (mut verdict, mut judged, mut additional) = (Verdict::Inconclusive, None, None);
    let mut why = format!("fewer than {LEAST_PROCESSES} processes: no verdict");
    if baseline.len().min(candidate.len()) >= LEAST_PROCESSES {
        let most = Rule::most_degrees_of_freedom(baseline.len(), candidate.len());
        let found = MeanDifference::between(&log_baseline, &log_candidate)?.limited(most);
        let equivalence = found.interval(rule.equivalence_level());
        let difference = found.interval(confidence_level);
        verdict = Verdict::of_intervals(equivalence, difference, margin);
        let known = Judged::of(&found, equivalence, difference)?;
        why = reason(verdict, known.equivalence_ci, known.ratio_ci, rule);
        judged = Some(known);
        additional = (verdict == Verdict::Inconclusive).then(|| additional_processes(&found, rule)).flatten();
    }
    Ok(Comparison {
        verdict,
        reason: why,
        ratio,
        judged,
        margin,
        confidence_level,
        equivalence_level: rule.equivalence_level(),
        baseline: means.0.exp(),
        candidate: means.1.exp(),
        n_baseline: baseline.len(),
        n_candidate: candidate.len(),
        cliffs_delta: cliffs_delta(baseline, candidate, interrupted)?,
        shift: hodges_lehmann(baseline, candidate, confidence_level, interrupted)?.shift,
        additional_processes: additional,
    })
}

impl Judged {
    fn of(found: &MeanDifference, equivalence: (f64, f64), difference: (f64, f64)) -> Result<Self> {
        let ratios = |(low, high): (f64, f64)| Ok((low.exp(), within_range(high.exp())?));
        Ok(Self {
            ratio_ci: ratios(difference)?,
            equivalence_ci: ratios(equivalence)?,
            p_value: found.p_value(),
            degrees_of_freedom: found.degrees_of_freedom,
            log_standard_error: found.standard_error,
            log_stddev_baseline: found.baseline.stddev,
            log_stddev_candidate: found.candidate.stddev,
        })
    }
}

fn within_range(ratio: f64) -> Result<f64> {
    if ratio.is_finite() { Ok(ratio) } else { Err(Error::Overflow { argument: "candidate / baseline" }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(baseline: &[f64], candidate: &[f64]) -> Comparison {
        compare_samples(baseline, candidate, 0.01, 0.95, &|| false).expect("sound processes")
    }

    #[test]
    fn sides_without_spread_are_judged_by_their_ratio() {
        assert_eq!(compare(&[5.0; 3], &[5.0; 4]).verdict, Verdict::Equivalent);
        let found = compare(&[5.0; 3], &[6.0; 4]);
        let judged = found.judged.expect("enough processes");
        assert_eq!((found.verdict, judged.p_value, judged.degrees_of_freedom), (Verdict::Slower, 0.0, None));
    }

    #[test]
    fn can_be_broken_off() {
        assert_eq!(compare_samples(&[1.0], &[1.0], 0.01, 0.95, &|| true), Err(Error::Interrupted));
    }
}
