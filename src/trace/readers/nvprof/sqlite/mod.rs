//! Profiles that nvprof wrote (`nvprof -o`), of every version of their form: SQLite with a table for each kind of CUPTI's
//! activity records.
//!
//! Tables and columns are found by name, never by the version's number; any may be missing. What is counted is what
//! `nvprof -i FILE` counts, but for its faults: a name that is missing does not end the reading of a table.
//!
//! *Events* are the rows of all tables of activities, those apart that describe the machine or the program.

mod calls;
mod kernels;
mod markers;
mod memory;
mod numbers;

use std::path::Path;

use self::numbers::Queues;
use super::names::KernelNames;
use crate::error::{Error, Result};
use crate::trace::readers::sqlite::database::{Database, Table, checked, kind_of_activities};
use crate::trace::readers::sqlite::progress::Progress;
use crate::trace::readers::sqlite::strings::Strings;
use crate::trace::readers::sqlite::{MAGIC, Refusal};
use crate::trace::readers::{Interrupted, Source};
use crate::trace::{Capture, Trace, Warning, counted};

/// The table that holds every text of a profile once, and its key.
const STRINGS: (&str, &str) = ("StringTable", "_id_");
const VERSION: &str = "Version";
/// Tables of objects instead of events, without their prefix.
const DESCRIBED: [&str; 12] = [
    "DEVICE",
    "DEVICE_ATTRIBUTE",
    "CONTEXT",
    "STREAM",
    "NAME",
    "MODULE",
    "FUNCTION",
    "SOURCE_LOCATOR",
    "INSTRUCTION_CORRELATION",
    "MARKER_DATA",
    "NVLINK",
    "PCIE",
];
const GRAPHS: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

/// Returns true if a file with this start is a profile of nvprof.
pub(in crate::trace::readers) fn matches(head: &[u8], path: &Path) -> bool {
    head.starts_with(MAGIC) && Database::open(path).is_ok_and(|database| is_profile(&database))
}

fn is_profile(database: &Database) -> bool {
    let has = |table| database.table(table).is_some();
    has(STRINGS.0) && has(VERSION) && !has("StringIds")
}

/// Reads a profile.
pub(in crate::trace::readers) fn read(
    source: Source<'_>,
    trace: &mut Trace,
    interrupted: Interrupted<'_>,
) -> Result<Capture> {
    let Source { file, capture, .. } = source;
    let shown = capture.path.clone();
    let refuse = |(reason, hint): Refusal| Error::NotACapture { path: shown.clone(), reason, hint: hint.to_owned() };
    let database = Database::open(file).map_err(&refuse)?;
    let capture = read_database(&database, file, capture, trace, interrupted)?;
    // Statements that did not end may have left out anything.
    database.check().map_err(refuse)?;
    Ok(capture)
}

fn read_database(
    database: &Database,
    path: &Path,
    capture: Capture,
    trace: &mut Trace,
    interrupted: Interrupted<'_>,
) -> Result<Capture> {
    let shown = &capture.path.clone();
    let clock = trace.add_clock(format!("capture {} {shown}", trace.capture_number()));
    let mut progress = Progress::new(path, capture, database, interrupted);
    progress.capture.format_version = version(database);

    let mut strings = Strings::open(database, STRINGS, interrupted)?;
    let mut queues = Queues::new(clock);
    let mut names = KernelNames::default();
    let kernels = kernels::read(database, &mut strings, &mut names, &mut queues, trace, &mut progress)?;
    memory::read(database, &mut queues, trace, &mut progress)?;
    let calls = calls::read(database, clock, trace, &mut progress)?;
    markers::read(database, &mut strings, clock, trace, &mut progress)?;

    let mut whole_graphs = 0;
    for table in database.tables.iter().filter(|table| is_only_counted(table)) {
        let rows = progress.count(database, table)?;
        if table.is_named(GRAPHS) {
            whole_graphs = rows;
        }
    }
    if whole_graphs > 0 && !kernels.in_graphs {
        progress.capture.graph_level = true;
        progress.warnings.push(graph_level(shown, whole_graphs));
    }
    if kernels.serialized > 0 && calls == 0 {
        progress.warnings.push(serialized(shown, kernels.serialized));
    }
    queues.describe(database, &mut strings, trace);
    progress.warnings.extend(strings.warning(shown));
    Ok(progress.finish(trace))
}

/// Returns true if the rows of a table are events that no summary needs.
fn is_only_counted(table: &Table) -> bool {
    let calls = calls::TABLES.iter().map(|(table, _)| table);
    let mut used = kernels::TABLES.iter().chain(&memory::TABLES).chain(calls).chain([&markers::TABLE]);
    kind_of_activities(&table.name).is_some_and(|kind| !DESCRIBED.iter().any(|one| kind.eq_ignore_ascii_case(one)))
        && !used.any(|used| table.is_named(used))
}

fn version(database: &Database) -> Option<String> {
    let sql = format!("SELECT version FROM {VERSION}");
    let version: i64 = checked(database.prepare(&sql).ok()?.query_row([], |row| row.get(0))).ok()?;
    Some(version.to_string())
}

fn graph_level(path: &str, graphs: u64) -> Warning {
    Warning {
        code: "graph_level_capture",
        message: "kernels of CUDA graphs are missing".to_owned(),
        evidence: format!("{path}: {} in {GRAPHS}", counted(graphs, "row")),
        hint: "Capture the kernels of graphs: nsys profile --cuda-graph-trace=node COMMAND".to_owned(),
    }
}

fn serialized(path: &str, kernels: u64) -> Warning {
    Warning {
        code: "serialized_kernels",
        message: "gaps and overlap are wrong, because kernels ran one at a time".to_owned(),
        evidence: format!("{path}: {} in {} without host calls", counted(kernels, "row"), kernels::SERIALIZED),
        hint: "Capture without --metrics and --events: nvprof --export-profile FILE COMMAND".to_owned(),
    }
}
