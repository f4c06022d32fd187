//! Ctrl-C in calls that have let go of the interpreter.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::Result;
use crate::memory;

/// Time between two checks: a check waits for the interpreter, some milliseconds if other threads keep it busy.
const SELDOM: Duration = Duration::from_millis(25);

/// Computes without the interpreter. `work` gets a function that returns true if a signal's handler has raised an exception,
/// which then replaces the result. That function ends the call if memory is short.
pub(super) fn interruptibly<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T> + Send,
) -> PyResult<T> {
    waiting(py, |raised| {
        work(&|| {
            memory::check();
            raised()
        })
    })
}

/// Runs work that hardly needs memory, without the interpreter: it waits for other programs.
pub(super) fn waiting<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T> + Send,
) -> PyResult<T> {
    let (done, raised) = py.detach(|| {
        let signals = Signals { asked: Cell::new(Instant::now()), raised: RefCell::new(None) };
        let done = work(&|| signals.raised());
        (done, signals.raised.into_inner())
    });
    match raised {
        Some(raised) => Err(raised),
        None => Ok(done?),
    }
}

/// Time of the last check for signals, and the exception that a handler raised. It is a type of its own, so that it is compiled once:
/// the function above is compiled for every kind of work.
struct Signals {
    asked: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl Signals {
    /// True once a handler has raised an exception.
    fn raised(&self) -> bool {
        if self.raised.borrow().is_none() && self.asked.get().elapsed() >= SELDOM {
            #[allow(
                clippy::redundant_closure_for_method_calls,
                reason = "the method itself is not general enough here"
            )]
            // A daemon thread may be here while the interpreter ends.
            let found = Python::try_attach(|py| py.check_signals()).and_then(PyResult::err);
            self.raised.replace(found);
            self.asked.set(Instant::now());
        }
        self.raised.borrow().is_some()
    }
}
