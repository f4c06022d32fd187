//! What JUnit calls a test case: a row of runs, or a kernel of captures.

use super::captures::{Change, Figures, Kernel, MatchedBy};
use super::document::{Comparison, Measured, Row, Verdict};
use super::words::{self, Note};
use crate::units::python_repr;

const NS_PER_S: f64 = 1e9;

/// A name and a value, escaped when it is written.
pub(super) type Property = (String, String);

/// A test case.
pub(super) struct Case {
    pub(super) classname: String,
    pub(super) name: String,
    pub(super) seconds: Option<String>,
    pub(super) verdict: Option<Verdict>,
    /// Whether it has no verdict because a side broke.
    broke: bool,
    pub(super) message: String,
    pub(super) reason: Option<String>,
    /// Every digit, for programs.
    pub(super) properties: Vec<Property>,
}

impl Case {
    /// Every case of a comparison.
    pub(super) fn all(comparison: &Comparison) -> Vec<Self> {
        let rows = comparison.rows.iter().map(|row| Self::of_row(row, comparison));
        let kernels = comparison.kernels.iter().map(|kernel| Self::of_kernel(kernel, comparison));
        let whole = comparison.device_time.iter().map(|change| Self::of_change(change, "captures", comparison));
        rows.chain(kernels).chain(whole).collect()
    }

    /// What says how it ended; one without it has passed.
    pub(super) fn element(&self) -> Option<&'static str> {
        match self.verdict {
            Some(Verdict::Faster | Verdict::Equivalent) => None,
            Some(Verdict::Slower) => Some("failure"),
            None if self.broke => Some("error"),
            Some(Verdict::Inconclusive) | None => Some("skipped"),
        }
    }

    fn of_row(row: &Row, comparison: &Comparison) -> Self {
        let told = words::notes(row).into_iter().map(|note| match note {
            Note::Told(told) => told.to_owned(),
            Note::Ours(ours) => ours,
        });
        let ratio = row.ratio.map(|_| words::ratio_with_interval(row));
        Self {
            classname: row.group.as_ref().unwrap_or(&row.runner).clone(),
            name: row.name(),
            seconds: row.candidate.as_ref().map(|side| (side.estimate_ns / NS_PER_S).to_string()),
            verdict: row.verdict,
            broke: row.failed(),
            message: message(row.verdict, ratio, told),
            reason: row.reason.clone(),
            properties: figures(row, comparison),
        }
    }

    fn of_kernel(kernel: &Kernel, comparison: &Comparison) -> Self {
        let mut case = Self::of_change(&kernel.change, &kernel.category, comparison);
        let matched = kernel.matched_by.map(|by| match by {
            MatchedBy::Name => "name".to_owned(),
            MatchedBy::Shape => "shape".to_owned(),
        });
        let former = kernel.former_name().map(str::to_owned);
        case.properties.extend(known([("matched_by", matched), ("baseline_name", former)]));
        case
    }

    fn of_change(change: &Change, classname: &str, comparison: &Comparison) -> Self {
        let ratio = change.ratio.map(|_| words::with_interval(change.ratio, change.ratio_ci_low, change.ratio_ci_high));
        let number = |value: Option<f64>| value.map(python_repr);
        let total = |side: &Option<Figures>| side.as_ref().map(|side| side.total_ns.to_string());
        let repeats = |side: &Option<Figures>| side.as_ref().map(|side| side.n_repeats.to_string());
        Self {
            classname: classname.to_owned(),
            name: change.name.clone(),
            seconds: change.candidate.as_ref().map(|side| (side.total_ns as f64 / NS_PER_S).to_string()),
            verdict: change.verdict,
            broke: false,
            message: message(change.verdict, ratio, std::iter::empty()),
            reason: Some(change.reason.clone()),
            properties: known([
                ("verdict", change.verdict.map(|verdict| verdict.word().to_owned())),
                ("ratio", number(change.ratio)),
                ("ratio_ci_low", number(change.ratio_ci_low)),
                ("ratio_ci_high", number(change.ratio_ci_high)),
                ("margin", Some(python_repr(comparison.method.margin))),
                ("p_value_adjusted", number(change.p_value_adjusted)),
                ("delta_ns", Some(change.delta_ns.to_string())),
                ("contribution", number(change.contribution)),
                ("baseline.total_ns", total(&change.baseline)),
                ("candidate.total_ns", total(&change.candidate)),
                ("baseline.n_repeats", repeats(&change.baseline)),
                ("candidate.n_repeats", repeats(&change.candidate)),
            ]),
        }
    }
}

fn message(verdict: Option<Verdict>, ratio: Option<String>, told: impl Iterator<Item = String>) -> String {
    let verdict = verdict.map_or("no verdict", Verdict::word);
    let ratio = ratio.map(|ratio| format!("{verdict}: {ratio}"));
    let message: Vec<_> = ratio.into_iter().chain(told).collect();
    if message.is_empty() { verdict.to_owned() } else { message.join("; ") }
}

fn figures(row: &Row, comparison: &Comparison) -> Vec<Property> {
    let processes = |side: &Option<Measured>| side.as_ref().map(|side| side.n_processes.to_string());
    let number = |value: Option<f64>| value.map(python_repr);
    known([
        ("verdict", row.verdict.map(|verdict| verdict.word().to_owned())),
        ("label", row.label.clone()),
        ("ratio", number(row.ratio)),
        ("ratio_ci_low", number(row.ratio_ci_low)),
        ("ratio_ci_high", number(row.ratio_ci_high)),
        ("margin", Some(python_repr(comparison.method.margin))),
        ("cliffs_delta", number(row.cliffs_delta)),
        ("p_value_adjusted", number(row.p_value_adjusted)),
        ("baseline.estimate_ns", number(row.baseline.as_ref().map(|side| side.estimate_ns))),
        ("candidate.estimate_ns", number(row.candidate.as_ref().map(|side| side.estimate_ns))),
        ("baseline.n_processes", processes(&row.baseline)),
        ("candidate.n_processes", processes(&row.candidate)),
    ])
}

/// Those that have a value.
pub(super) fn known<const N: usize>(pairs: [(&str, Option<String>); N]) -> Vec<Property> {
    pairs.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_owned(), value))).collect()
}
