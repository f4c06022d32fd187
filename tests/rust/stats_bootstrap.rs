//! Properties of intervals by resampling that hold for whatever samples come.

use fastrnns_rs::error::Error;
use fastrnns_rs::stats::intervals::bootstrap::{
    BootstrapInterval, Method, Request, Resampling, Statistic, automatic_block_length, bootstrap_ci, hierarchical_ci,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Values of every size, many of them tied.
fn samples() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        -1e9..1e9_f64,
        (0..8_u8).prop_map(f64::from),
        (-300..100_i32).prop_map(|exponent| 10_f64.powi(exponent)),
    ];
    vec(value, 1..150)
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
    fn threads_do_not_matter(samples in samples(), request in methods(), threads in 1..17_usize) {
        let resampling = Resampling { threads, ..request.resampling };
        prop_assert_eq!(interval(&samples, &request), interval(&samples, &Request { resampling, ..request }));
    }

    #[test]
    fn higher_levels_are_wider(samples in samples(), request in methods()) {
        let wider = interval(&samples, &Request { confidence_level: 0.99, ..request });
        let found = interval(&samples, &request);
        prop_assert!(wider.ci_low <= found.ci_low && found.ci_high <= wider.ci_high);
    }

    #[test]
    fn indices_repeat_what_they_say(samples in vec(-1e9..1e9_f64, 1..50), picks in vec(any::<u64>(), 1..500)) {
        let n = samples.len();
        let rows: Vec<Vec<i64>> =
            (0..20).map(|row| (0..n).map(|i| (picks[(row * n + i) % picks.len()] % n as u64).cast_signed()).collect()).collect();
        let rows: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
        let request = request(Statistic::Mean, Method::Percentile);
        let found = bootstrap_ci(&samples, &request, Some(&rows), &|| false).expect("the rows are sound");
        let mean = |row: &&[i64]| row.iter().map(|&at| samples[at as usize]).sum::<f64>() / n as f64;
        let mut means: Vec<f64> = rows.iter().map(mean).collect();
        means.sort_unstable_by(f64::total_cmp);
        let expected = means[0] + (means[1] - means[0]) * 0.95;
        prop_assert!((found.ci_low - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{} {expected}", found.ci_low);
    }

    #[test]
    fn blocks_are_no_longer_than_a_third(samples in samples()) {
        for statistic in [Statistic::Mean, Statistic::Median] {
            let length = automatic_block_length(&samples, statistic, &|| false).expect("the samples are sound");
            prop_assert!(length >= 1 && length <= samples.len().div_ceil(3));
        }
    }

    #[test]
    fn processes_of_one_number_vary_as_their_means_do(numbers in vec(-1e9..1e9_f64, 2..20)) {
        let processes: Vec<&[f64]> = numbers.chunks(1).collect();
        let request = request(Statistic::Mean, Method::Hierarchical);
        let found = hierarchical_ci(&processes, &request, None, &|| false).expect("the processes are sound");
        let (low, high) = numbers.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        prop_assert!(low - 1e-3 <= found.ci_low && found.ci_low <= found.ci_high && found.ci_high <= high + 1e-3);
        prop_assert_eq!((found.n_processes, found.count), (Some(numbers.len()), numbers.len()));
    }
}

#[test]
fn whoever_wants_to_be_left_alone_is() {
    for method in [Method::Percentile, Method::Bca, Method::Block] {
        for statistic in [Statistic::Mean, Statistic::Median] {
            let found = bootstrap_ci(&[1.0, 2.0], &request(statistic, method), None, &|| true);
            assert_eq!(found, Err(Error::Interrupted));
        }
    }
    let request = request(Statistic::Mean, Method::Hierarchical);
    assert_eq!(hierarchical_ci(&[&[1.0], &[2.0]], &request, None, &|| true), Err(Error::Interrupted));
}
