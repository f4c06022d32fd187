//! Our side: starts the supervisor when there is something to start, and asks it to.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketType, sendmsg};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open};

use super::MARK;
use super::inherited::Inherited;
use super::tree::kill_related;
use super::wire::{Job, Order, Report, pair, receive_report, send_message, timespec};
use crate::error::{Error, Result};
use crate::orchestrate::Command;

/// Command line of the supervisor: a program that calls [`super::serve`] with its standard input.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();
/// The process that called [`set_program`]: any other was forked from it.
static LOADED_BY: OnceLock<Pid> = OnceLock::new();
/// Supervisors without a command, and those that have ended or will but were not collected yet.
static SUPERVISORS: Mutex<Vec<Supervisor>> = Mutex::new(Vec::new());
/// One that is started while Ctrl-C is pressed may die of it: try so often.
const ATTEMPTS: usize = 4;
/// Silence of a supervisor after which it may have been stopped.
const PATIENCE: Duration = Duration::from_millis(200);

/// Sets the command line of the supervisor. The first call counts.
pub fn set_program(argv: Vec<OsString>) {
    let _ = PROGRAM.set(argv);
    let _ = LOADED_BY.set(getpid());
}

/// A supervisor that was started, by this process or by the one that it was forked from.
#[derive(Debug)]
struct Supervisor {
    /// None when it is not to have another command; it leaves then.
    control: Option<OwnedFd>,
    process: Child,
    owner: Pid,
    inherited: Inherited,
}

/// Our end of the line to the supervisor about one command. Closing it ends the command.
#[derive(Debug)]
pub(in crate::orchestrate) struct Line {
    socket: OwnedFd,
    mark: OsString,
    /// The command, as far as we can name it.
    command: Option<Pid>,
    /// Its supervisor, for as long as it is busy with it.
    supervisor: Option<Supervisor>,
}

impl Line {
    pub(in crate::orchestrate) fn send(&self, order: Order) {
        send_message(&self.socket, &order);
    }

    /// The next report; blocks, and so is for when there is one.
    pub(in crate::orchestrate) fn receive(&mut self) -> Report {
        let report = receive_report(&self.socket);
        if matches!(report, Report::Gone { .. })
            && let Some(supervisor) = self.supervisor.take()
        {
            supervisor.shelve();
        }
        report
    }

    /// Returns true if this process started the command, rather than the process that it was forked from.
    pub(in crate::orchestrate) fn is_ours(&self) -> bool {
        self.supervisor.as_ref().is_some_and(|supervisor| supervisor.owner == getpid())
    }

    /// Lets a supervisor that the command has stopped go on.
    pub(in crate::orchestrate) fn wake(&mut self) {
        if let Some(supervisor) = &mut self.supervisor {
            supervisor.wake();
        }
    }

    /// Kills the command and its descendants, and the supervisor, which was killed or does not respond.
    pub(in crate::orchestrate) fn kill_remaining(&mut self) {
        match &mut self.supervisor {
            Some(supervisor) => supervisor.kill(&self.mark, self.command),
            None => kill_related(self.mark.as_bytes(), self.command.as_slice()),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.dismiss();
        }
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Supervisor {
    fn start(inherited: Inherited) -> Result<Self> {
        let Some([program, arguments @ ..]) = PROGRAM.get().map(Vec::as_slice) else {
            return Err(Error::Supervision { reason: "the program of the supervisor is not set".to_owned() });
        };
        // By descriptor, not by number: that could be another's by the time it looks.
        let owner = pidfd_open(getpid(), PidfdFlags::empty()).map_err(Error::supervision)?;
        let (control, theirs) = pair(SocketType::SEQPACKET).map_err(Error::supervision)?;
        let process = std::process::Command::new(program)
            .args(arguments)
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| match error.raw_os_error() {
                Some(errno) => Error::spawn(program, Errno::from_raw_os_error(errno)),
                None => Error::Supervision { reason: format!("{}: {error}", program.display()) },
            })?;
        pass(&control, &[owner.as_fd()]);
        Ok(Self { control: Some(control), process, owner: getpid(), inherited })
    }

    /// Returns true if the supervisor is a running child of this process.
    fn runs(&mut self) -> bool {
        self.owner == getpid() && matches!(self.process.try_wait(), Ok(None))
    }

    /// Lets it go on if it was stopped: a command may do that to its parent, and then no order is heard.
    fn wake(&mut self) {
        if self.runs() {
            let _ = kill_process(Pid::from_child(&self.process), Signal::CONT);
        }
    }

    /// The next report about a command that has just begun, which may have stopped it at once.
    fn report(&mut self, line: &OwnedFd) -> Report {
        loop {
            match poll(&mut [PollFd::new(line, PollFlags::IN)], Some(&timespec(PATIENCE))) {
                Ok(0) => self.wake(),
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return receive_report(line),
            }
        }
    }

    /// Kills the supervisor, if it runs, with a command and its descendants.
    fn kill(&mut self, mark: &OsStr, command: Option<Pid>) {
        if self.runs() {
            let _ = self.process.kill();
        }
        // A process that is about to become the command has neither mark nor number yet, but is in the supervisor's session.
        let leaders: Vec<Pid> = [Some(Pid::from_child(&self.process)), command].into_iter().flatten().collect();
        kill_related(mark.as_bytes(), &leaders);
    }

    /// Puts it where the next command finds it.
    fn shelve(self) {
        if let Some(mut known) = supervisors() {
            known.push(self);
        }
    }

    /// Lets the supervisor end its commands and leave. The next command collects it.
    fn dismiss(mut self) {
        self.control = None;
        self.shelve();
    }
}

/// Those that are known. None when the list is held by a thread that there is not, because this process was forked from
/// one in which it was held: then every command has a supervisor of its own.
fn supervisors() -> Option<MutexGuard<'static, Vec<Supervisor>>> {
    if LOADED_BY.get() == Some(&getpid()) {
        // However long another thread takes, on a busy machine: a supervisor that is not in the list is never collected.
        return Some(SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner));
    }
    for _ in 0..100 {
        match SUPERVISORS.try_lock() {
            Ok(known) => return Some(known),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            // It is held for microseconds.
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(50)),
        }
    }
    None
}

/// A supervisor without a command that is as we are now.
fn free_supervisor(inherited: &Inherited) -> Option<Supervisor> {
    let mut known = supervisors()?;
    known.retain_mut(Supervisor::runs);
    let found =
        known.iter().position(|supervisor| supervisor.control.is_some() && supervisor.inherited == *inherited)?;
    let mut supervisor = known.swap_remove(found);
    supervisor.wake();
    Some(supervisor)
}

/// An empty standard input.
pub(in crate::orchestrate) fn nothing() -> Result<OwnedFd> {
    Ok(File::open("/dev/null").map_err(|error| Error::Supervision { reason: format!("/dev/null: {error}") })?.into())
}

/// Has the supervisor start a command with these streams.
///
/// # Errors
///
/// The command cannot be started, or no supervisor can.
pub(in crate::orchestrate) fn request(command: &Command, program: &Path, streams: [&OwnedFd; 3]) -> Result<Line> {
    let value = next_mark();
    let mut environment = command.variables();
    environment.retain(|(name, _)| name != MARK);
    environment.push((MARK.into(), value.clone()));
    let mut mark = OsString::from(MARK);
    mark.push("=");
    mark.push(&value);
    let job =
        Job { program: program.into(), directory: directory(command).into(), argv: command.argv.clone(), environment };
    let mut attempts = 0;
    while attempts < ATTEMPTS {
        let (ours, theirs) = pair(SocketType::STREAM).map_err(Error::supervision)?;
        let inherited = Inherited::now();
        let mut supervisor = if let Some(supervisor) = free_supervisor(&inherited) {
            supervisor
        } else {
            attempts += 1;
            Supervisor::start(inherited)?
        };
        let fds = [theirs.as_fd(), streams[0].as_fd(), streams[1].as_fd(), streams[2].as_fd()];
        let passed = supervisor.control.as_ref().is_some_and(|control| pass(control, &fds));
        drop(theirs);
        send_message(&ours, &job);
        // One that has just left, because it had nothing to do, did not take the job: another will.
        match if passed { supervisor.report(&ours) } else { Report::Lost } {
            Report::Started { pid, supervisor: number } => {
                let is_named = u64::from(supervisor.process.id()) == number;
                let command = Pid::from_raw(pid).filter(|_| is_named);
                return Ok(Line { socket: ours, mark, command, supervisor: Some(supervisor) });
            }
            Report::Failed(errno) => {
                supervisor.shelve();
                return Err(Error::spawn(&command.argv[0], Errno::from_raw_os_error(errno)));
            }
            _ => {
                // Or it was killed, and the command may have begun.
                supervisor.kill(&mark, None);
                supervisor.dismiss();
            }
        }
    }
    let program = PROGRAM.get().and_then(|argv| argv.first()).map(|program| program.display().to_string());
    let reason = format!("cannot run {} as supervisor", program.unwrap_or_else(|| "an unset program".to_owned()));
    Err(Error::Supervision { reason })
}

/// Returns the working directory of a command as an absolute path: the supervisor keeps the directory that we had when it was
/// started.
fn directory(command: &Command) -> PathBuf {
    // A folder that was deleted has no name but this.
    let ours = env::current_dir().unwrap_or_else(|_| format!("/proc/{}/cwd", getpid().as_raw_pid()).into());
    command.directory.as_ref().map_or_else(|| ours.clone(), |directory| ours.join(directory))
}

fn pass(control: &OwnedFd, fds: &[BorrowedFd<'_>]) -> bool {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(fds));
    let note = [IoSlice::new(b"j")];
    sendmsg(control, &note, &mut ancillary, SendFlags::NOSIGNAL).is_ok()
}

/// A text that no other command has, in this process or any other. It goes on from ours, if we are of a command.
fn next_mark() -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut mark = env::var_os(MARK).unwrap_or_default();
    if !mark.is_empty() {
        mark.push("/");
    }
    mark.push(format!("{}-{count}-{now:x}", getpid().as_raw_pid()));
    mark
}
