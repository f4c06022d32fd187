//! Summaries with options of a report, and the trace that it draws: properties for any capture.

use std::fs::{self, File};
use std::path::Path;

use fastrnns_rs::trace::categories::Categories;
use fastrnns_rs::trace::{
    Activity, Benchmark, Histogram, KernelsBy, Options, Selection, Summary, Timeline, Trace, readers, summarize,
    timeline,
};

/// What plots show agrees with the rest of the summary, and changes nothing else in it.
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

/// The trace that is drawn has the activities of the capture, with their times.
///
/// # Panics
/// Something does not hold, or there is no room for the trace.
pub(crate) fn check_drawing(trace: &Trace, path: &Path) {
    let drawn = path.with_extension("drawn");
    let file = File::create(&drawn).expect("room for the trace");
    let (selection, loaders) = (Selection::default(), []);
    timeline::write(&Timeline::new(trace, &selection, &loaders), file, false, &|| false).expect("room for the trace");
    let mut again = Trace::default();
    let read = readers::read(&drawn, "drawn", &mut again, &|| false);
    fs::remove_file(&drawn).expect("a file");
    if trace.kernels.len() + trace.memory.len() + trace.calls.len() + trace.ranges.len() as u64 == 0 {
        return;
    }
    read.expect("a trace");
    assert_eq!(again.captures[0].events_skipped, 0, "{:?}", again.captures[0].skipped);
    assert_eq!(again.kernels.len(), trace.kernels.len());
    assert_eq!(again.memory.len(), trace.memory.len());
    assert_eq!(again.calls.len(), trace.calls.len());
}
