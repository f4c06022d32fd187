use proptest::prelude::*;

use super::Iterations;
use crate::trace::aggregate::launched::launched;
use crate::trace::aggregate::made::{Made, options};
use crate::trace::aggregate::select::Chosen;
use crate::trace::aggregate::{Options, Selection};
use crate::trace::categories::Categories;
use crate::trace::{IterationRow, Reach, Trace};

const ON_MAIN: Reach = Reach::Thread(Some(10));

fn find(trace: &Trace, name: Option<&str>) -> Iterations {
    let categories = Categories::built_in();
    let options = Options { iteration_range: name.map(str::to_owned), ..options(&categories) };
    Iterations::find(trace, &Chosen::new(trace, &Selection::default()), &options)
}

/// What says which iteration each is.
fn named(rows: &[IterationRow]) -> Vec<(u64, Option<&str>, Option<&str>)> {
    rows.iter().map(|row| (row.index, row.runner.as_deref(), row.phase.as_deref())).collect()
}

#[test]
fn the_first_kind_of_mark_that_is_there_counts() {
    let mut made = Made::new();
    made.range(1, ON_MAIN, "ProfilerStep#7", 0, Some(100));
    made.range(1, ON_MAIN, "batch", 50, Some(90));
    made.range(1, ON_MAIN, "batch", 10, Some(40));
    assert_eq!(named(&find(&made.trace, None).rows), [(7, None, None)]);
    made.range(1, Reach::Process, "## forward ##", 20, Some(30));
    made.range(1, Reach::Process, "## backward ##", 30, Some(40));
    made.range(1, Reach::Process, "## forward ##", 60, Some(80));
    let marks = [(0, None, Some("forward")), (0, None, Some("backward")), (1, None, Some("forward"))];
    assert_eq!(named(&find(&made.trace, None).rows), marks);
    made.range(1, Reach::Process, "cudnn/forward/3", 20, Some(30));
    made.range(1, Reach::Process, "cudnn/forward/4", 31, None);
    let ours = find(&made.trace, None);
    assert_eq!(named(&ours.rows), [(3, Some("cudnn"), Some("forward"))]);
    let batches = find(&made.trace, Some("batch"));
    assert_eq!(named(&batches.rows), [(0, None, None), (1, None, None)]);
    assert_eq!((batches.rows[0].start_ns, batches.rows[0].duration_ns), (10, 30));
    assert_eq!(named(&find(&made.trace, Some("ProfilerStep")).rows), [(0, None, None)]);
    assert!(batches.warning.is_none());
}

#[test]
fn a_name_without_ranges_is_said_with_the_nearest() {
    let mut made = Made::new();
    for name in ["training step", "stop", "forward", "batch 17", "validation", "epoch", "never closed step"] {
        made.range(1, ON_MAIN, name, 0, (name != "never closed step").then_some(1));
    }
    let found = find(&made.trace, Some("Step"));
    assert!(found.rows.is_empty() && found.statistics().is_empty());
    let warning = found.warning.expect("a warning");
    assert_eq!(warning.code, "no_iterations");
    assert!(warning.message.contains("\"Step\""), "{}", warning.message);
    let evidence = "6 names of ranges, among them \"training step\", \"stop\", \"epoch\", ";
    assert!(warning.evidence.starts_with(evidence), "{}", warning.evidence);
    assert_eq!(warning.evidence.matches('"').count(), 10);
    assert!(find(&Trace::default(), Some("Step")).warning.is_some());
    assert!(find(&Trace::default(), None).warning.is_none());
}

#[test]
fn three_iterations_have_no_outliers() {
    let mut made = Made::new();
    for (step, length) in [(0, 1), (1, 1), (2, i64::MAX)] {
        made.range(1, Reach::Process, &format!("a/forward/{step}"), 0, Some(length));
    }
    assert_eq!(find(&made.trace, None).statistics()[0].outlier_count, 0);
}

proptest! {
    #[test]
    fn calls_are_in_the_iteration_that_began_last(
        ranges in prop::collection::vec((1_i64..3, 0_i64..3, any::<bool>(), 0_i64..40, prop::option::of(0_i64..20)), 0..20),
        launches in prop::collection::vec((1_i64..3, 0_i64..2, 0_i64..60, any::<i64>(), any::<i64>()), 0..20),
    ) {
        let mut made = Made::new();
        let mut marked = Vec::new();
        for (process, thread, named, start, length) in ranges {
            let reach = if thread == 2 { Reach::Process } else { Reach::Thread(Some(thread)) };
            made.range(process, reach, if named { "step" } else { "other" }, start, length.map(|length| start + length));
            if let Some(length) = length.filter(|_| named) {
                marked.push((process, reach, start, start + length));
            }
        }
        marked.sort_by_key(|&(_, _, start, _)| start);
        for (process, thread, at, one, other) in launches {
            made.launch((process, thread), at, "k", 0, (one.min(other), one.max(other)));
        }
        let found = find(&made.trace, Some("step"));
        let expected: Vec<_> = marked.iter().map(|&(_, _, start, end)| (start, end.abs_diff(start))).collect();
        prop_assert_eq!(found.rows.iter().map(|row| (row.start_ns, row.duration_ns)).collect::<Vec<_>>(), expected);
        let chosen = Chosen::new(&made.trace, &Selection::default());
        for (_, launch) in launched(&made.trace, &chosen) {
            let launch = launch.expect("every kernel was launched");
            let callee = made.trace.callees.all()[launch.callee as usize];
            let around = marked.iter().enumerate().filter(|(_, (process, reach, start, end))| {
                let reached = *reach == Reach::Process || *reach == Reach::Thread(callee.thread_id);
                reached && Some(*process) == callee.process_id && (*start..=*end).contains(&launch.start)
            });
            let last = around.max_by_key(|(place, (_, _, start, end))| (*start, std::cmp::Reverse(*end), *place));
            prop_assert_eq!(found.of(&made.trace, &launch), last.map(|(place, _)| place));
        }
    }
}
