//! Properties that hold for whatever samples come.

use fastrnns_rs::stats::describe::summarize;
use fastrnns_rs::stats::intervals::median_rank_interval;
use fastrnns_rs::stats::samples::order_statistics;
use proptest::collection::vec;
use proptest::prelude::*;

/// Values of every size, many of them tied.
fn samples() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        -1e9..1e9_f64,
        (0..8_u8).prop_map(f64::from),
        (-300..300_i32).prop_map(|exponent| 10_f64.powi(exponent)),
    ];
    vec(value, 1..5000)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_statistics_are_those_of_a_sort(samples in samples(), picks in vec(any::<prop::sample::Index>(), 0..12)) {
        let mut ranks: Vec<usize> = picks.iter().map(|pick| pick.index(samples.len())).collect();
        ranks.sort_unstable();
        let mut sorted = samples.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank]).collect();
        let range = (sorted[0], sorted[sorted.len() - 1]);
        prop_assert_eq!(order_statistics(&samples, |value| value, range, &ranks, &|| false), Ok(expected));
    }

    #[test]
    fn a_summary_is_in_order(samples in vec(-1e9..1e9_f64, 1..3000)) {
        let found = summarize(&samples, 0.95, &|| false).expect("finite samples");
        let ladder = [found.min, found.q1, found.median, found.q3, found.p95, found.p99, found.max];
        prop_assert!(ladder.is_sorted(), "{ladder:?}");
        prop_assert!(found.min <= found.mean && found.mean <= found.max);
        prop_assert!(found.mad >= 0.0 && found.mad <= found.max - found.min);
        if let Some(interval) = found.interval {
            prop_assert!(interval.low <= found.median && found.median <= interval.high);
        }
    }

    #[test]
    fn order_does_not_matter(samples in vec(0..10_000_u64, 1..2000)) {
        let mut turned = samples.clone();
        turned.reverse();
        let (one, other) = (summarize(&samples, 0.9, &|| false).expect("finite"), summarize(&turned, 0.9, &|| false).expect("finite"));
        prop_assert_eq!((one.median, one.mad, one.interval), (other.median, other.mad, other.interval));
    }

    #[test]
    fn an_interval_is_symmetric_and_widens_with_its_level(n in 1..100_000_usize) {
        let widths = [0.5, 0.8, 0.95, 0.999].map(|level| median_rank_interval(n, level).map(|(low, high)| {
            assert_eq!(low + high, n - 1);
            high - low
        }));
        let known: Vec<usize> = widths.iter().map_while(|&width| width).collect();
        prop_assert!(known.is_sorted());
        prop_assert!(widths.iter().skip(known.len()).all(Option::is_none));
    }
}
