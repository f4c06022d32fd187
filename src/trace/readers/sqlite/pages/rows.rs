//! The rows of a table, read in parts on all threads.

use std::sync::atomic::{AtomicBool, Ordering};

use super::btree::{self, Leaf};
use super::file::Pages;
use super::leaves::Leaves;
use super::memo::Memo;
use super::record::{Field, Place, Shapes};
use super::value::{Columns, Value};
use super::{Stop, usual};
use crate::par;
use crate::trace::readers::sqlite::tally::{Events, NO_NUMBER, Taken, Tally};

/// Number of leaves that are worth a thread.
const LEAST: usize = 64;
/// Some more parts than threads: not all of them are equally fast.
const PARTS: usize = 8;

/// A table that is to be read.
pub(in crate::trace::readers) struct Scan<'a> {
    pub(in crate::trace::readers) pages: &'a Pages,
    pub(in crate::trace::readers) root: u32,
    /// Number of pages that may still be read.
    pub(in crate::trace::readers) budget: &'a mut u64,
    pub(in crate::trace::readers) interrupted: &'a dyn Fn() -> bool,
}

impl Scan<'_> {
    /// Returns the number of rows.
    pub(in crate::trace::readers) fn count(self) -> Result<u64, Stop> {
        let counts = self.in_parts(|leaves| {
            let mut seen = 0;
            while let Some(leaf) = leaves.next()? {
                for row in leaf.rows() {
                    row?;
                    seen += 1;
                }
            }
            Ok(seen)
        })?;
        Ok(counts.iter().sum())
    }

    /// Returns the results of its rows, part by part. `places` has the columns of `events`, `times` first.
    pub(in crate::trace::readers) fn read<const K: usize, T: Fn([i64; 4]) -> Taken + Sync>(
        self,
        events: &Events<K, T>,
        places: &[Place],
    ) -> Result<Vec<Tally<K>>, Stop> {
        self.in_parts(|leaves| {
            let mut part = Part::new(events, places);
            while let Some(leaf) = leaves.next()? {
                part.add(leaf)?;
            }
            Ok(part.tally)
        })
    }

    /// Gives `take` columns of every row, one row after the other. How many there were.
    pub(in crate::trace::readers) fn each<const N: usize>(
        self,
        places: &[Place; N],
        mut take: impl FnMut(&[Value<'_>; N]) -> Result<(), Stop>,
    ) -> Result<u64, Stop> {
        let Self { pages, root, budget, interrupted } = self;
        if !pages.has_utf8 {
            return Err(Stop::Unusual);
        }
        let columns = Columns::new(places);
        let leaves = btree::leaves(pages, root, budget, interrupted)?;
        let mut leaves = Leaves::new(pages, &leaves, root, interrupted);
        let mut seen = 0;
        while let Some(leaf) = leaves.next()? {
            for payload in leaf.rows() {
                take(&usual(columns.of(leaf.bytes(), payload?))?)?;
                seen += 1;
            }
        }
        Ok(seen)
    }

    /// Calls `read` for each part of the table, with a source of its leaves.
    fn in_parts<R: Send>(self, read: impl Fn(&mut Leaves<'_>) -> Result<R, Stop> + Sync) -> Result<Vec<R>, Stop> {
        let Self { pages, root, budget, interrupted } = self;
        let leaves = btree::leaves(pages, root, budget, interrupted)?;
        let most = leaves.len().div_ceil(par::threads() * PARTS).max(LEAST);
        let stopped = AtomicBool::new(false);
        let parts = par::map(leaves.chunks(most), interrupted, |leaves, interrupted| {
            let stop = || interrupted() || stopped.load(Ordering::Relaxed);
            let outcome = read(&mut Leaves::new(pages, leaves, root, &stop));
            stopped.fetch_or(outcome.is_err(), Ordering::Relaxed);
            outcome
        });
        // Those that another has stopped say that they were interrupted.
        if parts.iter().any(|part| matches!(part, Err(Stop::Unusual))) {
            return Err(Stop::Unusual);
        }
        parts.into_iter().collect()
    }
}

/// A part of a table while it is read.
struct Part<'a, const K: usize, T> {
    events: &'a Events<K, T>,
    shapes: Shapes<'a>,
    memo: Memo,
    tally: Tally<K>,
}

impl<'a, const K: usize, T: Fn([i64; 4]) -> Taken> Part<'a, K, T> {
    fn new(events: &'a Events<K, T>, places: &'a [Place]) -> Self {
        let (shapes, tally) = (Shapes::new(places), Tally::new());
        Self { events, shapes, memo: Memo::new(), tally }
    }

    fn add(&mut self, leaf: Leaf<'_>) -> Result<(), Stop> {
        for payload in leaf.rows() {
            let payload = payload?;
            let shape = self.shapes.find(leaf.bytes(), payload)?;
            let record = usual(leaf.bytes().get(payload.at..))?;
            let fields = self.shapes.fields(shape).and_then(<[Field]>::split_first_chunk);
            let Some((times, what)) = fields else {
                self.tally.skip(NO_NUMBER);
                continue;
            };
            match (self.events.take)(times.map(|field| field.of(record))) {
                Ok(Some(moment)) => {
                    let number = self.memo.number(&mut self.tally, (shape, what), record, moment.note);
                    self.tally.push(number, moment);
                }
                Ok(None) => self.tally.read += 1,
                Err(reason) => self.tally.skip(reason),
            }
        }
        Ok(())
    }
}
