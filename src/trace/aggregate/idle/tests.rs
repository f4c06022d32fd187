//! Planted causes, and timelines read nanosecond by nanosecond.

use proptest::prelude::*;

use super::loaders::Load;
use super::overlapping::Walk;
use super::spans::Spans;
use super::*;
use crate::trace::aggregate::made::Made;
use crate::trace::aggregate::select::Selection;
use crate::trace::{BudgetRow, Entry, Reach, Summary};

const PROCESS: i64 = 7;
const DEVICE: (i64, Option<i64>) = (0, Some(PROCESS));
const MAIN: (Option<i64>, Option<i64>) = (Some(PROCESS), Some(1));

/// Busy up to 100 and from 200; the second kernel is launched from `launch.0` to `launch.1`.
fn planted(launch: (i64, i64)) -> Made {
    let mut made = Made::new();
    made.call(MAIN, "cudaLaunchKernel", (0, 5), 1);
    made.kernel(DEVICE, (10, 100), 1);
    made.call(MAIN, "cudaLaunchKernel_v7000", launch, 2);
    made.kernel(DEVICE, (200, 210), 2);
    made
}

fn causes(made: &Made) -> Vec<(&'static str, u64, u64)> {
    let summary = made.summary(Selection::default());
    assert_sums(&summary);
    summary.idle_causes.iter().map(|row| (row.cause, row.count, row.total_ns)).collect()
}

/// The pieces of each device number make up its idle time, and the budget of each device its span.
fn assert_sums(summary: &Summary) {
    for row in &summary.devices {
        let sum = |rows: &[BudgetRow]| rows.iter().map(|row| row.total_ns).sum::<u64>();
        let budget = &row.budget;
        assert_eq!(sum(&budget.kernels) + sum(&budget.copies) - budget.counted_twice_ns, row.busy_ns);
        assert_eq!(sum(&budget.idle), row.idle_ns);
        let of_number = |id: Option<i64>| id == row.device_id;
        let idle: u64 = summary.devices.iter().filter(|row| of_number(row.device_id)).map(|row| row.idle_ns).sum();
        let causes = summary.idle_causes.iter().filter(|row| of_number(row.device_id));
        assert_eq!(causes.map(|row| row.total_ns).sum::<u64>(), idle);
    }
}

#[test]
fn the_host_waits_for_data() {
    for (name, cause) in [
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data_loader"),
        ("my prefetch 3", "data_loader"),
        ("forward", "host"),
    ] {
        for (reach, end) in [(Reach::Thread(Some(1)), Some(180)), (Reach::Process, None)] {
            let mut made = planted((180, 185));
            made.range(PROCESS, reach, name, 50, end);
            made.range(PROCESS, Reach::Thread(Some(2)), "prefetch", 0, None);
            made.range(8, reach, "prefetch", 0, None);
            assert_eq!(causes(&made), [(cause, 1, 80), ("launch", 1, 20)], "{name}");
        }
    }
}

#[test]
fn the_first_of_several_causes_counts() {
    let mut made = planted((180, 185));
    made.range(PROCESS, Reach::Thread(Some(1)), "prefetch", 105, Some(150));
    made.range(PROCESS, Reach::Process, "prefetch", 150, Some(160));
    made.call(MAIN, "cudaMalloc", (110, 140), 0);
    made.call(MAIN, "cuMemAlloc_v2", (112, 138), 0);
    made.call(MAIN, "cudaStreamSynchronize", (120, 130), 0);
    let expected =
        [("data_loader", 2, 25), ("host", 2, 25), ("launch", 1, 20), ("allocation", 2, 20), ("synchronization", 1, 10)];
    assert_eq!(causes(&made), expected);
}

#[test]
fn a_filter_hides_no_cause() {
    let mut made = planted((180, 185));
    made.call(MAIN, "cudaStreamSynchronize", (50, 180), 0);
    made.run(DEVICE, (120, 130), 0, "other", false);
    let filter = Some(regex::Regex::new("^kernel$").unwrap());
    let summary = made.summary(Selection { filter, ..Selection::default() });
    assert_sums(&summary);
    let rows: Vec<_> = summary.idle_causes.iter().map(|row| (row.cause, row.total_ns)).collect();
    assert_eq!(rows, [("synchronization", 80), ("launch", 20)]);
}

#[test]
fn takes_the_longest_times() {
    let mut made = Made::new();
    made.kernel(DEVICE, (i64::MIN, i64::MIN), 1);
    made.call(MAIN, "cudaDeviceSynchronize", (i64::MIN, 0), 0);
    made.call(MAIN, "cudaLaunchKernel", (i64::MAX, i64::MAX), 2);
    made.kernel(DEVICE, (i64::MAX, i64::MAX), 2);
    made.kernel((0, Some(8)), (i64::MIN, i64::MIN), 1);
    made.kernel((0, Some(8)), (i64::MAX, i64::MAX), 1);
    let summary = made.summary(Selection::default());
    let rows: Vec<_> = summary.idle_causes.iter().map(|row| (row.cause, row.total_ns)).collect();
    assert_eq!(rows, [("unmatched", u64::MAX), ("synchronization", 1 << 63), ("host", (1 << 63) - 1)]);
}

/// A function or a range, and what a thread waits for in it.
const CALLS: [(&str, usize); 5] = [
    ("cudaLaunchKernel", 9),
    ("cudaGraphLaunch_v10000", 9),
    ("cudaEventSynchronize", 0),
    ("cudaMemcpyToSymbol", 0),
    ("cudaHostAlloc", 1),
];
const RANGES: [(&str, usize); 3] = [("forward", 9), ("_MultiProcessingDataLoaderIter._next_data", 2), ("prefetch", 2)];

#[derive(Debug, Clone)]
struct Operation {
    device: i64,
    process: i64,
    in_graph: bool,
    start: i64,
    end: i64,
    correlation: u64,
}

#[derive(Debug, Clone)]
struct Spell {
    process: i64,
    thread: Option<i64>,
    what: usize,
    start: i64,
    end: i64,
    correlation: u64,
}

prop_compose! {
    fn operation()(
        device in 0..2_i64, process in 1..3_i64, in_graph: bool,
        start in 0..150_i64, length in 0..9_i64, correlation in 0..9_u64,
    ) -> Operation {
        Operation { device, process, in_graph, start, end: start + length, correlation }
    }
}

prop_compose! {
    fn spell(kinds: usize)(
        process in 1..3_i64, thread in prop::option::weighted(0.9, 1..3_i64), what in 0..kinds,
        start in -10..150_i64, length in 0..40_i64, correlation in 0..9_u64,
    ) -> Spell {
        Spell { process, thread, what, start, end: start + length, correlation }
    }
}

/// Pieces and their lengths by device number and cause, from looking at every nanosecond.
fn by_nanosecond(operations: &[Operation], calls: &[Spell], ranges: &[Spell]) -> Vec<(i64, &'static str, u64, u64)> {
    let causes = ["synchronization", "allocation", "data_loader", "host"];
    let all =
        ["graph_gap", "unmatched", "launch", "synchronization", "allocation", "data_loader", "host", "dependency"];
    let mut sums = [[(0_u64, 0_u64); 8]; 2];
    for (device, process) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
        let mut line: Vec<&Operation> =
            operations.iter().filter(|one| (one.device, one.process) == (device, process)).collect();
        line.sort_by_key(|one| one.start);
        let mut open = None;
        for time in 0..200 {
            let before = line.iter().enumerate().filter(|(_, one)| one.start <= time);
            let last = before.max_by_key(|(place, one)| (one.end, *place)).map(|(_, one)| one);
            let next = line.iter().position(|one| one.start > time);
            let (Some(last), Some(next_place)) = (last, next) else { continue };
            if last.end > time {
                continue;
            }
            let next = line[next_place];
            let inside = |spell: &&Spell| spell.process == process && (spell.start..spell.end).contains(&time);
            let launch = calls
                .iter()
                .find(|call| call.process == process && call.correlation == next.correlation && next.correlation != 0);
            let graph = launch.is_some_and(|launch| launch.what == 1) || (last.in_graph && next.in_graph);
            let cause = match launch {
                _ if graph && last.correlation == next.correlation && next.correlation != 0 => "graph_gap",
                None => "unmatched",
                Some(launch) if launch.end <= last.end => "dependency",
                Some(launch) if time >= launch.start => "launch",
                Some(launch) => {
                    let on_thread = |spell: &&Spell| spell.thread.is_some() && spell.thread == launch.thread;
                    let called = calls.iter().filter(inside).filter(on_thread).map(|call| CALLS[call.what].1);
                    let on_any = |spell: &&Spell| spell.thread.is_none() || on_thread(spell);
                    let ranged = ranges.iter().filter(inside).filter(on_any).map(|range| RANGES[range.what].1);
                    causes[called.chain(ranged).min().unwrap_or(3).min(3)]
                }
            };
            let sum = &mut sums[device as usize][all.iter().position(|one| *one == cause).unwrap()];
            sum.1 += 1;
            if open != Some((next_place, cause, time - 1)) {
                sum.0 += 1;
            }
            open = Some((next_place, cause, time));
        }
    }
    let rows = (0..2).flat_map(|device| {
        let sums = sums[device as usize];
        all.into_iter().zip(sums).map(move |(cause, (count, total))| (device, cause, count, total))
    });
    rows.filter(|row| row.2 > 0).collect()
}

/// One by one, they would take minutes.
#[test]
fn adds_up_the_pieces_of_many_devices() {
    let count = 50_000_u32;
    let list = |start: i64, length: i64, step: u64| -> Vec<Load> {
        let starts = (0..count).map(|place| (start + 10 * i64::from(place), u64::from(place) * step));
        starts.map(|(start, before)| ((start, start + length), before)).collect()
    };
    let (waits, of_thread, of_process) = (list(2, 3, 3), list(4, 2, 2), list(5, 2, 2));
    let part = |device| Before { callee: 0, device, start: 3, end: 10 * i64::from(count) };
    let parts: Vec<Before> = (0..count).map(part).collect();
    let (same, of_load) = (|wait: &Load| wait.0, |load: &Load| load.0);
    let spans = |cause, spans| (cause, Spans::new(spans, same, 3));
    let waits = [spans(Cause::Synchronization, &waits[..]), spans(Cause::Allocation, &[])];
    let mut pieces = Vec::new();
    Walk::new(waits, (Cause::DataLoader, Spans::new(&of_thread, of_load, 3)), &of_process, 3)
        .sum(&parts, &mut |cut| pieces.push(cut));
    let count = u64::from(count);
    let expected = [
        (Cause::Synchronization, count, 3 * count - 1),
        (Cause::DataLoader, count, 2 * count),
        (Cause::Host, count, 5 * count - 2),
    ];
    assert_eq!(pieces.len(), 3 * parts.len());
    for (place, piece) in pieces.iter().enumerate() {
        let (cause, count, length) = expected[place % 3];
        assert_eq!(
            (piece.device, piece.cause, piece.count, piece.end.abs_diff(3)),
            ((place / 3) as u32, cause, count, length)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn agrees_with_looking_at_every_nanosecond(
        operations in prop::collection::vec(operation(), 0..25),
        calls in prop::collection::vec(spell(CALLS.len()), 0..30),
        ranges in prop::collection::vec(spell(RANGES.len()), 0..6),
    ) {
        let mut made = Made::new();
        for one in &operations {
            made.run((one.device, Some(one.process)), (one.start, one.end), one.correlation, "kernel", one.in_graph);
        }
        for call in &calls {
            let by = (Some(call.process), call.thread);
            made.call(by, CALLS[call.what].0, (call.start, call.end), call.correlation);
        }
        for range in &ranges {
            let reach = range.thread.map_or(Reach::Process, |thread| Reach::Thread(Some(thread)));
            made.range(range.process, reach, RANGES[range.what].0, range.start, Some(range.end));
        }
        let summary = made.summary(Selection::default());
        assert_sums(&summary);
        let found: Vec<_> = summary
            .idle_causes
            .iter()
            .map(|row| (row.device_id.unwrap(), row.cause, row.count, row.total_ns))
            .collect();
        let mut expected = by_nanosecond(&operations, &calls, &ranges);
        expected.sort_by_key(|&(device, .., time)| (device, std::cmp::Reverse(time)));
        prop_assert_eq!(found, expected);

        let chosen = Chosen::new(&made.trace, &Selection::default());
        let pieces = pieces(&made.trace, &chosen, &["prefetch".to_owned()]);
        let sum: u64 = pieces.iter().map(|piece| piece.end.abs_diff(piece.start)).sum();
        prop_assert_eq!(sum, summary.idle_causes.iter().map(|row| row.total_ns).sum::<u64>());
        for pair in pieces.windows(2).filter(|pair| pair[0].device == pair[1].device) {
            prop_assert!(pair[0].end <= pair[1].start);
            let is_busy = |one: &Entry| one.start == pair[1].start && one.end == one.start;
            prop_assert!(pair[0].cause != pair[1].cause || pair[0].end < pair[1].start
                || made.trace.kernels.iter().any(|one| is_busy(&one)));
        }
    }
}
