use proptest::prelude::*;

use super::{ALL_BINS, BINS, MOST_DEVICES};
use crate::trace::aggregate::made::{Made, options};
use crate::trace::aggregate::{Options, Selection, summarize};
use crate::trace::categories::Categories;
use crate::trace::{Activity, BudgetRow, DeviceRow, Trace};

fn devices(trace: &Trace) -> Vec<DeviceRow> {
    summarize(trace, &Options { plot_data: true, ..options(&Categories::built_in()) }).devices
}

/// For how long each bin is covered by at least one of the spans, and by all of them added up.
fn counted(activity: &Activity, spans: &[(i64, i64)], once: bool) -> Vec<u64> {
    let bin = |place: usize| {
        let begin = activity.start_ns.saturating_add_unsigned(activity.bin_ns * place as u64);
        let at = begin..begin.saturating_add_unsigned(activity.bin_ns);
        let depth = at.map(|at| spans.iter().filter(|(start, end)| (*start..*end).contains(&at)).count() as u64);
        depth.map(|depth| if once { depth.min(1) } else { depth }).sum()
    };
    (0..activity.busy_ns.len()).map(bin).collect()
}

proptest! {
    #[test]
    fn agrees_with_counting_every_nanosecond(
        operations in prop::collection::vec((0_i64..2, -2_500_i64..2_500, 0_i64..900, 0_usize..3), 1..12),
    ) {
        let (mut made, names) = (Made::new(), ["gemm_kernel", "elementwise_kernel", "memcpy DtoD"]);
        for &(device, start, length, name) in &operations {
            made.run((device, Some(1)), (start, start + length), 0, names[name], false);
        }
        for row in devices(&made.trace) {
            let spans = |names: &[usize]| {
                let chosen = operations.iter().filter(|one| Some(one.0) == row.device_id && names.contains(&one.3));
                chosen.map(|&(_, start, length, _)| (start, start + length)).collect::<Vec<_>>()
            };
            let activity = row.activity.expect("an activity");
            prop_assert_eq!(activity.start_ns, row.start_ns);
            prop_assert_eq!(&activity.busy_ns, &counted(&activity, &spans(&[0, 1, 2]), true));
            prop_assert_eq!(activity.busy_ns.iter().sum::<u64>(), row.busy_ns);
            prop_assert_eq!(activity.busy_ns.len() as u64, row.span_ns.div_ceil(activity.bin_ns));
            for copies in &activity.copies {
                prop_assert_eq!(&copies.bins_ns, &counted(&activity, &spans(&[2]), false));
            }
            for (rows, sums) in [(&activity.kernels, &row.budget.kernels), (&activity.copies, &row.budget.copies)] {
                let found: Vec<_> = rows.iter().map(|row| (&row.name, row.bins_ns.iter().sum::<u64>())).collect();
                let expected: Vec<_> = sums.iter().map(|BudgetRow { name, total_ns, .. }| (name, *total_ns)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn a_long_time_has_enough_bins_and_not_too_many() {
    for span in [1, 399, 400, 401, 3_200, 3_201, 1 << 40, i64::MAX] {
        let mut made = Made::new();
        made.kernel((0, Some(1)), (0, 1), 0);
        made.kernel((0, Some(1)), (span - 1, span), 0);
        let row = devices(&made.trace).pop().expect("a device");
        let activity = row.activity.expect("an activity");
        let count = activity.busy_ns.len();
        // A nanosecond is the shortest bin.
        let least = if span < 3_200 { BINS / 2 } else { BINS * 4 / 5 };
        assert!(count <= BINS && (count as u64 == span.unsigned_abs() || count >= least), "{span}: {count}");
        assert_eq!((activity.busy_ns.iter().sum::<u64>(), activity.bin_ns > 0), (row.busy_ns, true));
    }
}

#[test]
fn takes_the_longest_times() {
    let mut made = Made::new();
    for _ in 0..3 {
        made.kernel((0, Some(1)), (i64::MIN, i64::MAX), 0);
    }
    let row = devices(&made.trace).pop().expect("a device");
    let activity = row.activity.expect("an activity");
    assert_eq!((activity.start_ns, activity.busy_ns.iter().sum::<u64>()), (i64::MIN, u64::MAX));
}

#[test]
fn many_devices_share_the_bins() {
    for (count, most) in [(16, BINS), (17, ALL_BINS / 17), (MOST_DEVICES, ALL_BINS / MOST_DEVICES)] {
        let mut made = Made::new();
        for device in 0..count {
            let device = i64::try_from(device).expect("a number");
            made.kernel((device, Some(1)), (0, 1 << 30), 0);
        }
        let rows = devices(&made.trace);
        let bins = |row: &DeviceRow| row.activity.as_ref().map(|one| one.busy_ns.len());
        assert!(rows.iter().all(|row| bins(row).is_some_and(|bins| bins <= most && bins * 5 >= most * 4)), "{count}");
    }
    let mut made = Made::new();
    for device in 0..=i64::try_from(MOST_DEVICES).expect("a number") {
        made.kernel((device, Some(1)), (0, 9), 0);
    }
    assert!(devices(&made.trace).iter().all(|row| row.activity.is_none()));
}

/// Bins of each row take 51 kB until the end of the time is known.
#[test]
fn many_rows_of_a_budget_have_no_bins() {
    for (count, is_drawn) in [(1_000, true), (1_001, false)] {
        let mut made = Made::new();
        for kind in (0..).take(count) {
            made.run((0, Some(1)), (kind, kind + 9), 0, &format!("memcpy {kind}"), false);
        }
        let row = devices(&made.trace).pop().expect("a device");
        assert_eq!((row.activity.is_some(), row.budget.copies.len()), (is_drawn, count));
    }
}

/// Bins are of the clock's time: no part of a document separates what no file contains from idle time.
#[test]
fn bins_between_two_files_of_a_process_are_empty() {
    let mut made = Made::new();
    for start in [0, 60_000] {
        made.kernel((0, Some(1)), (start, start + 10_000), 0);
        made.next_capture();
    }
    let row = devices(&made.trace).pop().expect("a device");
    let activity = row.activity.expect("an activity");
    let off = row.end_ns.abs_diff(row.start_ns) - row.span_ns;
    assert_eq!((row.span_ns, row.idle_ns, off), (20_000, 0, 50_000));
    let empty = activity.busy_ns.iter().filter(|&&busy| busy == 0).count() as u64 * activity.bin_ns;
    assert!(empty <= off && off - empty < 2 * activity.bin_ns, "{empty}");
}

#[test]
fn only_plots_have_bins() {
    let mut made = Made::new();
    made.kernel((0, Some(1)), (0, 9), 0);
    let summary = made.summary(Selection::default());
    assert_eq!((summary.devices[0].activity.as_ref(), summary.launches.latency_histogram), (None, None));
}
