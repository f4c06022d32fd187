//! Ctrl-C in calls that have let go of the interpreter.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::Result;
use crate::guard::guarded_value;
use crate::memory;

/// Time between two checks: a check waits for the interpreter, some milliseconds if other threads keep it busy.
const SELDOM: Duration = Duration::from_millis(25);

thread_local! {
    /// The request that ends calls of this thread.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Request to end the calls of some threads.
///
/// Python handles signals in its main thread only. Calls of other threads therefore do not end on Ctrl-C.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> PyResult<Self> {
        guarded_value(|| Self(Arc::default()))
    }

    /// Lets the request end the calls of the calling thread.
    fn watch(&self) -> PyResult<()> {
        guarded_value(|| STOP.set(Some(Arc::clone(&self.0))))
    }

    /// Ends the current and all later calls of the threads with KeyboardInterrupt.
    fn request(&self) -> PyResult<()> {
        guarded_value(|| self.0.store(true, Ordering::Relaxed))
    }
}

/// Returns true if the calls of this thread are to end.
fn is_stopped() -> bool {
    STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)))
}

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
            let found = Python::try_attach(|py| py.check_signals())
                .and_then(PyResult::err)
                .or_else(|| is_stopped().then(|| PyKeyboardInterrupt::new_err(())));
            self.raised.replace(found);
            self.asked.set(Instant::now());
        }
        self.raised.borrow().is_some()
    }
}
