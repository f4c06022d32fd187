//! Probability of each verdict, if log process medians are normal.
//!
//! Welch's degrees of freedom depend on the spreads that happen to be observed, so that no one noncentral t has the answer.
//! But the share that a side has in the squared standard error is independent of how large that is in all (the beta of two
//! gammas and their sum), and given the share the degrees of freedom are a number: an integral over both is exact.

use super::verdict::Rule;
use crate::results::result;
use crate::stats::samples::distributions::{normal_cdf, t_quantile};

/// One side of a comparison that is planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Standard deviation of log process medians: 0.01 is a relative spread of 1 %.
    pub spread: f64,
    /// Number of processes, at least two.
    pub processes: usize,
}

result! {
    /// Result of `detection_power`: the probability of each verdict.
    pub struct DetectionPower {
        /// Probability of the verdict `faster`.
        pub faster: f64,
        /// Probability of the verdict `slower`.
        pub slower: f64,
        /// Probability of the verdict `equivalent`.
        pub equivalent: f64,
        /// Probability of the verdict `inconclusive`.
        pub inconclusive: f64,
    }
}

/// Distance of a log density below its maximum from which on nothing is left to add.
const LEFT_OUT: f64 = 28.0;

/// Returns the probability of each verdict if the true ratio has this logarithm.
pub(super) fn verdict_probabilities(
    baseline: Side,
    candidate: Side,
    log_ratio: f64,
    margin: f64,
    confidence_level: f64,
) -> DetectionPower {
    let rule = Rule { margin, confidence_level };
    let errors = [baseline, candidate].map(|side| side.spread / (side.processes as f64).sqrt());
    let error = errors[0].hypot(errors[1]);
    // Everything below is in units of the true standard error. A squared standard error is estimated by a gamma variable
    // of this shape, times this scale.
    let shapes = [baseline, candidate].map(|side| (side.processes - 1) as f64 / 2.0);
    let scales = [0, 1].map(|side| (errors[side] / error).powi(2) / shapes[side]);
    let truth = Truth { shift: log_ratio / error, limit: rule.limit() / error };

    let most = Rule::most_degrees_of_freedom(baseline.processes, candidate.processes);
    let mut sums = [0.0; 4];
    for (odds, weight) in log_odds(shapes[0], shapes[1], limits_of_cap(scales, shapes, most)) {
        let shares = [1.0 / (1.0 + (-odds).exp()), 1.0 / (1.0 + odds.exp())];
        let parts = [scales[0] * shares[0], scales[1] * shares[1]];
        let scale = parts[0] + parts[1];
        let share = |side: usize| (parts[side] / scale).powi(2) / (2.0 * shapes[side]);
        let degrees_of_freedom = (share(0) + share(1)).recip().min(most);
        let (tail, equivalence_tail) = rule.tails();
        let quantiles = [-t_quantile(tail, degrees_of_freedom), -t_quantile(equivalence_tail, degrees_of_freedom)];
        let given = truth.given(shapes[0] + shapes[1], scale, quantiles);
        sums.iter_mut().zip(given).for_each(|(sum, part)| *sum += weight * part);
    }
    let [faster, slower, equivalent, all] = sums;
    let [faster, slower, equivalent] = [faster, slower, equivalent].map(|sum| sum / all);
    let inconclusive = (1.0 - faster - slower - equivalent).max(0.0);
    DetectionPower { faster, slower, equivalent, inconclusive }
}

/// True values, in units of the true standard error.
struct Truth {
    shift: f64,
    limit: f64,
}

impl Truth {
    /// Faster, slower, equivalent and anything at all, given that the squared standard error is `scale` times a gamma
    /// variable of this shape; up to one factor.
    fn given(&self, shape: f64, scale: f64, [t, equivalence_t]: [f64; 2]) -> [f64; 4] {
        // Where the margin becomes too narrow for any interval, and for one that leaves room for other verdicts, the
        // integrand has kinks, at which its parts are to meet.
        let kink = |quantiles: f64| 2.0 * (self.limit / (quantiles * scale.sqrt())).ln();
        let mut sums = [0.0; 4];
        for (log_gamma, weight) in log_gamma(shape, [kink(t + equivalence_t), kink(equivalence_t)]) {
            let standard_error = scale.sqrt() * (log_gamma / 2.0).exp();
            // An estimate below the first in size is equivalent, one beyond the second, but not equivalent, a difference.
            let inside = self.limit - equivalence_t * standard_error;
            let outside = inside.max(t * standard_error);
            let equivalent = normal_cdf(inside - self.shift) - normal_cdf(-inside - self.shift);
            let verdicts =
                [normal_cdf(-outside - self.shift), normal_cdf(self.shift - outside), equivalent.max(0.0), 1.0];
            sums.iter_mut().zip(verdicts).for_each(|(sum, verdict)| *sum += weight * verdict);
        }
        sums
    }
}

/// Between which log odds of the beta variable the degrees of freedom exceed the most that are granted; beyond all odds where
/// they never do.
fn limits_of_cap(scales: [f64; 2], shapes: [f64; 2], most: f64) -> [f64; 2] {
    // Where share² / a + (1 − share)² / b = c, with the degrees of freedom of both sides and the most of them.
    let [a, b] = shapes.map(|shape| 2.0 * shape);
    let root = (a * b * ((a + b) / most - 1.0)).max(0.0).sqrt();
    if most.is_infinite() {
        return [f64::NEG_INFINITY; 2];
    }
    [-root, root].map(|root| {
        let share = ((a + root) / (a + b)).clamp(0.0, 1.0);
        (share / (1.0 - share)).ln() - (scales[0] / scales[1]).ln()
    })
}

/// Returns nodes and weights for an integral over the log odds of a beta variable.
fn log_odds(a: f64, b: f64, kinks: [f64; 2]) -> impl Iterator<Item = (f64, f64)> {
    let mode = (a / b).ln();
    // Relative to the mode, and without the difference of large numbers that many processes give.
    let density = move |apart: f64| a * apart - (a + b) * (apart.exp_m1() * a / (a + b)).ln_1p();
    nodes(mode, (1.0 / a + 1.0 / b).sqrt(), density, kinks)
}

/// Returns nodes and weights for an integral over the logarithm of a gamma variable.
fn log_gamma(shape: f64, kinks: [f64; 2]) -> impl Iterator<Item = (f64, f64)> {
    let density = move |apart: f64| shape * (apart - apart.exp_m1());
    nodes(shape.ln(), shape.sqrt().recip(), density, kinks)
}

/// Returns nodes and weights for an integral over a variable with this mode and about this standard deviation. The log density
/// is given by the distance from the mode. The Gauss-Legendre rule is used on pieces that end at the kinks, which ascend.
fn nodes(
    mode: f64,
    deviation: f64,
    density: impl Fn(f64) -> f64 + Copy,
    kinks: [f64; 2],
) -> impl Iterator<Item = (f64, f64)> {
    /// In standard deviations.
    const PIECE: f64 = 2.5;
    let width = PIECE * deviation;
    let end = |sign: f64| {
        let ends = (1..).map(|pieces| sign * width * f64::from(pieces));
        ends.into_iter().find(|&end| density(end) < -LEFT_OUT).unwrap_or(0.0)
    };
    let (low, high) = (end(-1.0), end(1.0));
    // Where there are none they lie beyond both ends.
    let [first, second] = kinks.map(|kink| (kink - mode).clamp(low, high));
    let parts = [(low, first), (first, second), (second, high)];
    parts.into_iter().flat_map(move |(from, to)| {
        let pieces = ((to - from) / width).ceil();
        let half = (to - from) / pieces / 2.0;
        (0..pieces as usize).flat_map(move |piece| {
            let middle = from + half * (2 * piece + 1) as f64;
            legendre().map(move |(node, weight)| {
                let apart = middle + half * node;
                (mode + apart, half * weight * density(apart).exp())
            })
        })
    })
}

/// Returns nodes and weights of order 10 (Abramowitz and Stegun, table 25.4).
fn legendre() -> impl Iterator<Item = (f64, f64)> {
    const HALF: [(f64, f64); 5] = [
        (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_3),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_1),
    ];
    HALF.into_iter().flat_map(|(node, weight)| [(node, weight), (-node, weight)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(processes: usize, log_ratio: f64) -> DetectionPower {
        let side = Side { spread: 0.01, processes };
        verdict_probabilities(side, side, log_ratio, 0.01, 0.95)
    }

    #[test]
    fn mirrors_and_sums_to_1() {
        for processes in [3, 10, 1000, 100_000] {
            let (one, other) = (symmetric(processes, 0.015), symmetric(processes, -0.015));
            assert!((one.faster - other.slower).abs() < 1e-12 && (one.slower - other.faster).abs() < 1e-12);
            let sum = one.faster + one.slower + one.equivalent + one.inconclusive;
            assert!((sum - 1.0).abs() < 1e-12, "{one:?}");
        }
    }
}
