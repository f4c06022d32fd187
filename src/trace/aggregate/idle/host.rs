//! Activity of a thread before it launched the operation that a device waited for.

use super::loaders::{Load, Loaders};
use super::overlapping::Walk;
use super::spans::{Spans, cut, merge};
use super::{Before, Cause, Cut};
use crate::memory::{self, Room as _, collected};
use crate::trace::aggregate::calls::{Calls, NONE};
use crate::trace::aggregate::select::Chosen;
use crate::trace::aggregate::waits::Wait;
use crate::trace::{Distinct, Trace};

/// So many are explained at once, with one look at the calls of the time in which they lie; few in tests.
const TOGETHER: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// Collects parts of idle intervals before launches, and cuts them into pieces by the activity of the thread.
pub(super) struct Host<'a> {
    calls: &'a Calls<'a>,
    loaders: Loaders,
    /// By callee: its thread, if that is known.
    thread_of: Vec<u32>,
    before: Vec<Before>,
    /// True if all pieces are given, false if those of a part and a cause are given as one.
    each: bool,
}

/// A call in which a thread waits.
type Waiting = (u32, Wait, (i64, i64));

impl<'a> Host<'a> {
    pub(super) fn new(trace: &'a Trace, chosen: &'a Chosen<'_>, data_loaders: &[String], each: bool) -> Self {
        let mut threads = Distinct::default();
        let callees = trace.callees.all().iter();
        let thread_of = callees.map(|callee| {
            let clock = chosen.clocks[callee.clock as usize];
            callee.thread_id.map_or(NONE, |thread| threads.intern((clock, callee.process_id, thread)))
        });
        Self {
            calls: chosen.calls(),
            thread_of: collected(thread_of),
            loaders: Loaders::new(trace, chosen, data_loaders),
            before: Vec::new(),
            each,
        }
    }

    pub(super) fn add(&mut self, before: Before, take: &mut impl FnMut(Cut)) {
        self.before.put(before);
        if self.before.len() == TOGETHER {
            self.explain(take);
        }
    }

    /// Gives the pieces of all that were added.
    pub(super) fn explain(&mut self, take: &mut impl FnMut(Cut)) {
        let mut before = std::mem::take(&mut self.before);
        before.sort_unstable_by_key(|part| (self.by(part), part.start));
        let waiting = self.waiting(&before);
        for parts in before.chunk_by(|one, other| self.by(one) == self.by(other)) {
            let [of_thread, of_process] = self.loaders.of(parts[0].callee);
            let thread = self.thread_of[parts[0].callee as usize];
            let of = |wait| {
                let first = waiting.partition_point(|&(on, to, _)| (on, to) < (thread, wait));
                let count = waiting[first..].partition_point(|&(on, to, _)| (on, to) == (thread, wait));
                &waiting[first..first + count]
            };
            let (synchronization, allocation) = (of(Wait::Synchronization), of(Wait::Allocation));
            let (span, same) = (|waiting: &Waiting| waiting.2, |load: &Load| load.0);
            let waits = |time| {
                [
                    (Cause::Synchronization, Spans::new(synchronization, span, time)),
                    (Cause::Allocation, Spans::new(allocation, span, time)),
                ]
            };
            let loads = |spans, time| (Cause::DataLoader, Spans::new(spans, same, time));
            if self.each {
                for part in parts {
                    let time = part.start;
                    cut(waits(time), [of_thread, of_process].map(|spans| loads(spans, time)), part, take);
                }
            } else {
                let time = parts[0].start;
                Walk::new(waits(time), loads(of_thread, time), of_process, time).sum(parts, take);
            }
        }
        before.clear();
        self.before = before;
    }

    /// The thread of a part, and the lists of its data loaders: these differ where no thread is known.
    fn by(&self, part: &Before) -> (u32, [usize; 2]) {
        (self.thread_of[part.callee as usize], self.loaders.places(part.callee))
    }

    /// The calls in which a thread waits during one of its parts, which are sorted; touching ones of a kind are one.
    fn waiting(&self, before: &[Before]) -> Vec<Waiting> {
        let (mut start, mut end) = (i64::MAX, i64::MIN);
        let mut latest = memory::list(before.len());
        let mut thread_before = NONE;
        for part in before {
            (start, end) = (start.min(part.start), end.max(part.end));
            let thread = self.thread_of[part.callee as usize];
            let so_far = latest.last().copied().filter(|_| thread == thread_before).unwrap_or(i64::MIN);
            latest.push(part.end.max(so_far));
            thread_before = thread;
        }
        let mut waiting: Vec<Waiting> = Vec::new();
        if before.is_empty() {
            return waiting;
        }
        self.calls.with_waits(start, end).for_each(|(call, wait)| {
            let thread = self.thread_of[call.what as usize];
            let key = |part: &Before| (self.thread_of[part.callee as usize], part.start);
            let behind = before.partition_point(|part| key(part) < (thread, call.end));
            let meets = behind.checked_sub(1).is_some_and(|place| {
                self.thread_of[before[place].callee as usize] == thread && latest[place] > call.start
            });
            if meets && thread != NONE && call.end > call.start {
                waiting.put((thread, wait, (call.start, call.end)));
            }
        });
        waiting.sort_unstable();
        merge(&mut waiting, |one, other| (one.0, one.1) == (other.0, other.1), |waiting| &mut waiting.2);
        waiting
    }
}
