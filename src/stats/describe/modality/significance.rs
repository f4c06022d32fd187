//! Significance of a dip: the dips of uniform samples, which no distribution with one mode exceeds in the long run.

use super::significance_table::{COUNTS, QUANTILES, TAILS};

/// Limit of chance: the dip that this share of uniform samples exceeds.
pub(super) const LEVEL: f64 = 0.05;

/// Returns the probability that `n` uniform samples have at least this dip. The value 0.0005 means that or less; fewer than
/// four samples have 1.
pub(super) fn p_value(dip: f64, n: usize) -> f64 {
    let root = (n as f64).sqrt();
    let scaled = dip * root;
    let distribution = quantiles(n);
    // No dip is smaller than half a step.
    let (least, smallest) = (distribution[0], 0.5 / root);
    if n < COUNTS[0] || scaled <= smallest {
        return 1.0;
    }
    if scaled <= least {
        return 1.0 + (TAILS[0] - 1.0) * ((scaled - smallest) / (least - smallest)).clamp(0.0, 1.0);
    }
    let above = distribution.partition_point(|&quantile| quantile <= scaled);
    if above == distribution.len() {
        return TAILS[above - 1];
    }
    // Tails fall off exponentially.
    let share = (scaled - distribution[above - 1]) / (distribution[above] - distribution[above - 1]);
    let (high, low) = (TAILS[above - 1].ln(), TAILS[above].ln());
    (high + (low - high) * share).exp()
}

/// The dip of `n` samples up to which chance explains it: where [`p_value`] is 0.05.
pub(super) fn critical_dip(n: usize) -> f64 {
    let column = TAILS.iter().position(|&tail| tail == LEVEL).expect("a column of the table");
    // Of three samples or fewer nothing can be said: as far as of four, and never beyond what a dip can be.
    (quantiles(n.max(COUNTS[0]))[column] / (n as f64).sqrt()).min(0.25)
}

/// The quantiles of √n times the dip, for each of the table's probabilities.
fn quantiles(n: usize) -> [f64; TAILS.len()] {
    let above = COUNTS.partition_point(|&count| count < n);
    if above == 0 {
        return QUANTILES[0];
    }
    if above == COUNTS.len() {
        // Hardly changes any more.
        return QUANTILES[above - 1];
    }
    // They come near their limit as 1/√n does.
    let place = |count: usize| 1.0 / (count as f64).sqrt();
    let share = (place(n) - place(COUNTS[above - 1])) / (place(COUNTS[above]) - place(COUNTS[above - 1]));
    std::array::from_fn(|i| QUANTILES[above - 1][i] + (QUANTILES[above][i] - QUANTILES[above - 1][i]) * share)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what is exact is asked for exactly")]
mod tests {
    use super::*;
    use crate::par;
    use crate::stats::describe::modality::dip::dip;
    use crate::stats::describe::modality::steps::Steps;
    use crate::stats::samples::random::Stream;

    const TRIALS: usize = 100_000;
    const JOBS: u64 = 100;

    #[test]
    fn falls_with_the_dip_and_agrees_with_its_own_threshold() {
        for n in [4, 5, 11, 75, 1000, 12_345, 1_000_000] {
            let distribution: Vec<f64> =
                (0..=1000).map(|i| p_value(f64::from(i) / 1000.0 / (n as f64).sqrt(), n)).collect();
            assert!(distribution.is_sorted_by(|one, other| one >= other), "n = {n}");
            assert_eq!((distribution[0], distribution[1000]), (1.0, *TAILS.last().expect("columns")));
            let edge = critical_dip(n);
            assert!(edge == 0.25 || (p_value(edge, n) - LEVEL).abs() < 1e-9, "n = {n}");
        }
        assert!((1..4).all(|n| p_value(0.25, n) == 1.0));
    }

    /// The dips of uniform samples, which depend on nothing but their number and the seed.
    fn simulated(n: usize) -> Vec<f64> {
        let job = |job: u64, _: &dyn Fn() -> bool| -> Vec<f64> {
            let mut stream = Stream::new(n as u64, job);
            let mut one = || {
                // Uniform samples in order, as far as shape goes: sums of exponential waits (Devroye, 1986, section V.3).
                let mut sum = 0.0;
                let sorted: Vec<f64> = std::iter::repeat_with(|| {
                    sum -= (1.0 - stream.unit()).ln();
                    sum
                })
                .take(n)
                .collect();
                dip(&Steps::of(&sorted), &|| false).expect("not interrupted") * (n as f64).sqrt()
            };
            (0..TRIALS / JOBS as usize).map(|_| one()).collect()
        };
        let mut dips: Vec<f64> = par::map(0..JOBS, &|| false, job).concat();
        dips.sort_unstable_by(f64::total_cmp);
        dips
    }

    /// Makes the table again: `cargo test --release --lib significance -- --ignored`, which `scripts/test --all simulations`
    /// runs. If it differs, the message is the new content of `significance_table.rs`.
    #[test]
    #[ignore = "minutes; makes the table again"]
    fn the_table_is_what_the_simulation_gives() {
        let row = |n: usize| {
            let dips = simulated(n);
            let cell = |tail: f64| format!("{:.5}", dips[((1.0 - tail) * TRIALS as f64) as usize]);
            format!("    [{}],", TAILS.map(cell).join(", "))
        };
        let made: Vec<String> = COUNTS.iter().map(|&n| row(n)).collect();
        let kept: Vec<String> =
            QUANTILES.iter().map(|row| format!("    [{}],", row.map(|cell| format!("{cell:.5}")).join(", "))).collect();
        assert!(made == kept, "{}", made.join("\n"));
    }
}
