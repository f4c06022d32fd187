//! The rule that turns two intervals into a word.

use crate::error::{Result, require, words};

/// Fewer processes on a side give no verdict: the spread of two says next to nothing about that of the next one.
pub(crate) const LEAST_PROCESSES: usize = 3;

words! {
    /// Verdict of a comparison.
    pub enum Verdict {
        /// The candidate takes less time.
        Faster = "faster",
        /// The candidate takes more time.
        Slower = "slower",
        /// Whatever the difference is, it is too small to matter.
        Equivalent = "equivalent",
        /// The processes do not decide.
        Inconclusive = "inconclusive",
    }
}

impl Verdict {
    /// Judges by two intervals of the natural logarithm of candidate / baseline, a narrower and a wider one.
    ///
    /// Equivalent, if the narrower one lies inside ±ln(1 + `margin`): with an interval of 90 % these are the two one-sided
    /// tests at 5 % of Schuirmann (1987). Else faster or slower, if the wider one excludes 0, which is a ratio of 1. Else
    /// inconclusive. In logarithms, swapping the sides mirrors the verdict.
    pub fn of_intervals(equivalence: (f64, f64), difference: (f64, f64), margin: f64) -> Self {
        let limit = margin.ln_1p();
        if equivalence.0 >= -limit && equivalence.1 <= limit {
            Self::Equivalent
        } else if difference.1 < 0.0 {
            Self::Faster
        } else if difference.0 > 0.0 {
            Self::Slower
        } else {
            Self::Inconclusive
        }
    }
}

/// Requirements of a verdict: margin of equivalence, and confidence level of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    pub(crate) margin: f64,
    pub(crate) confidence_level: f64,
}

impl Rule {
    /// # Errors
    /// A margin outside [0, 1]; a level outside (0.5, 1), at which no narrower interval is left for equivalence.
    pub(crate) fn new(margin: f64, confidence_level: f64) -> Result<Self> {
        require((0.0..=1.0).contains(&margin), "margin", margin, "from 0 to 1")?;
        let fits = confidence_level > 0.5 && confidence_level < 1.0;
        require(fits, "confidence_level", confidence_level, "between 0.5 and 1, both excluded")?;
        Ok(Self { margin, confidence_level })
    }

    /// The level of the interval for equivalence: 90 % where differences are judged at 95 %, because each of its two
    /// one-sided tests has the whole error that a difference shares between its sides.
    pub(crate) fn equivalence_level(self) -> f64 {
        1.0 - 2.0 * (1.0 - self.confidence_level)
    }

    /// Returns the probability in one tail of the interval for differences, and in one tail of that for equivalence.
    pub(crate) fn tails(self) -> (f64, f64) {
        ((1.0 - self.confidence_level) / 2.0, 1.0 - self.confidence_level)
    }

    /// The most degrees of freedom that sides of these sizes are granted.
    ///
    /// Satterthwaite's estimate counts on the spread that the smaller side happens to show, and so is too high where that
    /// side has three or four processes and the other one has more: exact false alarms at 5 % are 6.4 % of 3 + 10 and 7.5 %
    /// of 3 + 20 with equal spreads. Where the smaller side has so few, the other one adds none beyond what equal numbers
    /// would have: 4.2 % and 5.5 %. From five on Welch's t is left alone, at 5.1 % of 5 + 10 and 5.6 % of 5 + 100.
    pub(crate) fn most_degrees_of_freedom(baseline: usize, candidate: usize) -> f64 {
        const FEW: usize = 5;
        let smaller = baseline.min(candidate);
        if smaller < FEW { 2.0 * (smaller - 1) as f64 } else { f64::INFINITY }
    }

    /// The margin as a logarithm.
    pub(crate) fn limit(self) -> f64 {
        self.margin.ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_on_the_limit_is_inside_and_one_on_0_is_not_above_it() {
        let limit = 0.01_f64.ln_1p();
        assert_eq!(Verdict::of_intervals((-limit, limit), (-0.02, 0.02), 0.01), Verdict::Equivalent);
        assert_eq!(Verdict::of_intervals((0.0, 0.02), (0.0, 0.03), 0.01), Verdict::Inconclusive);
        assert_eq!(Verdict::of_intervals((0.0, 0.0), (0.0, 0.0), 0.0), Verdict::Equivalent);
    }
}
