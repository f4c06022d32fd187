use std::sync::Arc;

use proptest::prelude::*;

use super::Iterations;
use crate::trace::aggregate::launched::launched;
use crate::trace::aggregate::made::{Made, options};
use crate::trace::aggregate::ranges::names::Called;
use crate::trace::aggregate::select::Chosen;
use crate::trace::aggregate::{Options, Selection, summarize};
use crate::trace::categories::Categories;
use crate::trace::{IterationRow, Label, Range, Reach, Summary, Trace};

const ON_MAIN: Reach = Reach::Thread(Some(10));

fn find(trace: &Trace, name: Option<&str>) -> Iterations {
    Iterations::find(trace, &Chosen::new(trace, &Selection::default()), &Called::of_labels(trace), name)
}

/// The iterations of a summary.
fn summarized(made: &Made, name: Option<&str>) -> Summary {
    let categories = Categories::built_in();
    summarize(&made.trace, &Options { iteration_range: name.map(str::to_owned), ..options(&categories) })
}

/// GPU span, GPU busy and GPU time.
fn figures(row: &IterationRow) -> (u64, u64, u64) {
    (row.gpu_ns, row.gpu_busy_ns, row.gpu_time_ns)
}

/// Names of the iterations.
fn named(rows: &[IterationRow]) -> Vec<(u64, Option<&str>, Option<&str>)> {
    rows.iter().map(|row| (row.index, row.runner.as_deref(), row.phase.as_deref())).collect()
}

#[test]
fn the_first_kind_of_mark_that_is_there_counts() {
    let mut made = Made::new();
    made.range(1, Reach::Process, "## forward ##", 20, Some(30));
    made.range(1, Reach::Process, "## backward ##", 30, Some(40));
    made.range(1, Reach::Process, "## forward ##", 60, Some(80));
    let marks = [(0, None, Some("forward")), (0, None, Some("backward")), (1, None, Some("forward"))];
    assert_eq!(named(&find(&made.trace, None).rows), marks);
    made.range(1, Reach::Process, "cudnn/forward/3", 20, Some(30));
    made.range(1, Reach::Process, "cudnn/forward/4", 31, None);
    let ours = find(&made.trace, None);
    assert_eq!(named(&ours.rows), [(3, Some("cudnn"), Some("forward"))]);
    made.range(1, ON_MAIN, "ProfilerStep#7", 0, Some(100));
    made.range(1, ON_MAIN, "batch", 50, Some(90));
    made.range(1, ON_MAIN, "batch", 10, Some(40));
    assert_eq!(named(&find(&made.trace, None).rows), [(7, None, None)]);
    let batches = find(&made.trace, Some("batch"));
    assert_eq!(named(&batches.rows), [(0, None, None), (1, None, None)]);
    assert_eq!((batches.rows[0].start_ns, batches.rows[0].duration_ns), (10, 30));
    assert_eq!(named(&find(&made.trace, Some("ProfilerStep")).rows), [(0, None, None)]);
    assert!(batches.warning.is_none());
}

#[test]
fn a_missing_name_is_shown_with_the_nearest() {
    let mut made = Made::new();
    for name in ["training step", "stop", "forward", "batch 17", "validation", "epoch", "never closed step"] {
        made.range(1, ON_MAIN, name, 0, (name != "never closed step").then_some(1));
    }
    let found = find(&made.trace, Some("Step"));
    assert!(found.rows.is_empty() && found.statistics().is_empty());
    let warning = found.warning.expect("a warning");
    assert_eq!(warning.code, "no_iterations");
    assert!(warning.message.contains("\"Step\""), "{}", warning.message);
    assert!(warning.evidence.starts_with("6 "), "{}", warning.evidence);
    assert!(warning.evidence.contains(": \"training step\", \"stop\", \"epoch\", "), "{}", warning.evidence);
    assert_eq!(warning.evidence.matches('"').count(), 10);
    assert!(find(&Trace::default(), Some("Step")).warning.is_some());
    assert!(find(&Trace::default(), None).warning.is_none());
}

#[test]
fn nine_iterations_have_no_outliers() {
    let mut made = Made::new();
    let outliers = |made: &Made| summarized(made, None).iteration_statistics[0].outlier_count;
    for step in 0..8 {
        made.range(1, Reach::Process, &format!("a/forward/{step}"), 100 * step, Some(100 * step + 1));
    }
    made.range(1, Reach::Process, "a/forward/8", 5000, Some(9000));
    assert_eq!(outliers(&made), 0);
    made.range(1, Reach::Process, "a/forward/9", 9001, Some(9002));
    assert_eq!(outliers(&made), 1);
}

#[test]
fn an_iteration_owns_what_other_threads_of_its_process_launch() {
    let mut made = Made::new();
    made.range(1, ON_MAIN, "ProfilerStep#7", 0, Some(100));
    made.range(1, ON_MAIN, "ProfilerStep#8", 101, Some(200));
    made.launch((1, 10), 10, "forward", 0, (150, 160));
    // Autograd's thread, and another GPU.
    made.launch((1, 11), 100, "backward", 1, (155, 175));
    made.launch((1, 11), 101, "backward", 0, (300, 310));
    made.launch((2, 10), 50, "of another process", 0, (0, 400));
    let summary = summarized(&made, None);
    let rows: Vec<_> = summary.iterations.iter().map(|row| (row.index, row.host_ns, figures(row))).collect();
    assert_eq!(rows, [(7, 100, (25, 25, 30)), (8, 99, (10, 10, 10))]);
    let [statistics] = &summary.iteration_statistics[..] else { panic!("one kind of iterations") };
    assert_eq!((statistics.measure, statistics.median_ns, statistics.host_median_ns), ("gpu_ns", 17.5, 99.5));
}

#[test]
fn phases_within_a_step_are_its_parts() {
    let mut made = Made::new();
    made.range(1, ON_MAIN, "ProfilerStep#7", 0, Some(100));
    made.range(1, ON_MAIN, "## forward ##", 10, Some(40));
    made.range(1, ON_MAIN, "## backward ##", 50, Some(90));
    made.range(1, ON_MAIN, "## forward ##", 110, Some(120));
    made.launch((1, 10), 20, "k", 0, (20, 30));
    made.launch((1, 11), 60, "k", 0, (60, 80));
    let summary = summarized(&made, None);
    let [row] = &summary.iterations[..] else { panic!("one step") };
    assert_eq!((named(&summary.iterations), figures(row)), (vec![(7, None, None)], (60, 30, 30)));
    let parts = row.parts.iter().map(|part| (part.phase.as_deref(), part.host_ns, part.gpu_ns));
    assert_eq!(parts.collect::<Vec<_>>(), [(Some("forward"), 30, 10), (Some("backward"), 40, 20)]);
}

#[test]
fn iterations_of_two_runners_are_two_groups() {
    for (mark, index, asked) in [("ProfilerStep#2", 2, None), ("my step", 0, Some("my step"))] {
        let mut made = Made::new();
        for (at, runner, took) in [(0, "cudnn", 10), (1000, "py", 90)] {
            made.range_of(1, ON_MAIN, mark, (at, Some(at + 100)), Some(runner));
            made.range_of(1, Reach::Process, "## forward ##", (at, Some(at + 50)), Some(runner));
            made.launch((1, 10), at + 1, "k", 0, (at + 5, at + 5 + took));
        }
        let summary = summarized(&made, asked);
        assert_eq!(named(&summary.iterations), [(index, Some("cudnn"), None), (index, Some("py"), None)]);
        let groups = summary.iteration_statistics.iter().map(|group| {
            (group.name.as_deref(), group.runner.as_deref(), group.phase.as_deref(), group.count, group.median_ns)
        });
        let name = Some(asked.unwrap_or("ProfilerStep"));
        let expected = [(name, Some("cudnn"), None, 1, 10.0), (name, Some("py"), None, 1, 90.0)];
        assert_eq!(groups.collect::<Vec<_>>(), expected);
        let phases = summary.iterations.iter().flat_map(|row| &row.parts).map(|part| part.runner.as_deref());
        let runners = if asked.is_none() { vec![Some("cudnn"), Some("py")] } else { Vec::new() };
        assert_eq!(phases.collect::<Vec<_>>(), runners);
    }
}

/// A small file may hold one text of a megabyte for thousands of rows.
#[test]
fn rows_share_their_texts() {
    let mut made = Made::new();
    for device in 0..2 {
        made.range(1, Reach::Process, "cudnn/forward/3", device * 100, Some(device * 100 + 50));
        made.launch((1, 10), device * 100 + 5, "void kernel<int>(int)", device, (device * 100 + 6, device * 100 + 9));
    }
    let label = Label { domain: Some(made.trace.names.intern("domain")), ..made.trace.labels.all()[0] };
    let label = made.trace.labels.intern(label);
    made.trace.ranges.push(Range { label, start: 0, end: Some(50) });
    let summary = summarized(&made, None);
    let [ours, other] = &summary.iterations[..2] else { panic!("{summary:?}") };
    let [range, of_domain] = &summary.ranges[..] else { panic!("{summary:?}") };
    let [kernel, of_device] = &summary.kernels[..] else { panic!("{summary:?}") };
    assert!(ours.runner.as_ref().zip(other.runner.as_ref()).is_some_and(|(one, other)| Arc::ptr_eq(one, other)));
    assert!(Arc::ptr_eq(&range.name, &of_domain.name));
    assert!(Arc::ptr_eq(&kernel.name, &of_device.name) && Arc::ptr_eq(&kernel.short_name, &of_device.short_name));
}

#[test]
fn no_more_than_sixteen_open_at_once_own_a_call() {
    let mut made = Made::new();
    for start in 0..100_000 {
        made.range(1, ON_MAIN, "step", start, Some(1_000_000));
    }
    for at in 0..1000 {
        made.launch((1, 10), 200_000, "k", 0, (at, at + 1));
    }
    let summary = summarized(&made, Some("step"));
    assert_eq!(summary.iterations.iter().filter(|row| row.gpu_time_ns == 1000).count(), 16);
}

proptest! {
    #[test]
    fn every_iteration_that_is_open_owns_a_call_of_its_process(
        ranges in prop::collection::vec((1_i64..3, 0_i64..3, any::<bool>(), 0_i64..40, prop::option::of(0_i64..20)), 0..14),
        launches in prop::collection::vec((1_i64..3, 0_i64..2, 0_i64..60, 0_i64..90, 0_i64..30, 0_i64..2), 0..20),
    ) {
        let mut made = Made::new();
        let mut marked = Vec::new();
        for (process, thread, named, start, length) in ranges {
            let reach = if thread == 2 { Reach::Process } else { Reach::Thread(Some(thread)) };
            made.range(process, reach, if named { "step" } else { "other" }, start, length.map(|length| start + length));
            if let Some(length) = length.filter(|_| named) {
                marked.push((process, start, start + length));
            }
        }
        marked.sort_by_key(|&(_, start, _)| start);
        for &(process, thread, at, start, length, device) in &launches {
            made.launch((process, thread), at, "k", device, (start, start + length));
        }
        let found = summarized(&made, Some("step")).iterations;
        let expected: Vec<_> = marked
            .iter()
            .map(|&(process, start, end)| {
                let owned: Vec<_> =
                    launches.iter().filter(|launch| launch.0 == process && (start..=end).contains(&launch.2)).collect();
                let busy = (0..200).filter(|at| owned.iter().any(|&&(.., from, length, _)| (from..from + length).contains(at)));
                let first = owned.iter().map(|launch| launch.3).min().unwrap_or_default();
                let last = owned.iter().map(|launch| launch.3 + launch.4).max().unwrap_or_default();
                let time: i64 = owned.iter().map(|launch| launch.4).sum();
                (start, end.abs_diff(start), (last.abs_diff(first), busy.count() as u64, time.unsigned_abs()))
            })
            .collect();
        prop_assert_eq!(found.iter().map(|row| (row.start_ns, row.host_ns, figures(row))).collect::<Vec<_>>(), expected);
        let iterations = find(&made.trace, Some("step"));
        let chosen = Chosen::new(&made.trace, &Selection::default());
        for (_, launch) in launched(&made.trace, &chosen) {
            let launch = launch.expect("every kernel was launched");
            let callee = made.trace.callees.all()[launch.callee as usize];
            let around = marked.iter().enumerate().filter(|(_, (process, start, end))| {
                Some(*process) == callee.process_id && (*start..=*end).contains(&launch.start)
            });
            let last = around.max_by_key(|(place, (_, start, end))| (*start, std::cmp::Reverse(*end), *place));
            prop_assert_eq!(iterations.of(&launch), last.map(|(place, _)| place));
        }
    }
}
