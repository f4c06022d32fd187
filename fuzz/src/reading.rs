//! Reads a file as `report` does, and checks the properties of any summary, for all targets.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use super::options;
use fastrnns_rs::error::Error;
use fastrnns_rs::trace::categories::Categories;
use fastrnns_rs::trace::readers::{self, FORMATS};
use fastrnns_rs::trace::{Options, Summary, Trace, summarize};

/// Name of the file in messages and summaries.
pub const SHOWN: &str = "input";

/// First bytes of a compressed file.
pub const COMPRESSED: &[u8] = b"\x1f\x8b";

/// The format of a file of these bytes, uncompressed. A target rejects those of others, which have targets of their own:
/// each would look for all readers' edges, and take days to find them.
///
/// # Panics
/// There is no room for the file.
pub fn format(content: &[u8]) -> Option<&'static str> {
    let path = scratch();
    fs::write(&path, content).expect("room for the input");
    FORMATS.iter().find(|format| (format.matches)(content, &path)).map(|format| format.name)
}

/// The summary of a file of these bytes; `None` where it is refused.
///
/// # Panics
/// Something does not hold.
pub fn read(content: &[u8]) -> Option<Summary> {
    read_by(content, |path, trace| readers::read(path, SHOWN, trace, &|| false))
}

/// The same, read by `reader`.
///
/// # Panics
/// Something does not hold.
pub fn read_by(content: &[u8], reader: impl Fn(&Path, &mut Trace) -> Result<(), Error>) -> Option<Summary> {
    let path = scratch();
    fs::write(&path, content).expect("room for the input");
    let mut trace = Trace::default();
    match reader(&path, &mut trace) {
        Ok(()) => Some(summary(&trace)),
        Err(Error::NotACapture { .. }) => None,
        Err(error) => panic!("no way to refuse a file: {error}"),
    }
}

/// Checks an SQLite file; returns whether it is of `expected`, a format.
///
/// # Panics
/// Something does not hold.
pub fn check_database(input: &[u8], expected: &str) -> bool {
    if format(input) != Some(expected) {
        return false;
    }
    if let Some(summary) = read(input) {
        let capture = &summary.captures[0];
        // Pages may be shared or run in circles: rows must not come of it that the file has no room for. A table that
        // breaks off counts as one more, and takes some bytes of the schema itself.
        assert!(capture.events_read + capture.events_skipped <= input.len() as u64);
    }
    true
}

/// The summary of a trace of one capture, everything counted.
///
/// # Panics
/// Something does not hold.
pub fn summary(trace: &Trace) -> Summary {
    static CATEGORIES: LazyLock<Categories> = LazyLock::new(Categories::built_in);
    let summary = summarize(trace, &Options::new(&CATEGORIES));
    check_counts(trace, &summary);
    options::check_plots(trace, &CATEGORIES, &summary);
    let some = options::check_selection(trace, &CATEGORIES, &summary);
    for one in [&summary, &some] {
        check_times(one);
        check_shown(one);
    }
    // Drawing takes as long as all the rest.
    if summary.kernels.len() % 4 == 1 {
        options::check_drawing(trace, &scratch());
    }
    summary
}

/// SQLite opens files by name, so memory without a name does not do.
fn scratch() -> PathBuf {
    thread_local!(static FILE: Scratch = Scratch::new());
    FILE.with(|file| file.0.clone())
}

/// A file of one thread: several threads and processes may run at once.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let name = format!("fastrnns-fuzz-{}-{:?}", std::process::id(), thread::current().id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // There is none where no input was read.
        fs::remove_file(&self.0).ok();
    }
}

/// Nothing is counted twice or lost on the way from the file to the rows.
fn check_counts(trace: &Trace, summary: &Summary) {
    let [capture] = summary.captures.as_slice() else { panic!("one capture") };
    let skipped = capture.skipped.iter().fold(0, |sum: u64, skipped| sum.saturating_add(skipped.count));
    assert_eq!(capture.events_skipped, skipped);
    assert!(trace.kernels.len() + trace.memory.len() + trace.calls.len() <= capture.events_read);
    if trace.totals.is_empty() {
        assert_eq!(trace.kernels.len(), summary.kernels.iter().map(|row| row.count).sum::<u64>());
        assert_eq!(trace.kernels.len(), summary.categories.iter().map(|row| row.count).sum::<u64>());
        assert_eq!(trace.memory.len(), summary.memory_operations.iter().map(|row| row.count).sum::<u64>());
        assert_eq!(trace.calls.len(), summary.api_calls.iter().map(|row| row.count).sum::<u64>());
    }
    assert_eq!(trace.kernels.len(), summary.devices.iter().map(|row| row.kernel_count).sum::<u64>());
    assert_eq!(trace.kernels.len(), summary.streams.iter().map(|row| row.kernel_count).sum::<u64>());
}

fn check_times(summary: &Summary) {
    for row in &summary.devices {
        assert!(row.start_ns <= row.end_ns && row.span_ns == row.end_ns.abs_diff(row.start_ns));
        assert!(row.overlap_ns <= row.busy_ns && row.busy_ns + row.idle_ns == row.span_ns);
        assert!(row.exposed_communication_ns <= row.busy_ns);
        check_fraction(row.utilization);
    }
    for row in &summary.idle_causes {
        assert!(row.in_stream_ns.is_none_or(|part| row.cause == "dependency" && part <= row.total_ns));
    }
    for row in &summary.streams {
        assert!(row.busy_ns <= row.total_ns);
    }
    for row in &summary.kernels {
        check_figures(
            row.count,
            (row.min_ns, row.max_ns),
            row.total_ns,
            &known(row.mean_ns, &[row.median_ns, row.p95_ns]),
        );
        check_fraction(row.kernel_time_fraction);
    }
    for row in &summary.categories {
        check_fraction(row.kernel_time_fraction);
    }
    for row in &summary.memory_operations {
        check_figures(row.count, (row.min_ns, row.max_ns), row.total_ns, &known(row.mean_ns, &[row.median_ns]));
    }
    for row in &summary.api_calls {
        check_figures(row.count, (row.min_ns, row.max_ns), row.total_ns, &known(row.mean_ns, &[row.median_ns]));
    }
}

/// The mean and what else is known. Totals that a file gives need not agree with its shortest and longest.
fn known(mean: f64, others: &[Option<f64>]) -> Vec<f64> {
    let others: Vec<f64> = others.iter().copied().flatten().collect();
    if others.is_empty() { others } else { [vec![mean], others].concat() }
}

/// Means and quantiles are between the smallest and the largest value, except for rounding.
fn check_figures(count: u64, (min, max): (u64, u64), total: u64, between: &[f64]) {
    assert!(count > 0 && min <= max && max <= total);
    let (low, high) = (min as f64 * (1.0 - 1e-12), max as f64 * (1.0 + 1e-12));
    assert!(between.iter().all(|value| (low..=high).contains(value)), "{min} {max} {between:?}");
}

fn check_fraction(fraction: Option<f64>) {
    assert!(fraction.is_none_or(|fraction| (0.0..=1.0).contains(&fraction)), "{fraction:?}");
}

/// No text of the file reaches a terminal as anything but text: the document is printed too.
fn check_shown(summary: &Summary) {
    let shown = summary.to_json();
    assert!(shown.ends_with('\n'));
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
}
