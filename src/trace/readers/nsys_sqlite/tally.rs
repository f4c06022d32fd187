//! What the rows of a table come to, before anyone has looked up what their numbers stand for. Parts of a table are read
//! apart, each into a [`Tally`] of its own.

use std::mem;
use std::sync::Arc;

use super::progress::NO_NUMBER;
use crate::trace::{Capture, Distinct, Entry, Log};

/// A capture has some hundred distinct rows, times left out. Where no two are alike, remembering them costs only memory.
const MOST: usize = if cfg!(any(test, fuzzing)) { 1 << 6 } else { 1 << 16 };

/// A table of events: the columns that are read, and how.
pub(super) struct Events<const K: usize, T> {
    pub(super) table: &'static str,
    /// Start, end, and whatever else differs from row to row.
    pub(super) times: [&'static str; 3],
    /// Columns that together say what happened. Few distinct rows of them make up a table.
    pub(super) what: [&'static str; K],
    /// Whether the events have sizes.
    pub(super) with_bytes: bool,
    /// What `times` come to.
    pub(super) take: T,
}

/// When something happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) bytes: u64,
    /// Belongs to what happened: see the table.
    pub(super) note: bool,
}

/// What becomes of a row: why it is left out, if it is, and nothing if it is an event that is only counted.
pub(super) type Taken = Result<Option<Moment>, &'static str>;

/// What happened, by the numbers of the row, and the note.
pub(super) type What<const K: usize> = ([i64; K], bool);

/// Rows with few distinct pieces of work; `log` refers to `whats`.
#[derive(Debug)]
struct Segment<const K: usize> {
    whats: Distinct<What<K>>,
    log: Log,
}

/// What the rows of a part of a table come to.
#[derive(Debug)]
pub(super) struct Tally<const K: usize> {
    full: Vec<Segment<K>>,
    last: Segment<K>,
    pub(super) read: u64,
    skipped: Vec<(&'static str, u64)>,
    with_bytes: bool,
}

impl<const K: usize> Segment<K> {
    fn new(with_bytes: bool) -> Self {
        Self { whats: Distinct::default(), log: Log::new(with_bytes) }
    }
}

impl<const K: usize> Tally<K> {
    pub(super) fn new(with_bytes: bool) -> Self {
        Self { full: Vec::new(), last: Segment::new(with_bytes), read: 0, skipped: Vec::new(), with_bytes }
    }

    /// A number for `what`, until [`Tally::segment`] changes.
    pub(super) fn number(&mut self, what: What<K>) -> u32 {
        if self.last.whats.all().len() == MOST && self.last.whats.find(&what).is_none() {
            self.full.push(mem::replace(&mut self.last, Segment::new(self.with_bytes)));
        }
        self.last.whats.intern(what)
    }

    /// How often numbers have begun anew.
    pub(super) fn segment(&self) -> usize {
        self.full.len()
    }

    /// Adds a row.
    pub(super) fn push(&mut self, what: u32, moment: Moment) {
        self.read += 1;
        self.last.log.push(Entry { what, start: moment.start, end: moment.end, bytes: moment.bytes });
    }

    /// Adds a row of which both are `None` where something else than a number stands.
    pub(super) fn take<T: Fn([i64; 3]) -> Taken>(
        &mut self,
        events: &Events<K, T>,
        times: Option<[i64; 3]>,
        what: Option<[i64; K]>,
    ) {
        let Some((times, what)) = times.zip(what) else { return self.skip(NO_NUMBER) };
        match (events.take)(times) {
            Ok(Some(moment)) => {
                let what = self.number((what, moment.note));
                self.push(what, moment);
            }
            Ok(None) => self.read += 1,
            Err(reason) => self.skip(reason),
        }
    }

    /// Counts a row that is left out.
    pub(super) fn skip(&mut self, reason: &'static str) {
        match self.skipped.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.skipped.push((reason, 1)),
        }
    }

    /// How many rows there were.
    pub(super) fn seen(&self) -> u64 {
        self.read + self.skipped.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Moves everything behind what was read before. `find` says what a row is called in the trace, or why it is left out.
    pub(super) fn settle(
        self,
        log: &mut Log,
        capture: &mut Capture,
        mut find: impl FnMut(What<K>) -> Result<u32, &'static str>,
    ) {
        capture.events_read += self.read;
        for (reason, count) in self.skipped {
            capture.skip_many(reason, count, None);
        }
        for segment in self.full.into_iter().chain([self.last]) {
            let found: Vec<Result<u32, &'static str>> = segment.whats.all().iter().map(|&what| find(what)).collect();
            if let Ok(found) = found.iter().copied().collect::<Result<Arc<[u32]>, _>>() {
                log.append(segment.log, &found);
                continue;
            }
            for entry in &segment.log {
                match found[entry.what as usize] {
                    Ok(what) => log.push(Entry { what, ..entry }),
                    Err(reason) => {
                        capture.events_read -= 1;
                        capture.skip(reason, None);
                    }
                }
            }
        }
    }
}
