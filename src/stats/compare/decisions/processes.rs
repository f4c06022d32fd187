//! Number of processes for a verdict.

use super::power::{DetectionPower, Side, verdict_probabilities};
use super::verdict::{LEAST_PROCESSES, Rule, Verdict};
use crate::error::{Result, require};
use crate::results::result;
use crate::stats::compare::hypotheses::MeanDifference;
use crate::stats::samples::distributions::normal_cdf;
use crate::stats::samples::{check, inside_0_and_1};

/// Largest number of processes per side that is suggested.
pub const MOST_PROCESSES: usize = 100_000;

result! {
    /// Result of `required_processes`.
    pub struct RequiredProcesses {
        /// The smallest number on each side; None where 100,000 are not enough.
        pub processes: Option<usize>,
        /// The verdict that they are to give: `faster`, `slower` or `equivalent`.
        pub verdict: Verdict,
        /// Probability of the verdict with these processes; with 100,000 if those are not enough.
        pub power: f64,
    }
}

/// Returns the probability of each verdict, if log process medians are normal with the standard deviations of the sides, and
/// the candidate takes 1 + `difference` times as long.
///
/// # Errors
/// A spread outside [1e-9, 10]; fewer than three processes on a side; a difference that is not above −1 or not finite; a
/// margin outside [0, 1]; a level outside (0.5, 1).
pub fn detection_power(
    baseline: Side,
    candidate: Side,
    difference: f64,
    margin: f64,
    confidence_level: f64,
) -> Result<DetectionPower> {
    for (argument, side) in [("spread", baseline), ("candidate_spread", candidate)] {
        plausible_spread(argument, side.spread)?;
        require(side.processes >= LEAST_PROCESSES, "processes", side.processes as f64, "at least 3")?;
    }
    let log_ratio = log_ratio(difference)?;
    let rule = Rule::new(margin, confidence_level)?;
    Ok(verdict_probabilities(baseline, candidate, log_ratio, rule.margin, rule.confidence_level))
}

/// The smallest number of processes on each side with which the verdict is right with probability `power`: faster or slower
/// for a difference outside the margin or on it, equivalent for one inside.
///
/// # Errors
/// As [`detection_power`]; a power outside (0, 1); an interruption.
pub fn required_processes(
    spread: f64,
    difference: f64,
    power: f64,
    margin: f64,
    confidence_level: f64,
    interrupted: &dyn Fn() -> bool,
) -> Result<RequiredProcesses> {
    plausible_spread("spread", spread)?;
    let log_ratio = log_ratio(difference)?;
    let rule = Rule::new(margin, confidence_level)?;
    inside_0_and_1("power", power)?;
    let verdict = right_verdict(log_ratio, rule);
    let power_of = |processes: usize| {
        check(interrupted)?;
        let side = Side { spread, processes };
        Ok(verdict_probabilities(side, side, log_ratio, margin, confidence_level).of(verdict))
    };
    let reached = |processes| Ok(power_of(processes)? >= power);
    let processes = smallest(LEAST_PROCESSES, MOST_PROCESSES, reached)?;
    Ok(RequiredProcesses { processes, verdict, power: power_of(processes.unwrap_or(MOST_PROCESSES))? })
}

impl DetectionPower {
    /// Returns the probability of this verdict.
    pub fn of(&self, verdict: Verdict) -> f64 {
        match verdict {
            Verdict::Faster => self.faster,
            Verdict::Slower => self.slower,
            Verdict::Equivalent => self.equivalent,
            Verdict::Inconclusive => self.inconclusive,
        }
    }
}

/// Returns the number of processes to add per side that decide the comparison, in either direction, with a probability of 90 %,
/// if ratio and standard deviations are those observed; `None` if [`MOST_PROCESSES`] more do not.
///
/// What is observed is no more than an estimate, so that the standard error is taken as known.
pub(super) fn additional_processes(found: &MeanDifference, rule: Rule) -> Option<usize> {
    const POWER: f64 = 0.9;
    let settled = |more: usize| {
        let counts = [&found.baseline, &found.candidate].map(|side| side.count + more);
        let later = found.with_more(more).limited(Rule::most_degrees_of_freedom(counts[0], counts[1]));
        later.degrees_of_freedom?;
        let [inside, outside, shift] = [
            rule.limit() / later.standard_error - later.half_width_errors(rule.equivalence_level()),
            later.half_width_errors(rule.confidence_level),
            later.difference / later.standard_error,
        ];
        let within = |ends: f64| normal_cdf(ends - shift) - normal_cdf(-ends - shift);
        // What is neither near enough to 0 nor far enough from it stays open.
        let open = if inside >= outside { 0.0 } else { within(outside) - within(inside.max(0.0)) };
        Some(1.0 - open)
    };
    smallest(1, MOST_PROCESSES, |more| Ok(settled(more).is_none_or(|settled| settled >= POWER))).ok().flatten()
}

/// The smallest number from `least` to `most` that is enough, where every number above one that is enough is as well.
fn smallest(least: usize, most: usize, enough: impl Fn(usize) -> Result<bool>) -> Result<Option<usize>> {
    // Doubling first, because most results are small.
    let (mut not_enough, mut candidate) = (least - 1, least);
    while !enough(candidate)? {
        if candidate == most {
            return Ok(None);
        }
        (not_enough, candidate) = (candidate, (2 * candidate).min(most));
    }
    while candidate - not_enough > 1 {
        let middle = not_enough + (candidate - not_enough) / 2;
        if enough(middle)? {
            candidate = middle;
        } else {
            not_enough = middle;
        }
    }
    Ok(Some(candidate))
}

/// Returns the verdict for a known ratio.
fn right_verdict(log_ratio: f64, rule: Rule) -> Verdict {
    match log_ratio {
        _ if log_ratio.abs() < rule.limit() || log_ratio == 0.0 => Verdict::Equivalent,
        _ if log_ratio < 0.0 => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

fn plausible_spread(argument: &'static str, spread: f64) -> Result<()> {
    // Outside, arithmetic and sense end at about the same place.
    require((1e-9..=10.0).contains(&spread), argument, spread, "from 1e-9 to 10, as a share: 0.01 is 1 %")
}

fn log_ratio(difference: f64) -> Result<f64> {
    let fits = difference > -1.0 && difference.is_finite();
    require(fits, "difference", difference, "finite and above -1, as a share: 0.02 is 2 %")?;
    Ok(difference.ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(spread: f64, difference: f64, power: f64) -> RequiredProcesses {
        required_processes(spread, difference, power, 0.01, 0.95, &|| false).expect("sound arguments")
    }

    #[test]
    fn says_when_no_number_is_enough() {
        // On the margin one in twenty is called equivalent, however many there are.
        let found = required(0.01, 0.01, 0.99);
        assert_eq!((found.processes, found.verdict), (None, Verdict::Slower));
        assert!((found.power - 0.95).abs() < 1e-3, "{found:?}");
        assert_eq!(required(10.0, 0.02, 0.9).processes, None);
    }

    #[test]
    fn can_be_broken_off() {
        assert_eq!(required_processes(0.1, 0.1, 0.9, 0.01, 0.95, &|| true), Err(crate::error::Error::Interrupted));
    }
}
