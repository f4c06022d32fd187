//! Calls of the device's interface on the host.

use super::cache::Cache;
use super::database::Database;
use super::devices::process_of;
use super::progress::{NONE, Progress, known, times};
use super::strings::Strings;
use crate::error::Result;
use crate::trace::{Callee, Entry, Trace};

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

const COLUMNS: [&str; 5] = ["start", "end", "eventClass", "globalTid", "nameId"];
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
    let mut cache = Cache::new();
    let mut launched = false;
    progress.scan(database, TABLE, COLUMNS, |[start, end, class, thread, name]| {
        let (start, end) = times(start, end)?;
        if class == BACKTRACE {
            return Ok(());
        }
        let what = cache.get([process_of(thread), name], |[process, id]| {
            let name = match id {
                NONE => trace.names.intern("[no name]"),
                id => strings.intern(id, &mut trace.names, without_version),
            };
            let text = trace.names.text(name);
            launched |= GRAPH_LAUNCHES.iter().any(|launch| text.starts_with(launch));
            Ok(trace.callees.intern(Callee { clock, process_id: known(process), name }))
        })?;
        trace.calls.push(Entry { what, start, end, bytes: 0 });
        Ok(())
    })?;
    Ok(launched)
}

/// A name without the release of CUDA that brought it: `cudaMalloc` for `cudaMalloc_v3020`.
///
/// Releases have four digits or more. What is shorter tells functions apart: `cuGetProcAddress_v2`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((rest, digits)) if digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name,
    }
}
