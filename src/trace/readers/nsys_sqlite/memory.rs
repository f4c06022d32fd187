//! Copies and sets.

use std::mem;

use super::database::Database;
use super::devices::Devices;
use super::progress::{NONE, Progress, times};
use super::tally::{Events, Moment};
use crate::error::Result;
use crate::trace::{Kind, Log, Trace, Work};

pub(super) const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
pub(super) const SETS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";

const TIMES: [&str; 3] = ["start", "end", "bytes"];
const WHAT: [&str; 4] = ["globalPid", "deviceId", "streamId", "copyKind"];
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
        let take = |[start, end, bytes]: [i64; 3]| {
            let (start, end) = times(start, end)?;
            let bytes = u64::try_from(bytes).ok();
            Ok(Some(Moment { start, end, bytes: bytes.unwrap_or(0), note: bytes.is_some() }))
        };
        let events = Events { table, times: TIMES, what: WHAT, with_bytes: true, take };
        let mut log = mem::replace(&mut trace.memory, Log::new(true));
        progress.scan(database, &events, &mut log, |([pid, device, stream, copy], sized)| {
            let queue = devices.queue(trace, pid, device, stream)?;
            let kind = if table == SETS { "memset".to_owned() } else { copy_kind(copy) };
            let kind = trace.names.intern(&kind);
            Ok(trace.works.intern(Work { queue, kind: Kind::Memory { name: kind, kind, sized } }))
        })?;
        trace.memory = log;
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
