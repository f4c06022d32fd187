//! What order statistics, quantiles, outliers and modes have in common with their definitions, whatever samples come.

use fastrnns_rs::stats::describe::{QuantileMethod, modality, outliers, quantiles};
use fastrnns_rs::stats::samples::order_statistics;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::samples::NEVER;

fn samples() -> impl Strategy<Value = Vec<f64>> {
    crate::samples::samples(2500, -300..300, any::<f64>().prop_filter("finite", |value| value.is_finite()))
}

fn method() -> impl Strategy<Value = QuantileMethod> {
    prop::sample::select(QuantileMethod::ALL.to_vec())
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
        prop_assert_eq!(order_statistics(&samples, |value| value, range, &ranks, NEVER), Ok(expected));
    }

    #[test]
    fn quantiles_ascend_among_the_samples(samples in samples(), mut p in vec(0.0..=1.0_f64, 1..20), method in method()) {
        p.sort_unstable_by(f64::total_cmp);
        p.push(1.0);
        let found = quantiles(&samples, &p, method, NEVER).expect("sound");
        let (low, high) = samples.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        // Rounding may turn neighbours round, by no more than the size of either allows.
        prop_assert!(found.windows(2).all(|pair| pair[1] >= pair[0] - 1e-15 * pair[0].abs().max(pair[1].abs())));
        prop_assert!(found.iter().all(|value| (low..=high).contains(value)), "{found:?}");
        prop_assert_eq!(found.last(), Some(&high));
    }

    #[test]
    fn classes_and_runs_add_up(samples in samples()) {
        let found = outliers(&samples, NEVER).expect("sound");
        let outside = found.low_severe + found.low_mild + found.high_mild + found.high_severe;
        prop_assert_eq!(outside + found.inside, samples.len());
        prop_assert_eq!(found.runs.iter().map(|run| run.1).sum::<usize>(), outside);
        // Maximal: something inside stands between two runs.
        prop_assert!(found.runs.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0));
        let fences =
            [found.low_outer_fence, found.low_inner_fence, found.high_inner_fence, found.high_outer_fence];
        prop_assert!(fences.is_sorted() && fences.iter().all(|fence| fence.is_finite()));
        // At most a quarter lies beyond either quartile, and so beyond a fence.
        prop_assert!(4 * (found.low_severe + found.low_mild) <= samples.len());
        prop_assert!(4 * (found.high_severe + found.high_mild) <= samples.len());
    }

    #[test]
    fn the_string_has_several_peaks_exactly_where_the_dip_is_beyond_chance(
        one in vec(0.0..1.0_f64, 1..300), other in vec(0.0..1.0_f64, 0..300), apart in 0.0..6.0_f64, tick in 0..3_u8,
    ) {
        let tick = [0.0, 0.01, 0.25][usize::from(tick)];
        let round = |value: f64| if tick > 0.0 { (value / tick).round() * tick } else { value };
        let samples: Vec<f64> = one.into_iter().chain(other.into_iter().map(|x| x + apart)).map(round).collect();
        let found = modality(&samples, None, NEVER).expect("sound");
        prop_assert_eq!(found.modes.len() > 1, found.p_value < 0.05 || found.valley_evidence > 1.0, "{:?}", found);
        let exact = modality(&samples, Some(0.0), NEVER).expect("sound");
        prop_assert_eq!(exact.modes.len() > 1, exact.p_value < 0.05 || exact.valley_evidence > 1.0, "{:?}", exact);
        prop_assert_eq!(exact.dip.to_bits(), found.dip.to_bits());
    }

    #[test]
    fn modes_hold_all_samples(samples in samples(), tick in prop_oneof![Just(None), (0.0..1e300_f64).prop_map(Some)]) {
        let found = modality(&samples, tick, NEVER).expect("sound");
        let shares: f64 = found.modes.iter().map(|mode| mode.share).sum();
        prop_assert!((shares - 1.0).abs() < 1e-9);
        prop_assert!(found.modes.iter().all(|mode| mode.low <= mode.position && mode.position <= mode.high));
        prop_assert!((0.0..=0.25).contains(&found.dip) && (0.0..=0.25).contains(&found.dip_within_ticks));
        prop_assert!((0.0..=1.0).contains(&found.p_value) && found.mvalue >= 2.0 && found.mvalue.is_finite());
        prop_assert!(found.valley_evidence.is_finite());
        prop_assert!(found.tick.is_none_or(f64::is_finite));
    }

    #[test]
    fn values_a_few_roundings_apart_have_finite_modes(
        base in -300..300_i32, steps in vec(0..10_000_u16, 1..300), coarse in 1..10_000_u16, other in any::<f64>(),
        tick in prop_oneof![Just(None), (0.0..4.0_f64).prop_map(Some)],
    ) {
        let base = 10_f64.powi(base);
        let step = base.next_up() - base;
        let mut samples: Vec<f64> = steps.iter().map(|&i| base + f64::from(i % coarse) * step).collect();
        if other.is_finite() {
            samples[0] = other;
        }
        let found = modality(&samples, tick.map(|tick| tick * step), NEVER).expect("sound");
        prop_assert!(!found.modes.is_empty());
        prop_assert!(found.modes.iter().all(|mode| mode.low <= mode.position && mode.position <= mode.high));
        prop_assert!((0.0..=0.25).contains(&found.dip) && (0.0..=0.25).contains(&found.dip_within_ticks));
        prop_assert!(found.valley_evidence.is_finite() && found.mvalue.is_finite());
        prop_assert!(found.tick.is_none_or(f64::is_finite));
    }
}
