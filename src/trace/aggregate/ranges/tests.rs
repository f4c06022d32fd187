use std::collections::BTreeMap;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use crate::trace::aggregate::launched::launched;
use crate::trace::aggregate::made::{Made, options};
use crate::trace::aggregate::select::Chosen;
use crate::trace::aggregate::{Options, Selection, summarize};
use crate::trace::categories::Categories;
use crate::trace::{Kind, RangeRow, Reach, Trace};

const MAIN: (i64, i64) = (1, 10);
const AUTOGRAD: (i64, i64) = (1, 11);
const ON_MAIN: Reach = Reach::Thread(Some(10));

fn all(trace: &Trace) -> Vec<RangeRow> {
    selected(trace, Selection::default())
}

fn selected(trace: &Trace, selection: Selection) -> Vec<RangeRow> {
    summarize(trace, &Options { selection, ..options(&Categories::built_in()) }).ranges
}

/// Count, inclusive, exclusive and kernels of the row of a name.
fn figures(rows: &[RangeRow], name: &str) -> (u64, u64, u64, u64) {
    let row = rows.iter().find(|row| *row.name == *name).unwrap_or_else(|| panic!("no {name} in {rows:?}"));
    (row.count, row.gpu_inclusive_ns, row.gpu_exclusive_ns, row.kernel_count)
}

#[test]
fn backward_kernels_of_another_thread_count_for_our_phase() {
    let mut made = Made::new();
    for step in 0..2_i64 {
        made.range(1, Reach::Process, &format!("cudnn/forward/{step}"), step * 100, Some(step * 100 + 40));
        made.range(1, Reach::Process, &format!("cudnn/backward/{step}"), step * 100 + 50, Some(step * 100 + 90));
        made.range(1, ON_MAIN, "matmul", step * 100 + 10, Some(step * 100 + 20));
        made.range(1, Reach::Thread(Some(11)), "addmm, op_id = 7", step * 100 + 60, Some(step * 100 + 70));
        made.launch(MAIN, step * 100 + 15, "k", 0, (step * 100 + 15, step * 100 + 18));
        made.launch(AUTOGRAD, step * 100 + 65, "k", 0, (step * 100 + 85, step * 100 + 95));
    }
    made.range(1, ON_MAIN, "everything", 5, Some(195));
    made.range(1, ON_MAIN, "between", 45, Some(46));
    let rows = all(&made.trace);
    assert_eq!(figures(&rows, "cudnn/backward"), (2, 20, 0, 2));
    assert_eq!(figures(&rows, "addmm"), (2, 20, 20, 2));
    let of = |name: &str| {
        let row = rows.iter().find(|row| *row.name == *name).expect("a row");
        (row.runner.as_deref(), row.phase.as_deref())
    };
    assert_eq!(of("cudnn/backward"), (Some("cudnn"), Some("backward")));
    assert_eq!(of("addmm"), (Some("cudnn"), Some("backward")));
    assert_eq!(of("matmul"), (Some("cudnn"), Some("forward")));
    assert_eq!(of("everything"), (Some("cudnn"), Some("forward")));
    assert_eq!(of("between"), (None, None));
}

#[test]
fn launches_in_a_range_of_the_process_are_not_those_of_other_threads() {
    let mut made = Made::new();
    made.range(1, Reach::Process, "r", 0, Some(100));
    made.range(1, ON_MAIN, "r", 0, Some(200));
    made.launch(AUTOGRAD, 50, "k", 0, (50, 80));
    made.launch(AUTOGRAD, 150, "k", 0, (150, 157));
    let [row] = &*all(&made.trace) else { panic!("one row") };
    assert_eq!((row.gpu_inclusive_ns, row.gpu_exclusive_ns, row.gpu_other_threads_ns), (30, 30, 7));
}

#[test]
fn what_is_selected_counts() {
    let mut made = Made::new();
    made.range(1, Reach::Process, "one", 0, Some(100));
    made.range(2, Reach::Process, "two", 0, Some(100));
    made.range(1, Reach::Process, "later", 60, Some(100));
    made.launch((1, 10), 10, "a", 0, (10, 12));
    made.launch((2, 20), 20, "b", 0, (20, 25));
    made.launch((1, 10), 70, "b", 0, (70, 71));
    let select = |selection: Selection| selected(&made.trace, selection);
    let first = select(Selection { processes: vec![1], ..Selection::default() });
    assert_eq!(first.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["one", "later"]);
    let late = select(Selection { since_ns: Some(40), ..Selection::default() });
    assert_eq!((figures(&late, "one"), figures(&late, "later")), ((0, 1, 0, 1), (1, 1, 1, 1)));
    assert_eq!(late.len(), 2);
    let filter = regex::Regex::new("b").ok();
    assert_eq!(figures(&select(Selection { filter, ..Selection::default() }), "one"), (1, 1, 0, 1));
}

/// Count, host time, inclusive, exclusive, kernels and what other threads launched, of each name, by looking at every range for every operation.
fn by_brute_force(trace: &Trace) -> BTreeMap<String, (u64, u128, u128, u128, u64, u128)> {
    let chosen = Chosen::new(trace, &Selection::default());
    let mut found: BTreeMap<String, (u64, u128, u128, u128, u64, u128)> = BTreeMap::new();
    let name = |range: &crate::trace::Range| trace.names.text(trace.labels.all()[range.label as usize].name).to_owned();
    for range in &trace.ranges {
        let row = found.entry(name(range)).or_default();
        row.0 += 1;
        row.1 += u128::from(range.end.map_or(0, |end| end.abs_diff(range.start)));
    }
    for (entry, launch) in launched(trace, &chosen) {
        let Some(launch) = launch else { continue };
        let callee = trace.callees.all()[launch.callee as usize];
        let around = (0..).zip(&trace.ranges).filter(|(_, range)| {
            let label = trace.labels.all()[range.label as usize];
            let reached = label.reach == Reach::Process || label.reach == Reach::Thread(callee.thread_id);
            reached
                && label.process_id == callee.process_id
                && range.start <= launch.start
                && range.end.is_none_or(|end| launch.start <= end)
        });
        let around: Vec<_> = around.collect();
        let ns = u128::from(entry.duration());
        let names: std::collections::BTreeSet<_> = around.iter().map(|(_, range)| name(range)).collect();
        let mut of_any = std::collections::BTreeSet::new();
        for range in &trace.ranges {
            let label = trace.labels.all()[range.label as usize];
            let is_open = range.start <= launch.start && range.end.is_none_or(|end| launch.start <= end);
            if is_open && label.process_id == callee.process_id && label.reach != Reach::Process {
                of_any.insert(name(range));
            }
        }
        for name in of_any.difference(&names) {
            found.entry(name.clone()).or_default().5 += ns;
        }
        for name in names {
            let row = found.entry(name).or_default();
            row.2 += ns;
            row.4 += u64::from(matches!(trace.works.all()[entry.what as usize].kind, Kind::Kernel(..)));
        }
        let innermost = around
            .iter()
            .max_by_key(|(order, range)| (range.start, std::cmp::Reverse(range.end.unwrap_or(i64::MAX)), *order));
        if let Some((_, range)) = innermost {
            found.entry(name(range)).or_default().3 += ns;
        }
    }
    found
}

/// Times that often fall on one another, and some from the ends of what a file can hold.
fn times() -> impl Strategy<Value = i64> {
    prop_oneof![20 => 0_i64..40, 1 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
}

proptest! {
    #[test]
    fn agrees_with_brute_force(
        ranges in prop::collection::vec((1_i64..3, 0_i64..4, 0_usize..5, times(), prop::option::weighted(0.9, times())), 0..40),
        launches in prop::collection::vec((1_i64..3, 0_i64..3, times(), prop::bool::ANY, times(), times()), 0..40),
    ) {
        let mut made = Made::new();
        for (process, thread, name, start, end) in ranges {
            // The third thread stands for the whole process.
            let reach = if thread == 3 { Reach::Process } else { Reach::Thread((thread > 0).then_some(thread)) };
            let (start, end) = end.map_or((start, None), |end| (start.min(end), Some(start.max(end))));
            made.range(process, reach, ["a", "b", "c", "d", "e"][name], start, end);
        }
        for (process, thread, at, is_copy, one, other) in launches {
            let name = if is_copy { "memcpy DtoH" } else { "k" };
            made.launch((process, thread), at, name, 0, (one.min(other), one.max(other)));
        }
        let cut = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        let expected: BTreeMap<_, _> = by_brute_force(&made.trace)
            .into_iter()
            .map(|(name, (count, host, inclusive, exclusive, kernels, others))| {
                (name, (count, cut(host), cut(inclusive), cut(exclusive), kernels, cut(others)))
            })
            .collect();
        let found: BTreeMap<_, _> = all(&made.trace)
            .into_iter()
            .map(|row| (row.name.to_string(), (row.count, row.host_total_ns, row.gpu_inclusive_ns, row.gpu_exclusive_ns, row.kernel_count, row.gpu_other_threads_ns)))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

/// n² steps would take minutes here. CPU time counts: a busy machine may leave this thread waiting.
#[test]
fn hostile_nesting_takes_no_square_of_time() {
    let mut made = Made::new();
    let many = 100_000;
    for place in 0..many {
        // All overlap, some are never closed, some have no length, and threads share a name with their process.
        let (reach, end) = match place % 5 {
            0 => (ON_MAIN, None),
            1 => (ON_MAIN, Some(place)),
            2 => (Reach::Process, Some(2 * many - place)),
            _ => (ON_MAIN, Some(2 * many - place / 2)),
        };
        made.range(1, reach, &format!("range {}", place % 1000), place, end);
        made.launch(MAIN, place + 1, "k", 0, (place, place + 3));
    }
    let begin = clock_gettime(ClockId::ThreadCPUTime);
    let rows = all(&made.trace);
    let taken = clock_gettime(ClockId::ThreadCPUTime).tv_sec - begin.tv_sec;
    assert_eq!(rows.len(), 1000);
    assert_eq!(rows.iter().map(|row| row.gpu_exclusive_ns).sum::<u64>(), 3 * many as u64);
    assert!(taken < 20, "{taken} s");
}
