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

/// Time between two checks for signals: a signal on another thread does not wake ours.
const TICK: Duration = Duration::from_millis(200);
/// Time limit for a command to read what we write to it.
const FEEDING: Duration = Duration::from_secs(10);

/// Result of a command that has ended.
///
/// Attributes:
///     exit_status: Exit status; None if a signal ended the command.
///     signal: Number of the signal that ended the command; None otherwise.
///     timed_out: True if the command was ended because its time was up.
///     stdout_tail: End of the standard output, at most 64 KiB; bytes that are not UTF-8 are replaced.
///     stderr_tail: End of the standard error, likewise.
///     duration_ns: Nanoseconds from the start to the end.
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

/// Runs a command and leaves nothing of it behind, also if this process ends.
///
/// The command runs in its own process group, with an empty standard input. When its time is up, on Ctrl-C, or when this process
/// ends, the command gets SIGTERM; after `grace` it is killed, with all that it started.
///
/// Args:
///     argv: Program and its arguments; no shell is used.
///     timeout: Time limit in seconds; None for no limit.
///     env: Environment variables; None for those of this process.
///     cwd: Working directory; None for that of this process.
///     grace: Seconds between SIGTERM and the kill; after Ctrl-C, 10 at most.
///
/// Returns:
///     The result. A time-out is a result, not an exception.
///
/// Raises:
///     OSError: If the command cannot be started: FileNotFoundError, PermissionError and so on.
///     ValueError: If there are no arguments, an argument contains NUL, or a time is negative or NaN.
///     RuntimeError: If its supervisor was killed; the command is gone too.
///     KeyboardInterrupt: On Ctrl-C; the command is gone.
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

/// Command with which this process communicates while it runs.
///
/// Args:
///     argv: Program and its arguments.
///     env: Environment variables; None for those of this process.
///
/// Raises:
///     OSError: If the command cannot be started.
///     ValueError: If there are no arguments, or an argument contains NUL.
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

    /// Writes to its standard input. Data that the command does not read are lost.
    ///
    /// Raises:
    ///     RuntimeError: In a process that was forked from the one that started the command.
    ///     KeyboardInterrupt: On Ctrl-C; the command continues, and may have read a part.
    fn write(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        guarded(|| {
            let (mut left, mut last) = (data, Instant::now() + FEEDING);
            while !left.is_empty() {
                let until = Instant::now() + TICK;
                let count = py.detach(|| self.with(|process| process.feed(left, until, last)))?;
                left = &left[count..];
                let heard = Instant::now();
                py.check_signals()?;
                // The time of a handler is not the command's.
                last += heard.elapsed();
            }
            Ok(())
        })
    }

    /// Returns the next complete lines of its standard output.
    ///
    /// There are no lines if the command has ended or time is up.
    ///
    /// Args:
    ///     timeout: Seconds to wait.
    ///
    /// Raises:
    ///     RuntimeError: If its supervisor was killed; the command is gone too. In a process that was forked from the
    ///         one that started the command.
    ///     KeyboardInterrupt: On Ctrl-C; the command continues.
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

    /// Returns true if the command and everything that it started are gone.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<bool> {
        guarded_value(|| py.detach(|| self.with(|process| process.ended())))
    }

    /// Ends the command, and all that it started.
    ///
    /// Args:
    ///     grace: Seconds between SIGTERM and the kill; 0 kills at once.
    ///
    /// Returns:
    ///     The result.
    ///
    /// Raises:
    ///     RuntimeError: If its supervisor was killed; the command is gone too. In a process that was forked from the
    ///         one that started the command, which goes on.
    ///     KeyboardInterrupt: On Ctrl-C before the kill; the command is gone.
    #[pyo3(signature = (grace = 0.0))]
    fn end(&self, py: Python<'_>, grace: f64) -> PyResult<Completed> {
        guarded(|| {
            let grace = seconds("grace", grace)?;
            let asked = if grace.is_zero() { Ok(()) } else { self.ask_to_end(py, grace) };
            let completed = py.detach(|| self.with(orchestrate::Process::kill));
            asked?;
            Ok(completed?.into())
        })
    }
}

impl Process {
    /// Asks the command to end, and waits for that.
    fn ask_to_end(&self, py: Python<'_>, grace: Duration) -> PyResult<()> {
        let deadline = Instant::now().checked_add(grace);
        py.detach(|| self.with(orchestrate::Process::ask_to_end))?;
        while deadline.is_none_or(|deadline| Instant::now() < deadline) {
            py.check_signals()?;
            let tick = Instant::now() + TICK;
            let until = deadline.map_or(tick, |deadline| deadline.min(tick));
            let ended = py.detach(|| {
                self.with(|process| {
                    process.pump(until)?;
                    Ok::<_, Error>(process.ended())
                })
            })?;
            if ended {
                break;
            }
        }
        Ok(())
    }

    fn with<T>(&self, action: impl FnOnce(&mut orchestrate::Process) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs the supervisor: serves the process at the other end of its standard input.
///
/// Raises:
///     RuntimeError: If the kernel does not let it adopt orphans.
#[pyfunction]
pub(super) fn keep(py: Python<'_>) -> PyResult<()> {
    guarded(|| {
        // A process that ignores SIGCHLD passes that on, and then the result of a command is lost. Python itself ignores SIGXFSZ;
        // commands must have its default.
        let signals = py.import("_signal")?;
        for name in ["SIGCHLD", "SIGXFSZ"] {
            signals.call_method1("signal", (signals.getattr(name)?, signals.getattr("SIG_DFL")?))?;
        }
        let control = std::io::stdin().as_fd().try_clone_to_owned()?;
        Ok(py.detach(|| supervisor::serve(control))?)
    })
}

/// Sets the command with which this interpreter runs a supervisor.
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
        return Err(PyValueError::new_err(format!("{argument} is {value}; it must be at least 0 s")));
    }
    Ok(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX))
}
