//! Times that no event of a capture has.

use std::ops::RangeInclusive;

/// A week, in nanoseconds.
const LONGEST_NS: i64 = 7 * 24 * 60 * 60 * 1_000_000_000;

/// From 18 years before zero to 109 years after, in nanoseconds: zero is the start of a machine, of a capture or of 1970.
///
/// Between two of these are less than 2⁶² ns, as a document demands of every time, and so is the bin of a histogram.
const PLACES_NS: RangeInclusive<i64> = -(1 << 59)..=3 << 60;

/// Returns the times of an event that ends after its start, or the reason why they cannot be true.
///
/// A damaged time is hardly ever near the others: one such event would be longer than all others together, or the time from
/// them to it would be.
#[inline]
pub(in crate::trace::readers) fn plausible(start: i64, end: i64) -> Result<(i64, i64), &'static str> {
    if end.saturating_sub(start) > LONGEST_NS {
        return Err("a duration of more than a week");
    }
    if start < *PLACES_NS.start() || end > *PLACES_NS.end() {
        return Err("a time that no clock shows");
    }
    Ok((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_the_longest() {
        assert_eq!(plausible(-5, LONGEST_NS - 5), Ok((-5, LONGEST_NS - 5)));
        assert!(plausible(0, LONGEST_NS + 1).is_err());
        assert!(plausible(i64::MIN + 1, i64::MAX).is_err());
    }

    #[test]
    fn a_lifetime_from_zero_is_the_farthest() {
        let (first, last) = PLACES_NS.into_inner();
        for time in [first, 0, last] {
            assert_eq!(plausible(time, time), Ok((time, time)));
        }
        for time in [i64::MIN + 1, first - 1, last + 1, i64::MAX] {
            assert!(plausible(time, time).is_err(), "{time}");
        }
        assert!(last - first < 15 << 58, "the last bin below 2⁶²");
    }
}
