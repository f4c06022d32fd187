//! The lines of kernels and categories, whatever is drawn around them.

use super::captures::{Change, Kernel, contribution, delta, launches, time, verdict};
use super::document::Comparison;
use super::words;

/// More kernels are not listed where people read: those that changed most come first.
const MOST_KERNELS: usize = 20;

pub(super) const COLUMNS: usize = 10;
/// How many of the columns, from the left, hold figures.
pub(super) const FIGURES: usize = 7;

/// The name comes last, for it may be long, and is as the document has it.
pub(super) type Line = [String; COLUMNS];

/// The headings; `what` is what lines are of.
pub(super) fn headings(comparison: &Comparison, what: &str) -> Line {
    let interval = words::interval_heading(comparison);
    let headings =
        ["change, ms", "share, %", "baseline, ms", "candidate, ms", "ratio", &interval, "launches", "verdict"];
    let mut line: Line = std::array::from_fn(|index| headings.get(index).map_or_else(String::new, ToString::to_string));
    (line[8], line[9]) = ("category".to_owned(), what.to_owned());
    line
}

/// Those kernels that changed most, and how many there are besides.
pub(super) fn kernels(comparison: &Comparison) -> (&[Kernel], usize) {
    let shown = comparison.kernels.len().min(MOST_KERNELS);
    (&comparison.kernels[..shown], comparison.kernels.len() - shown)
}

pub(super) fn kernel(kernel: &Kernel) -> Line {
    line(&kernel.change, &kernel.category)
}

pub(super) fn category(change: &Change) -> Line {
    line(change, "")
}

fn line(change: &Change, category: &str) -> Line {
    [
        delta(change),
        contribution(change),
        time(change.baseline.as_ref()),
        time(change.candidate.as_ref()),
        words::ratio(change.ratio),
        words::interval(change.ratio_ci_low, change.ratio_ci_high),
        launches(change),
        verdict(change).to_owned(),
        category.to_owned(),
        change.name.clone(),
    ]
}

/// `… and 12 more, which changed less: --format json has all`
pub(super) fn more(count: usize) -> Option<String> {
    (count > 0).then(|| format!("… and {count} more, which changed less: --format json has all"))
}
