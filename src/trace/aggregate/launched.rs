//! Launching API call of a device operation.
//!
//! Operations are taken a batch at a time. Their correlations go into a table; then those parts of the log of calls are read
//! in which some of these may be. Correlations ascend in both logs, more or less, so that a part is read about once.

use rustc_hash::FxHashMap;

use super::calls::{Calls, Correlations, NONE};
use super::in_order::in_order;
use super::select::Chosen;
use crate::memory::{Room as _, collected, filled};
use crate::trace::{Entry, Trace};

/// So many operations at a time, and their table stays in the processor's cache.
const BATCH: usize = 1 << 14;
/// No more than that where correlations are in no order: each batch then reads all calls.
const LARGEST_BATCH: usize = 1 << 19;
/// A batch for which more calls are read for each operation was too small.
const CALLS_PER_OPERATION: usize = 8;
/// So many correlations are one, as a power of two, in saying which parts are read.
const COARSE: u32 = 12;
/// Number of successive correlations on one page of the table, as a power of two.
const PAGE: u32 = 6;
/// No page was looked for yet; none has such higher bits.
const NOTHING: (u64, u32) = (u64::MAX, NONE);

/// A call of the device's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Launch {
    /// A place in [`Trace::callees`].
    pub(super) callee: u32,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Every operation in the order of the starts, kernels before memory operations that start with them, each with the call
/// that launched it: the first in the log of those of its correlation, within its capture and, where that is known, its process.
/// Where it is not known, calls of several processes with the correlation leave no answer. Another capture with its clock is
/// asked only if its own has no such call: then calls of several captures leave no answer, nor does one after the operation.
///
/// All operations come, whether or not they are chosen, and all calls are looked at.
pub(super) fn launched<'a>(
    trace: &'a Trace,
    chosen: &'a Chosen<'_>,
) -> impl Iterator<Item = (Entry, Option<Launch>)> + 'a {
    // Sorts first: meanwhile another thread may be making the index of calls.
    let operations = in_order(&trace.kernels, &trace.memory);
    let calls = chosen.calls();
    let scopes_of = collected(trace.works.all().iter().map(|work| calls.scopes_of_device[work.queue.device as usize]));
    Launched::new(calls, scopes_of, operations, BATCH)
}

struct Launched<'a, I> {
    calls: &'a Calls<'a>,
    /// By number of work.
    scopes_of: Vec<[u32; 2]>,
    operations: I,
    /// Each with its places in the table, or [`NONE`].
    batch: Vec<(Entry, [u32; 2])>,
    /// Number of entries that have been given out.
    given: usize,
    /// Number of entries.
    size: usize,
    table: Table,
}

impl<'a, I: Iterator<Item = Entry>> Launched<'a, I> {
    fn new(calls: &'a Calls<'_>, scopes_of: Vec<[u32; 2]>, operations: I, size: usize) -> Self {
        let table = Table::new(calls.scopes);
        Self { calls, scopes_of, operations, batch: Vec::new(), given: 0, size, table }
    }

    /// Takes the next operations and finds their calls.
    fn next_batch(&mut self) {
        self.table.clear();
        self.batch.clear();
        self.given = 0;
        let mut wanted = Wanted::new(self.calls.scopes);
        for entry in self.operations.by_ref().take(self.size) {
            let mut places = self.scopes_of[entry.what as usize];
            for place in &mut places {
                if entry.correlation == 0 {
                    *place = NONE;
                } else if *place != NONE {
                    wanted.add(*place, entry.correlation);
                    *place = self.table.place(*place, entry.correlation);
                }
            }
            self.batch.put((entry, places));
        }
        wanted.sort();
        let (mut read, table, scopes) = (0, &mut self.table, &self.calls.scopes_of_callee);
        let origins = &self.calls.origin_of_callee;
        self.calls.with_correlations(|correlations| wanted.meets(correlations)).for_each(|call| {
            read += 1;
            if call.correlation != 0 {
                for scope in scopes[call.what as usize].into_iter().filter(|&scope| scope != NONE) {
                    table.offer(scope, &call, origins);
                }
            }
        });
        if read > CALLS_PER_OPERATION * self.size && self.size < LARGEST_BATCH {
            self.size *= 2;
        }
    }
}

impl<I: Iterator<Item = Entry>> Iterator for Launched<'_, I> {
    type Item = (Entry, Option<Launch>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.batch.len() {
            self.next_batch();
        }
        let &(entry, [own, any]) = self.batch.get(self.given)?;
        self.given += 1;
        let launch = |place: u32| self.table.slots.get(place as usize).copied().flatten();
        let found = launch(own).or_else(|| launch(any).filter(|launch| launch.start <= entry.end));
        Some((entry, found.filter(|launch| launch.callee != NONE)))
    }
}

/// The correlations of a batch, roughly.
struct Wanted {
    /// By scope, in ascending order once they are sorted.
    some: Vec<(u32, u64)>,
    /// By scope: the last that was added.
    last: Vec<u64>,
}

impl Wanted {
    fn new(scopes: usize) -> Self {
        Self { some: Vec::new(), last: filled(u64::MAX, scopes) }
    }

    fn add(&mut self, scope: u32, correlation: u64) {
        let (coarse, last) = (correlation >> COARSE, &mut self.last[scope as usize]);
        if *last != coarse {
            *last = coarse;
            self.some.put((scope, coarse));
        }
    }

    fn sort(&mut self) {
        self.some.sort_unstable();
        self.some.dedup();
    }

    fn meets(&self, range: &Correlations) -> bool {
        let first = (range.scope, range.first >> COARSE);
        let next = self.some.partition_point(|&some| some < first);
        self.some.get(next).is_some_and(|&some| some <= (range.scope, range.last >> COARSE))
    }
}

/// First call of each wanted correlation. Successive correlations are on one page, and are found one after the other: the next
/// page is looked up once for many.
struct Table {
    /// By scope and higher bits of the correlation.
    pages: FxHashMap<(u32, u64), u32>,
    /// By scope: the higher bits and the page that were looked for last.
    last: Vec<(u64, u32)>,
    /// For each page, by lower bits of the correlation: one more than the place in `slots`, 0 for entries that are not wanted.
    places: Vec<u32>,
    slots: Vec<Option<Launch>>,
}

impl Table {
    fn new(scopes: usize) -> Self {
        Self { pages: FxHashMap::default(), last: filled(NOTHING, scopes), places: Vec::new(), slots: Vec::new() }
    }

    /// Returns the place of a correlation, if its page is here.
    #[inline]
    fn find(&mut self, scope: u32, correlation: u64) -> Option<usize> {
        let (page_of, within) = (correlation >> PAGE, (correlation & ((1 << PAGE) - 1)) as usize);
        let last = &mut self.last[scope as usize];
        if last.0 != page_of {
            *last = (page_of, self.pages.get(&(scope, page_of)).copied().unwrap_or(NONE));
        }
        (last.1 != NONE).then(|| ((last.1 as usize) << PAGE) + within)
    }

    /// The place of a correlation from now on.
    fn place(&mut self, scope: u32, correlation: u64) -> u32 {
        let found = self.find(scope, correlation).unwrap_or_else(|| {
            let (page_of, page) = (correlation >> PAGE, self.pages.len() as u32);
            self.pages.room(1);
            self.pages.insert((scope, page_of), page);
            self.last[scope as usize] = (page_of, page);
            self.places.room(1 << PAGE);
            self.places.resize((page as usize + 1) << PAGE, 0);
            ((page as usize) << PAGE) + (correlation & ((1 << PAGE) - 1)) as usize
        });
        if self.places[found] == 0 {
            self.slots.put(None);
            self.places[found] = self.slots.len() as u32;
        }
        self.places[found] - 1
    }

    /// Takes a call, if it is the first of a correlation that is wanted. After one of another process or capture no callee is
    /// known, unless two captures record the same call.
    #[inline]
    fn offer(&mut self, scope: u32, call: &Entry, origins: &[(Option<i64>, u32)]) {
        let Some(found) = self.find(scope, call.correlation) else { return };
        if let Some(slot) = (self.places[found] as usize).checked_sub(1).map(|place| &mut self.slots[place]) {
            let first = slot.get_or_insert(Launch { callee: call.what, start: call.start, end: call.end });
            let origin = |callee: u32| origins.get(callee as usize).copied().unwrap_or_default();
            let ((process, capture), (other_process, other_capture)) = (origin(first.callee), origin(call.what));
            let is_same_call = (first.start, first.end) == (call.start, call.end);
            if process != other_process || (capture != other_capture && !is_same_call) {
                first.callee = NONE;
            }
        }
    }

    fn clear(&mut self) {
        self.pages.clear();
        self.last.fill(NOTHING);
        self.places.clear();
        self.slots.clear();
    }
}

#[cfg(test)]
mod tests;
