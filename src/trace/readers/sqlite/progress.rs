//! Goes through the rows of a table, whatever they hold: on its pages if they are as usual, else through SQLite.

use std::path::Path;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::database::{Database, Table, checked, quoted};
use super::numbers::NONE;
use super::pages::{self, Scan, Value};
use super::tally::{Events, Taken, Tally, What};
use crate::error::{Error, Result};
use crate::trace::readers::Interrupted;
use crate::trace::{Capture, Log, Trace, Warning, counted};

/// Work between two checks for an interruption: a row, or so many bytes of its texts, is 1.
const STRIDE: u64 = 1 << 15;
const BYTES_OF_WORK: u64 = 1 << 10;
/// Least number of bytes of a row: its place, two lengths, a number and the form of a column.
const SMALLEST_ROW: u64 = 5;

/// Reason why reading has stopped before the end.
enum Stop {
    Interrupted,
    Broken(String),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Number of rows of a table that were read, and the reason of the end.
pub(in crate::trace::readers) type Broken = (u64, String);

/// State of a capture while it is read.
pub(in crate::trace::readers) struct Progress<'a> {
    pub(in crate::trace::readers) capture: Capture,
    pub(in crate::trace::readers) warnings: Vec<Warning>,
    interrupted: Interrupted<'a>,
    /// Number of rows that a file with so many stored bytes can still hold. Tables that share pages, or form a cycle, hold more.
    rows_left: u64,
    /// Number of pages that are read without SQLite, most of them once.
    pages_left: u64,
    /// The first table that breaks off, and how many do.
    lost: Option<(String, u64)>,
}

impl<'a> Progress<'a> {
    pub(in crate::trace::readers) fn new(
        path: &Path,
        capture: Capture,
        database: &Database,
        interrupted: Interrupted<'a>,
    ) -> Self {
        let warnings = database.warnings(path, &capture.path);
        let capture = Capture { cut_short: database.promised_bytes.is_some(), ..capture };
        let rows_left = database.stored_bytes / SMALLEST_ROW;
        let pages_left = database.pages.as_ref().map_or(0, |pages| pages.budget(database.stored_bytes));
        let mut progress = Self { capture, warnings, interrupted, rows_left, pages_left, lost: None };
        for (name, why) in &database.unread {
            progress.lose(name, 0, why);
        }
        progress
    }

    /// Adds the rows of a table of events to `log`. `find` has their numbers in the trace. Missing columns are [`NONE`].
    pub(in crate::trace::readers) fn scan<const K: usize, T: Fn([i64; 4]) -> Taken + Sync>(
        &mut self,
        database: &Database,
        events: &Events<K, T>,
        log: &mut Log,
        mut find: impl FnMut(What<K>) -> std::result::Result<u32, &'static str>,
    ) -> Result<()> {
        let Some(table) = database.table(events.table) else { return Ok(()) };
        let names = || events.times.iter().chain(&events.what);
        let places: Option<Vec<_>> = names().map(|name| table.place(name)).collect();
        let read = places.and_then(|places| {
            self.on_pages(database, table, |scan| {
                let tallies = scan.read(events, &places)?;
                Ok((tallies.iter().map(Tally::seen).sum(), tallies))
            })
        });
        let (tallies, broken) = if let Some(tallies) = read {
            (tallies?.1, None)
        } else {
            let mut tally = Tally::new();
            let columns: Vec<&str> = names().copied().collect();
            let broken = self.rows(database, table, &columns, |row| {
                tally.take(events, numbers(row, 0), numbers(row, 4));
            })?;
            (vec![tally], broken)
        };
        for tally in tallies {
            tally.settle(log, &mut self.capture, &mut find);
        }
        if let Some((seen, why)) = broken {
            self.lose(&table.name, seen, &why);
        }
        Ok(())
    }

    /// Folds `take` over the rows of a table, and returns the place where the table is truncated, if it is. It starts again if
    /// the pages prove unusual on the way.
    pub(in crate::trace::readers) fn fold<const N: usize, S: Default>(
        &mut self,
        database: &Database,
        table: &Table,
        columns: [&str; N],
        mut take: impl FnMut(&mut S, &[Value<'_>; N]),
    ) -> Result<(S, Option<Broken>)> {
        let places: Option<Vec<_>> = columns.iter().map(|name| table.place(name)).collect();
        let read = places.and_then(|places| <[_; N]>::try_from(places).ok()).and_then(|places| {
            self.on_pages(database, table, |scan| {
                let (mut state, mut text_left) = (S::default(), database.most_text());
                let seen = scan.each(&places, |row| {
                    text_left = text_left.checked_sub(text_length(row)).ok_or(pages::Stop::Unusual)?;
                    take(&mut state, row);
                    Ok(())
                })?;
                Ok((seen, state))
            })
        });
        if let Some(read) = read {
            return Ok((read?.1, None));
        }
        let mut state = S::default();
        let broken = self.rows(database, table, &columns, |row| take(&mut state, &values(row)))?;
        Ok((state, broken))
    }

    /// Passes every row of a table to `take`, through SQLite: some of the columns are not numbers. Only lost rows are counted.
    pub(in crate::trace::readers) fn each(
        &mut self,
        database: &Database,
        table: &Table,
        columns: &[&str],
        take: impl FnMut(&Row<'_>),
    ) -> Result<()> {
        if let Some((seen, why)) = self.rows(database, table, columns, take)? {
            self.lose(&table.name, seen, &why);
        }
        Ok(())
    }

    /// Returns the number of rows of a table of events. They count as read.
    pub(in crate::trace::readers) fn count(&mut self, database: &Database, table: &Table) -> Result<u64> {
        let (seen, broken) = if let Some(counted) = self.on_pages(database, table, |scan| Ok((scan.count()?, ()))) {
            (counted?.0, None)
        } else {
            let mut seen = 0;
            let broken = self.rows(database, table, &[], |_| seen += 1)?;
            (seen, broken)
        };
        self.capture.events_read += seen;
        if let Some((seen, why)) = broken {
            self.lose(&table.name, seen, &why);
        }
        Ok(seen)
    }

    /// Returns the number of rows of a table, and the results of `read` for its pages; `None` if it is to be read through
    /// SQLite.
    fn on_pages<R>(
        &mut self,
        database: &Database,
        table: &Table,
        read: impl FnOnce(Scan<'_>) -> std::result::Result<(u64, R), pages::Stop>,
    ) -> Option<Result<(u64, R)>> {
        let scan = Scan {
            pages: database.pages.as_ref()?,
            root: table.root?,
            budget: &mut self.pages_left,
            interrupted: self.interrupted,
        };
        match read(scan) {
            Ok(read) => {
                self.rows_left = self.rows_left.checked_sub(read.0)?;
                Some(Ok(read))
            }
            Err(pages::Stop::Interrupted) => Some(Err(Error::Interrupted)),
            Err(pages::Stop::Unusual) => None,
        }
    }

    /// Gives `take` every row of a table, through SQLite. Returns how many there were, and why no more, if it breaks off.
    fn rows(
        &mut self,
        database: &Database,
        table: &Table,
        columns: &[&str],
        take: impl FnMut(&Row<'_>),
    ) -> Result<Option<Broken>> {
        let mut seen = 0;
        let stopped = self.each_row(database, &select(table, columns), &mut seen, take);
        self.rows_left = self.rows_left.saturating_sub(seen);
        match stopped {
            Ok(()) => Ok(None),
            Err(Stop::Interrupted) => Err(Error::Interrupted),
            Err(Stop::Broken(why)) => Ok(Some((seen, why))),
        }
    }

    fn each_row(
        &mut self,
        database: &Database,
        sql: &str,
        seen: &mut u64,
        mut take: impl FnMut(&Row<'_>),
    ) -> std::result::Result<(), Stop> {
        let (mut bytes_left, mut work) = (database.most_text(), 0);
        let mut statement = database.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = checked(statement.query([]))?;
        loop {
            if work == 0 && (self.interrupted)() {
                return Err(Stop::Interrupted);
            }
            database.start();
            let Some(row) = checked(rows.next())? else { return Ok(()) };
            if *seen >= self.rows_left {
                return Err(Stop::Broken("more rows than the size of the file allows".to_owned()));
            }
            let bytes = length(row, columns);
            let Some(left) = bytes_left.checked_sub(bytes) else {
                return Err(Stop::Broken("more text than the size of the file allows".to_owned()));
            };
            bytes_left = left;
            work += 1 + bytes / BYTES_OF_WORK;
            if work >= STRIDE {
                work = 0;
            }
            *seen += 1;
            take(row);
        }
    }

    /// The capture, once everything has been read.
    pub(in crate::trace::readers) fn finish(mut self, trace: &mut Trace) -> Capture {
        if let Some((evidence, count)) = self.lost {
            self.warnings.push(Warning {
                code: "rows_lost",
                message: format!("all figures lack unreadable rows of {}", counted(count, "table")),
                evidence: format!("{}: {evidence}", self.capture.path),
                hint: "Copy or export the file again: nsys export --type sqlite --output FILE REPORT".to_owned(),
            });
        }
        trace.warnings.append(&mut self.warnings);
        self.capture
    }

    /// Records that a table is truncated. The number of missing rows is unknown: they count as one.
    pub(in crate::trace::readers) fn lose(&mut self, table: &str, seen: u64, why: &str) {
        self.capture.skip("unreadable rest of a table", None);
        self.capture.cut_short = true;
        self.lost.get_or_insert_with(|| (format!("{table}, after {seen} rows: {why}"), 0)).1 += 1;
    }
}

/// Indexes are left alone: they need not agree with their table.
fn select(table: &Table, columns: &[&str]) -> String {
    let columns = columns.iter().map(|&name| if table.has(name) { quoted(name) } else { "NULL".to_owned() });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let columns = if columns.is_empty() { "1" } else { &columns };
    format!("SELECT {columns} FROM {} NOT INDEXED", quoted(&table.name))
}

/// All columns.
fn values<'a, const N: usize>(row: &'a Row<'_>) -> [Value<'a>; N] {
    std::array::from_fn(|place| match row.get_ref(place) {
        Ok(ValueRef::Integer(number)) => Value::Number(number),
        Ok(ValueRef::Null) => Value::Null,
        Ok(ValueRef::Text(text)) => Value::Text(text),
        _ => Value::Other,
    })
}

/// Returns the number of bytes of text in a row of a page.
fn text_length(row: &[Value<'_>]) -> u64 {
    row.iter().map(|value| if let Value::Text(text) = value { text.len() as u64 } else { 0 }).sum()
}

/// Returns the number of bytes of text, and of other bytes, in a row: SQLite has read them, whatever the column is for.
fn length(row: &Row<'_>, columns: usize) -> u64 {
    let of = |place| match row.get_ref(place) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len() as u64,
        _ => 0,
    };
    (0..columns).map(of).sum()
}

/// Columns from `first` on; `None` if one of them is no number.
fn numbers<const N: usize>(row: &Row<'_>, first: usize) -> Option<[i64; N]> {
    let mut numbers = [NONE; N];
    for (place, number) in numbers.iter_mut().enumerate() {
        match row.get_ref(first + place) {
            Ok(ValueRef::Integer(value)) => *number = value,
            Ok(ValueRef::Null) => (),
            _ => return None,
        }
    }
    Some(numbers)
}
