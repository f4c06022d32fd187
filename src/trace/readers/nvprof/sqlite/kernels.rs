//! Runs of kernels.

use std::mem;

use super::numbers::{Queues, correlation, text, times};
use super::{Database, KernelNames, Progress, Strings};
use crate::error::Result;
use crate::trace::readers::sqlite::numbers::{in_graph, shape};
use crate::trace::readers::sqlite::tally::{Events, Moment};
use crate::trace::{KernelName, Kind, Trace, Work};

/// Kernels of timelines, those that ran one at a time, and those that kernels launched.
pub(super) const TABLES: [&str; 3] =
    ["CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", SERIALIZED, "CUPTI_ACTIVITY_KIND_CDP_KERNEL"];
pub(super) const SERIALIZED: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

const TIMES: [&str; 4] = ["start", "end", "graphNodeId", "correlationId"];
const WHAT: [&str; 13] = [
    "deviceId",
    "streamId",
    "name",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "graphId",
];

/// Findings other than the kernels themselves.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// True if some kernels were nodes of graphs.
    pub(super) in_graphs: bool,
    /// Number of kernels that ran one at a time.
    pub(super) serialized: u64,
}

/// Reads them.
pub(super) fn read(
    database: &Database,
    strings: &mut Strings<'_>,
    names: &mut KernelNames,
    queues: &mut Queues,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<Found> {
    let mut found = Found::default();
    for table in TABLES {
        let take = |[start, end, node, id]: [i64; 4]| {
            let (start, end) = times(start, end)?;
            Ok(Some(Moment { start, end, bytes: 0, correlation: correlation(id), note: in_graph(node) }))
        };
        let events = Events { table, times: TIMES, what: WHAT, take };
        let mut log = mem::take(&mut trace.kernels);
        let before = log.len();
        progress.scan(database, &events, &mut log, |(what, is_node)| {
            let [device, stream, name, numbers @ .., graph] = what;
            let queue = queues.of(trace, device, stream)?;
            let name = match text(name) {
                Some(id) => names.of(strings.intern(id, &mut trace.names), &mut trace.names),
                None => KernelName { full: trace.names.intern("[no name]"), short: None, mangled: None },
            };
            let in_graph = is_node || in_graph(graph);
            found.in_graphs |= in_graph;
            Ok(trace.works.intern(Work { queue, in_graph, kind: Kind::Kernel(name, shape(numbers)) }))
        })?;
        if table == SERIALIZED {
            found.serialized = log.len() - before;
        }
        trace.kernels = log;
    }
    Ok(found)
}
