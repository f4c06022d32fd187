//! Ctrl-C in calls that have let go of the interpreter.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::Result;
use crate::memory;

/// Asking means to wait for the interpreter where other threads keep it busy, some milliseconds each time.
const SELDOM: Duration = Duration::from_millis(25);

/// Computes without the interpreter. What `work` is given says whether a signal's handler has raised something, which then
/// takes the place of its result, and ends the call where memory is short.
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

/// The same for what hardly needs memory: it waits for other programs.
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

/// Time of the last check for signals, and the exception that a handler raised. A type of its own, so that it is compiled once: the function
/// above is compiled for everything that it runs.
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
            let found = Python::attach(|py| py.check_signals()).err();
            self.raised.replace(found);
            self.asked.set(Instant::now());
        }
        self.raised.borrow().is_some()
    }
}
