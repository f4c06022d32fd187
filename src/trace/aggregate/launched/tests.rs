//! Batches find what one table of all calls finds.

use proptest::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::*;
use crate::trace::aggregate::made::Made;
use crate::trace::aggregate::select::Selection;

/// By one table of all calls.
fn simply(trace: &Trace, chosen: &Chosen<'_>) -> Vec<(Entry, Option<Launch>)> {
    let mut launches: FxHashMap<(u32, Option<i64>, u64), Launch> = FxHashMap::default();
    let mut processes: FxHashMap<(u32, u64), FxHashSet<Option<i64>>> = FxHashMap::default();
    for call in trace.calls.iter().filter(|call| call.correlation != 0) {
        let callee = &trace.callees.all()[call.what as usize];
        let clock = chosen.clocks[callee.clock as usize];
        let launch = Launch { callee: call.what, start: call.start, end: call.end };
        launches.entry((clock, callee.process_id, call.correlation)).or_insert(launch);
        launches.entry((clock, None, call.correlation)).or_insert(launch);
        processes.entry((clock, call.correlation)).or_default().insert(callee.process_id);
    }
    // A call of any process may have launched what is of an unknown one.
    launches
        .retain(|&(clock, process, correlation), _| process.is_some() || processes[&(clock, correlation)].len() == 1);
    let find = |entry: Entry| {
        let device = trace.works.all()[entry.what as usize].queue.device as usize;
        let clock = chosen.clocks[trace.devices[device].clock as usize];
        let key = (clock, chosen.device(device as u32).process_id, entry.correlation);
        (entry, (entry.correlation != 0).then(|| launches.get(&key).copied()).flatten())
    };
    in_order(&trace.kernels, &trace.memory).map(find).collect()
}

fn in_batches_of(size: usize, trace: &Trace, chosen: &Chosen<'_>) -> Vec<(Entry, Option<Launch>)> {
    let calls = chosen.calls();
    let scope_of = trace.works.all().iter().map(|work| calls.scope_of_device[work.queue.device as usize]).collect();
    Launched::new(calls, scope_of, in_order(&trace.kernels, &trace.memory), size).collect()
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
        kernels in prop::collection::vec((0..2_i64, processes(), 0..50_i64, correlations()), 0..80),
        calls in prop::collection::vec((processes(), 0..50_i64, correlations()), 0..80),
        size in 1..20_usize,
    ) {
        let mut made = Made::new();
        for (device, process, start, correlation) in kernels {
            made.kernel((device, process), (start, start + 1), correlation);
        }
        for (process, start, correlation) in calls {
            made.call((process, Some(1)), "cudaLaunchKernel", (start, start + 2), correlation);
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
