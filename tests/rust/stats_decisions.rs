//! Properties of verdicts that hold whatever was measured.

use fastrnns_rs::stats::compare::decisions::{Comparison, Verdict, compare_samples};
use fastrnns_rs::stats::compare::hypotheses::{Design, benjamini_hochberg};
use proptest::collection::vec;
use proptest::prelude::*;

/// Times around 1 of a handful of processes, some of them tied.
fn side() -> impl Strategy<Value = Vec<f64>> {
    let time = prop_oneof![0.97..1.03_f64, (0..4_u8).prop_map(|tick| 0.99 + f64::from(tick) * 0.01)];
    vec(time, 1..15)
}

fn compare(baseline: &[f64], candidate: &[f64], margin: f64) -> Comparison {
    compare_samples(baseline, candidate, margin, 0.95, None, Design::Independent, &|| false).expect("positive times")
}

fn near(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() <= tolerance * one.abs().max(other.abs()).max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swapping_the_sides_mirrors_the_verdict(baseline in side(), candidate in side(), margin in 0.0..0.05_f64) {
        let (found, swapped) = (compare(&baseline, &candidate, margin), compare(&candidate, &baseline, margin));
        let mirrored = match swapped.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            same => same,
        };
        prop_assert_eq!(found.verdict, mirrored);
        prop_assert_eq!(found.additional_processes, swapped.additional_processes);
        prop_assert!(near(found.ratio * swapped.ratio, 1.0, 1e-12));
        prop_assert!(near(found.shift, -swapped.shift, 1e-12) && near(found.cliffs_delta, -swapped.cliffs_delta, 1e-12));
        prop_assert!(found.ratio_ci_low.zip(swapped.ratio_ci_high).is_none_or(|(one, other)| near(one * other, 1.0, 1e-12)));
        let narrower = found.equivalence_ci_high.zip(swapped.equivalence_ci_low);
        prop_assert!(narrower.is_none_or(|(one, other)| near(one * other, 1.0, 1e-12)));
        prop_assert_eq!(found.p_value.map(f64::to_bits), swapped.p_value.map(f64::to_bits));
    }

    #[test]
    fn the_unit_does_not_matter(baseline in side(), candidate in side(), exponent in -200..200_i32) {
        let scale = 10_f64.powi(exponent);
        let scaled = |side: &[f64]| side.iter().map(|time| time * scale).collect::<Vec<f64>>();
        let (found, other) = (compare(&baseline, &candidate, 0.01), compare(&scaled(&baseline), &scaled(&candidate), 0.01));
        prop_assert!(near(found.ratio, other.ratio, 1e-11));
        prop_assert_eq!(found.p_value.is_some(), other.p_value.is_some());
        // Logarithms of scaled times are rounded: what lies within that of a limit may fall on its other side.
        let [low, high] = [1.0 / 1.01, 1.01];
        let limits = [
            (found.equivalence_ci_low, low), (found.equivalence_ci_high, high), (found.ratio_ci_low, 1.0), (found.ratio_ci_high, 1.0),
        ];
        if limits.iter().all(|&(end, limit)| end.is_none_or(|end| !near(end, limit, 1e-10))) {
            prop_assert_eq!(found.verdict, other.verdict);
        }
    }

    #[test]
    fn a_wider_margin_never_takes_equivalence_away(baseline in side(), candidate in side(), margins in vec(0.0..0.2_f64, 2..9)) {
        let mut margins = margins;
        margins.sort_by(f64::total_cmp);
        let said: Vec<bool> =
            margins.iter().map(|&margin| compare(&baseline, &candidate, margin).verdict == Verdict::Equivalent).collect();
        prop_assert!(said.is_sorted(), "{said:?}");
    }

    #[test]
    fn a_surer_verdict_is_no_other_one(baseline in side(), candidate in side()) {
        let at = |level| compare_samples(&baseline, &candidate, 0.0, level, None, Design::Independent, &|| false).expect("positive times").verdict;
        let (sure, surer) = (at(0.9), at(0.99));
        prop_assert!(surer == sure || surer == Verdict::Inconclusive, "{sure:?} {surer:?}");
    }

    #[test]
    fn adjusted_p_values_keep_their_order(p_values in vec(0.0..=1.0_f64, 0..200), rate in 0.01..0.9_f64) {
        let found = benjamini_hochberg(&p_values, rate, &|| false).expect("probabilities");
        for (place, (&p, &adjusted)) in p_values.iter().zip(&found.adjusted).enumerate() {
            prop_assert!(p <= adjusted && adjusted <= 1.0);
            prop_assert_eq!(found.rejected[place], found.threshold.is_some_and(|threshold| p <= threshold));
            for (&q, &other) in p_values.iter().zip(&found.adjusted) {
                prop_assert!((p <= q) <= (adjusted <= other));
            }
        }
    }
}
