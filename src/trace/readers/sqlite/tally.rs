//! Results of the rows of a table, before the meaning of their numbers has been looked up. Parts of a table are read
//! separately, each into a [`Tally`] of its own.

use std::mem;
use std::sync::Arc;

use crate::memory;
use crate::trace::{Capture, Distinct, Entry, Log};

/// Reason for which a row is skipped.
pub(in crate::trace::readers) const NO_NUMBER: &str = "text instead of a number";

/// Number of distinct rows that are remembered. A capture has some hundred, apart from their times. If all differ, remembering
/// them costs only memory.
const MOST: usize = if cfg!(any(test, fuzzing)) { 1 << 6 } else { 1 << 16 };

/// A table of events: the columns that are read, and how.
pub(in crate::trace::readers) struct Events<const K: usize, T> {
    pub(in crate::trace::readers) table: &'static str,
    /// Columns of the start, the end, another varying number, and the number that joins a call with its activities.
    pub(in crate::trace::readers) times: [&'static str; 4],
    /// Columns that together identify an event. A table has few distinct ones.
    pub(in crate::trace::readers) what: [&'static str; K],
    /// Conversion of `times`.
    pub(in crate::trace::readers) take: T,
}

/// Times of an event.
#[derive(Debug, Clone, Copy)]
pub(in crate::trace::readers) struct Moment {
    pub(in crate::trace::readers) start: i64,
    pub(in crate::trace::readers) end: i64,
    pub(in crate::trace::readers) bytes: u64,
    pub(in crate::trace::readers) correlation: u64,
    /// Part of the identity: see the table.
    pub(in crate::trace::readers) note: bool,
}

/// Outcome of a row: the reason for which it is skipped, or nothing if it is an event that is only counted.
pub(in crate::trace::readers) type Taken = Result<Option<Moment>, &'static str>;

/// Identity of an event: the numbers of the row, and the note.
pub(in crate::trace::readers) type What<const K: usize> = ([i64; K], bool);

/// Rows with few distinct pieces of work; `log` refers to `whats`.
#[derive(Debug)]
struct Segment<const K: usize> {
    whats: Distinct<What<K>>,
    log: Log,
}

/// Results of the rows of a part of a table.
#[derive(Debug)]
pub(in crate::trace::readers) struct Tally<const K: usize> {
    full: Vec<Segment<K>>,
    last: Segment<K>,
    pub(in crate::trace::readers) read: u64,
    skipped: Vec<(&'static str, u64)>,
}

impl<const K: usize> Segment<K> {
    fn new() -> Self {
        Self { whats: Distinct::default(), log: Log::default() }
    }
}

impl<const K: usize> Tally<K> {
    pub(in crate::trace::readers) fn new() -> Self {
        Self { full: Vec::new(), last: Segment::new(), read: 0, skipped: Vec::new() }
    }

    /// Returns a number for `what`, until [`Tally::segment`] changes.
    pub(in crate::trace::readers) fn number(&mut self, what: What<K>) -> u32 {
        if self.last.whats.all().len() == MOST && self.last.whats.find(&what).is_none() {
            self.full.push(mem::replace(&mut self.last, Segment::new()));
        }
        self.last.whats.intern(what)
    }

    /// Returns the number of times that numbers have started again.
    pub(in crate::trace::readers) fn segment(&self) -> usize {
        self.full.len()
    }

    /// Adds a row.
    pub(in crate::trace::readers) fn push(&mut self, what: u32, moment: Moment) {
        self.read += 1;
        let Moment { start, end, bytes, correlation, .. } = moment;
        self.last.log.push(Entry { what, start, end, bytes, correlation });
    }

    /// Adds a row. Both are `None` for a row with text instead of a number.
    pub(in crate::trace::readers) fn take<T: Fn([i64; 4]) -> Taken>(
        &mut self,
        events: &Events<K, T>,
        times: Option<[i64; 4]>,
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
    pub(in crate::trace::readers) fn skip(&mut self, reason: &'static str) {
        match self.skipped.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.skipped.push((reason, 1)),
        }
    }

    /// Returns the number of rows.
    pub(in crate::trace::readers) fn seen(&self) -> u64 {
        self.read + self.skipped.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Moves everything behind the rows that were read before. `find` returns the number of a row in the trace, or the reason
    /// to skip it.
    pub(in crate::trace::readers) fn settle(
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
            let found: Vec<Result<u32, &'static str>> =
                memory::collected(segment.whats.all().iter().map(|&what| find(what)));
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
