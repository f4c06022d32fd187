//! The words and figures that more than one format shows.

use serde_json::Value;

use super::document::{Comparison, Counts, GeometricMean, MarginSource, Measured, Method, Row, Verdict, Warning};
use crate::units::{show_percent, show_ratio};

/// What stands for a number that is not known.
pub(super) const UNKNOWN: &str = "-";
/// Said first where it holds: what follows may look like any other comparison.
pub(super) const FORCED: &str = "FORCED: the two sides do not match, and were compared all the same";

/// Something to read beside a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Note<'a> {
    /// As the document has it, to be escaped.
    Told(&'a str),
    Ours(String),
}

/// A sign and a word: the arrow is where the time went.
pub(super) fn verdict(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Faster) => "↓ faster",
        Some(Verdict::Slower) => "↑ slower",
        Some(Verdict::Equivalent) => "= equivalent",
        Some(Verdict::Inconclusive) => "? inconclusive",
        None => "- no verdict",
    }
}

pub(super) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| UNKNOWN.to_owned(), show_ratio)
}

pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("[{}, {}]", show_ratio(low), show_ratio(high)),
        _ => UNKNOWN.to_owned(),
    }
}

/// `1.032 [1.018, 1.047]`, or the ratio alone where it has no interval.
pub(super) fn ratio_with_interval(row: &Row) -> String {
    with_interval(row.ratio, row.ratio_ci_low, row.ratio_ci_high)
}

/// The same for all rows together.
pub(super) fn mean_with_interval(mean: &GeometricMean) -> String {
    with_interval(Some(mean.ratio), mean.ratio_ci_low, mean.ratio_ci_high)
}

/// The same of any ratio.
pub(super) fn with_interval(middle: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(_), Some(_)) => format!("{} {}", ratio(middle), interval(low, high)),
        _ => ratio(middle),
    }
}

/// The ratio as what it adds, in percent: a sign, and two decimals while they fit.
pub(super) fn change(ratio: Option<f64>) -> String {
    const TWO_DECIMALS_FIT: f64 = 1e5;
    const ROUNDS_TO_NOTHING: f64 = 0.005;
    let Some(percent) = ratio.map(|ratio| (ratio - 1.0) * 100.0) else {
        return UNKNOWN.to_owned();
    };
    if percent.abs() < ROUNDS_TO_NOTHING {
        return "0.00".to_owned();
    }
    if percent.abs() < TWO_DECIMALS_FIT { format!("{percent:+.2}") } else { format!("+{}", show_ratio(percent)) }
}

/// Cliff's delta: from -1, every candidate is below every baseline, to 1.
pub(super) fn delta(delta: Option<f64>) -> String {
    delta.map_or_else(|| UNKNOWN.to_owned(), |delta| format!("{delta:.2}"))
}

/// `10+10`: baseline, then candidate.
pub(super) fn processes(row: &Row) -> String {
    let count = |side: &Option<Measured>| side.as_ref().map_or(0, |side| side.n_processes);
    match (count(&row.baseline), count(&row.candidate)) {
        (0, 0) => UNKNOWN.to_owned(),
        (baseline, candidate) => format!("{baseline}+{candidate}"),
    }
}

/// What the figures of a row do not say: its label, why it has no verdict, what would bring one.
pub(super) fn notes<'a>(row: &'a Row) -> Vec<Note<'a>> {
    let told = |text: &'a Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Note::Told);
    let reason = told(&row.reason);
    let (why, settled) = match (row.verdict, row.additional_processes) {
        (Some(Verdict::Inconclusive), Some(count)) => {
            (reason.filter(|_| row.overruled()), Some(Note::Ours(settle(count))))
        }
        (None, _) | (Some(Verdict::Inconclusive), None) => (reason, None),
        _ => (None, None),
    };
    told(&row.label).into_iter().chain(why).chain(settled).collect()
}

fn settle(count: u64) -> String {
    let processes = if count == 1 { "process" } else { "processes" };
    format!("{count} more {processes} a side would settle it, in a new comparison")
}

/// `1 slower, 0 faster, 2 equivalent, 0 inconclusive`, and what has no verdict where anything has none.
pub(super) fn counts(counts: &Counts) -> String {
    let Counts { faster, slower, equivalent, inconclusive, none } = counts;
    let rest = if *none > 0 { format!(", {none} without a verdict") } else { String::new() };
    format!("{slower} slower, {faster} faster, {equivalent} equivalent, {inconclusive} inconclusive{rest}")
}

pub(super) fn margin(method: &Method) -> String {
    format!("±{} ({})", show_percent(method.margin), source(method.margin_source))
}

pub(super) fn source(source: MarginSource) -> &'static str {
    match source {
        MarginSource::Default => "default",
        MarginSource::Option => "as asked",
        MarginSource::NoiseFloor => "this machine's noise floor",
    }
}

/// The lines of a warning: what is wrong, then what was seen and what to do where it says so.
pub(super) fn warning(warning: &Warning) -> impl Iterator<Item = (&'static str, &str)> {
    [("warning", Some(&warning.message)), ("seen", warning.evidence.as_ref()), ("hint", warning.hint.as_ref())]
        .into_iter()
        .filter_map(|(label, text)| text.map(|text| (label, text.as_str())))
        .filter(|(label, text)| *label == "warning" || !text.is_empty())
}

/// What its intervals are called in a heading.
pub(super) fn interval_heading(comparison: &Comparison) -> String {
    format!("{} interval", show_percent(comparison.method.confidence_level))
}

/// A value of the environment as a text still to be escaped.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => UNKNOWN.to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_stay_short() {
        for (ratio, text) in [
            (1.0321, "+3.21"),
            (0.5, "-50.00"),
            (1.0, "0.00"),
            (0.999_99, "0.00"),
            (1.000_06, "+0.01"),
            (1e6, "+1.000e8"),
            (1000.5, "+99950.00"),
            (1e-9, "-100.00"),
        ] {
            assert_eq!(change(Some(ratio)), text, "{ratio}");
        }
        assert_eq!(change(None), "-");
    }

    #[test]
    fn one_process_is_one_process() {
        assert_eq!(settle(1), "1 more process a side would settle it, in a new comparison");
        assert_eq!(settle(14), "14 more processes a side would settle it, in a new comparison");
    }

    #[test]
    fn an_interval_needs_both_ends() {
        assert_eq!(with_interval(Some(1.032), Some(1.018), Some(1.047)), "1.032 [1.018, 1.047]");
        assert_eq!(with_interval(Some(1e6), None, Some(1e7)), "1000000");
        assert_eq!(with_interval(None, None, None), "-");
    }
}
