//! The devices of an export, and their names.

use rustc_hash::FxHashMap;

use super::database::{Database, LONGEST_NAME, checked};
use super::numbers::{NONE, known};
use crate::trace::{Queue, Trace};

/// Far more than any machine has, times the processes that use them.
const MOST: usize = 1 << 12;

/// Places of devices in a trace, by process and number of the machine.
pub(super) struct Devices {
    pub(super) clock: u32,
    places: FxHashMap<(i64, i64), u32>,
    /// The machine's number of each device of a process, which may count otherwise (`CUDA_VISIBLE_DEVICES`). Exports since
    /// 2025 say how.
    of_machine: FxHashMap<(i64, i64), i64>,
}

impl Devices {
    /// Times of an export count from the start of its own session, so each has a clock of its own.
    pub(super) fn new(path: &str, database: &Database, trace: &mut Trace) -> Self {
        let clock = trace.add_clock(format!("capture {} {path}", trace.capture_number()));
        Self { clock, places: FxHashMap::default(), of_machine: numbers(database) }
    }

    /// The queue of an operation, or why it has none.
    pub(super) fn queue(
        &mut self,
        trace: &mut Trace,
        global_pid: i64,
        device: i64,
        stream: i64,
    ) -> Result<Queue, &'static str> {
        let process = process_of(global_pid);
        let device = self.of_machine.get(&(process, device)).copied().unwrap_or(device);
        let place = match self.places.get(&(process, device)) {
            Some(&place) => place,
            None if self.places.len() == MOST => return Err("too many devices"),
            None => {
                let place = trace.device(self.clock, known(process), known(device));
                self.places.insert((process, device), place);
                place
            }
        };
        Ok(Queue { device: place, stream: known(stream) })
    }

    /// Gives the devices their names, as far as the export has them.
    pub(super) fn name(&self, database: &Database, trace: &mut Trace) {
        let names = names(database);
        for (&(_, id), &place) in &self.places {
            if let (Some(Some(name)), Some(device)) = (names.get(&id), trace.devices.get_mut(place as usize)) {
                device.name = Some(name.clone());
            }
        }
    }
}

/// The process of a global number: the bits above it are the machine's, those below the thread's.
pub(super) fn process_of(global: i64) -> i64 {
    if global == NONE { NONE } else { (global >> 24) & 0xff_ffff }
}

/// The thread of a global number, by its number in its process.
pub(super) fn thread_of(global: i64) -> i64 {
    if global == NONE { NONE } else { global & 0xff_ffff }
}

/// Returns the names of the machine's devices. Two names of one number come from two machines: neither is sure.
fn names(database: &Database) -> FxHashMap<i64, Option<String>> {
    let mut names = FxHashMap::default();
    let table = "TARGET_INFO_GPU";
    let Some(found) = database.table(table) else { return names };
    // The oldest exports call it otherwise.
    let key = if found.has("id") { "id" } else { "deviceId" };
    let is_read = format!("typeof({key}) = 'integer' AND octet_length(name) <= {LONGEST_NAME}");
    let rows = list(database, &format!("SELECT {key}, name FROM {table} WHERE {is_read} LIMIT {MOST}"), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    });
    for (id, name) in rows {
        let name = Some(name);
        let first = names.entry(id).or_insert_with(|| name.clone());
        if *first != name {
            *first = None;
        }
    }
    names
}

/// The machine's numbers of the devices of each process.
fn numbers(database: &Database) -> FxHashMap<(i64, i64), i64> {
    let table = "TARGET_INFO_CUDA_DEVICE";
    if database.table(table).is_none() {
        return FxHashMap::default();
    }
    let is_read = ["pid", "cudaId", "gpuId"].map(|column| format!("typeof({column}) = 'integer'")).join(" AND ");
    let rows = list(database, &format!("SELECT pid, cudaId, gpuId FROM {table} WHERE {is_read} LIMIT {MOST}"), |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    });
    rows.into_iter().collect()
}

/// The rows that can be read. Rows may share the pages of a long text: `sql` selects by type and `octet_length`, which need none
/// of these pages.
pub(super) fn list<T>(database: &Database, sql: &str, read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let Ok(mut statement) = database.prepare(sql) else { return Vec::new() };
    checked(statement.query_map([], read)).map(|rows| rows.flat_map(checked).collect()).unwrap_or_default()
}
