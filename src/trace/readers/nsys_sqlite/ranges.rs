//! Ranges of NVTX.
//!
//! One is either pushed and popped, on one thread, or started and ended, on any: the latter names what the whole process
//! does, and is given to all of its threads. The rest of the table is events, but no ranges: marks, and the names of
//! threads, categories and domains.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::database::{Database, Table};
use super::devices::{process_of, thread_of};
use super::numbers::{NONE, known};
use super::progress::Progress;
use super::strings::Strings;
use super::tally::NO_NUMBER;
use crate::error::Result;
use crate::memory::Room as _;
use crate::trace::readers::sqlite::pages::Value;
use crate::trace::readers::times::plausible;
use crate::trace::{Label, NameId, Names, Range, Reach, Source, Trace};

pub(super) const TABLE: &str = "NVTX_EVENTS";

const COLUMNS: [&str; 7] = ["eventType", "start", "end", "globalTid", "domainId", "textId", "text"];
/// The second of each was made from a text file.
const PUSHED: [i64; 2] = [59, 70];
const STARTED: [i64; 2] = [60, 71];
const DOMAIN: i64 = 75;

/// A row of the table.
struct Row<'a> {
    kind: i64,
    start: i64,
    end: i64,
    thread: i64,
    domain: i64,
    text_id: i64,
    text: Option<&'a [u8]>,
}

/// Results of the rows.
#[derive(Default)]
struct Found {
    ranges: Vec<Range>,
    read: u64,
    /// Number of rows by the reason for which they are skipped.
    skipped: BTreeMap<&'static str, u64>,
}

/// Reads them.
pub(super) fn read(
    database: &Database,
    strings: &mut Strings<'_>,
    clock: u32,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let Some(table) = database.table(TABLE).filter(|table| table.has_events()) else { return Ok(()) };
    let domains = domains(database, table, strings, &mut trace.names, progress)?;
    let (Found { ranges, read, skipped }, broken) =
        progress.fold(database, table, COLUMNS, |found: &mut Found, values| {
            let row = match Row::new(values) {
                Ok(Some(row)) => row,
                Ok(None) => return found.read += 1,
                Err(reason) => return *found.skipped.entry(reason).or_default() += 1,
            };
            let process = process_of(row.thread);
            let label = Label {
                capture: trace.captures.len() as u32,
                clock,
                process_id: known(process),
                reach: if STARTED.contains(&row.kind) {
                    Reach::Process
                } else {
                    Reach::Thread(known(thread_of(row.thread)))
                },
                name: name(&row, strings, &mut trace.names),
                domain: domains.get(&(process, row.domain)).copied(),
                source: Source::Nvtx,
                runner: None,
            };
            found.read += 1;
            found.ranges.put(Range { label: trace.labels.intern(label), start: row.start, end: known(row.end) });
        })?;
    trace.ranges.room(ranges.len());
    trace.ranges.extend(ranges);
    progress.capture.events_read += read;
    for (reason, count) in skipped {
        progress.capture.skip_many(reason, count, None);
    }
    if let Some((seen, why)) = broken {
        progress.lose(TABLE, seen, &why);
    }
    Ok(())
}

/// Returns the names of the domains of each process. Such a row may follow the ranges of its domain.
fn domains(
    database: &Database,
    table: &Table,
    strings: &mut Strings<'_>,
    names: &mut Names,
    progress: &mut Progress<'_>,
) -> Result<FxHashMap<(i64, i64), NameId>> {
    let (domains, _) =
        progress.fold(database, table, COLUMNS, |domains: &mut FxHashMap<(i64, i64), NameId>, values| {
            if values[0] != Value::Number(DOMAIN) {
                return;
            }
            if let Some(row) = Row::numbers(values).filter(|row| ![NONE, 0].contains(&row.domain)) {
                domains.room(1);
                domains.entry((process_of(row.thread), row.domain)).or_insert_with(|| name(&row, strings, names));
            }
        })?;
    Ok(domains)
}

impl<'a> Row<'a> {
    /// A row that is a range, or the reason why it is left out.
    fn new(values: &[Value<'a>; 7]) -> std::result::Result<Option<Self>, &'static str> {
        match values[0] {
            Value::Number(kind) if PUSHED.contains(&kind) || STARTED.contains(&kind) => (),
            Value::Number(_) | Value::Null => return Ok(None),
            Value::Text(_) | Value::Other => return Err(NO_NUMBER),
        }
        match Self::numbers(values) {
            None => Err(NO_NUMBER),
            Some(Self { start: NONE, .. }) => Err("no start"),
            Some(Self { start, end, .. }) if end != NONE && end < start => Err("an end before the start"),
            // Of one that was never ended, only the start can be wrong.
            Some(row) => plausible(row.start, known(row.end).unwrap_or(row.start)).map(|_| Some(row)),
        }
    }

    /// A row with numbers where they belong.
    fn numbers([kind, start, end, thread, domain, text_id, text]: &[Value<'a>; 7]) -> Option<Self> {
        let number = |value: &Value<'_>| match *value {
            Value::Number(number) => Some(number),
            Value::Null => Some(NONE),
            Value::Text(_) | Value::Other => None,
        };
        Some(Self {
            kind: number(kind)?,
            start: number(start)?,
            end: number(end)?,
            thread: number(thread)?,
            domain: number(domain)?,
            text_id: number(text_id)?,
            text: if let Value::Text(text) = *text { Some(text) } else { None },
        })
    }
}

/// The name of a range, in place or by number.
fn name(row: &Row<'_>, strings: &mut Strings<'_>, names: &mut Names) -> NameId {
    match (row.text, row.text_id) {
        (Some(text), _) => names.intern(&String::from_utf8_lossy(text)),
        (None, NONE) => names.intern("[no name]"),
        (None, id) => strings.intern(id, names),
    }
}
