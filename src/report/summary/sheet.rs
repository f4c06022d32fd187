//! A list, ready to be drawn: its columns, its first rows and what the rows left out add up to.

use super::Names;
use super::columns::{Columns, Head};
use super::value::Value;

/// Rows of one list, whatever they were.
#[derive(Debug)]
pub(super) struct Sheet<'a> {
    pub(super) title: &'a str,
    pub(super) heads: Vec<Head>,
    pub(super) rows: Vec<Vec<Value<'a>>>,
    pub(super) more: Option<More>,
}

/// What the rows that are not shown add up to.
#[derive(Debug)]
pub(super) struct More {
    count: usize,
    sums: Vec<(Head, Value<'static>)>,
}

impl<'a> Sheet<'a> {
    /// The columns that `keep` keeps, and at most `top` rows.
    pub(super) fn new<R>(
        title: &'a str,
        columns: Columns<R>,
        rows: &'a [R],
        (names, top): (Names, Option<usize>),
        keep: impl Fn(&Head) -> bool,
    ) -> Self {
        let columns: Vec<_> = columns.iter().filter(|column| keep(&column.head)).collect();
        let (shown, rest) = rows.split_at(top.map_or(rows.len(), |top| top.min(rows.len())));
        let sums = columns.iter().filter(|column| column.head.summed).filter_map(|column| {
            let sum = rest.iter().map(|row| (column.get)(row, names)).reduce(Value::plus)?;
            Some((column.head, sum.number()?))
        });
        Self {
            title,
            heads: columns.iter().map(|column| column.head).collect(),
            rows: shown.iter().map(|row| columns.iter().map(|column| (column.get)(row, names)).collect()).collect(),
            more: (!rest.is_empty()).then(|| More { count: rest.len(), sums: sums.collect() }),
        }
    }
}

impl Head {
    /// For people, with the unit.
    pub(super) fn title(&self) -> String {
        match self.unit.symbol() {
            "" => self.heading.to_owned(),
            symbol => format!("{}, {symbol}", self.heading),
        }
    }
}

impl More {
    /// `3 more: share 1.20 %, total 0.5000 ms, count 12`.
    pub(super) fn line(&self) -> String {
        let sums = self.sums.iter().map(|(head, sum)| {
            format!("{} {} {}", head.heading, sum.show(head.unit), head.unit.symbol()).trim_end().to_owned()
        });
        let sums: Vec<_> = sums.collect();
        let colon = if sums.is_empty() { "" } else { ": " };
        format!("{} more{colon}{}", self.count, sums.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::columns::{
        API_CALLS, CAPTURES, CATEGORIES, CUDNN_RNN, DEVICES, IDLE, ITERATION_STATISTICS, ITERATIONS, KERNELS, LAUNCHES,
        MEMORY, Place, RANGES, RANKS, STREAMS,
    };
    use crate::trace::StreamRow;

    fn streams() -> Vec<StreamRow> {
        let row = |id| StreamRow { device_id: Some(0), stream_id: Some(id), kernel_count: 2, busy_ns: 5, total_ns: 7 };
        (0..4).map(row).collect()
    }

    #[test]
    fn rows_left_out_are_counted_and_added_up() {
        let rows = streams();
        let sheet = |top| Sheet::new("", STREAMS, &rows, (Names::Full, top), |_| true);
        assert_eq!(sheet(Some(1)).more.expect("three are left").line(), "3 more: total 0.00002100 ms, kernels 6",);
        assert_eq!(sheet(Some(0)).rows.len(), 0);
        for top in [Some(4), Some(9), None] {
            assert!(sheet(top).more.is_none());
        }
    }

    /// Two columns of one key would make a CSV that no reader can name the columns of.
    #[test]
    fn keys_are_unique_and_named() {
        fn check<R>(columns: Columns<R>) {
            let shown = columns.iter().filter(|column| column.head.place != Place::Screen);
            let mut keys: Vec<_> = shown.map(|column| column.head.key).collect();
            let count = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert!(keys.len() == count && !keys.contains(&""), "{keys:?}");
        }
        check(CAPTURES);
        check(DEVICES);
        check(KERNELS);
        check(CATEGORIES);
        check(MEMORY);
        check(STREAMS);
        check(API_CALLS);
        check(RANGES);
        check(ITERATIONS);
        check(ITERATION_STATISTICS);
        check(LAUNCHES);
        check(IDLE);
        check(CUDNN_RNN);
        check(RANKS);
    }
}
