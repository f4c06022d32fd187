//! Welch's t: the difference of two means whose sides may differ in variance and number.

use super::anytime;
use crate::error::{Error, Result, require_finite};
use crate::memory;
use crate::results::result;
use crate::stats::samples::distributions::{t_half_width, t_two_sided};
use crate::stats::samples::{Moments, confidence_level as check_level};

result! {
    /// Result of `welch`.
    ///
    /// Differences are candidate - baseline, in the unit of the samples.
    pub struct Welch {
        /// Difference of the means.
        pub difference: f64,
        /// Lower end of the difference's interval.
        pub ci_low: f64,
        /// Upper end of the difference's interval.
        pub ci_high: f64,
        /// The difference in standard errors, without unit; None where both sides are constant.
        pub statistic: Option<f64>,
        /// Satterthwaite's degrees of freedom; None where both sides are constant.
        pub degrees_of_freedom: Option<f64>,
        /// Two-sided p-value of equal means.
        pub p_value: f64,
        /// Standard error of the difference.
        pub standard_error: f64,
        /// The level of the interval.
        pub confidence_level: f64,
    }
}

/// Compares the means of two sides (Welch, *The generalization of "Student's" problem when several different population
/// variances are involved*, Biometrika 34, 1947).
///
/// If both sides are constant, the interval has no width, and the p-value is 1 or 0.
///
/// # Errors
/// A NaN or an infinity, by position; fewer than two samples on a side; a level outside (0, 1); sides so far apart, or an
/// interval so wide, that it overflows.
pub fn welch(baseline: &[f64], candidate: &[f64], confidence_level: f64) -> Result<Welch> {
    let found = MeanDifference::between(baseline, candidate)?;
    check_level(confidence_level)?;
    let (ci_low, ci_high) = found.interval(confidence_level);
    let statistic = found.statistic();
    require_finite("baseline and candidate", &[ci_low, ci_high, statistic.unwrap_or(0.0)])?;
    Ok(Welch {
        difference: found.difference,
        ci_low,
        ci_high,
        statistic,
        degrees_of_freedom: found.degrees_of_freedom,
        p_value: found.p_value(),
        standard_error: found.standard_error,
        confidence_level,
    })
}

/// Order in which the processes of two sides were measured, and what ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// No process belongs to one of the other side.
    Independent,
    /// Processes of the same position were measured right after each other.
    Pairs,
    /// The same, and the verdict so far may have ended the measurement.
    AnytimePairs,
}

/// A standard error of a difference of means, and the degrees of freedom of its estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardError {
    /// Standard error, in the unit of the means.
    pub value: f64,
    /// Degrees of freedom, above 0.
    pub degrees_of_freedom: f64,
}

/// Difference of two means, with the numbers that tests at any level need.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeanDifference {
    pub(crate) baseline: Side,
    pub(crate) candidate: Side,
    /// Differences of pairs, where each sample of one side belongs to one of the other.
    pub(crate) pairs: Option<Side>,
    pub(crate) difference: f64,
    pub(crate) standard_error: f64,
    /// `None` where both sides are constant, or all differences of pairs are equal.
    pub(crate) degrees_of_freedom: Option<f64>,
    /// True if intervals and p-value hold after every pair.
    anytime: bool,
}

impl MeanDifference {
    /// Returns the mean difference of two sides that were measured so.
    pub(crate) fn of(design: Design, baseline: &[f64], candidate: &[f64]) -> Result<Self> {
        match design {
            Design::Independent => Self::between(baseline, candidate),
            Design::Pairs => Self::of_pairs(baseline, candidate),
            Design::AnytimePairs => Ok(Self { anytime: true, ..Self::of_pairs(baseline, candidate)? }),
        }
    }

    pub(crate) fn between(baseline: &[f64], candidate: &[f64]) -> Result<Self> {
        Ok(Self::of_means(Side::of("baseline", baseline)?, Side::of("candidate", candidate)?))
    }

    /// Returns the mean difference of pairs: samples of the same position.
    ///
    /// Both samples of a pair share slow changes, such as the temperature. These changes cancel in the difference and
    /// in its error.
    pub(crate) fn of_pairs(baseline: &[f64], candidate: &[f64]) -> Result<Self> {
        let differences = memory::collected(baseline.iter().zip(candidate).map(|(one, other)| other - one));
        let pairs = Side::of("pairs", &differences)?;
        Ok(Self::between(baseline, candidate)?.with_pairs(pairs))
    }

    fn with_pairs(self, pairs: Side) -> Self {
        Self {
            standard_error: pairs.standard_error,
            degrees_of_freedom: (pairs.standard_error > 0.0).then(|| (pairs.count - 1) as f64),
            pairs: Some(pairs),
            ..self
        }
    }

    /// Returns the difference for so many more samples per side, with the same means and variances.
    pub(crate) fn with_more(&self, more: usize) -> Self {
        let grown = |side: &Side| Side::new(side.count + more, side.mean, side.stddev);
        let found = Self::of_means(grown(&self.baseline), grown(&self.candidate));
        match &self.pairs {
            Some(pairs) => Self { anytime: self.anytime, ..found.with_pairs(grown(pairs)) },
            None => found,
        }
    }

    /// The same with no more than so many degrees of freedom.
    pub(crate) fn limited(self, most: f64) -> Self {
        Self { degrees_of_freedom: self.degrees_of_freedom.map(|degrees| degrees.min(most)), ..self }
    }

    /// The same with a standard error that is known otherwise, where that is the larger one.
    pub(crate) fn at_least(self, known: Option<StandardError>) -> Self {
        match known {
            Some(known) if known.value > self.standard_error => {
                Self { standard_error: known.value, degrees_of_freedom: Some(known.degrees_of_freedom), ..self }
            }
            _ => self,
        }
    }

    fn of_means(baseline: Side, candidate: Side) -> Self {
        let standard_error = baseline.standard_error.hypot(candidate.standard_error);
        // As shares of their sum, because squares of variances overflow long before samples do.
        let share = |side: &Side| (side.standard_error / standard_error).powi(4) / (side.count - 1) as f64;
        let degrees_of_freedom = (standard_error > 0.0).then(|| (share(&baseline) + share(&candidate)).recip());
        let difference = candidate.mean - baseline.mean;
        Self { baseline, candidate, pairs: None, difference, standard_error, degrees_of_freedom, anytime: false }
    }

    pub(crate) fn interval(&self, level: f64) -> (f64, f64) {
        let half_width = self.half_width_errors(level) * self.standard_error;
        (self.difference - half_width, self.difference + half_width)
    }

    /// Returns the half width of the interval at this level, in standard errors.
    pub(crate) fn half_width_errors(&self, level: f64) -> f64 {
        match self.degrees_of_freedom {
            None => 0.0,
            Some(_) if self.anytime => anytime::half_width(level, self.baseline.count),
            Some(degrees) => t_half_width(level, degrees),
        }
    }

    pub(crate) fn statistic(&self) -> Option<f64> {
        self.degrees_of_freedom.map(|_| self.difference / self.standard_error)
    }

    /// Returns true if intervals at this level have ends.
    pub(crate) fn is_bounded(&self, level: f64) -> bool {
        !self.anytime || anytime::half_width(level, self.baseline.count).is_finite()
    }

    pub(crate) fn p_value(&self) -> f64 {
        if self.anytime && self.difference != 0.0 {
            return anytime::p_value(self.statistic().unwrap_or(f64::INFINITY), self.baseline.count);
        }
        match (self.statistic(), self.degrees_of_freedom) {
            (Some(statistic), Some(degrees_of_freedom)) => t_two_sided(statistic, degrees_of_freedom),
            _ if self.difference == 0.0 => 1.0,
            _ => 0.0,
        }
    }
}

/// Mean of the samples of one side, with its error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    pub(crate) count: usize,
    pub(crate) mean: f64,
    /// Standard deviation with the divisor n − 1.
    pub(crate) stddev: f64,
    pub(crate) standard_error: f64,
}

impl Side {
    fn of(argument: &'static str, samples: &[f64]) -> Result<Self> {
        let (moments, scale) = scaled_moments(argument, samples)?;
        let variance = moments.variance().ok_or(Error::TooFew { argument, needed: 2, found: moments.count })?;
        Ok(Self::new(moments.count, moments.mean / scale, variance.sqrt() / scale))
    }

    fn new(count: usize, mean: f64, stddev: f64) -> Self {
        Self { count, mean, stddev, standard_error: stddev / (count as f64).sqrt() }
    }
}

/// The moments of the samples times a power of two: 1, unless their squares would leave the range of a float.
fn scaled_moments(argument: &'static str, samples: &[f64]) -> Result<(Moments, f64)> {
    // Squares below this have lost digits, or all of them, while the samples still differ.
    const LOST: f64 = 1e-280;
    let scale = match Moments::of(samples) {
        Ok(found) if found.squared_deviations >= LOST || found.min >= found.max => return Ok((found, 1.0)),
        Ok(_) => 2_f64.powi(900),
        Err(Error::Overflow { .. }) => 2_f64.powi(-600),
        Err(Error::NotFinite { position, value, .. }) => return Err(Error::NotFinite { argument, position, value }),
        Err(Error::Empty { .. }) => return Err(Error::Empty { argument }),
        Err(other) => return Err(other),
    };
    let scaled: Vec<f64> = memory::collected(samples.iter().map(|sample| sample * scale));
    Ok((Moments::of(&scaled)?, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_sides_leave_nothing_to_chance() {
        let same = welch(&[5.0, 5.0], &[5.0, 5.0, 5.0], 0.95).expect("sound samples");
        assert_eq!((same.difference, same.p_value, same.statistic), (0.0, 1.0, None));
        let other = welch(&[5.0, 5.0], &[6.0, 6.0], 0.95).expect("sound samples");
        assert_eq!((other.ci_low, other.ci_high, other.p_value), (1.0, 1.0, 0.0));
    }

    #[test]
    fn pairs_have_the_error_of_their_differences() {
        let (baseline, candidate) = ([1.0, 5.0, 9.0, 13.0], [1.5, 5.25, 9.75, 13.5]);
        let found = MeanDifference::of_pairs(&baseline, &candidate).expect("sound samples");
        assert_eq!((found.difference, found.degrees_of_freedom), (0.5, Some(3.0)));
        assert!((found.standard_error - (0.125_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        let more = found.with_more(4);
        assert_eq!(more.degrees_of_freedom, Some(7.0));
        assert!((more.standard_error - found.standard_error / 2_f64.sqrt()).abs() < 1e-15);
        let equal = MeanDifference::of_pairs(&baseline, &baseline).expect("sound samples");
        assert_eq!((equal.degrees_of_freedom, equal.p_value()), (None, 1.0));
    }

    #[test]
    fn huge_and_tiny_samples_give_the_same_as_ordinary_ones() {
        let (baseline, candidate) = ([1.0, 2.0, 4.0], [3.0, 5.0, 9.0, 4.0]);
        let expected = welch(&baseline, &candidate, 0.95).expect("sound samples");
        // By powers of two, so that nothing is rounded but what is too small for all of a float's digits.
        for scale in [2_f64.powi(1020), 2_f64.powi(600), 2_f64.powi(-600), 2_f64.powi(-1020)] {
            let by = |side: &[f64]| side.iter().map(|sample| sample * scale).collect::<Vec<_>>();
            let found = welch(&by(&baseline), &by(&candidate), 0.95);
            let found = found.expect("sound samples");
            assert!((found.difference / scale - expected.difference).abs() < 1e-14, "{scale:e}");
            assert!((found.ci_high / scale - expected.ci_high).abs() < 1e-13, "{scale:e}");
            assert!((found.p_value - expected.p_value).abs() < 1e-15, "{scale:e}");
        }
    }
}
