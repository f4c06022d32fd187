//! Runs of kernels.

use super::cache::Cache;
use super::database::Database;
use super::devices::Devices;
use super::progress::{NONE, Numbers, Progress, known, times};
use super::strings::Strings;
use crate::error::Result;
use crate::trace::{Entry, KernelName, Kind, Shape, Trace, Work};

pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

const COLUMNS: [&str; 18] = [
    "start",
    "end",
    "graphNodeId",
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
    let mut cache = Cache::new();
    let mut nodes = false;
    progress.scan(database, TABLE, COLUMNS, |[start, end, node, what @ ..]| {
        let (start, end) = times(start, end)?;
        let what = cache.get(what, |what| work(what, strings, devices, trace))?;
        nodes |= node != NONE && node != 0;
        trace.kernels.push(Entry { what, start, end, bytes: 0 });
        Ok(())
    })?;
    Ok(nodes)
}

fn work(
    what: Numbers<15>,
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
    Ok(trace.works.intern(Work { queue, kind: Kind::Kernel(KernelName { full, short, mangled }, shape) }))
}

fn extent(numbers: [i64; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = numbers.map(|number| u32::try_from(number).ok());
    Some([x?, y?, z?])
}

fn size(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}
