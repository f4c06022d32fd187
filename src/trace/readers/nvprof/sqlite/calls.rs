//! Calls of the device's interfaces on the host. A profile has their numbers, not their names.

use std::mem;

use super::numbers::{correlation, unsigned};
use super::{Database, Progress};
use crate::error::Result;
use crate::trace::Trace;
use crate::trace::readers::sqlite::numbers::{NONE, known, times};
use crate::trace::readers::sqlite::tally::{Events, Moment};

/// The tables of the two interfaces, and the names of their functions in the order of their numbers, from 1 on. A number
/// never changes its meaning, and later releases only add some.
pub(super) const TABLES: [(&str, &str); 2] = [
    ("CUPTI_ACTIVITY_KIND_RUNTIME", include_str!("runtime_calls.txt")),
    ("CUPTI_ACTIVITY_KIND_DRIVER", include_str!("driver_calls.txt")),
];

const TIMES: [&str; 4] = ["start", "end", "returnValue", "correlationId"];
const WHAT: [&str; 3] = ["processId", "threadId", "cbid"];

/// Reads them, and says how many there are.
pub(super) fn read(database: &Database, clock: u32, trace: &mut Trace, progress: &mut Progress<'_>) -> Result<u64> {
    let mut log = mem::take(&mut trace.calls);
    let before = log.len();
    for (table, functions) in TABLES {
        let functions: Vec<&str> = functions.split_ascii_whitespace().collect();
        let take = |[start, end, _, id]: [i64; 4]| {
            let (start, end) = times(start, end)?;
            Ok(Some(Moment { start, end, bytes: 0, correlation: correlation(id), note: false }))
        };
        let events = Events { table, times: TIMES, what: WHAT, take };
        progress.scan(database, &events, &mut log, |([process, thread, number], _)| {
            let name = trace.names.intern(&name(&functions, number));
            Ok(trace.callee(clock, known(process).map(unsigned), known(thread).map(unsigned), name))
        })?;
    }
    let found = log.len() - before;
    trace.calls = log;
    Ok(found)
}

fn name(functions: &[&str], number: i64) -> String {
    let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
    match place.and_then(|place| functions.get(place)) {
        Some(&function) => function.to_owned(),
        None if number == NONE => "[no name]".to_owned(),
        None => format!("[cbid {number}]"),
    }
}
