//! Distribution of the ranks whose samples make the resampled median.

use super::quadrature::masses;
use crate::memory;
use crate::stats::intervals::bootstrap::median::middle;
use crate::stats::samples::{from_key, to_key};

/// Standard deviations of the middle rank, beyond which lies less than rounding.
const REACH: f64 = 8.5;
/// Ranks from the lower to the upper one of the middle two: more than the 40-th of e lies beyond.
const GAP: usize = 40;

/// Ranks from which the median of a resample of n samples can come, and their probabilities.
pub(super) struct RankDistribution {
    /// First rank with a probability; as many are left out above.
    first: usize,
    /// Number of ranks.
    width: usize,
    /// P(I = i) of the rank of the middle sample, or of the lower one of the middle two.
    lower: Vec<f64>,
    /// P(I < i), one more than there are ranks.
    before: Vec<f64>,
    /// Only where n is even.
    pairs: Option<Pairs>,
}

/// Distribution of the upper one of the middle two, given the lower one.
struct Pairs {
    /// P(I = i, J > i).
    apart: Vec<f64>,
    /// P(I = i, J > j) / P(I = i, J > j − 1), the same for every i < j.
    further: Vec<f64>,
}

impl RankDistribution {
    pub(super) fn of(n: usize) -> Self {
        // The middle rank has the standard deviation √n / 2.
        let reach = (REACH * (n as f64).sqrt() / 2.0).ceil() as usize + GAP;
        let first = (n / 2).saturating_sub(reach);
        let width = n - 2 * first;
        let ranks = first..first + width;
        let lower = masses(n, n.div_ceil(2), ranks.clone());
        let before = memory::collected(std::iter::once(0.0).chain(lower.iter().scan(0.0, |sum, mass| {
            *sum += mass;
            Some(*sum)
        })));
        let pairs = n.is_multiple_of(2).then(|| Pairs::of(n, ranks));
        Self { first, width, lower, before, pairs }
    }

    /// Returns the ranks whose samples are needed, ascending.
    pub(super) fn ranks(&self) -> impl Iterator<Item = usize> {
        self.first..self.first + self.width
    }

    /// Returns the smallest value that the median does not exceed with probability `tail` or more; `values` belong to the
    /// ranks.
    pub(super) fn quantile(&self, values: &[f64], tail: f64) -> f64 {
        // A sum of probabilities may end a rounding error below a tail that it equals.
        let enough = tail * (1.0 - 1e-12);
        let (mut low, mut high) = (to_key(values[0]), to_key(values[self.width - 1]));
        // Every value of the median is a float, so that the search for one ends at one.
        while low < high {
            let half = low + (high - low) / 2;
            if self.at_most(from_key(half), values) >= enough { high = half } else { low = half + 1 }
        }
        from_key(high)
    }

    /// P(median ≤ `value`).
    fn at_most(&self, value: f64, values: &[f64]) -> f64 {
        let ranks = values.partition_point(|&other| other <= value);
        let Some(pairs) = &self.pairs else { return self.before[ranks] };
        let (mut sum, mut upper) = (0.0, ranks);
        for lower in (0..ranks).rev() {
            // The first rank whose mean with this one lies above: further up for every lower one.
            while upper < self.width && middle(values[lower], values[upper]) <= value {
                upper += 1;
            }
            if upper - lower > GAP {
                return sum + self.before[lower + 1];
            }
            sum += self.lower[lower] - pairs.beyond(lower, upper);
        }
        sum
    }

    /// The standard deviation of the median.
    pub(super) fn standard_deviation(&self, values: &[f64]) -> f64 {
        let (centre, range) = (values[self.width / 2], values[self.width - 1] - values[0]);
        if range == 0.0 {
            return 0.0;
        }
        let (mut first, mut second) = (0.0, 0.0);
        // In units of the range, so that no square vanishes.
        let mut add = |median: f64, mass: f64| {
            let distance = (median - centre) / range;
            first += mass * distance;
            second += mass * distance * distance;
        };
        for (lower, &mass) in self.lower.iter().enumerate() {
            let Some(pairs) = &self.pairs else {
                add(values[lower], mass);
                continue;
            };
            let mut beyond = pairs.apart[lower];
            add(values[lower], mass - beyond);
            for upper in lower + 1..self.width.min(lower + GAP) {
                let next = beyond * pairs.further[upper];
                add(middle(values[lower], values[upper]), beyond - next);
                beyond = next;
            }
        }
        (second - first * first).max(0.0).sqrt() * range
    }
}

impl Pairs {
    fn of(n: usize, ranks: std::ops::Range<usize>) -> Self {
        let half = (n / 2) as f64;
        let n = n as f64;
        // Twice the share of the ranks up to i, and beyond it, less 1.
        let excess = |rank: usize| (2.0 * (rank as f64 + 1.0) - n) / n;
        let scale = central_binomial(half);
        let apart = |rank: usize| {
            let up_to = excess(rank);
            let both = half * (up_to.ln_1p() + (-up_to).ln_1p());
            // The share of this that is not up to the rank below already.
            let own = -(half * (-1.0 / (rank as f64 + 1.0)).ln_1p()).exp_m1();
            scale * both.exp() * own
        };
        let further = |rank: usize| {
            let left = n - rank as f64;
            (half * (-1.0 / left).ln_1p()).exp()
        };
        Self { apart: memory::collected(ranks.clone().map(apart)), further: memory::collected(ranks.map(further)) }
    }

    /// P(I = `lower`, J ≥ `upper`), where `upper` is above `lower`.
    fn beyond(&self, lower: usize, upper: usize) -> f64 {
        self.further[lower + 1..upper].iter().fold(self.apart[lower], |mass, further| mass * further)
    }
}

/// C(2m, m) / 4^m.
fn central_binomial(m: f64) -> f64 {
    /// From here the series is exact.
    const MANY: f64 = 500.0;
    if m < MANY {
        return (1..=m as usize).map(|k| 1.0 - 0.5 / k as f64).product();
    }
    let x = 1.0 / m;
    let series = 1.0 - x / 8.0 + x * x / 128.0 + 5.0 * x * x * x / 1024.0 - 21.0 * x * x * x * x / 32768.0;
    series / (std::f64::consts::PI * m).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_numbers_have_the_law_that_odd_ones_suggest() {
        // The series takes over where the product ends; neighbours in n hardly differ.
        for n in [998, 1000, 1002, 100_000] {
            let spread = |n: usize| {
                let values: Vec<f64> =
                    RankDistribution::of(n).ranks().map(|rank| (rank as f64 + 0.5) / n as f64 - 0.5).collect();
                RankDistribution::of(n).standard_deviation(&values) * (n as f64).sqrt()
            };
            let (even, odd) = (spread(n), spread(n + 1));
            assert!((even / odd - 1.0).abs() < 2.0 / n as f64, "n = {n}: {even} {odd}");
        }
    }
}
