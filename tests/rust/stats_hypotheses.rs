//! Properties of tests and effects of two sides, whatever the samples.
#![allow(clippy::float_cmp, reason = "what is said to be equal is equal to the last bit")]

use fastrnns_rs::stats::compare::hypotheses::{
    HodgesLehmann, Statistic, cliffs_delta, hodges_lehmann, mann_whitney, permutation_test,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::samples::NEVER;

fn side(most: usize) -> impl Strategy<Value = Vec<f64>> {
    crate::samples::samples(most, -300..300, Just(0.0))
}

/// Differences that differ by more than rounding: quarters.
fn quarters(most: usize) -> impl Strategy<Value = Vec<f64>> {
    vec((-40..40_i32).prop_map(|value| f64::from(value) / 4.0), 1..most)
}

fn shift_of(baseline: &[f64], candidate: &[f64]) -> HodgesLehmann {
    hodges_lehmann(baseline, candidate, 0.9, NEVER).expect("differences are finite")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn u_counts_pairs(baseline in side(300), candidate in side(300)) {
        let found = mann_whitney(&baseline, &candidate, None, true, NEVER).expect("finite samples");
        let pairs = || candidate.iter().flat_map(|c| baseline.iter().map(move |b| (b, c)));
        let (greater, equal) = (pairs().filter(|(b, c)| c > b).count(), pairs().filter(|(b, c)| c == b).count());
        let all = pairs().count() as f64;
        prop_assert_eq!(found.u_candidate, greater as f64 + equal as f64 / 2.0);
        prop_assert_eq!(found.u_baseline + found.u_candidate, all);
        prop_assert!(0.0 < found.p_value && found.p_value <= 1.0);
        let delta = cliffs_delta(&baseline, &candidate, NEVER).expect("finite samples");
        prop_assert!((delta - (2.0 * found.probability - 1.0)).abs() < 1e-14);
        prop_assert_eq!(delta, -cliffs_delta(&candidate, &baseline, NEVER).expect("finite samples"));
    }

    #[test]
    fn the_shift_is_the_median_of_all_differences(baseline in side(70), candidate in side(70)) {
        let mut differences: Vec<f64> = candidate.iter().flat_map(|c| baseline.iter().map(move |b| c - b)).collect();
        differences.sort_unstable_by(f64::total_cmp);
        let n = differences.len();
        let found = shift_of(&baseline, &candidate);
        prop_assert_eq!(found.shift, differences[(n - 1) / 2].midpoint(differences[n / 2]));
        if let Some((low, high)) = found.ci_low.zip(found.ci_high) {
            prop_assert!(low <= found.shift && found.shift <= high);
            prop_assert!(differences.contains(&low) && differences.contains(&high));
        }
    }

    #[test]
    fn shifts_move_with_the_candidate(baseline in quarters(100), candidate in quarters(100), by in -8..8_i32) {
        let moved: Vec<f64> = candidate.iter().map(|value| value + f64::from(by)).collect();
        let (found, moved) = (shift_of(&baseline, &candidate), shift_of(&baseline, &moved));
        prop_assert_eq!(moved.shift, found.shift + f64::from(by));
        let ends = [found.ci_low, found.ci_high].map(|end| end.map(|end| end + f64::from(by)));
        prop_assert_eq!([moved.ci_low, moved.ci_high], ends);
    }

    #[test]
    fn exact_permutation_knows_no_order_and_no_scale(
        baseline in quarters(7), candidate in quarters(7), exponent in -900..900_i32,
    ) {
        let test = |one: &[f64], other: &[f64]| {
            let found = permutation_test(one, other, Statistic::Mean, 99_999, 0, 2, NEVER).expect("finite samples");
            assert!(found.exact);
            found
        };
        let found = test(&baseline, &candidate);
        prop_assert_eq!(test(&candidate, &baseline).p_value, found.p_value);
        let scaled = |values: &[f64]| values.iter().rev().map(|value| value * 2_f64.powi(exponent)).collect::<Vec<f64>>();
        let other = test(&scaled(&baseline), &scaled(&candidate));
        prop_assert_eq!(other.p_value, found.p_value);
        let expected = found.difference * 2_f64.powi(exponent);
        // Sums in another order: quarters below 10 leave no more than this.
        prop_assert!((other.difference - expected).abs() <= 1e-13 * 2_f64.powi(exponent));
    }
}
