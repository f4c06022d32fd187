//! Runs of kernels.

use std::mem;

use super::database::Database;
use super::devices::Devices;
use super::graphs;
use super::progress::{Progress, correlation, known, times};
use super::strings::Strings;
use super::tally::{Events, Moment};
use crate::error::Result;
use crate::trace::{KernelName, Kind, Shape, Trace, Work};

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
        let in_graph = graphs::is_node(node);
        Ok(Some(Moment { start, end, bytes: 0, correlation: correlation(id), note: in_graph }))
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
    let [pid, device, stream, full, short, mangled, registers, fixed, dynamic, gx, gy, gz, bx, by, bz] = what;
    let queue = devices.queue(trace, pid, device, stream)?;
    let mut name = |id: i64| known(id).map(|id| strings.intern(id, &mut trace.names, |text| text));
    let (full, short, mangled) = (name(full), name(short), name(mangled));
    let full = full.or(mangled).or(short).unwrap_or_else(|| trace.names.intern("[no name]"));
    let shape = Shape {
        grid: extent([gx, gy, gz]),
        block: extent([bx, by, bz]),
        registers_per_thread: u32::try_from(registers).ok(),
        shared_memory_bytes: size(fixed).zip(size(dynamic)).and_then(|(fixed, dynamic)| fixed.checked_add(dynamic)),
    };
    Ok(trace.works.intern(Work { queue, in_graph, kind: Kind::Kernel(KernelName { full, short, mangled }, shape) }))
}

fn extent(numbers: [i64; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = numbers.map(|number| u32::try_from(number).ok());
    Some([x?, y?, z?])
}

fn size(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}
