//! Profilers, as the commands that they take.
#![allow(clippy::needless_pass_by_value, reason = "what PyO3 extracts is owned")]

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::interrupt::waiting;
use super::orchestrate::prepare;
use crate::guard::{guarded, guarded_value};
use crate::orchestrate::profilers::{self, Installation, Request, Search};

/// The names of all profilers, in the order in which they are shown.
#[pyfunction]
pub(super) fn profiler_names() -> PyResult<Vec<&'static str>> {
    guarded_value(|| profilers::PROFILERS.iter().map(|profiler| profiler.name()).collect())
}

/// A profiler as it is installed. It makes commands; it runs none.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Profiler {
    profiler: &'static dyn profilers::Profiler,
    tool: Installation,
}

#[pymethods]
impl Profiler {
    /// Asks the program at `path` what it is.
    ///
    /// Args:
    ///     name: One of `profiler_names()`.
    ///     path: The program; None for a profiler that needs none.
    ///
    /// Raises:
    ///     ValueError: There is no profiler of this name.
    ///     OSError: The program cannot be started.
    ///     RuntimeError: The program does not work, or is another.
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

    /// Where programs of a profiler are: on `PATH`, in CUDA toolkits, in the usual folders.
    ///
    /// Args:
    ///     name: One of `profiler_names()`.
    ///     root: What stands for `/` in the usual folders.
    ///
    /// Returns:
    ///     Each program once; none for a profiler that needs none.
    ///
    /// Raises:
    ///     ValueError: There is no profiler of this name.
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

    /// The version as the program prints it.
    #[getter]
    fn version(&self) -> PyResult<Option<String>> {
        guarded_value(|| self.tool.version.as_ref().map(|version| version.text.clone()))
    }

    /// The numbers of the version, for comparing.
    #[getter]
    fn version_numbers(&self) -> PyResult<Vec<u32>> {
        guarded_value(|| self.tool.version.as_ref().map(|version| version.numbers.clone()).unwrap_or_default())
    }

    #[getter]
    fn capabilities(&self) -> PyResult<Vec<&'static str>> {
        guarded_value(|| self.profiler.capabilities(&self.tool))
    }

    /// The program that turns its raw captures into reports, where it is apart.
    #[getter]
    fn importer_path(&self) -> PyResult<Option<PathBuf>> {
        guarded_value(|| self.tool.importer.clone())
    }

    /// The command that runs `command` under the profiler.
    ///
    /// Args:
    ///     command: What to profile.
    ///     stem: The path of what is written, without suffixes.
    ///     cuda: Whether the command uses a GPU.
    ///     capture_range: Whether to capture between cudaProfilerStart and cudaProfilerStop only.
    #[pyo3(signature = (command, stem, *, cuda, capture_range))]
    fn wrap(&self, command: Vec<OsString>, stem: PathBuf, cuda: bool, capture_range: bool) -> PyResult<Vec<OsString>> {
        guarded_value(|| self.profiler.wrap(&self.tool, &Request { stem, cuda, range: capture_range }, &command))
    }

    /// What can be left of a capture, each as path, kind and whether it is only a step on the way to another.
    fn artefacts(&self, stem: PathBuf) -> PyResult<Vec<(PathBuf, &'static str, bool)>> {
        guarded_value(|| {
            let found = self.profiler.artefacts(&stem);
            found.into_iter().map(|artefact| (artefact.path, artefact.kind, artefact.intermediate)).collect()
        })
    }

    /// The next command on the way to something that can be read, judged by the files that are there; None at the end.
    fn finish(&self, stem: PathBuf) -> PyResult<Option<Vec<OsString>>> {
        guarded_value(|| self.profiler.finish(&self.tool, &stem))
    }
}
