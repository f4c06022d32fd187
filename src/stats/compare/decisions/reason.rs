//! One sentence that says which comparison of which numbers decided.

use super::verdict::{Rule, Verdict};
use crate::units::show_percent;

/// A decimal more than this shows rounding.
const MOST_DECIMALS: usize = 15;

/// Explains a verdict; both intervals are those of the ratio.
pub(super) fn reason(verdict: Verdict, equivalence: (f64, f64), difference: (f64, f64), rule: Rule) -> String {
    let (low, high) = (1.0 / (1.0 + rule.margin), 1.0 + rule.margin);
    let wide = show_percent(rule.confidence_level);
    let narrow = show_percent(rule.equivalence_level());
    let against_1 = format!("{} to {}", shown(difference.0, 1.0), shown(difference.1, 1.0));
    let against_margin = format!("{} to {}", shown(equivalence.0, low), shown(equivalence.1, high));
    let margin = format!("{} to {}", shown(low, low), shown(high, high));
    match verdict {
        Verdict::Equivalent => {
            format!("the {narrow} interval of the ratio, {against_margin}, lies inside the margin, {margin}")
        }
        Verdict::Faster => format!("the {wide} interval of the ratio, {against_1}, lies below 1"),
        Verdict::Slower => format!("the {wide} interval of the ratio, {against_1}, lies above 1"),
        Verdict::Inconclusive => format!(
            "the {wide} interval of the ratio, {against_1}, holds 1, and the {narrow} interval, {against_margin}, \
             reaches beyond the margin, {margin}"
        ),
    }
}

/// Four decimals, and as many more as it takes to see on which side of `limit` the value lies.
fn shown(value: f64, limit: f64) -> String {
    const DECIMALS: usize = 4;
    let apart = (value - limit).abs().min(value);
    let needed = if apart > 0.0 { (1.0 - apart.log10().floor()).max(0.0) as usize } else { 0 };
    format!("{value:.*}", needed.clamp(DECIMALS, MOST_DECIMALS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_on_which_side_a_number_lies() {
        assert_eq!(shown(0.970_123, 1.0), "0.9701");
        assert_eq!(shown(1.000_001_234, 1.0), "1.0000012");
        assert_eq!(shown(1.0, 1.0), "1.0000");
        assert_eq!(shown(0.000_001_23, 1.0), "0.0000012");
        assert_eq!(shown(f64::MIN_POSITIVE, 1.0), "0.000000000000000");
    }
}
