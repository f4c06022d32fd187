//! Ctrl-C in calls that have let go of the interpreter.

use std::cell::Cell;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::Result;

/// Asking means to wait for the interpreter where other threads keep it busy, some milliseconds each time.
const SELDOM: Duration = Duration::from_millis(25);

/// Runs `work` without the interpreter. What it is given says whether a signal's handler has raised something, which then
/// takes the place of its result.
pub(super) fn interruptibly<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T> + Send,
) -> PyResult<T> {
    let raised = Mutex::new(None);
    let done = py.detach(|| {
        let (asked, stopped) = (Cell::new(Instant::now()), Cell::new(false));
        work(&|| {
            if stopped.get() || asked.get().elapsed() < SELDOM {
                return stopped.get();
            }
            #[allow(
                clippy::redundant_closure_for_method_calls,
                reason = "the method itself is not general enough here"
            )]
            let found = Python::attach(|py| py.check_signals()).err();
            asked.set(Instant::now());
            stopped.set(found.is_some());
            if let (Some(found), Ok(mut raised)) = (found, raised.lock()) {
                raised.get_or_insert(found);
            }
            stopped.get()
        })
    });
    match raised.into_inner().ok().flatten() {
        Some(raised) => Err(raised),
        None => Ok(done?),
    }
}
