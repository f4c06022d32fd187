//! Runs of kernels.

use std::mem;

use super::database::Database;
use super::devices::Devices;
use super::numbers;
use super::numbers::{correlation, known, times};
use super::progress::Progress;
use super::strings::Strings;
use super::tally::{Events, Moment};
use crate::error::Result;
use crate::trace::{KernelName, Kind, Trace, Work};

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

const TIMES: [&str; 4] = ["start", "end", "graphNodeId", "correlationId"];
const WHAT: [&str; 15] = [
    "globalPid",
    "deviceId",
    "streamId",
    "demangledName",
    "shortName",
    "mangledName",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
];

/// Reads them, and says whether some were nodes of graphs.
pub(super) fn read(
    database: &Database,
    strings: &mut Strings<'_>,
    devices: &mut Devices,
    trace: &mut Trace,
    progress: &mut Progress<'_>,
) -> Result<bool> {
    let take = |[start, end, node, id]: [i64; 4]| {
        let (start, end) = times(start, end)?;
        let note = numbers::in_graph(node);
        Ok(Some(Moment { start, end, bytes: 0, correlation: correlation(id), note }))
    };
    let events = Events { table: TABLE, times: TIMES, what: WHAT, take };
    let mut nodes = false;
    let mut log = mem::take(&mut trace.kernels);
    progress.scan(database, &events, &mut log, |(what, is_node)| {
        let what = work(what, is_node, strings, devices, trace)?;
        nodes |= is_node;
        Ok(what)
    })?;
    trace.kernels = log;
    Ok(nodes)
}

fn work(
    what: [i64; 15],
    in_graph: bool,
    strings: &mut Strings<'_>,
    devices: &mut Devices,
    trace: &mut Trace,
) -> std::result::Result<u32, &'static str> {
    let [pid, device, stream, full, short, mangled, shape @ ..] = what;
    let queue = devices.queue(trace, pid, device, stream)?;
    let mut name = |id: i64| known(id).map(|id| strings.intern(id, &mut trace.names));
    let (full, short, mangled) = (name(full), name(short), name(mangled));
    let full = full.or(mangled).or(short).unwrap_or_else(|| trace.names.intern("[no name]"));
    let kind = Kind::Kernel(KernelName { full, short, mangled }, numbers::shape(shape));
    Ok(trace.works.intern(Work { queue, in_graph, kind }))
}
