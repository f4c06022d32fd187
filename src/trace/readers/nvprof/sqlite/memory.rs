//! Copies and sets.

use std::mem;

use super::numbers::{Queues, correlation, times};
use super::{Database, Progress};
use crate::error::Result;
use crate::trace::readers::sqlite::numbers::{copy_kind, in_graph};
use crate::trace::readers::sqlite::tally::{Events, Moment};
use crate::trace::{Kind, Trace, Work};

/// Copies, copies between devices, and sets.
pub(super) const TABLES: [&str; 3] =
    ["CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2", "CUPTI_ACTIVITY_KIND_MEMSET"];

const TIMES: [&str; 4] = ["start", "end", "bytes", "correlationId"];
const WHAT: [&str; 5] = ["deviceId", "streamId", "copyKind", "graphNodeId", "graphId"];
/// The kinds of copies, by number.
const KINDS: [&str; 11] = ["unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"];

/// Reads the three tables.
pub(super) fn read(
    database: &Database,
    queues: &mut Queues,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<()> {
    for table in TABLES {
        let take = |[start, end, bytes, id]: [i64; 4]| {
            let (start, end) = times(start, end)?;
            let bytes = u64::try_from(bytes).ok();
            let (note, bytes) = (bytes.is_some(), bytes.unwrap_or(0));
            Ok(Some(Moment { start, end, bytes, correlation: correlation(id), note }))
        };
        let events = Events { table, times: TIMES, what: WHAT, take };
        let mut log = mem::take(&mut trace.memory);
        progress.scan(database, &events, &mut log, |([device, stream, copy, node, graph], sized)| {
            let queue = queues.of(trace, device, stream)?;
            let kind =
                trace.names.intern(&if table == TABLES[2] { "memset".to_owned() } else { copy_kind(&KINDS, copy) });
            let in_graph = in_graph(node) || in_graph(graph);
            Ok(trace.works.intern(Work { queue, in_graph, kind: Kind::Memory { name: kind, kind, sized } }))
        })?;
        trace.memory = log;
    }
    Ok(())
}
