//! Goes through the rows of a table, whatever they hold.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::database::{Database, Table, quoted};
use crate::error::{Error, Result};
use crate::trace::readers::Interrupted;
use crate::trace::{Capture, Trace, Warning};

/// Stands for NULL. No identifier and no time of a capture is this number.
pub(super) const NONE: i64 = i64::MIN;
/// How many rows are read before the caller is asked whether to stop.
const STRIDE: u64 = 1 << 15;
/// What a row takes at least: its place, two lengths, a number and the form of a column.
const SMALLEST_ROW: u64 = 5;

/// The numbers of a row, in the order in which they were asked for.
pub(super) type Numbers<const N: usize> = [i64; N];
/// What becomes of a row: why it is left out, if it is.
pub(super) type Taken = std::result::Result<(), &'static str>;

/// Why reading has stopped before the end.
enum Stop {
    Interrupted,
    Broken(String),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// What is known of a capture while it is read.
pub(super) struct Progress<'a> {
    pub(super) capture: Capture,
    pub(super) warnings: Vec<Warning>,
    interrupted: Interrupted<'a>,
    /// How many more rows a file of this size can hold. Tables that share pages, or run in circles, hold more.
    rows_left: u64,
    /// The first table that breaks off, and how many do.
    lost: Option<(String, u64)>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(capture: Capture, database: &Database, interrupted: Interrupted<'a>) -> Self {
        let rows_left = database.size_bytes / SMALLEST_ROW;
        Self { capture, warnings: Vec::new(), interrupted, rows_left, lost: None }
    }

    /// Gives `take` every row of a table of events, and counts what it takes and what not. Columns that are not there are
    /// [`NONE`] throughout. Returns how many rows there were.
    pub(super) fn scan<const N: usize>(
        &mut self,
        database: &Database,
        table: &str,
        columns: [&str; N],
        mut take: impl FnMut(Numbers<N>) -> Taken,
    ) -> Result<u64> {
        let Some(found) = database.table(table) else { return Ok(0) };
        let mut seen = 0;
        let stopped = self.rows(database, &select(found, &columns), &mut seen, |row| numbers(row).and_then(&mut take));
        self.rows_left = self.rows_left.saturating_sub(seen);
        match stopped {
            Ok(()) => Ok(seen),
            Err(Stop::Interrupted) => Err(Error::Interrupted),
            Err(Stop::Broken(why)) => {
                self.lose(table, seen, &why);
                Ok(seen)
            }
        }
    }

    fn rows(
        &mut self,
        database: &Database,
        sql: &str,
        seen: &mut u64,
        mut take: impl FnMut(&Row<'_>) -> Taken,
    ) -> std::result::Result<(), Stop> {
        let mut statement = database.prepare(sql)?;
        let mut rows = statement.query([])?;
        loop {
            if seen.is_multiple_of(STRIDE) && (self.interrupted)() {
                return Err(Stop::Interrupted);
            }
            let Some(row) = rows.next()? else { return Ok(()) };
            if *seen >= self.rows_left {
                return Err(Stop::Broken("there are more rows than the file has room for".to_owned()));
            }
            *seen += 1;
            match take(row) {
                Ok(()) => self.capture.events_read += 1,
                Err(reason) => self.capture.skip(reason, None),
            }
        }
    }

    /// The capture, once everything has been read.
    pub(super) fn finish(mut self, trace: &mut Trace) -> Capture {
        if let Some((evidence, count)) = self.lost {
            self.warnings.push(Warning {
                code: "rows_lost",
                message: format!("{}: {count} tables cannot be read to their end", self.capture.path),
                evidence,
                hint: "copy or export the file again".to_owned(),
            });
        }
        trace.warnings.append(&mut self.warnings);
        self.capture
    }

    /// Notes that a table breaks off. How many rows are missing, nobody knows: they count as one.
    fn lose(&mut self, table: &str, seen: u64, why: &str) {
        self.capture.skip("the rest of its table cannot be read", None);
        self.lost.get_or_insert_with(|| (format!("{table}, after {seen} rows: {why}"), 0)).1 += 1;
    }
}

/// When something happened, or why that is not known.
pub(super) fn times(start: i64, end: i64) -> std::result::Result<(i64, i64), &'static str> {
    match (start, end) {
        (NONE, _) | (_, NONE) => Err("has no start or no end"),
        (start, end) if end < start => Err("ends before it starts"),
        times => Ok(times),
    }
}

/// `None` for [`NONE`].
pub(super) fn known(number: i64) -> Option<i64> {
    (number != NONE).then_some(number)
}

/// Indexes are left alone: they need not agree with their table.
fn select(table: &Table, columns: &[&str]) -> String {
    let columns = columns.iter().map(|&name| if table.has(name) { quoted(name) } else { "NULL".to_owned() });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let columns = if columns.is_empty() { "1" } else { &columns };
    format!("SELECT {columns} FROM {} NOT INDEXED", quoted(&table.name))
}

fn numbers<const N: usize>(row: &Row<'_>) -> std::result::Result<Numbers<N>, &'static str> {
    let mut numbers = [NONE; N];
    for (place, number) in numbers.iter_mut().enumerate() {
        match row.get_ref(place) {
            Ok(ValueRef::Integer(value)) => *number = value,
            Ok(ValueRef::Null) => (),
            _ => return Err("holds something else where a number belongs"),
        }
    }
    Ok(numbers)
}
