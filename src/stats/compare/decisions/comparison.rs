//! Comparison of two sides, each with a number of processes.

use super::processes::additional_processes;
use super::reason::reason;
use super::verdict::{LEAST_PROCESSES, Rule, Verdict};
use crate::error::{Result, require, require_finite};
use crate::results::result;
use crate::stats::compare::hypotheses::{
    Design, MeanDifference, StandardError, cliffs_delta, hodges_lehmann, logarithms,
};
use crate::stats::samples::{Moments, positive};

result! {
    /// Result of `compare_samples`.
    ///
    /// Ratios are candidate / baseline, without unit: below 1 the candidate is faster.
    pub struct Comparison {
        /// `faster`, `slower`, `equivalent` or `inconclusive`.
        pub verdict: Verdict,
        /// Comparison of numbers that decided, in one sentence.
        pub reason: String,
        /// Ratio of the geometric means of the process medians.
        pub ratio: f64,
        /// Lower end of the ratio's interval at `confidence_level`; None with fewer than three processes on a side.
        pub ratio_ci_low: Option<f64>,
        /// Upper end of the ratio's interval at `confidence_level`; None with fewer than three processes on a side.
        pub ratio_ci_high: Option<f64>,
        /// Lower end of the narrower interval that is held against the margin; None with fewer than three processes.
        pub equivalence_ci_low: Option<f64>,
        /// Upper end of the narrower interval that is held against the margin; None with fewer than three processes.
        pub equivalence_ci_high: Option<f64>,
        /// The relative difference that does not matter: equivalence is inside [1 / (1 + margin), 1 + margin].
        pub margin: f64,
        /// The level of the ratio's interval.
        pub confidence_level: f64,
        /// The level of the narrower interval, 1 - 2 (1 - confidence_level).
        pub equivalence_level: f64,
        /// Two-sided p-value of a ratio of 1; None with fewer than three processes on a side.
        pub p_value: Option<f64>,
        /// Satterthwaite's; with three or four processes on one side and more on the other, at most those of equal numbers,
        /// because the estimate is too high there. None with fewer than three processes on a side, or where neither side has a spread.
        pub degrees_of_freedom: Option<f64>,
        /// Standard error of the log ratio, a relative error of the ratio; None with fewer than three processes.
        pub log_standard_error: Option<f64>,
        /// Geometric mean of the baseline's process medians, in the unit of the samples.
        pub baseline: f64,
        /// Geometric mean of the candidate's process medians, in the unit of the samples.
        pub candidate: f64,
        /// Number of processes of the baseline.
        pub n_baseline: usize,
        /// Number of processes of the candidate.
        pub n_candidate: usize,
        /// Relative spread between the baseline's processes: the standard deviation of their log medians, with the divisor
        /// n - 1; None with fewer than three processes on a side.
        pub log_stddev_baseline: Option<f64>,
        /// The same of the candidate's processes.
        pub log_stddev_candidate: Option<f64>,
        /// Cliff's delta of the process medians, from -1 to 1: below 0 the candidate's are smaller more often than not.
        pub cliffs_delta: f64,
        /// Hodges-Lehmann shift of the process medians, candidate - baseline, in the unit of the samples.
        pub shift: f64,
        /// Number of processes to add per side that would decide an inconclusive comparison with a probability of 90 %, if
        /// ratio and standard deviations are those observed. Run a new comparison with so many: adding processes until a
        /// verdict is computed has more errors than `confidence_level` allows. None for another verdict, with fewer than three
        /// processes on a side, with a session error, and if 100,000 are not enough.
        pub additional_processes: Option<usize>,
        /// Method: `welch_log_process_medians`, `paired_t_log_process_medians` for pairs, or
        /// `anytime_t_log_process_medians` for pairs that may be stopped at any time.
        pub method: String,
    }
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
/// If the `design` has pairs, numbers of the same position were measured right after each other, and Student's t is computed
/// on the differences of these pairs. Whatever changes slowly, such as a temperature, is then in no error. Where the
/// verdict so far may have stopped the measurement, a confidence sequence takes the place of Student's intervals.
///
/// Processes of one session share what the machine did then. `session_error` is the standard error of the log ratio that
/// comprises it; where it is larger than Welch's, it takes its place.
///
/// # Errors
/// An empty side; pairs of unequal numbers; a number that is not finite or not above 0, by position; a margin outside [0, 1]; a level outside
/// (0.5, 1); a session error that is negative or infinite, or has no degrees of freedom; sides or intervals too far apart
/// for a float; an interruption.
pub fn compare_samples(
    baseline: &[f64],
    candidate: &[f64],
    margin: f64,
    confidence_level: f64,
    session_error: Option<StandardError>,
    design: Design,
    interrupted: &dyn Fn() -> bool,
) -> Result<Comparison> {
    if let Some(StandardError { value, degrees_of_freedom }) = session_error {
        require(value.is_finite() && value >= 0.0, "session_error", value, "finite and at least 0")?;
        require(degrees_of_freedom > 0.0, "degrees of freedom of session_error", degrees_of_freedom, "above 0")?;
    }
    positive("baseline", baseline, 1)?;
    positive("candidate", candidate, 1)?;
    let fits = design == Design::Independent || baseline.len() == candidate.len();
    require(fits, "number of processes of the candidate", candidate.len() as f64, "the baseline's, for pairs")?;
    let rule = Rule::new(margin, confidence_level)?;
    let log_baseline = logarithms(baseline, interrupted)?;
    let log_candidate = logarithms(candidate, interrupted)?;
    let means = (Moments::of(&log_baseline)?.mean, Moments::of(&log_candidate)?.mean);
    let ratio = within_range((means.1 - means.0).exp())?;

    let enough = baseline.len().min(candidate.len()) >= LEAST_PROCESSES;
    let judged = enough.then(|| Judged::of(&log_baseline, &log_candidate, rule, session_error, design)).transpose()?;
    let known = judged.as_ref().and_then(Option::as_ref);
    let means_of = known.map(|judged| &judged.means);
    Ok(Comparison {
        verdict: known.map_or(Verdict::Inconclusive, |judged| judged.verdict),
        reason: known.map_or_else(
            || {
                if enough {
                    "too few pairs for an interval: no verdict".to_owned()
                } else {
                    format!("fewer than {LEAST_PROCESSES} processes: no verdict")
                }
            },
            |judged| reason(judged.verdict, judged.equivalence_ci, judged.ratio_ci, rule),
        ),
        ratio,
        ratio_ci_low: known.map(|judged| judged.ratio_ci.0),
        ratio_ci_high: known.map(|judged| judged.ratio_ci.1),
        equivalence_ci_low: known.map(|judged| judged.equivalence_ci.0),
        equivalence_ci_high: known.map(|judged| judged.equivalence_ci.1),
        margin,
        confidence_level,
        equivalence_level: rule.equivalence_level(),
        p_value: means_of.map(MeanDifference::p_value),
        degrees_of_freedom: means_of.and_then(|found| found.degrees_of_freedom),
        log_standard_error: means_of.map(|found| found.standard_error),
        baseline: means.0.exp(),
        candidate: means.1.exp(),
        n_baseline: baseline.len(),
        n_candidate: candidate.len(),
        log_stddev_baseline: means_of.map(|found| found.baseline.stddev),
        log_stddev_candidate: means_of.map(|found| found.candidate.stddev),
        cliffs_delta: cliffs_delta(baseline, candidate, interrupted)?,
        shift: hodges_lehmann(baseline, candidate, confidence_level, interrupted)?.shift,
        additional_processes: known
            .and_then(|judged| if session_error.is_none() { judged.additional_processes(rule) } else { None }),
        method: match design {
            Design::Independent => "welch_log_process_medians",
            Design::Pairs => "paired_t_log_process_medians",
            Design::AnytimePairs => "anytime_t_log_process_medians",
        }
        .to_owned(),
    })
}

/// Comparison of the process means, if there are enough processes.
struct Judged {
    verdict: Verdict,
    /// The ratio's interval at the level of the comparison.
    ratio_ci: (f64, f64),
    /// The narrower interval that is held against the margin.
    equivalence_ci: (f64, f64),
    /// Difference of the logarithms.
    means: MeanDifference,
}

impl Judged {
    /// `None` if there are too few pairs for an interval.
    fn of(
        log_baseline: &[f64],
        log_candidate: &[f64],
        rule: Rule,
        session_error: Option<StandardError>,
        design: Design,
    ) -> Result<Option<Self>> {
        let most = Rule::most_degrees_of_freedom(log_baseline.len(), log_candidate.len());
        let means = MeanDifference::of(design, log_baseline, log_candidate)?.limited(most).at_least(session_error);
        if !means.is_bounded(rule.confidence_level) {
            return Ok(None);
        }
        let equivalence = means.interval(rule.equivalence_level());
        let difference = means.interval(rule.confidence_level);
        let ratios = |(low, high): (f64, f64)| Ok((low.exp(), within_range(high.exp())?));
        Ok(Some(Self {
            verdict: Verdict::of_intervals(equivalence, difference, rule.margin),
            ratio_ci: ratios(difference)?,
            equivalence_ci: ratios(equivalence)?,
            means,
        }))
    }

    /// Returns the number of processes to add that would decide an inconclusive comparison.
    fn additional_processes(&self, rule: Rule) -> Option<usize> {
        if self.verdict == Verdict::Inconclusive { additional_processes(&self.means, rule) } else { None }
    }
}

fn within_range(ratio: f64) -> Result<f64> {
    require_finite("candidate / baseline", &[ratio])?;
    Ok(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(baseline: &[f64], candidate: &[f64]) -> Comparison {
        compare_samples(baseline, candidate, 0.01, 0.95, None, Design::Independent, &|| false).expect("sound processes")
    }

    #[test]
    fn pairs_see_a_difference_that_drift_hides() {
        let baseline = [10.0_f64, 10.4, 10.9, 11.3, 11.8];
        let candidate = baseline.map(|time| time * 1.02 + 0.001 * (time * 7.0).sin());
        let paired = compare_samples(&baseline, &candidate, 0.01, 0.95, None, Design::Pairs, &|| false).expect("pairs");
        assert_eq!((paired.verdict, compare(&baseline, &candidate).verdict), (Verdict::Slower, Verdict::Inconclusive));
        assert_eq!((paired.degrees_of_freedom, paired.method.as_str()), (Some(4.0), "paired_t_log_process_medians"));
        assert!(compare_samples(&baseline, &candidate[1..], 0.01, 0.95, None, Design::Pairs, &|| false).is_err());
    }

    #[test]
    fn sides_without_spread_are_judged_by_their_ratio() {
        assert_eq!(compare(&[5.0; 3], &[5.0; 4]).verdict, Verdict::Equivalent);
        let found = compare(&[5.0; 3], &[6.0; 4]);
        assert_eq!((found.verdict, found.p_value, found.degrees_of_freedom), (Verdict::Slower, Some(0.0), None));
    }

    #[test]
    fn a_session_error_counts_where_it_is_the_larger_one() {
        let sides = [[1.0, 1.01, 0.99, 1.005], [1.03, 1.02, 1.04, 1.035]];
        let with = |value| {
            let session = StandardError { value, degrees_of_freedom: 7.0 };
            compare_samples(&sides[0], &sides[1], 0.01, 0.95, Some(session), Design::Independent, &|| false)
                .expect("sound processes")
        };
        let alone = compare(&sides[0], &sides[1]);
        assert_eq!(with(0.0).ratio_ci_low, alone.ratio_ci_low);
        assert_eq!((alone.verdict, with(0.02).verdict), (Verdict::Slower, Verdict::Inconclusive));
        assert_eq!((with(0.02).log_standard_error, with(0.02).degrees_of_freedom), (Some(0.02), Some(7.0)));
        assert_eq!(with(0.02).additional_processes, None);
        let wrong = StandardError { value: f64::NAN, degrees_of_freedom: 7.0 };
        assert!(
            compare_samples(&sides[0], &sides[1], 0.01, 0.95, Some(wrong), Design::Independent, &|| false).is_err()
        );
    }

    #[test]
    fn can_be_broken_off() {
        let stopped = compare_samples(&[1.0], &[1.0], 0.01, 0.95, None, Design::Independent, &|| true);
        assert_eq!(stopped, Err(crate::error::Error::Interrupted));
    }
}
