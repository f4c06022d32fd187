//! Small databases, made here, in every form in which exports come.

mod corpus;
mod forms;
mod hostile;
mod pages;
mod ranges;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::error::Error;
use crate::trace::{Capture, Extent, Kind, Trace};

/// The core that all exports have, from 2020.3 on.
const CORE: &str = "
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
        shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
        blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
        correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
    INSERT INTO StringIds VALUES (1, 'void gemm<float>(int)'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000');
    INSERT INTO TARGET_INFO_GPU VALUES (281474976710656, 0, 'Example GPU');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (100, 150, 0, 1, 7, 1, (1 << 48) | (42 << 24), 1, 2, 32, 4, 5, 6, 128, 1, 1, 16, 1024, NULL),
        (200, 260, 0, 1, 7, 2, (1 << 48) | (42 << 24), 1, 2, 32, 4, 5, 6, 128, 1, 1, 16, 1024, NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90, 95, 0, 0, 1, 3, 0), (190, 195, 0, 0, 2, 3, 700);
";

/// A folder that goes with its value.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A database that statements make.
    fn database(&self, name: &str, sql: &[&str]) -> PathBuf {
        let path = self.0.path().join(name);
        let connection = Connection::open(&path).unwrap();
        for sql in sql {
            connection.execute_batch(sql).unwrap();
        }
        path
    }
}

fn read(path: &Path) -> Result<Trace, Error> {
    let mut trace = Trace::default();
    read_into(path, &mut trace).map(|()| trace)
}

fn named(path: &Path) -> Capture {
    let size_bytes = fs::metadata(path).map_or(0, |found| found.len());
    Capture { path: path.display().to_string(), format: "nsys-sqlite", size_bytes, ..Capture::default() }
}

fn read_into(path: &Path, trace: &mut Trace) -> Result<(), Error> {
    let capture = super::read_file(path, named(path), trace, &|| false)?;
    trace.captures.push(capture);
    Ok(())
}

/// Reads a database that statements make.
fn read_sql(sql: &[&str]) -> Result<Trace, Error> {
    let folder = Folder::new();
    read(&folder.database("capture.sqlite", sql))
}

/// The reason and the hint of a refusal.
fn refusal(result: Result<Trace, Error>) -> (String, String) {
    match result {
        Err(Error::NotACapture { reason, hint, .. }) => (reason, hint),
        other => panic!("not refused: {other:?}"),
    }
}

/// Start, end, full name and grid of all kernels.
fn kernels(trace: &Trace) -> Vec<(i64, i64, &str, Option<[u32; 3]>)> {
    let kernel = |entry: crate::trace::Entry| match trace.works.all()[entry.what as usize].kind {
        Kind::Kernel(name, shape) => (entry.start, entry.end, trace.names.text(name.full), shape.grid),
        Kind::Memory { .. } => panic!("no kernel"),
    };
    trace.kernels.iter().map(kernel).collect()
}

/// Kind, duration and, if it is known, size of all copies and sets.
fn memory(trace: &Trace) -> Vec<(&str, u64, Option<u64>)> {
    let operation = |entry: crate::trace::Entry| match trace.works.all()[entry.what as usize].kind {
        Kind::Memory { kind, sized, .. } => (trace.names.text(kind), entry.duration(), sized.then_some(entry.bytes)),
        Kind::Kernel(..) => panic!("no memory operation"),
    };
    trace.memory.iter().map(operation).collect()
}

/// Returns the number of calls of a function.
fn calls(trace: &mut Trace, name: &str) -> usize {
    let wanted = trace.names.intern(name);
    trace.calls.iter().filter(|entry| trace.callees.all()[entry.what as usize].name == wanted).count()
}

fn skipped(trace: &Trace) -> Vec<(&str, u64)> {
    trace.captures[0].skipped.iter().map(|skipped| (skipped.reason.as_str(), skipped.count)).collect()
}

fn codes(trace: &Trace) -> Vec<&str> {
    trace.warnings.iter().map(|warning| warning.code).collect()
}
