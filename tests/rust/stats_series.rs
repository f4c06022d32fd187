//! Properties of change points and steady states that hold for whatever series comes.

use fastrnns_rs::stats::series::{
    ChangePointOptions, Classification, Cost, SteadyOptions, changepoints, classify_warmup, steady_state,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn options() -> impl Strategy<Value = ChangePointOptions> {
    let cost = prop_oneof![
        Just(Cost::Mean),
        prop_oneof![Just(0.0), Just(1e-6), 0.0..10.0].prop_map(|added_variance| Cost::MeanVariance { added_variance }),
    ];
    let penalty = prop_oneof![Just(None), (0.0..100.0).prop_map(Some)];
    (cost, penalty, 1..6_usize, 1..6_usize, any::<bool>()).prop_map(|(cost, penalty, min_size, jump, optimal)| {
        ChangePointOptions { cost, penalty, min_size, jump, optimal }
    })
}

/// Ordinary, tied, huge and tiny values.
fn series() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        vec(-100.0..100.0, 6..200),
        vec((0..4_u8).prop_map(f64::from), 6..200),
        vec((-150..150_i32).prop_map(|exponent| 10_f64.powi(exponent)), 6..60),
        vec(Just(5e-324), 6..60),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn segments_follow_the_rules(samples in series(), options in options()) {
        let found = changepoints(&samples, &options, &|| false).expect("the samples are sound");
        prop_assert_eq!(found.segments[0].0, 0);
        prop_assert_eq!(found.segments[found.segments.len() - 1].1, samples.len());
        for pair in found.segments.windows(2) {
            prop_assert_eq!(pair[0].1, pair[1].0);
            prop_assert_eq!(pair[1].0 % options.jump, 0);
        }
        prop_assert!(found.segments.iter().all(|(begin, end)| end - begin >= found.min_size));
        prop_assert_eq!(found.positions.len() + 1, found.segments.len());
        prop_assert!(found.total_cost.is_finite());
    }

    #[test]
    fn a_steady_state_is_whole(samples in vec(prop_oneof![1e-3..1e3_f64, Just(1.0), Just(1e308)], 1..150)) {
        let found = steady_state(&samples, &SteadyOptions::default(), &|| false).expect("the samples are sound");
        let unsteady = [Classification::NoSteadyState, Classification::TooFew].contains(&found.classification);
        prop_assert_eq!(found.steady_from.is_none(), unsteady);
        prop_assert_eq!(found.level.is_none(), unsteady);
        prop_assert!(found.level.is_none_or(f64::is_finite) && (0.0..=1.0).contains(&found.share));
        prop_assert_eq!(found.segments[found.segments.len() - 1].end, samples.len());

        let twice = classify_warmup(&[&samples, &samples], &SteadyOptions::default(), &|| false).expect("as before");
        prop_assert_eq!(twice.classification, found.classification.name());
        prop_assert_eq!(twice.steady_from, found.steady_from);
    }
}
