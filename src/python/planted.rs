//! A fault for tests.

use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::guard::guarded_value;
use crate::par;

/// Panics, so that a test sees what a fault of the core becomes.
///
/// Args:
///     message: What the panic says.
///     in_pool: Whether on a thread of a pool; else on the calling thread.
///
/// Raises:
///     RuntimeError: Always; it names the message and the place.
#[pyfunction]
#[pyo3(signature = (message, *, in_pool = false))]
pub(super) fn _panic(py: Python<'_>, message: &str, in_pool: bool) -> PyResult<()> {
    guarded_value(|| {
        py.detach(|| {
            if in_pool {
                let caller = thread::current().id();
                par::map_on(2, 0..1000, &|| false, |_, _| {
                    assert!(thread::current().id() == caller, "{message}");
                    // Leaves the next job to another thread.
                    thread::sleep(Duration::from_millis(1));
                });
            }
            panic!("{message}")
        });
    })
}
