//! The supervisor: starts commands, watches their owners, and leaves nothing of the commands behind.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, kill_process_group, pidfd_open, set_child_subreaper,
    set_parent_process_death_signal, setsid, wait,
};

use super::tree;
use super::wire::{Job, Order, Report, receive_message, send_message, timespec};
use crate::error::{Error, Result};

/// Time after which a supervisor without commands exits.
const IDLE: Duration = Duration::from_secs(1);
/// Time for commands to end by themselves after their owner is gone: a profiler writes its report then.
const LAST_WORDS: Duration = Duration::from_millis(1200);
/// Time for processes that a command left behind to end by themselves.
const STRAYS: Duration = Duration::from_millis(200);
/// Time between two checks for events that do not wake us: the end of an orphan.
const TICK: Duration = Duration::from_millis(250);
const SWEEP_TICK: Duration = Duration::from_millis(4);
/// Time in which no remaining process takes a signal, after which they are left: those of another user, those that wait
/// for a file system or a driver that does not answer, or all that `/proc` does not show.
const GIVE_UP: Duration = Duration::from_secs(3);

/// A running command, or its remaining processes.
struct Kept {
    /// Connection to the owner; None if the owner is gone.
    line: Option<OwnedFd>,
    pid: Pid,
    exit: OwnedFd,
    started: Instant,
    /// Report of its end, once it has ended.
    end: Report,
    state: State,
}

enum State {
    Running,
    /// Asked to end, and killed at this time.
    Ending(Instant),
    /// The command has ended. Its remaining processes were asked to end, or will be, and are killed at this time.
    Sweeping {
        /// Or the last time at which one of them took the signal.
        kill_at: Instant,
        asked: bool,
    },
}

/// Serves the process at the other end of `control`, until that process is gone or there is nothing to do.
///
/// # Errors
///
/// The kernel does not let this process adopt orphans.
pub fn serve(control: OwnedFd) -> Result<()> {
    // Ctrl-C and hang-ups of the terminal are not for us, nor for commands.
    let _ = setsid();
    // One that was stopped goes on when its owner ends: otherwise its command would stay behind.
    let _ = set_parent_process_death_signal(Some(Signal::CONT));
    set_child_subreaper(Some(getpid())).map_err(Error::supervision)?;
    let Some(owner) = receive(&control).and_then(|fds| fds.into_iter().next()) else { return Ok(()) };
    let mut supervisor = Supervisor { kept: None, abandoned: false, has_strangers: false, idle_since: Instant::now() };
    let mut control = Some(control);
    while !supervisor.is_done(control.is_some()) {
        let (asked, left) = supervisor.wait_for_news(control.as_ref(), &owner);
        if left && !supervisor.abandoned {
            supervisor.abandoned = true;
            control = None;
            supervisor.kept.iter_mut().for_each(Kept::let_go);
        } else if asked && let Some(open) = &control {
            match receive(open) {
                Some(fds) => supervisor.start(fds),
                None => control = None,
            }
        }
        supervisor.take_orders();
        let is_alone = supervisor.collect();
        supervisor.sweep(is_alone);
    }
    Ok(())
}

struct Supervisor {
    kept: Option<Kept>,
    abandoned: bool,
    /// True if processes of a command were left. They would count as those of the next.
    has_strangers: bool,
    idle_since: Instant,
}

impl Supervisor {
    fn is_done(&self, may_be_asked: bool) -> bool {
        self.kept.is_none() && (!may_be_asked || self.has_strangers || self.idle_since.elapsed() >= IDLE)
    }

    /// Waits; then says whether there is a request and whether the owner is gone.
    fn wait_for_news(&self, control: Option<&OwnedFd>, owner: &OwnedFd) -> (bool, bool) {
        let timeout = self.kept.as_ref().map_or_else(|| IDLE.saturating_sub(self.idle_since.elapsed()), Kept::tick);
        let mut fds = vec![PollFd::new(owner, PollFlags::IN)];
        if self.abandoned {
            // It stays readable, and would wake us without end.
            fds.clear();
        }
        fds.extend(control.map(|control| PollFd::new(control, PollFlags::IN)));
        if let Some(kept) = &self.kept {
            if kept.is_alive() {
                fds.push(PollFd::new(&kept.exit, PollFlags::IN));
            }
            fds.extend(kept.line.as_ref().map(|line| PollFd::new(line, PollFlags::IN)));
        }
        if poll(&mut fds, Some(&timespec(timeout))).is_err() {
            return (false, false);
        }
        let left = !self.abandoned && !fds[0].revents().is_empty();
        let asked = control.is_some() && !fds[usize::from(!self.abandoned)].revents().is_empty();
        (asked, left)
    }

    fn start(&mut self, fds: Vec<OwnedFd>) {
        self.idle_since = Instant::now();
        let Ok([line, stdin, stdout, stderr]) = <[OwnedFd; 4]>::try_from(fds) else { return };
        let Some(job) = receive_message::<Job>(&line) else { return };
        let mut command = Command::new(&job.program);
        command.args(&job.argv[1..]).env_clear().envs(job.environment.iter().map(|(name, value)| (name, value)));
        command.arg0(&job.argv[0]).process_group(0).current_dir(&job.directory);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let started = Instant::now();
        let child = command.spawn().and_then(|child| {
            let pid = Pid::from_child(&child);
            let exit = pidfd_open(pid, PidfdFlags::empty()).inspect_err(|_| {
                signal_all(&[pid], Signal::KILL);
            })?;
            Ok((pid, exit))
        });
        match child {
            Ok((pid, exit)) => {
                let supervisor = u64::from(getpid().as_raw_pid().unsigned_abs());
                send_message(&line, &Report::Started { pid: pid.as_raw_pid(), supervisor });
                let (line, state) = (Some(line), State::Running);
                self.kept = Some(Kept { line, pid, exit, started, end: Report::Lost, state });
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(Errno::NOENT.raw_os_error());
                send_message(&line, &Report::Failed(errno));
            }
        }
    }

    fn take_orders(&mut self) {
        let Some(kept) = &mut self.kept else { return };
        let Some(line) = &kept.line else { return };
        if !matches!(poll(&mut [PollFd::new(line, PollFlags::IN)], Some(&timespec(Duration::ZERO))), Ok(1)) {
            return;
        }
        match receive_message(line) {
            Some(Order::Signal(number)) => {
                if let (Some(signal), State::Running) = (Signal::from_named_raw(number), &kept.state) {
                    let _ = kill_process_group(kept.pid, signal);
                }
            }
            Some(Order::Kill) => kept.state = kept.state.no_later_than(Instant::now()),
            None => kept.let_go(),
        }
    }

    /// Records the ends of processes, also of orphans; returns true if no descendant is left.
    fn collect(&mut self) -> bool {
        loop {
            let (pid, status) = match wait(WaitOptions::NOHANG) {
                Ok(Some(ended)) => ended,
                Ok(None) => return false,
                Err(error) => return error == Errno::CHILD,
            };
            if let Some(kept) = self.kept.as_mut().filter(|kept| kept.pid == pid && kept.is_alive()) {
                kept.has_ended(status.exit_status(), status.terminating_signal());
            }
        }
    }

    /// Ends overdue commands, and remaining processes of a command that has ended.
    fn sweep(&mut self, is_alone: bool) {
        let now = Instant::now();
        let Some(kept) = &mut self.kept else { return };
        match &mut kept.state {
            // A kernel that was shown to forget ended processes does not say how this one did.
            _ if is_alone => self.report_end(),
            State::Ending(kill_at) | State::Sweeping { kill_at, .. } if *kill_at <= now => {
                if signal_remaining(kept.pid, Signal::KILL) {
                    *kill_at = now;
                } else if *kill_at + GIVE_UP <= now {
                    if kept.is_alive() {
                        kept.has_ended(None, Some(Signal::KILL.as_raw()));
                    }
                    self.has_strangers = true;
                    self.report_end();
                }
            }
            State::Sweeping { asked, .. } if !*asked => {
                *asked = true;
                signal_remaining(kept.pid, Signal::TERM);
            }
            _ => {}
        }
    }

    /// Reports the end of the command, which is forgotten.
    fn report_end(&mut self) {
        if let Some(Kept { line: Some(line), end, .. }) = self.kept.take() {
            send_message(&line, &end);
        }
        self.idle_since = Instant::now();
    }
}

impl Kept {
    /// Asks a command to end whose owner is gone, and kills it if it does not.
    fn let_go(&mut self) {
        self.line = None;
        if matches!(self.state, State::Running) {
            let _ = kill_process_group(self.pid, Signal::TERM);
        }
        self.state = self.state.no_later_than(Instant::now() + LAST_WORDS);
    }

    fn is_alive(&self) -> bool {
        !matches!(self.state, State::Sweeping { .. })
    }

    fn has_ended(&mut self, exit_status: Option<i32>, signal: Option<i32>) {
        self.end = Report::Gone { exit_status, signal, duration_ns: self.started.elapsed().as_nanos() as u64 };
        // A command that was killed is not waited for: what it started is killed too.
        let now = Instant::now();
        let kill_at = if matches!(self.state, State::Ending(at) if at <= now) { now } else { now + STRAYS };
        self.state = State::Sweeping { kill_at, asked: false };
    }

    /// Returns the time until the next action, if nothing happens.
    fn tick(&self) -> Duration {
        match self.state {
            State::Running => TICK,
            State::Ending(at) => at.saturating_duration_since(Instant::now()).clamp(SWEEP_TICK, TICK),
            State::Sweeping { .. } => SWEEP_TICK,
        }
    }
}

impl State {
    fn no_later_than(&self, time: Instant) -> Self {
        match self {
            Self::Running => Self::Ending(time),
            Self::Ending(at) => Self::Ending(time.min(*at)),
            Self::Sweeping { kill_at, asked } => Self::Sweeping { kill_at: time.min(*kill_at), asked: *asked },
        }
    }
}

/// All that is below us.
fn descendants() -> Vec<Pid> {
    tree::trees(tree::children(getpid()))
}

/// Signals all that is below us, and returns true if a process takes the signal. Where `/proc` is not mounted, only the
/// process group of the command is known.
fn signal_remaining(command: Pid, signal: Signal) -> bool {
    let found = descendants();
    (found.is_empty() && kill_process_group(command, signal).is_ok()) | signal_all(&found, signal)
}

fn signal_all(pids: &[Pid], signal: Signal) -> bool {
    pids.iter().filter(|&&pid| kill_process(pid, signal).is_ok() && tree::takes_signals(pid)).count() > 0
}

/// The descriptors of the next request; None when there will be no more.
fn receive(control: &OwnedFd) -> Option<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut note = [0];
    let received = recvmsg(control, &mut [IoSliceMut::new(&mut note)], &mut ancillary, RecvFlags::CMSG_CLOEXEC).ok()?;
    if received.bytes == 0 {
        return None;
    }
    let messages = ancillary.drain();
    Some(
        messages
            .filter_map(|message| if let RecvAncillaryMessage::ScmRights(fds) = message { Some(fds) } else { None })
            .flatten()
            .collect(),
    )
}
