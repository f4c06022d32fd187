//! Calls of the device's interface on the host.

use std::mem;

use rustc_hash::FxHashSet;

use super::database::Database;
use super::devices::{process_of, thread_of};
use super::numbers::{NONE, correlation, known, times};
use super::progress::Progress;
use super::strings::Strings;
use super::tally::{Events, Moment};
use crate::error::Result;
use crate::memory::Room as _;
use crate::trace::Trace;
use crate::trace::readers::sqlite::pages::Value;

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

const TIMES: [&str; 4] = ["start", "end", "eventClass", "correlationId"];
const WHAT: [&str; 2] = ["globalTid", "nameId"];
/// The class of rows that repeat a call, to say where it came from.
const BACKTRACE: i64 = 67;
const GRAPH_LAUNCHES: [&str; 2] = ["cudaGraphLaunch", "cuGraphLaunch"];

/// Reads them, and says whether graphs were launched.
pub(super) fn read(
    database: &Database,
    strings: &mut Strings<'_>,
    clock: u32,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<bool> {
    let take = |[start, end, class, id]: [i64; 4]| {
        let (start, end) = times(start, end)?;
        let correlation = correlation(id);
        Ok((class != BACKTRACE).then_some(Moment { start, end, bytes: 0, correlation, note: false }))
    };
    let events = Events { table: TABLE, times: TIMES, what: WHAT, take };
    let mut launched = false;
    let mut log = mem::take(&mut trace.calls);
    progress.scan(database, &events, &mut log, |([thread, name], _)| {
        let name = match name {
            NONE => trace.names.intern("[no name]"),
            id => {
                let full = strings.intern(id, &mut trace.names);
                let text = without_version(trace.names.text(full)).to_owned();
                trace.names.intern(&text)
            }
        };
        launched |= launches_graph(trace.names.text(name));
        Ok(trace.callee(clock, known(process_of(thread)), known(thread_of(thread)), name))
    })?;
    trace.calls = log;
    Ok(launched)
}

/// Returns true if a call launched a graph, for views that read no calls.
pub(super) fn launch_graphs(
    database: &Database,
    strings: &mut Strings<'_>,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<bool> {
    let Some(table) = database.table(TABLE) else { return Ok(false) };
    let take = |found: &mut FxHashSet<i64>, value: &[Value<'_>; 1]| {
        if let [Value::Number(id)] = *value {
            found.room(1);
            found.insert(id);
        }
    };
    let (ids, _) = progress.fold(database, table, ["nameId"], take)?;
    Ok(ids.into_iter().any(|id| {
        let name = strings.intern(id, &mut trace.names);
        launches_graph(trace.names.text(name))
    }))
}

fn launches_graph(name: &str) -> bool {
    GRAPH_LAUNCHES.iter().any(|launch| name.starts_with(launch))
}

/// Returns a name without the CUDA release that introduced it: `cudaMalloc` for `cudaMalloc_v3020`.
///
/// Releases have four digits or more. Shorter numbers distinguish functions: `cuGetProcAddress_v2`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((rest, digits)) if digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name,
    }
}
