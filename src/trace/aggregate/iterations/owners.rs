//! Iterations that were open during a call.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::marks::Marked;
use crate::memory::{self, Room as _, collected};
use crate::trace::aggregate::calls::NONE;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Distinct, Trace};

/// So many that are open at once own a call, those opened last: no program opens more, and in a hostile capture the work
/// does not grow with the square of its ranges.
const DEEPEST: usize = 16;

/// Marks by process: an iteration owns the calls of every thread.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// By callee: a place in `processes`, or [`NONE`].
    of_callee: Vec<u32>,
    processes: Vec<Process>,
    /// By place of a mark: its process.
    of_mark: Vec<u32>,
}

/// Time cut into pieces wherever a mark of the process opens or has closed.
#[derive(Debug, Default)]
struct Process {
    /// Starts of pieces, and of their marks in `open`; the last piece never ends.
    cuts: Vec<(i64, u32)>,
    /// Places of marks, of each piece the one opened last first.
    open: Vec<u32>,
}

impl Owners {
    pub(super) fn of(trace: &Trace, chosen: &Chosen<'_>, marks: &[Marked<'_>]) -> Self {
        let key = |clock: u32, process: Option<i64>| (chosen.clocks[clock as usize], process);
        let mut keys = Distinct::default();
        let mut by_process: Vec<Vec<u32>> = Vec::new();
        let mut of_mark = memory::list(marks.len());
        for (place, mark) in (0..).zip(marks) {
            let label = trace.labels.all()[mark.label as usize];
            let process = keys.intern(key(label.clock, label.process_id));
            by_process.room(1);
            by_process.resize_with(keys.all().len(), Vec::new);
            by_process[process as usize].put(place);
            of_mark.push(process);
        }
        let callees = trace.callees.all().iter();
        let of_callee = callees.map(|callee| keys.find(&key(callee.clock, callee.process_id)).unwrap_or(NONE));
        Self {
            of_callee: collected(of_callee),
            processes: by_process.into_iter().map(|places| Process::of(&places, marks)).collect(),
            of_mark,
        }
    }

    /// The marks that were open at `time` in the process of a callee, the one opened last first.
    pub(super) fn of_call(&self, callee: u32, time: i64) -> &[u32] {
        let process = self.of_callee.get(callee as usize).copied().unwrap_or(NONE);
        self.processes.get(process as usize).map_or(&[], |process| process.at(time))
    }

    /// The number of the process of a mark.
    pub(super) fn process(&self, mark: usize) -> u32 {
        self.of_mark[mark]
    }

    /// The marks that were open at `time` in the process of a mark.
    pub(super) fn around(&self, mark: usize, time: i64) -> &[u32] {
        self.processes[self.of_mark[mark] as usize].at(time)
    }
}

impl Process {
    fn of(places: &[u32], marks: &[Marked<'_>]) -> Self {
        let mark = |place: u32| &marks[place as usize];
        let mut by_start = memory::copied(places);
        memory::probe(size_of_val(places));
        by_start.sort_by_key(|&place| mark(place).start);
        let bounds = |place: &u32| [Some(mark(*place).start), mark(*place).end.checked_add(1)];
        let mut times: Vec<i64> = collected(places.iter().flat_map(bounds).flatten());
        times.sort_unstable();
        times.dedup();
        let mut process = Self::default();
        let (mut next, mut open, mut ends) = (by_start.into_iter().peekable(), BTreeSet::new(), BinaryHeap::new());
        for time in times {
            while let Some(place) = next.next_if(|&place| mark(place).start <= time) {
                let (start, end) = (mark(place).start, mark(place).end);
                open.insert((Reverse(start), end, Reverse(place)));
                ends.room(1);
                ends.push(Reverse((end, start, place)));
            }
            while let Some(&Reverse((end, start, place))) = ends.peek().filter(|Reverse((end, ..))| *end < time) {
                ends.pop();
                open.remove(&(Reverse(start), end, Reverse(place)));
            }
            memory::check();
            process.cuts.put((time, process.open.len() as u32));
            process.open.room(DEEPEST);
            process.open.extend(open.iter().take(DEEPEST).map(|&(.., Reverse(place))| place));
        }
        process
    }

    fn at(&self, time: i64) -> &[u32] {
        let next = self.cuts.partition_point(|&(cut, _)| cut <= time);
        let Some(piece) = next.checked_sub(1) else { return &[] };
        let end = self.cuts.get(next).map_or(self.open.len(), |&(_, begin)| begin as usize);
        &self.open[self.cuts[piece].1 as usize..end]
    }
}
