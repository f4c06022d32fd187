//! Rows with ranges of threads and of their process: launches in both count once.

use rustc_hash::FxHashMap;

use super::scopes::Scopes;
use super::sums::{Sum, Timeline, prefixes, unions};
use crate::memory::{Room as _, collected};

/// Times that a row covers, in the order of the starts.
type Covered = Vec<(i64, i64)>;

/// Calls of the threads that share a row with their process, each with its launches.
#[derive(Debug, Default)]
pub(super) struct Mixed {
    /// By scope, of such threads.
    threads: FxHashMap<usize, Thread>,
}

#[derive(Debug)]
struct Thread {
    process: usize,
    /// By row, those that the process has too.
    rows: Vec<(u32, Covered)>,
    calls: Vec<(i64, Sum)>,
}

fn by_row(timeline: &Timeline) -> FxHashMap<u32, Covered> {
    let mut rows: FxHashMap<u32, Covered> = FxHashMap::default();
    for (row, start, last) in unions(timeline.innermost.opens()) {
        rows.room(1);
        rows.entry(row).or_default().put((start, last));
    }
    rows
}

impl Mixed {
    /// `reaches` says of each row whether ranges of threads and whether ranges of processes are in it.
    pub(super) fn of(scopes: &Scopes, timelines: &[Timeline], reaches: &[(bool, bool)]) -> Self {
        if reaches.iter().all(|&(thread, process)| !thread || !process) {
            return Self::default();
        }
        let mut threads = FxHashMap::default();
        let mut processes: FxHashMap<usize, FxHashMap<u32, Covered>> = FxHashMap::default();
        for (scope, timeline) in timelines.iter().enumerate() {
            let Some(process) = scopes.process_of(scope).filter(|&process| process != scope) else { continue };
            let theirs = processes.entry(process).or_insert_with(|| by_row(&timelines[process]));
            let mut rows = by_row(timeline);
            rows.retain(|row, _| theirs.contains_key(row));
            if !rows.is_empty() {
                let rows = collected(rows);
                threads.insert(scope, Thread { process, rows, calls: Vec::new() });
            }
        }
        Self { threads }
    }

    /// Records the launches of a thread's call.
    pub(super) fn add(&mut self, scope: usize, at: i64, sum: Sum) {
        if let Some(thread) = self.threads.get_mut(&scope) {
            thread.calls.put((at, sum));
        }
    }

    /// Subtracts launches that were added to rows twice.
    pub(super) fn take_away(self, timelines: &[Timeline], inclusive: &mut [Sum]) {
        let mut processes: FxHashMap<usize, FxHashMap<u32, Covered>> = FxHashMap::default();
        for mut thread in self.threads.into_values() {
            let theirs = processes.entry(thread.process).or_insert_with(|| by_row(&timelines[thread.process]));
            thread.calls.sort_unstable_by_key(|&(at, _)| at);
            let sums = prefixes(thread.calls.iter().map(|&(_, sum)| sum));
            for (row, mine) in &thread.rows {
                for &within in mine {
                    inclusive[*row as usize] -= shared(&thread.calls, &sums, within, &theirs[row]);
                }
            }
        }
    }
}

/// Returns the launches of calls within one time of the thread and any of its process.
fn shared(calls: &[(i64, Sum)], sums: &[Sum], (start, last): (i64, i64), theirs: &[(i64, i64)]) -> Sum {
    let place = |at: i64| calls.partition_point(|&(call, _)| call < at);
    let after = |at: i64| calls.partition_point(|&(call, _)| call <= at);
    let mine = place(start)..after(last);
    let others = theirs.partition_point(|&(_, end)| end < start)..theirs.partition_point(|&(begin, _)| begin <= last);
    let mut found = Sum::default();
    // Whichever are fewer: neither many threads nor many ranges of the process make the product of both.
    if others.len() <= mine.len() {
        for &(begin, end) in &theirs[others] {
            found += sums[after(end.min(last))] - sums[place(begin.max(start))];
        }
    } else {
        for &(at, sum) in &calls[mine] {
            let before = theirs.partition_point(|&(begin, _)| begin <= at);
            if before > 0 && theirs[before - 1].1 >= at {
                found += sum;
            }
        }
    }
    found
}
