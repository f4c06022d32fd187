//! A fault for tests.

use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::guard::guarded_value;
use crate::par;

/// Panics, so that a test sees the exception for a fault of the core.
///
/// Args:
///     message: Message of the panic.
///     in_pool: True for a panic on a thread of a pool; else it is on the calling thread.
///
/// Raises:
///     RuntimeError: Always; the message has the text and the place of the panic.
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
