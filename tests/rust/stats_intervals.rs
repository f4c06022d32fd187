//! Properties of dependence and intervals that hold for whatever samples come.

use fastrnns_rs::stats::intervals::{median_ci, process_ci};
use fastrnns_rs::stats::samples::Statistic;
use fastrnns_rs::stats::samples::dependence::{autocorrelation, effective_sample_size};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::samples::NEVER;

fn samples(most: usize) -> impl Strategy<Value = Vec<f64>> {
    crate::samples::samples(most, -323..308, prop_oneof![Just(f64::MAX), Just(f64::MIN), Just(5e-324)])
}

/// What processes have: numbers above 0.
fn medians() -> impl Strategy<Value = Vec<f64>> {
    vec(1e-3..1e6_f64, 1..50)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn correlations_are_those_of_a_correlation_matrix(samples in samples(400), pick in any::<prop::sample::Index>()) {
        let found = autocorrelation(&samples, Some(pick.index(samples.len())), NEVER).expect("finite");
        prop_assert_eq!(found[0].to_bits(), 1.0_f64.to_bits());
        prop_assert!(found.iter().all(|r| r.abs() <= 1.0 + 1e-12), "{:?}", found);
        // Fewer lags are the same numbers, whichever way they were computed.
        let fewer = autocorrelation(&samples, Some(pick.index(samples.len()) / 2), NEVER).expect("finite");
        prop_assert!(fewer.iter().zip(&found).all(|(one, other)| (one - other).abs() < 1e-12));
    }

    #[test]
    fn effective_sizes_lie_between_one_and_all(samples in samples(600)) {
        for of in Statistic::ALL {
            let found = effective_sample_size(&samples, of, NEVER).expect("finite");
            prop_assert!(found.n_effective >= 1.0 && found.n_effective <= found.count as f64, "{:?}", found);
            prop_assert!(found.lags < found.count, "{:?}", found);
        }
    }

    #[test]
    fn a_median_lies_in_its_interval(samples in samples(800), level in 0.001..0.999_f64) {
        for independent in [false, true] {
            let found = median_ci(&samples, level, independent, NEVER).expect("finite");
            prop_assert!(found.within_one_process && found.n_effective <= found.count as f64);
            if let Some((low, high)) = found.ci_low.zip(found.ci_high) {
                prop_assert!(low.is_finite() && low <= found.estimate && found.estimate <= high && high.is_finite());
            }
        }
    }

    #[test]
    fn dependence_never_narrows(samples in vec(-1e9..1e9_f64, 6..600)) {
        let [dependent, independent] = [false, true].map(|independent| {
            let found = median_ci(&samples, 0.95, independent, NEVER).expect("finite");
            found.ci_low.zip(found.ci_high).expect("6")
        });
        let slack = 1e-9 * (independent.1 - independent.0);
        prop_assert!(dependent.0 <= independent.0 + slack && independent.1 <= dependent.1 + slack);
    }

    #[test]
    fn processes_scale(medians in medians(), exponent in -500..500_i32) {
        let scale = 2_f64.powi(exponent);
        let one = process_ci(&medians, 0.95);
        let scaled: Vec<f64> = medians.iter().map(|median| median * scale).collect();
        let other = process_ci(&scaled, 0.95);
        // Too far apart is too far apart in any unit; an end may still overflow in one and not in another.
        if let (Ok(one), Ok(other)) = (one, other) {
            prop_assert_eq!(one.half_width, other.half_width);
            prop_assert!((one.estimate * scale / other.estimate - 1.0).abs() < 1e-14);
            prop_assert!(one.min <= one.estimate * (1.0 + 1e-12) && one.estimate <= one.max * (1.0 + 1e-12));
        }
    }
}
