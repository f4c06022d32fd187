//! Scopes of ranges: the threads whose calls a range covers.

use crate::memory::collected;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Distinct, Reach, Trace};

/// A thread, or a whole process: a clock, a process, and its threads.
type Key = (u32, Option<i64>, Reach);

/// The threads and processes that have ranges.
#[derive(Debug, Default)]
pub(in crate::trace::aggregate) struct Scopes {
    keys: Distinct<Key>,
    /// By number of label.
    of_labels: Vec<u32>,
    /// By number of callee: where the ranges around its calls are.
    of_callees: Vec<Around>,
}

/// The scopes in which a call lies.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::trace::aggregate) struct Around {
    pub(in crate::trace::aggregate) thread: Option<u32>,
    pub(in crate::trace::aggregate) process: Option<u32>,
}

impl Around {
    pub(in crate::trace::aggregate) fn each(self) -> impl Iterator<Item = usize> {
        [self.thread, self.process].into_iter().flatten().map(|scope| scope as usize)
    }
}

impl Scopes {
    pub(in crate::trace::aggregate) fn of(trace: &Trace, chosen: &Chosen<'_>) -> Self {
        let clock_of = |clock: u32| chosen.clocks[clock as usize];
        let mut keys = Distinct::default();
        let labels = trace.labels.all().iter();
        let of_labels =
            collected(labels.map(|label| keys.intern((clock_of(label.clock), label.process_id, label.reach))));
        let of_callees = trace.callees.all().iter().map(|callee| {
            let scope = |reach| keys.find(&(clock_of(callee.clock), callee.process_id, reach));
            Around { thread: scope(Reach::Thread(callee.thread_id)), process: scope(Reach::Process) }
        });
        let of_callees = collected(of_callees);
        Self { keys, of_labels, of_callees }
    }

    pub(in crate::trace::aggregate) fn len(&self) -> usize {
        self.keys.all().len()
    }

    pub(in crate::trace::aggregate) fn of_label(&self, label: u32) -> usize {
        self.of_labels[label as usize] as usize
    }

    pub(in crate::trace::aggregate) fn around(&self, callee: u32) -> Around {
        self.of_callees[callee as usize]
    }

    /// The process of a scope, if ranges reach the whole of it.
    pub(in crate::trace::aggregate) fn process_of(&self, scope: usize) -> Option<usize> {
        let (clock, process, _) = self.keys.all()[scope];
        self.keys.find(&(clock, process, Reach::Process)).map(|scope| scope as usize)
    }
}
