use std::collections::BTreeMap;

use proptest::prelude::*;

use super::MOST;
use crate::trace::aggregate::made::{Made, options};
use crate::trace::aggregate::{Options, summarize};
use crate::trace::categories::Categories;
use crate::trace::{NestedRange, Reach, Summary};

const MAIN: (i64, i64) = (1, 10);
const ON_MAIN: Reach = Reach::Thread(Some(10));

fn summary(made: &Made) -> Summary {
    summarize(&made.trace, &Options { plot_data: true, ..options(&Categories::built_in()) })
}

/// Path of names, count, inclusive and exclusive time of each row.
fn rows(summary: &Summary) -> Vec<(String, u64, u64, u64)> {
    let rows = &summary.nested_ranges;
    let path = |row: &NestedRange| {
        let (mut path, mut at) = (vec![row.name.as_deref().unwrap_or("…")], row.parent);
        while let Some(parent) = at {
            path.push(rows[parent as usize].name.as_deref().expect("a name"));
            at = rows[parent as usize].parent;
        }
        path.reverse();
        path.join("/")
    };
    rows.iter().map(|row| (path(row), row.count, row.gpu_inclusive_ns, row.gpu_exclusive_ns)).collect()
}

#[test]
fn ranges_are_nested_by_their_names() {
    let mut made = Made::new();
    for step in 0..2_i64 {
        let at = step * 100;
        made.range(1, Reach::Process, "step", at, Some(at + 90));
        made.range(1, ON_MAIN, "forward", at + 1, Some(at + 40));
        made.range(1, ON_MAIN, "matmul", at + 5, Some(at + 9));
        made.launch(MAIN, at + 6, "k", 0, (at + 6, at + 16));
        made.launch(MAIN, at + 20, "k", 0, (at + 20, at + 21));
        // A thread without ranges is in those of its process.
        made.launch((1, 11), at + 30, "k", 0, (at + 30, at + 34));
    }
    made.range(1, ON_MAIN, "matmul", 300, Some(310));
    made.launch(MAIN, 305, "k", 0, (305, 308));
    made.range(1, ON_MAIN, "without a launch", 400, Some(410));
    let row = |path: &str, count, inclusive, exclusive| (path.to_owned(), count, inclusive, exclusive);
    let expected = [
        row("step", 2, 30, 8),
        row("step/forward", 2, 22, 2),
        row("step/forward/matmul", 2, 20, 20),
        row("matmul", 1, 3, 3),
    ];
    assert_eq!(rows(&summary(&made)), expected);
}

#[test]
fn overlapping_ranges_are_not_nested() {
    let mut made = Made::new();
    made.range(1, ON_MAIN, "first", 0, Some(50));
    made.range(1, ON_MAIN, "second", 40, Some(90));
    made.range(1, ON_MAIN, "inner", 60, Some(70));
    made.range(1, ON_MAIN, "never closed", 80, None);
    for at in [10, 45, 65, 85, 200] {
        made.launch(MAIN, at, "k", 0, (at, at + 1));
    }
    let expected = [("second", 2), ("second/inner", 1), ("never closed", 2), ("first", 1)];
    let found = rows(&summary(&made));
    assert_eq!(found.iter().map(|row| (&*row.0, row.2)).collect::<Vec<_>>(), expected);
}

#[test]
fn the_smallest_are_folded() {
    let mut made = Made::new();
    made.range(1, ON_MAIN, "whole", 0, Some(1_000_000));
    let count = i64::try_from(MOST).expect("a number") + 50;
    for number in 0..count {
        let at = number * 100 + 1;
        made.range(1, ON_MAIN, &format!("part {number}"), at, Some(at + 50));
        made.range(1, ON_MAIN, &format!("detail {number}"), at + 1, Some(at + 40));
        made.launch(MAIN, at + 5, "k", 0, (at, at + 1 + number));
    }
    let found = summary(&made);
    let whole = (1..=count.unsigned_abs()).sum::<u64>();
    let sum = |of: fn(&NestedRange) -> u64| found.nested_ranges.iter().map(of).sum::<u64>();
    assert_eq!(sum(|row| row.gpu_exclusive_ns), whole);
    assert_eq!(found.nested_ranges.iter().filter(|row| row.name.is_some()).count(), MOST);
    assert_eq!(sum(|row| row.folded_count) + MOST as u64, 1 + 2 * count.unsigned_abs());
    let [root, ..] = &found.nested_ranges[..] else { panic!("no rows") };
    assert_eq!(
        (root.name.as_deref(), root.gpu_inclusive_ns, root.kernel_count),
        (Some("whole"), whole, count.unsigned_abs())
    );
}

proptest! {
    #[test]
    fn adds_up_to_the_rows_of_ranges(
        ranges in prop::collection::vec((0_i64..2, 0_i64..3, 0_i64..100, 0_i64..60, 0_usize..4), 0..25),
        launches in prop::collection::vec((0_i64..2, 0_i64..3, -5_i64..120, 1_i64..9), 0..30),
    ) {
        let mut made = Made::new();
        for &(process, thread, start, length, name) in &ranges {
            let reach = if thread == 0 { Reach::Process } else { Reach::Thread(Some(thread)) };
            let end = (length < 55).then_some(start + length);
            made.range(process, reach, ["a", "b", "c", "d"][name], start, end);
        }
        for &(process, thread, at, length) in &launches {
            made.launch((process, thread), at, "k", 0, (at, at + length));
        }
        let found = summary(&made);
        let (mut exclusive, mut below) = (BTreeMap::new(), vec![0; found.nested_ranges.len()]);
        for (place, row) in found.nested_ranges.iter().enumerate() {
            *exclusive.entry(row.name.clone().expect("a name")).or_insert(0) += row.gpu_exclusive_ns;
            if let Some(parent) = row.parent {
                prop_assert!((parent as usize) < place);
                below[parent as usize] += row.gpu_inclusive_ns;
            }
        }
        for (row, below) in found.nested_ranges.iter().zip(below) {
            prop_assert_eq!(row.gpu_inclusive_ns, row.gpu_exclusive_ns + below);
        }
        for row in &found.ranges {
            prop_assert_eq!(exclusive.remove(&*row.name).unwrap_or(0), row.gpu_exclusive_ns, "{}", row.name);
        }
        prop_assert!(exclusive.is_empty());
    }
}
