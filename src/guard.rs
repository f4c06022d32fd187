//! The barrier between Python and every function that Python calls: panics and lack of memory become exceptions.

use std::env;
use std::panic::PanicHookInfo;
use std::sync::Once;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

use crate::memory::{self, OutOfMemory};
use crate::panics::{self, Caught};

/// Message of `PyO3`'s panic where Python could not make an object. Lack of memory is the only cause.
const NO_OBJECT: &str = "PyObject pointer is null";

/// Runs the body of a function that Python calls.
///
/// A panic becomes a `RuntimeError`, which names the place. Without this it would be `PyO3`'s `PanicException`, which
/// `except Exception` does not catch.
pub(crate) fn guarded<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| panics::keep_quiet(is_printed));
    memory::hold();
    match panics::catch(body) {
        Ok(done) => done,
        Err(caught) => Err(error(&caught)),
    }
}

/// The same of a body that cannot fail otherwise.
pub(crate) fn guarded_value<T>(body: impl FnOnce() -> T) -> PyResult<T> {
    guarded(|| Ok(body()))
}

#[cold]
fn error(caught: &Caught) -> PyErr {
    let message = caught.message();
    if let Some(OutOfMemory { bytes: Some(bytes) }) = caught.of() {
        return PyMemoryError::new_err(format!("out of memory: cannot allocate {bytes} bytes"));
    }
    if caught.of::<OutOfMemory>().is_some() || message == NO_OBJECT {
        return PyMemoryError::new_err("out of memory");
    }
    let place = caught.place().map_or_else(String::new, |place| format!(" ({place})"));
    PyRuntimeError::new_err(format!("bug in fastrnns-rs: {message}{place}; please report it with your call"))
}

/// True for panics that a developer wants to see.
fn is_printed(panic: &PanicHookInfo<'_>) -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    // A backtrace takes megabytes. Without memory for it, the standard library would wait for its own lock without end.
    let is_lack = memory::is_short() || panic.payload().downcast_ref() == Some(&NO_OBJECT);
    !is_lack && (is_set("RUST_BACKTRACE") || is_set("FASTRNNS_DEBUG"))
}
