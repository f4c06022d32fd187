//! Batches find what one table of all calls finds.

use proptest::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::*;
use crate::trace::aggregate::made::Made;
use crate::trace::aggregate::select::Selection;

/// By one table of all calls.
fn simply(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(Entry, Option<Launch>)> {
    // A call of any process may have launched what is of an unknown one, and a call of any capture what has none in its own.
    let mut calls: FxHashMap<(u64, Option<i64>, Option<u32>), Vec<Launch>> = FxHashMap::default();
    for call in trace.calls.iter().filter(|call| call.correlation != 0) {
        let callee = &trace.callees.all()[call.what as usize];
        let processes: FxHashSet<Option<i64>> = [callee.process_id, None].into_iter().collect();
        for process in processes {
            for capture in [Some(callee.capture), None] {
                let launch = Launch { callee: call.what, start: call.start, end: call.end };
                calls.entry((call.correlation, process, capture)).or_default().push(launch);
            }
        }
    }
    let origin = |launch: &Launch| {
        let callee = &trace.callees.all()[launch.callee as usize];
        (callee.process_id, callee.capture)
    };
    // The first, unless another may be meant.
    let sure = |found: &[Launch]| {
        let first = found[0];
        let fits = |other: &Launch| {
            let same = (first.start, first.end) == (other.start, other.end);
            origin(&first).0 == origin(other).0 && (same || origin(&first).1 == origin(other).1)
        };
        found.iter().all(fits).then_some(first)
    };
    let find = |entry: Entry| {
        let device = trace.works.all()[entry.what as usize].queue.device;
        let process = chosen.device(device).process_id;
        let of = |capture| calls.get(&(entry.correlation, process, capture));
        let launch = match of(Some(trace.devices[device as usize].capture)) {
            Some(own) => sure(own),
            None => of(None).and_then(|all| sure(all)).filter(|launch| launch.start <= entry.end),
        };
        (entry, launch)
    };
    in_order(&trace.kernels, &trace.memory).map(find).collect()
}

fn in_batches_of(size: usize, trace: &Trace, chosen: &Chosen<'_>) -> Vec<(Entry, Option<Launch>)> {
    let calls = chosen.calls();
    let scopes_of = trace.works.all().iter().map(|work| calls.scopes_of_device[work.queue.device as usize]).collect();
    Launched::new(calls, scopes_of, in_order(&trace.kernels, &trace.memory), size).collect()
}

/// Few, so that they meet; some far apart.
fn correlations() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..40_u64, 1 => (0..4_u64).prop_map(|far| far << 12), 1 => (0..3_u64).prop_map(|far| u64::MAX - far)]
}

fn processes() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![1 => Just(None), 4 => (1..3_i64).prop_map(Some)]
}

proptest! {
    #[test]
    fn agrees_with_one_table(
        captures in prop::collection::vec((
            prop::collection::vec((0..2_i64, processes(), 0..50_i64, correlations()), 0..80),
            prop::collection::vec((processes(), 0..50_i64, correlations()), 0..80),
        ), 1..4),
        size in 1..20_usize,
    ) {
        let mut made = Made::new();
        for (kernels, calls) in captures {
            for (device, process, start, correlation) in kernels {
                made.kernel((device, process), (start, start + 1), correlation);
            }
            for (process, start, correlation) in calls {
                made.call((process, Some(1)), "cudaLaunchKernel", (start, start + 2), correlation);
            }
            made.next_capture();
        }
        let chosen = Chosen::new(&made.trace, &Selection::default());
        prop_assert_eq!(in_batches_of(size, &made.trace, &chosen), simply(&made.trace, &chosen));
    }

    #[test]
    fn agrees_where_correlations_ascend(
        steps in prop::collection::vec((1..5_u64, 1..9_i64, 0..30_i64, prop::bool::weighted(0.8), 0..4_i64), 0..300),
        size in 1..20_usize,
    ) {
        let (mut made, mut time, mut correlation) = (Made::new(), 0, 0);
        for (step, pause, latency, launched, kernels) in steps {
            (time, correlation) = (time + pause, correlation + step);
            if launched {
                made.call((Some(7), Some(1)), "cudaLaunchKernel", (time, time + 3), correlation);
            }
            for later in 0..kernels {
                made.kernel((0, Some(7)), (time + latency + later, time + latency + later), correlation);
            }
        }
        let chosen = Chosen::new(&made.trace, &Selection::default());
        prop_assert_eq!(in_batches_of(size, &made.trace, &chosen), simply(&made.trace, &chosen));
    }
}

#[test]
fn finds_calls_that_a_selection_leaves_out() {
    let mut made = Made::new();
    made.call((Some(1), Some(1)), "cudaLaunchKernel", (0, 5), 9);
    made.kernel((0, Some(1)), (10, 20), 9);
    let filter = Some(regex::Regex::new("^kernel$").unwrap());
    let chosen = Chosen::new(&made.trace, &Selection { filter, ..Selection::default() });
    let found: Vec<_> = launched(&made.trace, &chosen).map(|(_, launch)| launch.map(|launch| launch.end)).collect();
    assert_eq!(found, [Some(5)]);
}

/// Starts of the calls of all operations.
fn launch_starts(made: &Made) -> Vec<Option<i64>> {
    let chosen = Chosen::new(&made.trace, &Selection::default());
    launched(&made.trace, &chosen).map(|(_, launch)| launch.map(|launch| launch.start)).collect()
}

#[test]
fn two_runs_of_one_process_number_do_not_share_correlations() {
    const HOUR: i64 = 3_600_000_000_000;
    let mut made = Made::new();
    for run in 0..2 {
        for correlation in 1..4 {
            let at = run * HOUR + correlation * 100;
            made.call((Some(1), Some(1)), "cudaLaunchKernel", (at, at + 5), correlation as u64);
            made.kernel((0, Some(1)), (at + 10, at + 20), correlation as u64);
        }
        made.next_capture();
    }
    let starts = [100, 200, 300].map(Some);
    assert_eq!(launch_starts(&made), [starts, starts.map(|start| start.map(|start| start + HOUR))].concat());
}

#[test]
fn another_capture_has_the_call_that_its_own_lacks() {
    // In the window behind that of its call.
    let mut made = Made::new();
    made.call((Some(1), Some(1)), "cudaLaunchKernel", (100, 105), 1);
    made.call((Some(1), Some(1)), "cudaLaunchKernel", (900, 905), 2);
    made.next_capture();
    made.kernel((0, Some(1)), (110, 120), 1);
    // Its call would come after it.
    made.kernel((0, Some(1)), (130, 140), 2);
    assert_eq!(launch_starts(&made), [Some(100), None]);
    // The same call again, and another one.
    made.next_capture();
    made.call((Some(1), Some(1)), "cudaLaunchKernel", (100, 105), 1);
    assert_eq!(launch_starts(&made), [Some(100), None]);
    made.call((Some(1), Some(1)), "cudaLaunchKernel", (50, 55), 1);
    assert_eq!(launch_starts(&made), [None, None]);
}

#[test]
fn does_not_slow_down_where_correlations_collide() {
    let mut made = Made::new();
    for count in 0..100_000 {
        made.call((Some(1), Some(1)), "cudaLaunchKernel", (0, 5), count << 20);
        made.kernel((0, Some(1)), (10, 20), (100_000 - count) << 20);
    }
    let chosen = Chosen::new(&made.trace, &Selection::default());
    assert_eq!(launched(&made.trace, &chosen).filter(|(_, launch)| launch.is_some()).count(), 99_999);
}
