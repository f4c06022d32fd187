//! Samples for properties.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

pub(super) const NEVER: &dyn Fn() -> bool = &|| false;

/// Fewer than `most` values of every size, many of them tied, some of them powers of ten, and some of `others`.
pub(super) fn samples(
    most: usize,
    powers: Range<i32>,
    others: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Vec<f64>> {
    let powers = powers.prop_map(|exponent| 10_f64.powi(exponent));
    vec(prop_oneof![-1e9..1e9_f64, (-3..5_i8).prop_map(f64::from), powers, others], 1..most)
}
