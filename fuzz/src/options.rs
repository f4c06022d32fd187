//! Summaries with options of a report, and the trace that it draws: properties for any capture.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use fastrnns_rs::trace::categories::Categories;
use fastrnns_rs::trace::{
    Activity, Benchmark, Histogram, KernelsBy, Options, Selection, Summary, Timeline, Trace, summarize, timeline,
};
use serde_json::Value;

/// Times up to this are exact to the nanosecond as floats of microseconds.
const EXACT: i64 = 1 << 50;

/// The data of plots agrees with the rest of the summary, and changes nothing else in it.
///
/// # Panics
/// Something does not hold.
pub(crate) fn check_plots(trace: &Trace, categories: &Categories, plain: &Summary) {
    let mut plotted = summarize(trace, &Options { plot_data: true, ..Options::new(categories) });
    for (place, row) in plotted.nested_ranges.iter().enumerate() {
        assert!(row.parent.is_none_or(|parent| (parent as usize) < place));
        assert!(row.gpu_exclusive_ns <= row.gpu_inclusive_ns);
    }
    let launches = &mut plotted.launches;
    for times in [launches.latency_histogram.take(), launches.queue_histogram.take()] {
        let counted = times.as_ref().map_or(0, count);
        assert!(counted == launches.matched_count, "{times:?}");
    }
    for row in &mut plotted.devices {
        if let Some(activity) = row.activity.take() {
            check_activity(&activity, row.busy_ns);
        }
    }
    plotted.nested_ranges.clear();
    assert_eq!(&plotted, plain);
}

fn count(times: &Histogram) -> u64 {
    assert!(times.bounds_ns.is_sorted() && times.counts.len() + 1 == times.bounds_ns.len().max(1));
    times.negative_count + times.counts.iter().sum::<u64>()
}

fn check_activity(activity: &Activity, busy_ns: u64) {
    let total = |bins: &[u64]| bins.iter().map(|&bin| u128::from(bin)).sum::<u128>();
    assert_eq!(total(&activity.busy_ns), u128::from(busy_ns));
    assert!(activity.busy_ns.iter().all(|&bin| bin <= activity.bin_ns));
    for row in activity.kernels.iter().chain(&activity.copies) {
        assert_eq!(row.bins_ns.len(), activity.busy_ns.len());
    }
}

/// A part of the events counts no more than all, whatever the other options are.
///
/// # Panics
/// Something does not hold.
pub(crate) fn check_selection(trace: &Trace, categories: &Categories, plain: &Summary) -> Summary {
    let selection = Selection { devices: vec![0], since_ns: Some(1), until_ns: Some(1_000), ..Selection::default() };
    let options = Options {
        selection,
        kernels_by: KernelsBy::Shape,
        inductor: Some(Benchmark { name: "input".to_owned(), wall_time_ns: 1e3, runs: 2 }),
        iteration_range: Some("outer".to_owned()),
        data_loaders: vec!["inner".to_owned()],
        sequence_length: Some(3),
        plot_data: true,
        ..Options::new(categories)
    };
    let some = summarize(trace, &options);
    let kernels = |summary: &Summary| summary.kernels.iter().map(|row| row.count).sum::<u64>();
    let copies = |summary: &Summary| summary.memory_operations.iter().map(|row| row.count).sum::<u64>();
    assert!(kernels(&some) <= kernels(plain) && copies(&some) <= copies(plain));
    some
}

/// The trace that is drawn is JSON with the activities of the capture, and no slices of a track cross. Calls may: those
/// of a thread stay on one track.
///
/// # Panics
/// Something does not hold, or there is no room for the trace.
#[allow(clippy::cast_possible_truncation, reason = "longer times are left out")]
pub(crate) fn check_drawing(trace: &Trace, path: &Path) {
    let (selection, loaders) = (Selection::default(), []);
    let file = File::create(path).expect("room for the trace");
    timeline::write(&Timeline::new(trace, &selection, &loaders), file, false, &|| false).expect("room for the trace");
    let drawn: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    let events = drawn["traceEvents"].as_array().expect("events");
    let count = |of: fn(&str) -> bool| {
        let categories = events.iter().filter(|event| event["ph"] == "X").filter_map(|event| event["cat"].as_str());
        categories.filter(|category| of(category)).count() as u64
    };
    assert_eq!(count(|category| category == "kernel"), trace.kernels.len());
    assert_eq!(count(|category| category.starts_with("gpu_mem")), trace.memory.len());
    assert_eq!(count(|category| category.starts_with("cuda_")), trace.calls.len());
    let mut tracks: BTreeMap<(String, String), Vec<(i64, i64)>> = BTreeMap::new();
    let is_call = |event: &Value| event["cat"].as_str().is_some_and(|category| category.starts_with("cuda_"));
    for event in events.iter().filter(|event| event["ph"] == "X" && !is_call(event)) {
        let ns = |key: &str| (event[key].as_f64().expect("a time") * 1e3).round() as i64;
        let (start, duration) = (ns("ts"), ns("dur"));
        // Longer times are not exact as floats.
        if start < EXACT && duration < EXACT {
            let place = (event["pid"].to_string(), event["tid"].to_string());
            tracks.entry(place).or_default().push((start, -(start + duration)));
        }
    }
    for (place, mut slices) in tracks {
        slices.sort_unstable();
        let mut open: Vec<i64> = Vec::new();
        for (start, end) in slices.into_iter().map(|(start, end)| (start, -end)) {
            while open.pop_if(|around| *around <= start).is_some() {}
            assert!(open.last().is_none_or(|&around| end <= around), "{place:?} at {start}");
            open.push(end);
        }
    }
}
