//! Copies and sets.

use std::mem;

use super::database::Database;
use super::devices::Devices;
use super::numbers::{copy_kind, in_graph};
use super::numbers::{correlation, times};
use super::progress::Progress;
use super::tally::{Events, Moment};
use crate::error::Result;
use crate::trace::{Kind, Trace, Work};

pub(super) const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
pub(super) const SETS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";

const TIMES: [&str; 4] = ["start", "end", "bytes", "correlationId"];
const WHAT: [&str; 5] = ["globalPid", "deviceId", "streamId", "copyKind", "graphNodeId"];
/// The kinds of copies, by number. `UM` is memory that host and device share.
const KINDS: [&str; 14] = [
    "unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "UM HtoD", "UM DtoH",
    "UM DtoD",
];

/// Reads both tables, and says whether some of their rows were nodes of graphs.
pub(super) fn read(
    database: &Database,
    devices: &mut Devices,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<bool> {
    let mut nodes = false;
    for table in [COPIES, SETS] {
        let take = |[start, end, bytes, id]: [i64; 4]| {
            let (start, end) = times(start, end)?;
            let bytes = u64::try_from(bytes).ok();
            let correlation = correlation(id);
            Ok(Some(Moment { start, end, bytes: bytes.unwrap_or(0), correlation, note: bytes.is_some() }))
        };
        let events = Events { table, times: TIMES, what: WHAT, take };
        let mut log = mem::take(&mut trace.memory);
        progress.scan(database, &events, &mut log, |([pid, device, stream, copy, node], sized)| {
            let queue = devices.queue(trace, pid, device, stream)?;
            let kind = if table == SETS { "memset".to_owned() } else { copy_kind(&KINDS, copy) };
            let kind = trace.names.intern(&kind);
            let in_graph = in_graph(node);
            nodes |= in_graph;
            Ok(trace.works.intern(Work { queue, in_graph, kind: Kind::Memory { name: kind, kind, sized } }))
        })?;
        trace.memory = log;
    }
    Ok(nodes)
}
