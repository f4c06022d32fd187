//! Limits of an interval, from the statistics of the resamples.

use crate::error::Result;
use crate::memory;
use crate::stats::samples::{Moments, order_statistics};

/// The statistics of all resamples.
pub(super) struct Distribution {
    statistics: Vec<f64>,
    moments: Moments,
}

impl Distribution {
    /// `statistics`, at least one, which lie between the extremes of samples whose squares do not overflow.
    pub(super) fn new(statistics: Vec<f64>) -> Result<Self> {
        let moments = Moments::of(&statistics)?;
        Ok(Self { statistics, moments })
    }

    /// The standard deviation of the statistics, with the divisor B − 1; `None` for a single one.
    pub(super) fn standard_error(&self) -> Result<Option<f64>> {
        /// Squares of smaller distances lose digits, or vanish.
        const SMALL: f64 = 1e-140;
        if self.moments.max - self.moments.min >= SMALL || self.moments.max <= self.moments.min {
            return Ok(self.moments.stddev());
        }
        // Values so close together are small themselves.
        let up = 2_f64.powi(500);
        let scaled: Vec<f64> = memory::collected(self.statistics.iter().map(|value| value * up));
        Ok(Moments::of(&scaled)?.stddev().map(|deviation| deviation / up))
    }

    /// The statistics at two levels, `low` not above `high`, interpolated linearly between neighbours as numpy does.
    pub(super) fn quantiles(&self, (low, high): (f64, f64), interrupted: &dyn Fn() -> bool) -> Result<(f64, f64)> {
        let last = self.statistics.len() - 1;
        let places = [low, high].map(|level| level * last as f64);
        let ranks = places.map(|place| [place.floor() as usize, place.ceil() as usize]);
        let range = (self.moments.min, self.moments.max);
        let mut wanted = memory::copied(ranks.as_flattened());
        wanted.sort_unstable();
        let values = order_statistics(&self.statistics, std::convert::identity, range, &wanted, interrupted)?;
        let value = |rank: usize| values[wanted.partition_point(|&other| other < rank)];
        let at = |i: usize| between(value(ranks[i][0]), value(ranks[i][1]), places[i].fract());
        Ok((at(0), at(1)))
    }

    /// The share of the statistics below `value`, counting half of those equal to it.
    pub(super) fn share_below(&self, value: f64) -> f64 {
        let twice = |&found: &f64| usize::from(found < value) + usize::from(found <= value);
        self.statistics.iter().map(twice).sum::<usize>() as f64 / (2 * self.statistics.len()) as f64
    }

    pub(super) fn len(&self) -> usize {
        self.statistics.len()
    }
}

/// From the nearer neighbour, as numpy does: then the result is monotone and an end is itself.
fn between(below: f64, above: f64, fraction: f64) -> f64 {
    let apart = above - below;
    if fraction < 0.5 { below + apart * fraction } else { above - apart * (1.0 - fraction) }
}
