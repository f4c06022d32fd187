//! Total and self times of CPU operators.

use rustc_hash::FxHashMap;

use super::in_order::longer_first;
use super::select::Chosen;
use crate::memory::Room as _;
use crate::trace::{Distinct, NameId, OperatorRow, Trace};

/// An operator that is running.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// `None` if it is not selected.
    row: Option<usize>,
    end: i64,
}

/// A row for each name, the longest self time first. With GPU activity there are none: operators were not read from all captures.
///
/// Callees that are not selected are looked at too: their time is no self time of a selected caller.
pub(super) fn rows(trace: &Trace, chosen: &Chosen<'_>) -> Vec<OperatorRow> {
    if trace.operations() > 0 {
        return Vec::new();
    }
    let mut names: Distinct<NameId> = Distinct::default();
    let mut rows: Vec<OperatorRow> = Vec::new();
    let mut threads: FxHashMap<_, Vec<Open>> = FxHashMap::default();
    for entry in longer_first(&trace.operators) {
        let callee = &trace.callees.all()[entry.what as usize];
        let row = chosen.call(&entry).then(|| names.intern(callee.name) as usize);
        if row == Some(rows.len()) {
            let name = trace.names.text(callee.name).to_owned();
            rows.put(OperatorRow { name, count: 0, total_ns: 0, self_ns: 0, mean_ns: 0.0 });
        }
        let thread = (chosen.clocks[callee.clock as usize], callee.process_id, callee.thread_id);
        threads.room(1);
        let open = threads.entry(thread).or_default();
        while open.pop_if(|outer| outer.end <= entry.start).is_some() {}
        if let Some(&Open { row: Some(caller), end }) = open.last() {
            let taken = end.min(entry.end).abs_diff(entry.start);
            rows[caller].self_ns = rows[caller].self_ns.saturating_sub(taken);
        }
        open.put(Open { row, end: entry.end });
        let Some(row) = row else { continue };
        let (row, time) = (&mut rows[row], entry.duration());
        row.count += 1;
        row.total_ns = row.total_ns.saturating_add(time);
        row.self_ns = row.self_ns.saturating_add(time);
    }
    for row in &mut rows {
        row.mean_ns = row.total_ns as f64 / row.count as f64;
    }
    rows.sort_unstable_by(|one, other| other.self_ns.cmp(&one.self_ns).then_with(|| one.name.cmp(&other.name)));
    rows
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use crate::trace::Entry;
    use crate::trace::aggregate::Selection;
    use crate::trace::aggregate::made::Made;

    /// A selection left out the callees of its operators, whose time became self time.
    #[test]
    fn selections_do_not_change_self_times() {
        let mut made = Made::new();
        for (name, start, end) in [("linear", 0, 100), ("addmm", 10, 90), ("linear", 20, 50), ("addmm", 100, 130)] {
            let name = made.trace.names.intern(name);
            let what = made.trace.callee(0, Some(1), Some(1), name);
            made.trace.operators.push(Entry { what, start, end, bytes: 0, correlation: 0 });
        }
        let matching = |text: &str| Selection { filter: Regex::new(text).ok(), ..Selection::default() };
        for (selection, expected) in [
            (Selection::default(), vec![("addmm", 2, 80), ("linear", 2, 50)]),
            (matching("linear"), vec![("linear", 2, 50)]),
            (matching("addmm"), vec![("addmm", 2, 80)]),
            (Selection { until_ns: Some(10), ..Selection::default() }, vec![("linear", 1, 20)]),
            (Selection { since_ns: Some(20), ..Selection::default() }, vec![("addmm", 1, 30), ("linear", 1, 30)]),
        ] {
            let found = made.summary(selection).cpu_operators;
            let rows: Vec<_> = found.iter().map(|row| (&*row.name, row.count, row.self_ns)).collect();
            assert_eq!(rows, expected);
        }
    }
}
