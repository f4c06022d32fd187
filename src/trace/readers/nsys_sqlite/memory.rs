//! Copies and sets.

use super::cache::Cache;
use super::database::Database;
use super::devices::Devices;
use super::progress::{NONE, Progress, times};
use crate::error::Result;
use crate::trace::{Entry, Kind, Trace, Work};

pub(super) const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
pub(super) const SETS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";

const COLUMNS: [&str; 7] = ["start", "end", "bytes", "globalPid", "deviceId", "streamId", "copyKind"];
/// The kinds of copies, by number. `UM` is memory that host and device share.
const KINDS: [&str; 14] = [
    "unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "UM HtoD", "UM DtoH",
    "UM DtoD",
];

/// Reads both tables.
pub(super) fn read(
    database: &Database,
    devices: &mut Devices,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<()> {
    for table in [COPIES, SETS] {
        let mut cache = Cache::new();
        progress.scan(database, table, COLUMNS, |[start, end, bytes, place @ ..]| {
            let (start, end) = times(start, end)?;
            let bytes = u64::try_from(bytes).ok();
            let [pid, device, stream, copy] = place;
            let sized = i64::from(bytes.is_some());
            let what = cache.get([pid, device, stream, copy, sized], |_| {
                let queue = devices.queue(trace, pid, device, stream)?;
                let kind = if table == SETS { "memset".to_owned() } else { copy_kind(copy) };
                let kind = trace.names.intern(&kind);
                let kind = Kind::Memory { name: kind, kind, sized: bytes.is_some() };
                Ok(trace.works.intern(Work { queue, kind }))
            })?;
            trace.memory.push(Entry { what, start, end, bytes: bytes.unwrap_or(0) });
            Ok(())
        })?;
    }
    Ok(())
}

fn copy_kind(number: i64) -> String {
    let number = if number == NONE { 0 } else { number };
    match usize::try_from(number).ok().and_then(|number| KINDS.get(number)) {
        Some(kind) => format!("memcpy {kind}"),
        None => format!("memcpy kind {number}"),
    }
}
