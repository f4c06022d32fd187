//! The part of a comparison that is of captures, and the words for it.

use serde::Deserialize;

use super::document::{Comparison, Side, Verdict};
use super::words::{self, UNKNOWN};
use crate::units::{show_milliseconds, significant};

/// What times are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Basis {
    Total,
    PerIteration,
    PerCapture,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Presence {
    Both,
    Appeared,
    Vanished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MatchedBy {
    Name,
    Shape,
}

/// One side of a change.
#[derive(Debug, Deserialize)]
pub(super) struct Figures {
    pub(super) total_ns: i64,
    /// By the basis, as the time.
    pub(super) launches: f64,
    /// 0 where nothing was repeated.
    pub(super) n_repeats: u64,
}

/// What a category took on both sides, or everything.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    pub(super) name: String,
    pub(super) presence: Presence,
    pub(super) baseline: Option<Figures>,
    pub(super) candidate: Option<Figures>,
    pub(super) delta_ns: i64,
    pub(super) contribution: Option<f64>,
    pub(super) ratio: Option<f64>,
    pub(super) ratio_ci_low: Option<f64>,
    pub(super) ratio_ci_high: Option<f64>,
    pub(super) p_value_adjusted: Option<f64>,
    pub(super) verdict: Option<Verdict>,
    pub(super) reason: String,
}

/// A kernel, or a kind of copy or set.
#[derive(Debug, Deserialize)]
pub(super) struct Kernel {
    #[serde(flatten)]
    pub(super) change: Change,
    pub(super) category: String,
    pub(super) matched_by: Option<MatchedBy>,
    pub(super) baseline_name: Option<String>,
}

impl Kernel {
    /// What it was called, if that was not what it is called.
    pub(super) fn former_name(&self) -> Option<&str> {
        self.baseline_name.as_deref().filter(|_| self.matched_by == Some(MatchedBy::Shape))
    }
}

/// `2 captures, 40 iterations → 1 capture; times of a capture`
pub(super) fn heading(comparison: &Comparison) -> String {
    let basis = match comparison.basis {
        Some(Basis::PerIteration) => "times are those of an iteration",
        Some(Basis::PerCapture) => "times are those of a capture, on average",
        Some(Basis::Total) | None => "times are those of the whole capture",
    };
    format!("{} → {}; {basis}", held(&comparison.baseline), held(&comparison.candidate))
}

fn held(side: &Side) -> String {
    let counted = |count: Option<u64>, one: &str| match count {
        None => None,
        Some(1) => Some(format!("1 {one}")),
        Some(count) => Some(format!("{count} {one}s")),
    };
    let parts = [counted(side.captures, "capture"), counted(side.iterations, "iteration")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Milliseconds with a sign.
pub(super) fn delta(change: &Change) -> String {
    let size = show_milliseconds(change.delta_ns.unsigned_abs() as f64);
    match change.delta_ns {
        0 => size,
        ..0 => format!("-{size}"),
        _ => format!("+{size}"),
    }
}

/// In percent of the change of everything.
pub(super) fn contribution(change: &Change) -> String {
    // What rounds to nothing has no sign: adding 0 takes it from the negative zero.
    change.contribution.map_or_else(|| UNKNOWN.to_owned(), |share| format!("{:.1}", (share * 1e3).round() / 10.0 + 0.0))
}

pub(super) fn time(side: Option<&Figures>) -> String {
    side.map_or_else(|| UNKNOWN.to_owned(), |side| show_milliseconds(side.total_ns as f64))
}

/// `12`, or `12 → 24` where the sides differ.
pub(super) fn launches(change: &Change) -> String {
    let side = |side: &Option<Figures>| side.as_ref().map_or_else(|| "0".to_owned(), |side| count(side.launches));
    let (before, after) = (side(&change.baseline), side(&change.candidate));
    if before == after { before } else { format!("{before} → {after}") }
}

/// Whole where it is.
fn count(launches: f64) -> String {
    if launches.fract() == 0.0 { format!("{launches:.0}") } else { significant(launches) }
}

pub(super) fn verdict(change: &Change) -> &'static str {
    match change.presence {
        Presence::Both => words::verdict(change.verdict),
        Presence::Appeared => "+ appeared",
        Presence::Vanished => "× vanished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(delta_ns: i64, before: f64, after: f64) -> Change {
        let side = |launches| Some(Figures { total_ns: 1_000_000, launches, n_repeats: 0 });
        Change {
            name: "k".to_owned(),
            presence: Presence::Both,
            baseline: side(before),
            candidate: side(after),
            delta_ns,
            contribution: Some(-0.255),
            ratio: None,
            ratio_ci_low: None,
            ratio_ci_high: None,
            p_value_adjusted: None,
            verdict: None,
            reason: String::new(),
        }
    }

    #[test]
    fn differences_have_signs() {
        let shown = |delta_ns| delta(&change(delta_ns, 1.0, 1.0));
        assert_eq!((shown(0), shown(1_500_000)), ("0".to_owned(), "+1.500".to_owned()));
        assert!(shown(i64::MIN).starts_with('-'));
        assert_eq!(contribution(&change(1, 1.0, 1.0)), "-25.5");
        assert_eq!(contribution(&Change { contribution: Some(-1e-9), ..change(1, 1.0, 1.0) }), "0.0");
    }

    #[test]
    fn launches_are_shown_once_where_they_agree() {
        for (before, after, text) in [(3.0, 3.0, "3"), (3.0, 4.0, "3 → 4"), (2.5, 3.0, "2.500 → 3")] {
            assert_eq!(launches(&change(0, before, after)), text);
        }
    }
}
