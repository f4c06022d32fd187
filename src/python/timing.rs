//! The recorder that the worker's timed loop calls.

use pyo3::prelude::*;

use crate::guard::{guarded, guarded_value};
use crate::timing;

/// Records times of edges of timed regions, in preallocated memory.
///
/// Args:
///     iterations: Largest number of iterations.
///     edges: Number of edges per iteration. A forward and a backward phase have four.
///
/// Raises:
///     ValueError: If there are no iterations, fewer than two edges, or too many for the memory.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Recorder(timing::Recorder);

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (iterations, edges = 4))]
    fn new(py: Python<'_>, iterations: usize, edges: usize) -> PyResult<Self> {
        guarded(|| Ok(Self(py.detach(|| timing::Recorder::new(iterations, edges))?)))
    }

    /// Records that an edge is passed now.
    ///
    /// Beyond the capacity, edges are counted but not kept.
    // The hot path: no arguments, nothing returned, nothing that can fail.
    fn mark(&self) {
        self.0.mark();
    }

    /// Returns the number of complete iterations. Any thread may call it.
    #[getter]
    fn iterations(&self) -> PyResult<usize> {
        guarded_value(|| self.0.iterations())
    }

    /// Returns nanoseconds between two edges of each complete iteration.
    ///
    /// Edges are counted from 0.
    ///
    /// Raises:
    ///     ValueError: If an edge does not exist, the edges are in the wrong order, or there were too many marks.
    #[pyo3(signature = (from_edge = 0, to_edge = 1))]
    fn durations_ns(&self, py: Python<'_>, from_edge: usize, to_edge: usize) -> PyResult<Vec<u64>> {
        guarded(|| Ok(py.detach(|| self.0.durations_ns(from_edge, to_edge))?))
    }

    /// Returns nanoseconds from an iteration to the last complete one, both included.
    ///
    /// Raises:
    ///     ValueError: If the iteration is not complete, or there were too many marks.
    #[pyo3(signature = (first_iteration = 0))]
    fn elapsed_ns(&self, py: Python<'_>, first_iteration: usize) -> PyResult<u64> {
        guarded(|| Ok(py.detach(|| self.0.elapsed_ns(first_iteration))?))
    }
}

/// Returns the smallest step of the recorder's clock in nanoseconds, at least 1.
#[pyfunction]
pub(super) fn clock_resolution_ns(py: Python<'_>) -> PyResult<u64> {
    guarded_value(|| py.detach(timing::resolution_ns))
}
