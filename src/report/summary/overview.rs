//! The first screen: where the time went, why a device was idle, and the top of each list.

use super::columns::{CAPTURES, DEVICES, Head, ITERATION_STATISTICS, Place};
use super::page::{Part, shares_of_idle};
use super::sheet::Sheet;
use super::views::{list, nothing};
use super::{Options, View, notes};
use crate::trace::Summary;

/// Rows of each list, unless the caller says otherwise.
const ROWS: usize = 10;
const KERNELS: [&str; 6] = ["kernel_time_fraction", "total_ns", "count", "mean_ns", "median_ns", "name"];
const MEMORY: [&str; 5] = ["total_ns", "count", "total_bytes", "bandwidth_gb_per_s", "kind"];
const RANGES: [&str; 6] = ["gpu_inclusive_ns", "gpu_exclusive_ns", "kernel_count", "count", "host_total_ns", "name"];
const ITERATIONS: [&str; 8] =
    ["count", "median_ns", "min_ns", "max_ns", "gpu_busy_median_ns", "outlier_count", "phase", "runner"];

/// In the order of the questions: where, why, in what part of the program, by which kernels.
pub(super) fn parts<'a>(summary: &'a Summary, options: &Options) -> Vec<Part<'a>> {
    let top = Some(options.top.unwrap_or(ROWS));
    let cut = (options.names, top);
    let whole = (options.names, None);
    let screen = |head: &Head| matches!(head.place, Place::Everywhere | Place::Screen);
    // With one device the column would repeat what the list of devices says.
    let several = summary.devices.len() > 1;
    let brief = |keys: &[&str], head: &Head| keys.contains(&head.key) || (several && head.key == "device_id");
    let devices = if summary.devices.is_empty() {
        Part::Nothing(nothing(View::Overview))
    } else {
        Part::Sheet(Sheet::new("Where the time went", DEVICES, &summary.devices, whole, screen))
    };
    let alone = |head: &Head| screen(head) && (several || head.key != "device_id");
    let mut idle = list(summary, View::Idle, cut, &alone);
    idle.title = "Why it was idle";
    shares_of_idle(&mut idle, &summary.idle_causes);
    let statistics = &summary.iteration_statistics;
    vec![
        Part::Sheet(Sheet::new("Captures", CAPTURES, &summary.captures, whole, screen)),
        devices,
        Part::Sheet(idle),
        Part::Notes(notes::launches(&summary.launches)),
        Part::Sheet(list(summary, View::Range, cut, &|head| brief(&RANGES, head))),
        Part::Sheet(Sheet::new("Iterations", ITERATION_STATISTICS, statistics, cut, |head| brief(&ITERATIONS, head))),
        Part::Notes(notes::outliers(summary, top)),
        Part::Notes(notes::cudnn_rnn(summary, top)),
        Part::Sheet(list(summary, View::Rank, cut, &screen)),
        Part::Sheet(list(summary, View::Category, cut, &screen)),
        Part::Sheet(list(summary, View::Kernel, cut, &|head| brief(&KERNELS, head))),
        Part::Sheet(list(summary, View::Memory, cut, &|head| brief(&MEMORY, head))),
        Part::Sheet(list(summary, View::Metric, cut, &screen)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::columns::{self, Columns};

    #[test]
    fn it_picks_columns_that_exist() {
        fn check<R>(keys: &[&str], columns: Columns<R>) {
            for key in keys {
                assert!(columns.iter().any(|column| column.head.key == *key), "{key}");
            }
        }
        check(&KERNELS, columns::KERNELS);
        check(&MEMORY, columns::MEMORY);
        check(&RANGES, columns::RANGES);
        check(&ITERATIONS, columns::ITERATION_STATISTICS);
    }
}
