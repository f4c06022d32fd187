//! Several files at once: each into a trace of its own, put together in the order in which they were given.
//!
//! A part is taken over as soon as it and all in front of it have been read. What comes of it is what reading one after the
//! other would give, in every figure and in the order of everything that has one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Interrupted, read};
use crate::error::{Error, Result};
use crate::memory;
use crate::par;
use crate::trace::{Extent, LeftOut, Trace};

/// A file that is to be read.
#[derive(Debug, Clone)]
pub struct Given {
    /// Path of the file.
    pub path: PathBuf,
    /// Name in messages and summaries.
    pub shown: String,
    /// True if the file may be no capture: it was found in a folder, and is then skipped.
    pub optional: bool,
    /// The runner that it is of alone, where that is known: `profile --torch` writes a file for each.
    pub runner: Option<String>,
}

/// Options for reading files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// So many files are in front of them, in the trace of which these will be a part.
    pub first: usize,
    /// Number of threads; `None` means all cores.
    pub threads: Option<usize>,
    /// See [`Trace::extent`].
    pub extent: Extent,
}

/// The events of all files.
///
/// # Errors
/// The first of the files, in the order in which they were given, that cannot be read.
pub fn read_all(files: &[Given], reading: Reading, interrupted: Interrupted<'_>) -> Result<Trace> {
    // Opening a file makes many small allocations before the first large one: without a cushion one of them could fail.
    memory::check();
    let first = reading.first;
    let threads = reading.threads.unwrap_or_else(par::cores).max(1);
    let at_once = threads.min(files.len()).max(1);
    let state = Mutex::new(State { whole: Trace::behind(first), next: 0, waiting: BTreeMap::new(), failed: None });
    par::map_on(at_once, files.iter().enumerate(), interrupted, |(place, file), interrupted| {
        if lock(&state).failed.as_ref().is_some_and(|(failed, _)| *failed < place) {
            return;
        }
        // Where files are fewer than cores the rest reads within them.
        let part = par::within(threads / at_once, || read_one(file, first + place, reading.extent, interrupted));
        lock(&state).take(place, part);
    });
    let State { whole, failed, .. } = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(whole), |(_, error)| Err(error))
}

fn read_one(file: &Given, number: usize, extent: Extent, interrupted: Interrupted<'_>) -> Result<Trace> {
    let mut part = Trace::behind(number);
    part.extent = extent;
    match read(&file.path, &file.shown, &mut part, interrupted) {
        // Of a file that cannot be read no event is taken.
        Err(Error::NotACapture { path, reason, .. }) if file.optional => {
            part = Trace::behind(number);
            part.left_out.push(LeftOut { path, reason });
        }
        done => done?,
    }
    if let Some(runner) = &file.runner {
        part.set_runner(runner);
    }
    Ok(part)
}

/// State of reading.
struct State {
    whole: Trace,
    /// The first file that is not in it yet.
    next: usize,
    /// Parts behind that one.
    waiting: BTreeMap<usize, Trace>,
    /// The first file that could not be read, of those that are known to be so.
    failed: Option<(usize, Error)>,
}

impl State {
    fn take(&mut self, place: usize, part: Result<Trace>) {
        match part {
            Ok(part) => {
                self.waiting.insert(place, part);
                while let Some(part) = self.waiting.remove(&self.next) {
                    self.whole.append(part);
                    self.next += 1;
                }
            }
            Err(error) if self.failed.as_ref().is_none_or(|(failed, _)| place < *failed) => {
                self.failed = Some((place, error));
            }
            Err(_) => {}
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

    use super::*;

    const CSV: &str = "======== Profiling result:\n\
        \"Start\",\"Duration\",\"Device\",\"Stream\",\"Name\",\"Correlation_ID\"\nus,us,,,,\n\
        0,10.5,\"A (0)\",\"13\",\"k\",6\n";
    const PROFILE: &str = "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE Version (version INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start, end, deviceId);
        INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 2, 0);";

    /// Python shows two paths that are not UTF-8 as one text.
    #[test]
    fn captures_with_equal_names_have_clocks_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a.csv", "b.csv"] {
            fs::write(path(name), CSV).unwrap();
        }
        for name in ["a.prof", "b.prof"] {
            Connection::open(path(name)).unwrap().execute_batch(PROFILE).unwrap();
        }
        for names in [["a.csv", "b.csv"], ["a.prof", "b.prof"]] {
            let files = names.map(|name| Given {
                path: path(name),
                shown: "\u{fffd}".to_owned(),
                optional: false,
                runner: None,
            });
            let trace = read_all(&files, Reading::default(), &|| false).unwrap();
            assert_eq!(trace.kernels.len(), 2, "{names:?}");
            let [one, other] = &*trace.devices else { panic!("two devices: {:?}", trace.devices) };
            assert_ne!(one.clock, other.clock, "{names:?}");
        }
    }
}
