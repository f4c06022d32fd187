//! Command lines of profilers.
#![allow(clippy::needless_pass_by_value, reason = "what PyO3 extracts is owned")]

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::interrupt::waiting;
use super::orchestrate::prepare;
use crate::guard::{guarded, guarded_value};
use crate::orchestrate::profilers::{self, Installation, Request, Search};

/// Returns the names of all profilers, in the order in which they are shown.
#[pyfunction]
pub(super) fn profiler_names() -> PyResult<Vec<&'static str>> {
    guarded_value(|| profilers::PROFILERS.iter().map(|profiler| profiler.name()).collect())
}

/// Installed profiler. It makes command lines and runs none of them.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Profiler {
    profiler: &'static dyn profilers::Profiler,
    tool: Installation,
}

#[pymethods]
impl Profiler {
    /// Finds the version and the options of the program at `path`.
    ///
    /// Args:
    ///     name: One of `profiler_names()`.
    ///     path: Path of the program; None for a profiler without a program.
    ///
    /// Raises:
    ///     ValueError: If the profiler is unknown.
    ///     OSError: If the program cannot be started.
    ///     RuntimeError: If the program does not work, or is another program.
    #[new]
    #[pyo3(signature = (name, path = None))]
    fn new(py: Python<'_>, name: &str, path: Option<PathBuf>) -> PyResult<Self> {
        guarded(|| {
            prepare(py)?;
            let profiler = profilers::by_name(name)?;
            let tool = waiting(py, |interrupted| profiler.open(path.as_deref(), interrupted))?;
            Ok(Self { profiler, tool })
        })
    }

    /// Finds the programs of a profiler on `PATH` and in the usual folders.
    ///
    /// Args:
    ///     name: One of `profiler_names()`.
    ///     root: Root of the usual folders, instead of `/`.
    ///
    /// Returns:
    ///     Each program once; no program for a profiler without one.
    ///
    /// Raises:
    ///     ValueError: If the profiler is unknown.
    #[staticmethod]
    #[pyo3(signature = (name, *, root = None))]
    fn find(py: Python<'_>, name: &str, root: Option<PathBuf>) -> PyResult<Vec<PathBuf>> {
        guarded(|| {
            let profiler = profilers::by_name(name)?;
            let mut search = Search::of_this_process();
            search.root = root.unwrap_or(search.root);
            Ok(py.detach(|| profiler.find(&search)))
        })
    }

    #[getter]
    fn name(&self) -> PyResult<&'static str> {
        guarded_value(|| self.profiler.name())
    }

    #[getter]
    fn path(&self) -> PyResult<Option<PathBuf>> {
        guarded_value(|| self.tool.path.clone())
    }

    /// Version as printed by the program.
    #[getter]
    fn version(&self) -> PyResult<Option<String>> {
        guarded_value(|| self.tool.version.as_ref().map(|version| version.text.clone()))
    }

    /// Numbers of the version, for comparisons.
    #[getter]
    fn version_numbers(&self) -> PyResult<Vec<u32>> {
        guarded_value(|| self.tool.version.as_ref().map(|version| version.numbers.clone()).unwrap_or_default())
    }

    #[getter]
    fn capabilities(&self) -> PyResult<Vec<&'static str>> {
        guarded_value(|| self.profiler.capabilities(&self.tool))
    }

    /// Program that converts raw captures to reports, if it is a separate program.
    #[getter]
    fn importer_path(&self) -> PyResult<Option<PathBuf>> {
        guarded_value(|| self.tool.importer.clone())
    }

    /// Returns the command line that runs `command` under the profiler.
    ///
    /// Args:
    ///     command: Command line to profile.
    ///     stem: Path of the output files, without suffixes.
    ///     cuda: True if the command uses a GPU.
    ///     capture_range: True to capture only between cudaProfilerStart and cudaProfilerStop.
    #[pyo3(signature = (command, stem, *, cuda, capture_range))]
    fn wrap(&self, command: Vec<OsString>, stem: PathBuf, cuda: bool, capture_range: bool) -> PyResult<Vec<OsString>> {
        guarded_value(|| self.profiler.wrap(&self.tool, &Request { stem, cuda, range: capture_range }, &command))
    }

    /// Returns the possible files of a capture.
    ///
    /// Each is a path, a kind and true for an intermediate file.
    fn artefacts(&self, stem: PathBuf) -> PyResult<Vec<(PathBuf, &'static str, bool)>> {
        guarded_value(|| {
            let found = self.profiler.artefacts(&stem);
            found.into_iter().map(|artefact| (artefact.path, artefact.kind, artefact.intermediate)).collect()
        })
    }

    /// Returns the next command line of a conversion; None at the end.
    ///
    /// It depends on the files that exist.
    fn finish(&self, stem: PathBuf) -> PyResult<Option<Vec<OsString>>> {
        guarded_value(|| self.profiler.finish(&self.tool, &stem))
    }
}
