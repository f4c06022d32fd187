//! Running commands: their output and their end.

use std::mem;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use super::command::{Command, Completed};
use super::supervisor::{self, Line, Order, Report, timespec};
use super::tail::Tail;
use crate::error::{Error, Result};
use crate::memory::Room as _;

/// A pipe that holds more is emptied less often.
const PIPE_BYTES: usize = 1024 * 1024;
const CHUNK_BYTES: usize = 256 * 1024;
/// Time limit of the grace of a command after an interruption: the requested one may have no end.
const LAST_GRACE: Duration = Duration::from_secs(10);
/// Time limit for the supervisor to find and kill what a command left; it takes milliseconds.
const SWEEPING: Duration = Duration::from_secs(5);
/// Limit of lines that are not taken.
const MOST_LINE_BYTES: usize = 256 * 1024 * 1024;

/// Limit of what is read of a pipe after the end of its command: a process that could not be killed may still write.
const MOST_LAST_CHUNKS: usize = 256;
/// Delay of the end of a wait that counts as a pause of this process.
const PAUSE: Duration = Duration::from_secs(1);

/// A signal that lands on another thread does not wake ours: look up this often.
const TICK: Duration = Duration::from_millis(200);

/// A command that was started.
#[derive(Debug)]
pub struct Process {
    line: Line,
    stdin: Option<OwnedFd>,
    stdout: Stream,
    stderr: Stream,
    lines: Option<Lines>,
    duration: Duration,
    exit_status: Option<i32>,
    signal: Option<i32>,
    /// True if the command and all that it started are gone.
    gone: bool,
    chunk: Vec<u8>,
}

/// Its standard output, for a caller who reads it line by line.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Number of bytes that are complete lines.
    complete: usize,
}

impl Lines {
    fn push(&mut self, chunk: &[u8]) {
        if self.bytes.len() + chunk.len() > MOST_LINE_BYTES {
            return;
        }
        if let Some(at) = chunk.iter().rposition(|&byte| byte == b'\n') {
            self.complete = self.bytes.len() + at + 1;
        }
        self.bytes.room(chunk.len());
        self.bytes.extend_from_slice(chunk);
    }

    /// The complete lines, or all there is.
    fn take(&mut self, all: bool) -> Vec<u8> {
        let rest = self.bytes.split_off(if all { self.bytes.len() } else { self.complete });
        self.complete = 0;
        mem::replace(&mut self.bytes, rest)
    }
}

/// One of its output streams, as far as it has come.
#[derive(Debug)]
struct Stream {
    pipe: Option<OwnedFd>,
    tail: Tail,
}

impl Stream {
    fn open() -> Result<(Self, OwnedFd)> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::supervision)?;
        fcntl_setfl(&ours, OFlags::NONBLOCK).map_err(Error::supervision)?;
        // A user has only so much room for pipes; without it the usual 64 KiB do.
        let _ = fcntl_setpipe_size(&ours, PIPE_BYTES);
        Ok((Self { pipe: Some(ours), tail: Tail::default() }, theirs))
    }

    /// Reads from the pipe, at most a chunk; None if nothing is available now.
    fn take<'chunk>(&mut self, chunk: &'chunk mut [u8]) -> Option<&'chunk [u8]> {
        match read(self.pipe.as_ref()?, &mut *chunk) {
            Err(Errno::AGAIN | Errno::INTR) => None,
            Ok(0) | Err(_) => {
                self.pipe = None;
                None
            }
            Ok(count) => {
                self.tail.push(&chunk[..count]);
                Some(&chunk[..count])
            }
        }
    }
}

impl Process {
    /// Starts a command as a child of the supervisor.
    ///
    /// # Errors
    ///
    /// There is no such program, or it cannot be started.
    pub fn start(command: &Command) -> Result<Self> {
        let program = command.program()?;
        let (stdin, their_stdin) = if command.feed {
            let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::supervision)?;
            fcntl_setfl(&ours, OFlags::NONBLOCK).map_err(Error::supervision)?;
            (Some(ours), theirs)
        } else {
            (None, supervisor::nothing()?)
        };
        let (stdout, their_stdout) = Stream::open()?;
        let (stderr, their_stderr) = Stream::open()?;
        let line = supervisor::request(command, &program, [&their_stdin, &their_stdout, &their_stderr])?;
        Ok(Self {
            line,
            stdin,
            stdout,
            stderr,
            lines: command.lines.then(Lines::default),
            duration: Duration::ZERO,
            exit_status: None,
            signal: None,
            gone: false,
            chunk: vec![0; CHUNK_BYTES],
        })
    }

    /// Returns true if the command and everything that it started are gone.
    pub fn ended(&self) -> bool {
        self.gone
    }

    /// Refuses to act on a command of the process that this one was forked from.
    ///
    /// Both share its pipes and its supervisor.
    fn check_owner(&self) -> Result<()> {
        if self.gone || self.line.is_ours() {
            return Ok(());
        }
        Err(Error::Supervision { reason: "it is of the process that this one was forked from".to_owned() })
    }

    /// Writes to its standard input until the time is up, and returns the number of bytes that need not be written again.
    ///
    /// Once `last` has passed, data that the command did not read are lost, and all that follow.
    ///
    /// # Errors
    ///
    /// The command is of the process that this one was forked from.
    pub fn feed(&mut self, bytes: &[u8], until: Instant, last: Instant) -> Result<usize> {
        self.check_owner()?;
        let mut left = bytes;
        while let (Some(pipe), false) = (&self.stdin, left.is_empty()) {
            match write(pipe, left) {
                Ok(count) => left = &left[count..],
                Err(Errno::AGAIN | Errno::INTR) if Instant::now() < last => {
                    if Instant::now() >= until {
                        return Ok(bytes.len() - left.len());
                    }
                    let mut fds = vec![PollFd::new(pipe, PollFlags::OUT)];
                    fds.extend(self.open_streams());
                    let _ = poll(&mut fds, Some(&timespec(Duration::from_millis(50))));
                    // A command that answers before it has read everything may wait for us.
                    self.take();
                }
                Err(_) => self.stdin = None,
            }
        }
        Ok(bytes.len())
    }

    /// Reads its output until it has ended, there are lines, a signal came, or the time is up.
    ///
    /// # Errors
    ///
    /// The supervisor was killed; the command is then gone too. Or the command is of the process that this one was
    /// forked from.
    pub fn pump(&mut self, until: Instant) -> Result<()> {
        self.check_owner()?;
        while !self.gone {
            let left = until.saturating_duration_since(Instant::now());
            let mut fds = vec![PollFd::new(&self.line, PollFlags::IN)];
            fds.extend(self.open_streams());
            match poll(&mut fds, Some(&timespec(left))) {
                Ok(0) => {
                    self.line.wake();
                    return Ok(());
                }
                Err(_) => return Ok(()),
                Ok(_) => {}
            }
            let news = !fds[0].revents().is_empty();
            self.take();
            if news {
                self.read_report()?;
            }
            if self.has_line() || left.is_zero() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The complete lines of its standard output that were not handed out yet, with the rest once it has ended.
    pub fn lines(&mut self) -> Vec<u8> {
        self.lines.as_mut().map_or_else(Vec::new, |lines| lines.take(self.gone))
    }

    /// Sends a signal to its process group.
    fn signal(&mut self, number: i32) {
        self.line.send(Order::Signal(number));
    }

    /// Asks it to end.
    ///
    /// # Errors
    ///
    /// The command is of the process that this one was forked from, and goes on.
    pub fn ask_to_end(&mut self) -> Result<()> {
        self.check_owner()?;
        self.stdin = None;
        self.line.wake();
        if !self.gone {
            self.signal(rustix::process::Signal::TERM.as_raw());
        }
        Ok(())
    }

    /// Asks it to end, and kills it and all that it started after `grace`, or once `interrupted`.
    fn end(&mut self, grace: Duration, interrupted: &mut dyn FnMut() -> bool) -> Result<Completed> {
        if !grace.is_zero() {
            self.ask_to_end()?;
            self.pump_to_the_end(grace, interrupted)?;
        }
        self.kill()
    }

    /// Kills it and all that it started, and says how it ended.
    ///
    /// # Errors
    ///
    /// The supervisor was killed or did not respond; the command is then gone too. Or the command is of the process
    /// that this one was forked from, and goes on.
    pub fn kill(&mut self) -> Result<Completed> {
        self.check_owner()?;
        self.stdin = None;
        self.line.wake();
        if !self.gone {
            self.line.send(Order::Kill);
            self.pump_to_the_end(SWEEPING, &mut || false)?;
        }
        if !self.gone {
            return Err(self.lose("its supervisor did not respond"));
        }
        Ok(Completed {
            exit_status: self.exit_status,
            signal: self.signal,
            timed_out: false,
            stdout_tail: self.stdout.tail.bytes().to_vec(),
            stderr_tail: self.stderr.tail.bytes().to_vec(),
            duration: self.duration,
        })
    }

    fn pump_to_the_end(&mut self, time: Duration, interrupted: &mut dyn FnMut() -> bool) -> Result<()> {
        // A time beyond the range of the clock means no limit.
        let deadline = Instant::now().checked_add(time);
        while !self.gone && deadline.is_none_or(|deadline| Instant::now() < deadline) && !interrupted() {
            let tick = Instant::now() + TICK;
            self.pump(deadline.map_or(tick, |deadline| deadline.min(tick)))?;
        }
        Ok(())
    }

    /// Its output, but for a stream that has ended, which would wake us for ever.
    fn open_streams(&self) -> impl Iterator<Item = PollFd<'_>> {
        let streams = [&self.stdout, &self.stderr].into_iter();
        streams.filter_map(|stream| stream.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)))
    }

    fn has_line(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.complete > 0)
    }

    /// Takes a chunk of each stream.
    fn take(&mut self) -> bool {
        let output = self.stdout.take(&mut self.chunk);
        if let (Some(output), Some(lines)) = (output, &mut self.lines) {
            lines.push(output);
        }
        let has_output = output.is_some();
        self.stderr.take(&mut self.chunk).is_some() || has_output
    }

    /// Reads a report of the supervisor.
    fn read_report(&mut self) -> Result<()> {
        match self.line.receive() {
            Report::Started { .. } | Report::Failed(_) => {}
            Report::Gone { exit_status, signal, duration_ns } => {
                (self.exit_status, self.signal) = (exit_status, signal);
                self.duration = Duration::from_nanos(duration_ns);
                // The pipes hold all remaining output.
                let _ = (0..MOST_LAST_CHUNKS).all(|_| self.take());
                self.gone = true;
            }
            Report::Lost => return Err(self.lose("its supervisor was killed")),
        }
        Ok(())
    }

    /// Ends a command whose supervisor is gone. Output until then can still be requested.
    fn lose(&mut self, reason: &str) -> Error {
        self.line.kill_remaining();
        // As much as pipes hold, and not for ever: a process that got away may still write.
        let _ = (0..=PIPE_BYTES / CHUNK_BYTES).all(|_| self.take());
        self.gone = true;
        Error::Supervision { reason: reason.to_owned() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.gone && self.line.is_ours() {
            self.line.send(Order::Kill);
        }
    }
}

/// Runs a command to its end and ends everything that it leaves behind.
///
/// # Errors
///
/// It cannot be started, or `interrupted` returned true; then it has been ended.
pub fn run(
    command: &Command,
    timeout: Option<Duration>,
    grace: Duration,
    mut interrupted: impl FnMut() -> bool,
) -> Result<Completed> {
    let mut process = Process::start(command)?;
    // A time beyond the range of the clock means no limit.
    let mut deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut timed_out = false;
    while !process.ended() {
        let tick = Instant::now() + TICK;
        let until = deadline.map_or(tick, |deadline| deadline.min(tick));
        process.pump(until)?;
        let late = until.elapsed();
        if late > PAUSE {
            // This process was stopped, and most likely the command too, as in a container that is paused.
            deadline = deadline.and_then(|deadline| deadline.checked_add(late));
        }
        if interrupted() {
            process.end(grace.min(LAST_GRACE), &mut || false)?;
            return Err(Error::Interrupted);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) && !process.ended() {
            timed_out = true;
            break;
        }
    }
    let mut completed = process.end(grace, &mut interrupted)?;
    completed.timed_out = timed_out;
    Ok(completed)
}
