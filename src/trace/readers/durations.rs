//! Durations that no call and no operation of a device has.

/// A week, in nanoseconds.
const LONGEST_NS: i64 = 7 * 24 * 60 * 60 * 1_000_000_000;

/// Returns the times of an event that ends after its start, or the reason why they cannot be true.
///
/// A damaged time is hardly ever before the others: one such event would be longer than all others together.
#[inline]
pub(in crate::trace::readers) fn plausible(start: i64, end: i64) -> Result<(i64, i64), &'static str> {
    if end.saturating_sub(start) > LONGEST_NS {
        return Err("a duration of more than a week");
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
}
