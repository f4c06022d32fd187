//! Commands under supervision.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::interrupt::waiting;
use super::trace::bytes;
use crate::error::Error;
use crate::guard::{guarded, guarded_value};
use crate::orchestrate::{self, Command, supervisor};

/// A signal that lands on another thread does not wake ours: look up this often.
const TICK: Duration = Duration::from_millis(200);

/// How a command ended.
///
/// Attributes:
///     exit_status: What it exited with; None when a signal ended it.
///     signal: The signal that ended it, if one did.
///     timed_out: Whether it was ended because its time was up.
///     stdout_tail: The end of its standard output, at most 64 KiB; bytes that are no UTF-8 are replaced.
///     stderr_tail: The end of its standard error.
///     duration_ns: Nanoseconds from its start to its end.
#[pyclass(frozen, get_all, module = "fastrnns_rs._core")]
pub(super) struct Completed {
    exit_status: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    stdout_tail: String,
    stderr_tail: String,
    duration_ns: u64,
}

#[pymethods]
impl Completed {
    fn __repr__(&self) -> PyResult<String> {
        guarded_value(|| {
            let ended = match (self.timed_out, self.exit_status, self.signal) {
                (true, ..) => "timed out".to_owned(),
                (_, Some(status), _) => format!("exit_status={status}"),
                (.., Some(signal)) => format!("signal={signal}"),
                _ => "unknown".to_owned(),
            };
            format!("<Completed: {ended}, {} ms>", self.duration_ns / 1_000_000)
        })
    }
}

impl From<orchestrate::Completed> for Completed {
    fn from(completed: orchestrate::Completed) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            exit_status: completed.exit_status,
            signal: completed.signal,
            timed_out: completed.timed_out,
            stdout_tail: text(&completed.stdout_tail),
            stderr_tail: text(&completed.stderr_tail),
            duration_ns: completed.duration.as_nanos() as u64,
        }
    }
}

/// Runs a command and leaves nothing of it behind, whatever happens to it or to this process.
///
/// It runs in a process group of its own, with an empty standard input. When its time is up, on Ctrl-C, or when this
/// process ends in any way, it is asked to end (SIGTERM) and after `grace` killed, with all that it started.
///
/// Args:
///     argv: The program and its arguments; no shell sees them.
///     timeout: Seconds that it may take; None for any time.
///     env: Its variables; None for those of this process.
///     cwd: The folder that it runs in; None for this process's.
///     grace: Seconds from being asked to end to being killed.
///
/// Returns:
///     How it ended. A time-out is a result, not an exception.
///
/// Raises:
///     OSError: It cannot be started: FileNotFoundError, PermissionError and so on.
///     ValueError: There are no arguments, one holds a NUL, or a time makes no sense.
///     RuntimeError: Its supervisor was killed; the command is gone too.
///     KeyboardInterrupt: Ctrl-C; the command is gone.
#[pyfunction]
#[pyo3(signature = (argv, *, timeout = None, env = None, cwd = None, grace = 1.0))]
pub(super) fn run_command(
    py: Python<'_>,
    argv: Vec<OsString>,
    timeout: Option<f64>,
    env: Option<HashMap<OsString, OsString>>,
    cwd: Option<PathBuf>,
    grace: f64,
) -> PyResult<Completed> {
    guarded(|| {
        prepare(py)?;
        let command = Command {
            argv,
            environment: env.map(|env| env.into_iter().collect()),
            directory: cwd,
            ..Command::default()
        };
        let timeout = timeout.map(|timeout| seconds("timeout", timeout)).transpose()?;
        let grace = seconds("grace", grace)?;
        waiting(py, |interrupted| orchestrate::run(&command, timeout, grace, interrupted)).map(Into::into)
    })
}

/// A command that one talks to while it runs. What `run_command` does in one step.
///
/// Args:
///     argv: The program and its arguments.
///     env: Its variables; None for those of this process.
///
/// Raises:
///     OSError: It cannot be started.
///     ValueError: There are no arguments, or one holds a NUL.
#[pyclass(frozen, module = "fastrnns_rs._core")]
pub(super) struct Process(Mutex<orchestrate::Process>);

#[pymethods]
impl Process {
    #[new]
    #[pyo3(signature = (argv, *, env = None))]
    fn new(py: Python<'_>, argv: Vec<OsString>, env: Option<HashMap<OsString, OsString>>) -> PyResult<Self> {
        guarded(|| {
            prepare(py)?;
            let environment = env.map(|env| env.into_iter().collect());
            let command = Command { argv, environment, feed: true, lines: true, ..Command::default() };
            Ok(Self(Mutex::new(py.detach(|| orchestrate::Process::start(&command))?)))
        })
    }

    /// Writes to its standard input. What it does not take, because it is gone or does not read, is lost.
    fn write(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        guarded_value(|| {
            py.detach(|| self.with(|process| process.feed(data)));
        })
    }

    /// The next complete lines of its standard output, as soon as there are any; none when it ended or time is up.
    ///
    /// Args:
    ///     timeout: Seconds to wait.
    ///
    /// Raises:
    ///     RuntimeError: Its supervisor was killed; the command is gone too.
    ///     KeyboardInterrupt: Ctrl-C; the command goes on.
    fn read_lines<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            let deadline = Instant::now().checked_add(seconds("timeout", timeout)?);
            loop {
                py.check_signals()?;
                let tick = Instant::now() + TICK;
                let until = deadline.map_or(tick, |deadline| deadline.min(tick));
                let (lines, ended) = py.detach(|| {
                    self.with(|process| {
                        process.pump(until)?;
                        Ok::<_, Error>((process.lines(), process.ended()))
                    })
                })?;
                if ended || !lines.is_empty() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return bytes(py, &lines);
                }
            }
        })
    }

    /// Whether it and everything that it started are gone.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<bool> {
        guarded_value(|| py.detach(|| self.with(|process| process.ended())))
    }

    /// Ends it, and all that it started.
    ///
    /// Args:
    ///     grace: Seconds from being asked to (SIGTERM) to being killed; 0 kills at once.
    ///
    /// Returns:
    ///     How it ended.
    ///
    /// Raises:
    ///     RuntimeError: Its supervisor was killed; the command is gone too.
    #[pyo3(signature = (grace = 0.0))]
    fn end(&self, py: Python<'_>, grace: f64) -> PyResult<Completed> {
        guarded(|| {
            let grace = seconds("grace", grace)?;
            Ok(py.detach(|| self.with(|process| process.end(grace)))?.into())
        })
    }
}

impl Process {
    fn with<T>(&self, action: impl FnOnce(&mut orchestrate::Process) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What `python .../supervisor.py` runs: looks after commands until the process that holds the other end of its standard
/// input is gone.
///
/// Raises:
///     RuntimeError: The kernel does not let it adopt orphans.
#[pyfunction]
pub(super) fn keep(py: Python<'_>) -> PyResult<()> {
    guarded(|| {
        // Whoever ignores the ends of its children hands that on, and then nobody could tell how a command ended. Files that
        // grow too large Python ignores by itself; commands are to have that as usual.
        let signals = py.import("_signal")?;
        for name in ["SIGCHLD", "SIGXFSZ"] {
            signals.call_method1("signal", (signals.getattr(name)?, signals.getattr("SIG_DFL")?))?;
        }
        let control = std::io::stdin().as_fd().try_clone_to_owned()?;
        Ok(py.detach(|| supervisor::serve(control))?)
    })
}

/// Tells the core how this interpreter runs a supervisor.
pub(super) fn prepare(py: Python<'_>) -> PyResult<()> {
    let executable = py.import("sys")?.getattr("executable")?.extract::<Option<OsString>>()?;
    let module = py.import("fastrnns_rs._core")?.getattr("__file__")?.extract::<OsString>()?;
    let script = PathBuf::from(&module).with_file_name("processes").join("supervisor.py");
    let flags = ["-I", "-S"].map(OsString::from);
    let argv = [executable.unwrap_or_default()].into_iter().chain(flags).chain([script.into(), module]);
    supervisor::set_program(argv.collect());
    Ok(())
}

fn seconds(argument: &str, value: f64) -> PyResult<Duration> {
    // A time that no clock can hold is as good as for ever.
    if value.is_nan() || value < 0.0 {
        return Err(PyValueError::new_err(format!("{argument} is {value}; it must be a number of seconds from 0 on")));
    }
    Ok(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX))
}
