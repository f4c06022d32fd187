//! Samples of a clock that ticks, spread over its ticks.
//!
//! Samples that share a value were somewhere within the tick around it. Spread evenly over that tick they have the
//! distribution function of a histogram with one bin a tick: exact halfway between two ticks, where rounding does not change
//! on which side a sample lies.

use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::stats::samples::{check, sorted};

/// Groups between which the caller is asked: a few milliseconds.
const PART: usize = 1 << 16;
/// Up to so many ticks from the next value, a value's tick reaches half-way there; farther off there is a gap.
const NEIGHBOURS: f64 = 1.5;
/// Relative error of arithmetic: the difference of two places that are some thousand times as large has their rounding, of
/// 2⁻⁵².
const ROUNDING: f64 = 1e-12;

/// Samples that are equal within the tick: the positions from `first` up to, not including, `end`.
struct Group {
    first: usize,
    end: usize,
}

/// Ascending `values` without their ticks, and the tick that was found.
#[derive(Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) values: Vec<f64>,
    /// `None` where no two samples were the same.
    pub(super) tick: Option<f64>,
}

/// Returns true if ascending values differ by no more than the error of arithmetic.
pub(super) fn constant(values: &[f64]) -> bool {
    let (low, high) = (values[0], values[values.len() - 1]);
    high - low <= ROUNDING * low.abs().max(high.abs())
}

/// Returns a value to count ascending values from, so that no value changes: the smallest if all are near it, else 0.
///
/// Values that differ by little are then small, and what lies between two of them differs from both.
pub(super) fn origin(values: &[f64]) -> f64 {
    let (low, high) = (values[0], values[values.len() - 1]);
    // The difference of values of one sign is exact where neither is more than twice the other (Sterbenz, 1974).
    let is_near = if low > 0.0 { high <= 2.0 * low } else { high < 0.0 && low >= 2.0 * high };
    if is_near { low } else { 0.0 }
}

/// Distributes ascending `values` over their ticks, or over the given `tick`; a tick of 0 leaves them unchanged. They are
/// counted from `origin`. The result ascends as well.
pub(super) fn spread(
    mut values: Vec<f64>,
    origin: f64,
    tick: Option<f64>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Spread> {
    let groups = match tick {
        Some(0.0) => return Ok(Spread { values, tick: None }),
        Some(tick) => groups(&values, |_| tick / 2.0, interrupted)?,
        None => groups(&values, noise(&values, origin), interrupted)?,
    };
    let tick = match tick {
        Some(tick) => Some(tick),
        None => found(&values, &groups, interrupted)?,
    };
    let Some(tick) = tick else { return Ok(Spread { values, tick }) };
    // Until all are known, places are counted from what the values were.
    let centre = |group: &Group| values[group.first] + (values[group.end - 1] - values[group.first]) / 2.0;
    let centres: Vec<f64> = memory::collected(groups.iter().map(centre));
    let half = |gap: f64| if gap <= NEIGHBOURS * tick { gap / 2.0 } else { tick / 2.0 };
    let mut least = f64::NEG_INFINITY;
    for (i, group) in groups.iter().enumerate() {
        if i % PART == 0 {
            check(interrupted)?;
        }
        let count = group.end - group.first;
        if count == 1 {
            least = values[group.first].max(least);
            values[group.first] = least;
            continue;
        }
        let left = if i == 0 { tick / 2.0 } else { half(centres[i] - centres[i - 1]) };
        let right = if i + 1 == centres.len() { tick / 2.0 } else { half(centres[i + 1] - centres[i]) };
        for (place, value) in values[group.first..group.end].iter_mut().enumerate() {
            let place = centres[i] - left + (left + right) * ((place as f64 + 0.5) / count as f64);
            // Rounding must not carry one past the next group's.
            least = place.max(least);
            *value = least;
        }
    }
    Ok(Spread { values, tick: Some(tick) })
}

/// Returns a function for the error of a value that arithmetic has moved from equal ones; never enough to hide how samples
/// differ.
fn noise(values: &[f64], origin: f64) -> impl Fn(f64) -> f64 {
    let (low, high) = (values[0], values[values.len() - 1]);
    let (range, largest) = (high - low, (low + origin).abs().max((high + origin).abs()));
    let everywhere = (4.0 * f64::EPSILON * largest).min(range * 1e-6);
    move |value| (ROUNDING * (value + origin).abs()).min(range * 1e-9).max(everywhere)
}

fn groups(values: &[f64], nearest: impl Fn(f64) -> f64, interrupted: &dyn Fn() -> bool) -> Result<Vec<Group>> {
    let mut groups = vec![Group { first: 0, end: 0 }];
    for (position, &value) in values.iter().enumerate() {
        if position % PART == 0 {
            check(interrupted)?;
        }
        match groups.last_mut() {
            Some(group) if value - values[group.first] <= nearest(value) => group.end = position + 1,
            _ => groups.put(Group { first: position, end: position + 1 }),
        }
    }
    Ok(groups)
}

/// The tick that the values show: the distance to the nearest other value, for the nearest quarter of the samples that share
/// theirs. A clock's ticks are the smallest distance that is common; smaller ones that are rare do not count.
fn found(values: &[f64], groups: &[Group], interrupted: &dyn Fn() -> bool) -> Result<Option<f64>> {
    let apart = |one: &Group, other: &Group| values[other.first] - values[one.end - 1];
    let mut distances = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let count = group.end - group.first;
        if count > 1 && groups.len() > 1 {
            let before = if i == 0 { f64::INFINITY } else { apart(&groups[i - 1], group) };
            let after = groups.get(i + 1).map_or(f64::INFINITY, |next| apart(group, next));
            distances.room(count);
            distances.extend(std::iter::repeat_n(before.min(after), count));
        }
    }
    let distances = sorted(distances, interrupted)?;
    Ok(distances.get(distances.len() / 4).copied())
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what is exact is asked for exactly")]
mod tests {
    use super::*;

    fn of(values: &[f64], tick: Option<f64>) -> Spread {
        spread(values.to_vec(), 0.0, tick, &|| false).expect("not interrupted")
    }

    #[test]
    fn what_is_not_tied_stays() {
        let values = [1.0, 2.0, 4.0];
        assert_eq!(of(&values, None), Spread { values: values.to_vec(), tick: None });
        assert_eq!(of(&[3.0, 3.0, 4.0], Some(0.0)), Spread { values: vec![3.0, 3.0, 4.0], tick: None });
        assert_eq!(of(&[3.0; 4], None), Spread { values: vec![3.0; 4], tick: None });
    }

    #[test]
    fn ties_fill_their_tick_and_no_more() {
        let found = of(&[1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 9.0, 9.0], None);
        assert_eq!(found.tick, Some(1.0));
        assert_eq!(found.values, [0.75, 1.25, 1.625, 1.875, 2.125, 2.375, 8.75, 9.25]);
    }

    #[test]
    fn arithmetic_noise_makes_no_ticks_of_its_own() {
        let values: Vec<f64> = [0.1 + 0.2, 0.3, 0.3, 0.4, 0.4, 0.5, 0.5].to_vec();
        let values = sorted(values, &|| false).expect("not interrupted");
        let tick = of(&values, None).tick.expect("there are ties");
        assert!((tick - 0.1).abs() < 1e-12, "{tick}");
    }

    #[test]
    fn what_is_spread_ascends_where_ticks_are_no_wider_than_rounding() {
        for tick in [f64::EPSILON / 2.0, f64::EPSILON, 3.0 * f64::EPSILON] {
            let values: Vec<f64> = (0..60).map(|i| 1.0 + f64::from(i / 3) * f64::EPSILON).collect();
            assert!(of(&values, Some(tick)).values.is_sorted(), "{tick}");
        }
    }

    #[test]
    fn values_are_counted_from_where_none_of_them_changes() {
        let cases = [([1.0, 2.0], 1.0), ([-2.0, -1.0], -2.0), ([1.0, 2.1], 0.0), ([-1.0, 1.0], 0.0), ([0.0, 1.0], 0.0)];
        assert!(cases.iter().all(|(values, from)| origin(values) == *from));
        assert!(constant(&[0.3, 0.1 + 0.2]) && constant(&[0.0; 3]) && !constant(&[1.0, 1.0 + 1e-11]));
        assert!(!constant(&[-1e308, 1e308]));
    }

    #[test]
    fn a_given_tick_takes_together_what_lies_within() {
        let found = of(&[0.9, 1.0, 1.1, 2.0], Some(1.0));
        assert_eq!(found.tick, Some(1.0));
        assert!(found.values[..3].iter().zip([0.667, 1.0, 1.333]).all(|(a, b)| (a - b).abs() < 0.01), "{found:?}");
        assert_eq!(found.values[3], 2.0);
    }
}
