//! Ranges of NVTX: a row where each begins and one where it ends, with a number in common.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::numbers::{text, unsigned};
use super::{Database, Progress, Strings};
use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::trace::readers::times::plausible;
use crate::trace::{Label, Range, Reach, Source, Trace};

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_MARKER";

const COLUMNS: [&str; 7] = ["flags", "timestamp", "id", "name", "domain", "objectKind", "objectId"];
const START: i64 = 2;
const END: i64 = 4;
const PROCESS: i64 = 1;
const THREAD: i64 = 2;

/// One end of a range.
#[derive(Debug, Clone, Copy)]
struct Edge {
    id: i64,
    time: i64,
    /// Data of a range start.
    opens: Option<Opened>,
}

/// Data of a range that only its start has.
#[derive(Debug, Clone, Copy)]
struct Opened {
    name: i64,
    domain: i64,
    process_id: Option<i64>,
    thread_id: Option<i64>,
}

/// Reads them.
pub(super) fn read(
    database: &Database,
    strings: &mut Strings<'_>,
    clock: u32,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let Some(table) = database.table(TABLE) else { return Ok(()) };
    let (mut edges, mut marks, mut unread) = (Vec::<Edge>::new(), 0, 0);
    progress.each(database, table, &COLUMNS, |row| match edge(row) {
        Some(Some(edge)) => edges.put(edge),
        Some(None) => marks += 1,
        None => unread += 1,
    })?;
    progress.capture.events_read += marks;
    progress.capture.skip_many("unreadable marker", unread, None);
    // Rows are in no order.
    memory::probe(size_of_val(edges.as_slice()));
    edges.sort_by_key(|edge| (edge.id, edge.time, edge.opens.is_some()));
    for same in edges.chunk_by(|one, other| one.id == other.id) {
        pair(same, |opened, start, end| {
            let name = match text(opened.name) {
                Some(id) => strings.intern(id, &mut trace.names),
                None => trace.names.intern("[no name]"),
            };
            let domain = text(opened.domain).map(|id| strings.intern(id, &mut trace.names));
            let reach = if is_ours(trace.names.text(name)) { Reach::Process } else { Reach::Thread(opened.thread_id) };
            let capture = trace.captures.len() as u32;
            let (process_id, source) = (opened.process_id, Source::Nvtx);
            let label = Label { capture, clock, process_id, reach, name, domain, source, runner: None };
            let label = trace.labels.intern(label);
            trace.ranges.put(Range { label, start, end: Some(end) });
        })
        .report(progress);
    }
    Ok(())
}

/// Outcome of the rows with one number.
#[derive(Debug, Default)]
struct Outcome {
    read: u64,
    never_ended: u64,
    never_begun: u64,
    backwards: u64,
    /// For each range whose times cannot be true, the reason.
    implausible: Vec<&'static str>,
}

impl Outcome {
    /// Gives `add` a range, unless its times cannot be true.
    fn take(&mut self, opened: Opened, start: i64, end: i64, add: &mut impl FnMut(Opened, i64, i64)) {
        match plausible(start, end) {
            Ok((start, end)) => {
                self.read += 2;
                add(opened, start, end);
            }
            Err(reason) => self.implausible.put(reason),
        }
    }

    fn report(self, progress: &mut Progress<'_>) {
        let capture = &mut progress.capture;
        capture.events_read += self.read;
        capture.skip_many("range without an end", self.never_ended, None);
        capture.skip_many("end of a range without a start", self.never_begun, None);
        capture.skip_many("range that ends before its start", self.backwards, None);
        for reason in self.implausible {
            capture.skip_many(reason, 2, None);
        }
    }
}

/// Gives `add` each start with the end that comes next.
fn pair(edges: &[Edge], mut add: impl FnMut(Opened, i64, i64)) -> Outcome {
    let mut outcome = Outcome::default();
    // Hardly any number is used twice. Then an end comes before what begins at the same time, else after it.
    if let [one, other] = edges
        && let Some((start, opened, end)) = one
            .opens
            .map(|opened| (one, opened, other))
            .or_else(|| other.opens.map(|opened| (other, opened, one)))
            .filter(|(.., end)| end.opens.is_none())
    {
        if start.time <= end.time {
            outcome.take(opened, start.time, end.time, &mut add);
        } else {
            outcome.backwards = 2;
        }
        return outcome;
    }
    let mut open = None;
    for edge in edges {
        match (edge.opens, open.take()) {
            (Some(opened), before) => {
                outcome.never_ended += u64::from(before.is_some());
                open = Some((opened, edge.time));
            }
            (None, Some((opened, start))) => outcome.take(opened, start, edge.time, &mut add),
            (None, None) => outcome.never_begun += 1,
        }
    }
    outcome.never_ended += u64::from(open.is_some());
    outcome
}

/// Reads the end of a range; `Some(None)` for a marker of another kind, and `None` for an unreadable one.
#[allow(clippy::option_option, reason = "what cannot be read, what is no end, and an end")]
fn edge(row: &Row<'_>) -> Option<Option<Edge>> {
    let number = |place| row.get_ref(place).ok()?.as_i64().ok();
    let (flags, time, id) = (number(0)?, number(1)?, number(2)?);
    let opens = match flags {
        _ if flags & START != 0 => {
            let (process_id, thread_id) = object(number(5), row.get_ref(6).ok());
            Some(Opened { name: number(3)?, domain: number(4).unwrap_or(0), process_id, thread_id })
        }
        _ if flags & END != 0 => None,
        _ => return Some(None),
    };
    Some(Some(Edge { id, time, opens }))
}

/// Returns the process and the thread of an object. Bytes after the number of a process mean nothing.
fn object(kind: Option<i64>, value: Option<ValueRef<'_>>) -> (Option<i64>, Option<i64>) {
    let Some(ValueRef::Blob(bytes)) = value else { return (None, None) };
    let word = |at: usize| Some(i64::from(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)));
    match kind {
        Some(PROCESS) => (word(0), None),
        Some(THREAD) => (word(0), word(4).map(unsigned)),
        _ => (None, None),
    }
}

/// Returns true if a range is one of ours, `RUNNER/forward/3`: other threads may launch its activities.
fn is_ours(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '/');
    let number = parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let phase = parts.next().is_some_and(|part| matches!(part, "forward" | "backward"));
    number && phase && parts.next().is_some_and(|runner| !runner.is_empty())
}
