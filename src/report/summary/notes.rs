//! What a page says in sentences.

use super::value::differences;
use crate::trace::{IterationRow, IterationStatistics, Launches, Summary};
use crate::units::show_milliseconds;

/// A line that is not part of a list.
#[derive(Debug)]
pub(super) struct Note {
    /// `warning` begins something; the lines about it follow.
    pub(super) label: &'static str,
    /// As it came, to be escaped.
    pub(super) text: String,
}

pub(super) fn warnings(summary: &Summary) -> Vec<Note> {
    let lines = summary.warnings.iter().flat_map(|warning| {
        let parts = [("warning", &warning.message), ("seen", &warning.evidence), ("hint", &warning.hint)];
        parts
            .into_iter()
            .filter(|(label, text)| *label == "warning" || !text.is_empty())
            .map(|(label, text)| Note { label, text: text.clone() })
    });
    lines.collect()
}

/// How kernels follow their launches, in a line; nothing where there are no kernels.
pub(super) fn launches(found: &Launches) -> Vec<Note> {
    let kernels = found.matched_count.saturating_add(found.unmatched_kernel_count);
    if kernels == 0 {
        return Vec::new();
    }
    let times = |what: &str, median: Option<f64>, p95: Option<f64>| {
        let (median, p95) = (show_milliseconds(median?), show_milliseconds(p95?));
        Some(format!("{what} {median} ms (median; p95 {p95})"))
    };
    let parts = [
        Some(format!("{} of {kernels} kernels matched with their launch", found.matched_count)),
        times("; from the launch to the kernel", found.latency_median_ns, found.latency_p95_ns),
        times(", in the queue", found.queue_median_ns, found.queue_p95_ns),
    ];
    vec![Note { label: "launches", text: parts.into_iter().flatten().collect() }]
}

/// Which way cuDNN took, of at most `top` runners and phases.
pub(super) fn cudnn_rnn(summary: &Summary, top: Option<usize>) -> Vec<Note> {
    let rows = summary.cudnn_rnn.iter().take(top.unwrap_or(usize::MAX));
    rows.map(|row| Note { label: "cuDNN", text: row.sentence.clone() }).collect()
}

/// How many iterations stand out, and how the one does that does most; of at most `top` runners and phases.
pub(super) fn outliers(summary: &Summary, top: Option<usize>) -> Vec<Note> {
    let some = summary.iteration_statistics.iter().filter(|row| row.outlier_count > 0);
    some.take(top.unwrap_or(usize::MAX))
        .map(|group| Note { label: "outliers", text: standing_out(group, &summary.iterations) })
        .collect()
}

fn standing_out(group: &IterationStatistics, rows: &[IterationRow]) -> String {
    let names: Vec<_> = [&group.runner, &group.phase].into_iter().flatten().map(String::as_str).collect();
    let of = if names.is_empty() { "" } else { " of " };
    let some = format!("{} of {} iterations{of}{}", group.outlier_count, group.count, names.join("/"));
    let distance = |row: &&IterationRow| (row.duration_ns as f64 - group.median_ns).abs();
    let worst = rows
        .iter()
        .filter(|row| row.outlier && row.runner == group.runner && row.phase == group.phase)
        .max_by(|one, other| distance(one).total_cmp(&distance(other)));
    let Some(worst) = worst else { return some };
    let (took, median) = (show_milliseconds(worst.duration_ns as f64), show_milliseconds(group.median_ns));
    let unlike = differences(&worst.differences);
    let colon = if unlike.is_empty() { "" } else { ": " };
    format!("{some}; the farthest, iteration {}, took {took} ms, the median {median} ms{colon}{unlike}", worst.index)
}
