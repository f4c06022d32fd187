//! The recorder that the worker's timed loop calls.

use pyo3::prelude::*;

use crate::guard::{guarded, guarded_value};
use crate::timing;

/// Notes when edges of timed regions are passed, in memory that is set aside beforehand.
///
/// Args:
///     iterations: How many iterations there is room for.
///     edges: Edges in each. A forward and a backward phase have four.
///
/// Raises:
///     ValueError: No iterations, fewer than two edges, or more than fits into memory.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Recorder(timing::Recorder);

#[pymethods]
impl Recorder {
    #[new]
    #[pyo3(signature = (iterations, edges = 4))]
    fn new(py: Python<'_>, iterations: usize, edges: usize) -> PyResult<Self> {
        guarded(|| Ok(Self(py.detach(|| timing::Recorder::new(iterations, edges))?)))
    }

    /// Notes that an edge is passed now. Beyond the room, edges are counted but not kept.
    // The hot path: no arguments, nothing returned, nothing that can fail.
    fn mark(&self) {
        self.0.mark();
    }

    /// How many iterations are complete. Any thread may ask.
    #[getter]
    fn iterations(&self) -> PyResult<usize> {
        guarded_value(|| self.0.iterations())
    }

    /// Nanoseconds between two edges, counted from 0, of each complete iteration.
    ///
    /// Raises:
    ///     ValueError: No such edge, edges in the wrong order, or more marks than there was room for.
    #[pyo3(signature = (from_edge = 0, to_edge = 1))]
    fn durations_ns(&self, py: Python<'_>, from_edge: usize, to_edge: usize) -> PyResult<Vec<u64>> {
        guarded(|| Ok(py.detach(|| self.0.durations_ns(from_edge, to_edge))?))
    }

    /// Nanoseconds from the first edge of an iteration to the last edge of the last complete one.
    ///
    /// Raises:
    ///     ValueError: The iteration is not complete, or there were more marks than room.
    #[pyo3(signature = (first_iteration = 0))]
    fn elapsed_ns(&self, py: Python<'_>, first_iteration: usize) -> PyResult<u64> {
        guarded(|| Ok(py.detach(|| self.0.elapsed_ns(first_iteration))?))
    }
}

/// The smallest step of the recorder's clock that reads in direct succession show, in nanoseconds, at least 1.
#[pyfunction]
pub(super) fn clock_resolution_ns(py: Python<'_>) -> PyResult<u64> {
    guarded_value(|| py.detach(timing::resolution_ns))
}
