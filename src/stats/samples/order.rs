//! Order statistics without sorting: the k-th smallest values for a few k.
//!
//! Many values are narrowed down to those near the wanted ranks by a look at a few of them; what is left is selected from by
//! the standard library.

use super::brackets::{Part, Values, bracketed};
use super::{Sample, check};
use crate::error::Result;
use crate::memory;

/// From this many values on a look at a few of them first saves more than it costs.
const LOOK_FROM: usize = 1 << 14;

/// Returns the values at `ranks` (ascending, counted from 0) of the sorted `samples`, each mapped by `map`.
///
/// `map` must give values from `low` to `high`, finite all of them. Of many samples those near the wanted ranks are copied: a
/// few in a hundred.
///
/// # Errors
/// [`crate::error::Error::Interrupted`], if `interrupted` says so.
///
/// # Panics
/// If `ranks` does not ascend or holds one that is not below `samples.len()`.
pub fn order_statistics<T: Sample>(
    samples: &[T],
    map: impl Fn(f64) -> f64 + Copy,
    range: (f64, f64),
    ranks: &[usize],
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<f64>> {
    assert!(ranks.is_sorted(), "ranks must ascend");
    assert!(ranks.last().is_none_or(|&last| last < samples.len()), "a rank lies beyond the samples");
    check(interrupted)?;
    let mut found = memory::list(ranks.len());
    // Two ends that are one value leave nothing to find.
    if range.0 >= range.1 {
        found.extend(ranks.iter().map(|_| range.0));
        return Ok(found);
    }
    let values = Values { samples, map };
    let looked = if samples.len() < LOOK_FROM { None } else { bracketed(values, range, ranks, interrupted)? };
    let parts = looked.unwrap_or_else(|| {
        let all = memory::collected(samples.iter().map(|sample| map(sample.value())));
        vec![Part::new(all, memory::copied(ranks))]
    });
    for mut part in parts {
        check(interrupted)?;
        select(&mut part.values, 0, &part.ranks, &mut found);
    }
    Ok(found)
}

/// Adds the values at `ranks`, of which `values` has those from `start` on: the middle one first, so that each round halves the
/// range of the next ones.
fn select(values: &mut [f64], start: usize, ranks: &[usize], found: &mut Vec<f64>) {
    let Some(&middle) = ranks.get(ranks.len() / 2) else { return };
    let (below, &mut value, above) = values.select_nth_unstable_by(middle - start, f64::total_cmp);
    let equal = ranks.partition_point(|&rank| rank < middle)..ranks.partition_point(|&rank| rank <= middle);
    select(below, start, &ranks[..equal.start], found);
    found.extend(equal.clone().map(|_| value));
    select(above, middle + 1, &ranks[equal.end..], found);
}
