//! Launches of other threads of the process during ranges of a thread: autograd's threads launch the backward pass.

use rustc_hash::FxHashSet;

use super::innermost::Open;
use super::sums::{Sum, Timeline};
use crate::memory::{Room as _, collected, filled, gathered};
use crate::trace::aggregate::calls::NONE;
use crate::trace::aggregate::launched::Launch;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Distinct, Reach, Trace};

/// The ranges of all threads of a process together, with those of the process in the same rows; none where each process has
/// one thread.
#[derive(Default)]
pub(super) struct OtherThreads {
    /// By callee: a place in `timelines`, or [`NONE`].
    of_callees: Vec<u32>,
    timelines: Vec<Timeline>,
}

impl OtherThreads {
    /// `reaches` says of each row whether ranges of threads and whether ranges of processes are in it.
    pub(super) fn of(trace: &Trace, chosen: &Chosen<'_>, row_of: &[u32], reaches: &[(bool, bool)]) -> Self {
        let key = |clock: u32, process: Option<i64>| (chosen.clocks[clock as usize], process);
        let callers = trace.callees.all().iter().map(|callee| (key(callee.clock, callee.process_id), callee.thread_id));
        let with_ranges = trace.labels.all().iter().filter_map(|label| match label.reach {
            Reach::Thread(thread) => Some((key(label.clock, label.process_id), thread)),
            Reach::Process => None,
        });
        let threads: FxHashSet<_> = gathered(callers.chain(with_ranges));
        let processes: FxHashSet<_> = gathered(threads.iter().map(|&(process, _)| process));
        if threads.len() == processes.len() {
            return Self::default();
        }
        let mut keys = Distinct::default();
        let mut opens: Vec<Vec<Open>> = Vec::new();
        for (order, range) in (0..).zip(&trace.ranges).filter(|(_, range)| chosen.labels[range.label as usize]) {
            let label = &trace.labels.all()[range.label as usize];
            let what = row_of[range.label as usize];
            if reaches[what as usize].0 {
                let process = keys.intern(key(label.clock, label.process_id)) as usize;
                opens.room(1);
                opens.resize_with(keys.all().len(), Vec::new);
                let last = range.end.unwrap_or(i64::MAX);
                opens[process].put(Open { start: range.start, last, order, what });
            }
        }
        let callees = trace.callees.all().iter();
        let of_callees = callees.map(|callee| keys.find(&key(callee.clock, callee.process_id)).unwrap_or(NONE));
        Self { of_callees: collected(of_callees), timelines: collected(opens.into_iter().map(Timeline::of)) }
    }

    pub(super) fn add(&mut self, launch: &Launch, sum: Sum) {
        let process = self.of_callees.get(launch.callee as usize).copied().unwrap_or(NONE);
        if let Some(timeline) = self.timelines.get_mut(process as usize) {
            timeline.add(launch.start, sum);
        }
    }

    /// Returns, by row, the launches during its ranges by any thread, less those that belong to the ranges: `inclusive`.
    pub(super) fn sums(mut self, inclusive: &[Sum]) -> Vec<Sum> {
        let mut all = filled(Sum::default(), inclusive.len());
        for timeline in &mut self.timelines {
            timeline.inclusive(&mut all);
        }
        for (all, &inclusive) in all.iter_mut().zip(inclusive).filter(|(all, _)| **all != Sum::default()) {
            *all -= inclusive;
        }
        all
    }
}
