//! Properties of intervals by resampling that hold for whatever samples come.

use fastrnns_rs::stats::intervals::bootstrap::{
    BootstrapInterval, Method, Request, Resampling, Statistic, bootstrap_ci,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn samples() -> impl Strategy<Value = Vec<f64>> {
    crate::samples::samples(150, -300..100, Just(0.0))
}

fn request(statistic: Statistic, method: Method) -> Request {
    let resampling = Resampling { resamples: 100, seed: 7, threads: 2 };
    Request { statistic, method, confidence_level: 0.9, resampling, block_length: None }
}

fn methods() -> impl Strategy<Value = Request> {
    let statistic = prop_oneof![Just(Statistic::Mean), Just(Statistic::Median)];
    let method = prop_oneof![Just(Method::Percentile), Just(Method::Bca), Just(Method::Exact), Just(Method::Block)];
    (statistic, method).prop_map(|(statistic, method)| {
        let statistic = if method == Method::Exact { Statistic::Median } else { statistic };
        request(statistic, method)
    })
}

fn interval(samples: &[f64], request: &Request) -> BootstrapInterval {
    bootstrap_ci(samples, request, None, &|| false).expect("the samples are sound")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ends_lie_in_order_within_the_samples(samples in samples(), request in methods()) {
        let found = interval(&samples, &request);
        let (low, high) = samples.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        // A mean of equal values may be a rounding error away from them.
        let slack = 1e-12 * low.abs().max(high.abs());
        prop_assert!(low - slack <= found.ci_low && found.ci_low <= found.ci_high && found.ci_high <= high + slack);
        prop_assert!(low - slack <= found.estimate && found.estimate <= high + slack);
        prop_assert!(found.standard_error.is_some_and(|error| error >= 0.0 && error <= (high - low) + slack));
        prop_assert!(found.bias_correction.is_none_or(f64::is_finite));
        prop_assert!(found.acceleration.is_none_or(|a| a.abs() <= 1.0 / 6.0 + 1e-12));
    }

    #[test]
    fn order_matters_to_blocks_only(samples in samples(), request in methods()) {
        prop_assume!(request.method != Method::Block);
        let mut turned = samples.clone();
        turned.reverse();
        prop_assert_eq!(interval(&samples, &request), interval(&turned, &request));
    }

    #[test]
    fn powers_of_two_go_through(samples in vec(-1e9..1e9_f64, 1..200), request in methods(), exponent in -40..40_i32) {
        let scale = 2_f64.powi(exponent);
        let scaled: Vec<f64> = samples.iter().map(|x| x * scale).collect();
        let (one, other) = (interval(&samples, &request), interval(&scaled, &request));
        prop_assert_eq!((one.ci_low * scale, one.ci_high * scale), (other.ci_low, other.ci_high));
        prop_assert_eq!((one.acceleration, one.block_length), (other.acceleration, other.block_length));
    }

    #[test]
    fn higher_levels_are_wider(samples in samples(), request in methods()) {
        let wider = interval(&samples, &Request { confidence_level: 0.99, ..request });
        let found = interval(&samples, &request);
        prop_assert!(wider.ci_low <= found.ci_low && found.ci_high <= wider.ci_high);
    }
}
