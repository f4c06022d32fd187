//! Gregg's mvalue: how often and how far a histogram goes up and down.

/// The mvalue (Gregg, *Frequency Trails: Modes and Modality*, 2013) of ascending values: the sum of the differences between
/// neighbouring bins of a histogram, both ends counted, over the highest bin. 2 for one clean mode, 4 for two equal ones.
///
/// Bins are as wide as by the rule of Freedman and Diaconis, but with `half`, the width of the shortest half of the samples,
/// in the place of the interquartile range, which two modes would stretch; never narrower than a `tick`.
pub(super) fn mvalue(values: &[f64], half: f64, tick: f64) -> f64 {
    let (low, high) = (values[0], values[values.len() - 1]);
    let each = (values.len() as f64).cbrt();
    let narrow = (2.0 * half / each).max(tick);
    // More than half of the samples share a value: its bin is one among so many.
    let width = if narrow > 0.0 { narrow } else { (high - low) / each };
    let (mut change, mut highest) = (0, 0);
    let (mut bin, mut count) = (f64::NEG_INFINITY, 0_usize);
    let mut rest = values;
    while let Some(first) = rest.first() {
        let index = if width > 0.0 { ((first - low) / width).floor() } else { 0.0 };
        let end = low + (index + 1.0) * width;
        // At least the first, whatever the rounding of the bin's end.
        let inside = rest.partition_point(|&value| value < end).max(1);
        // Down to an empty bin and up again, unless the bins are neighbours.
        change += if index - bin <= 1.0 { inside.abs_diff(count) } else { inside + count };
        highest = highest.max(inside);
        (bin, count, rest) = (index, inside, &rest[inside..]);
    }
    (change + count) as f64 / highest as f64
}

/// The width of the shortest stretch of ascending values that holds more than half of them.
pub(super) fn shortest_half(values: &[f64]) -> f64 {
    let reach = values.len() / 2;
    values.windows(reach + 1).map(|half| half[reach] - half[0]).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "what is exact is asked for exactly")]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> f64 {
        mvalue(values, shortest_half(values), 0.0)
    }

    #[test]
    fn clean_shapes() {
        assert_eq!(of(&[3.0]), 2.0);
        assert_eq!(of(&[3.0; 10]), 2.0);
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!((of(&even) - 2.0).abs() < 0.05);
        let two: Vec<f64> = (0..1000).map(|i| f64::from(i) + if i < 500 { 0.0 } else { 5000.0 }).collect();
        assert!((of(&two) - 4.0).abs() < 0.05);
        // A far value costs nothing.
        assert!(of(&[even.as_slice(), &[1e300]].concat()) < 2.2);
    }
}
