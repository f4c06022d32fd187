//! Exports of Nsight Systems to SQLite, of every schema from 2020.3 on.
//!
//! A file from elsewhere is not trusted: it is opened read-only and as immutable, only real tables are read, and only columns
//! that are known by name, so that nothing in it can run or be written. An invalid row is counted and skipped; a truncated file
//! is read as far as it goes.
//!
//! *Events* are the rows of every table called `CUPTI_ACTIVITY_KIND_*` and of every other with times in a column `start` or
//! `timestamp`. Those of tables that no summary needs are counted as read.
//!
//! If backtraces were collected, API calls are recorded twice, also in rows of a class of its own: these are events, but no
//! calls.

mod calls;
mod devices;
mod diagnostics;
mod environment;
mod form;
mod graphs;
mod kernels;
mod memory;
mod ranges;

use std::path::Path;

pub use self::diagnostics::reports_loss;

use self::database::{Database, Table};
use self::devices::Devices;
use self::progress::Progress;
use self::strings::Strings;
use super::sqlite::{Refusal, database, numbers, progress, strings, tally};
use super::{Interrupted, Source};
use crate::error::{Error, Result};
use crate::trace::{Capture, Extent, Trace};

/// The tables that a summary is made of, and that of messages. The rows of all others are only counted.
const USED: [&str; 6] = [kernels::TABLE, memory::COPIES, memory::SETS, calls::TABLE, ranges::TABLE, diagnostics::TABLE];

/// Reads an export.
pub(super) fn read(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>) -> Result<Capture> {
    read_file(source.file, source.capture, trace, interrupted)
}

fn read_file(path: &Path, capture: Capture, trace: &mut Trace, interrupted: Interrupted<'_>) -> Result<Capture> {
    let shown = capture.path.clone();
    let refuse = |(reason, hint): Refusal| Error::NotACapture { path: shown.clone(), reason, hint: hint.to_owned() };
    let database =
        Database::open(path).and_then(|database| form::check(&database).map(|()| database)).map_err(&refuse)?;
    let capture = read_database(&database, path, capture, trace, interrupted)?;
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
    let mut progress = Progress::new(path, capture, database, interrupted);
    (progress.capture.format_version, progress.capture.tool_version) = form::versions(database);
    progress.capture.environment = environment::read(database);

    let mut strings = Strings::open(database, form::STRINGS, interrupted)?;
    let mut devices = Devices::new(shown, database, trace);
    let mut nodes = kernels::read(database, &mut strings, &mut devices, trace, &mut progress)?;
    if trace.extent != Extent::Kernels {
        nodes |= memory::read(database, &mut devices, trace, &mut progress)?;
    }
    let launched = if trace.extent == Extent::Whole {
        let launched = calls::read(database, &mut strings, devices.clock, trace, &mut progress)?;
        ranges::read(database, &mut strings, devices.clock, trace, &mut progress)?;
        launched
    } else {
        // Views of devices lack the same kernels. Only for a profiler with this option are the names of calls needed.
        !nodes && graphs::has_no_nodes(database) && calls::launch_graphs(database, &mut strings, trace, &mut progress)?
    };

    diagnostics::read(shown, database, &mut progress)?;
    let mut whole_graphs = 0;
    let is_used = |table: &Table| USED.iter().any(|used| table.is_named(used));
    for table in database.tables.iter().filter(|table| table.has_events() && !is_used(table)) {
        let rows = progress.count(database, table)?;
        if table.is_named(graphs::TABLE) {
            whole_graphs = rows;
        }
    }
    if let Some(warning) = graphs::warning(shown, database, whole_graphs, launched && !nodes) {
        progress.capture.graph_level = true;
        progress.warnings.push(warning);
    }
    progress.warnings.extend(strings.warning(shown));
    devices.name(database, trace);
    Ok(progress.finish(trace))
}

#[cfg(test)]
mod tests;
