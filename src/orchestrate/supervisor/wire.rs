//! What the supervisor and we say to each other. Both are the same build, so the form is as plain as can be.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::net::{SendFlags, send};

/// For the waits of both.
pub(in crate::orchestrate) fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

/// What to start: each list as a count, each text as its length and its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub program: OsString,
    pub directory: OsString,
    pub argv: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

/// What we ask of the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::orchestrate) enum Order {
    /// Send a signal to the command's process group.
    Signal(i32),
    /// Kill it and all that it started.
    Kill,
}

/// What the supervisor tells us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::orchestrate) enum Report {
    /// The command runs, under this number if ours are also the supervisor's.
    Started { pid: i32, supervisor: u64 },
    /// It could not be started; the number is the system's reason.
    Failed(i32),
    /// It has ended, after so many nanoseconds, and nothing of what it started is left.
    Gone { exit_status: Option<i32>, signal: Option<i32>, duration_ns: u64 },
    /// The supervisor is no more.
    Lost,
}

/// A tag and two numbers.
const RECORD_BYTES: usize = 13;

impl Job {
    pub(super) fn send(&self, line: impl AsFd) -> bool {
        let mut bytes = Vec::new();
        let mut put = |text: &OsString| {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        };
        put(&self.program);
        put(&self.directory);
        put(&OsString::from(self.argv.len().to_string()));
        self.argv.iter().for_each(&mut put);
        self.environment.iter().for_each(|(name, value)| {
            put(name);
            put(value);
        });
        send_all(&line, &(bytes.len() as u64).to_le_bytes()) && send_all(&line, &bytes)
    }

    pub(super) fn receive(line: impl AsFd) -> Option<Self> {
        let mut length = [0; 8];
        receive_exact(&line, &mut length)?;
        let mut bytes = vec![0; usize::try_from(u64::from_le_bytes(length)).ok()?];
        receive_exact(&line, &mut bytes)?;
        let mut texts = Texts(&bytes);
        let (program, directory) = (texts.next()?, texts.next()?);
        let count: usize = texts.next()?.to_str()?.parse().ok()?;
        let argv: Vec<OsString> = texts.by_ref().take(count).collect();
        let mut environment = Vec::new();
        while let Some(name) = texts.next() {
            environment.push((name, texts.next()?));
        }
        (argv.len() == count).then_some(Self { program, directory, argv, environment })
    }
}

/// The texts of a message, one after the other.
struct Texts<'bytes>(&'bytes [u8]);

impl Iterator for Texts<'_> {
    type Item = OsString;

    fn next(&mut self) -> Option<OsString> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        self.0 = rest;
        Some(OsString::from_vec(text.to_vec()))
    }
}

impl Order {
    pub(super) fn send(self, line: impl AsFd) -> bool {
        let (tag, number) = match self {
            Self::Signal(number) => (b's', number),
            Self::Kill => (b'k', 0),
        };
        send_record(line, tag, number, 0)
    }

    /// The next order; None when whoever gives them is gone.
    pub(super) fn receive(line: impl AsFd) -> Option<Self> {
        match receive_record(line)? {
            (b's', number, _) => Some(Self::Signal(number)),
            (b'k', ..) => Some(Self::Kill),
            _ => None,
        }
    }
}

impl Report {
    pub(super) fn send(self, line: impl AsFd) -> bool {
        let (tag, first, second) = match self {
            Self::Started { pid, supervisor } => (b'+', pid, supervisor),
            Self::Failed(errno) => (b'!', errno, 0),
            // An exit status is never negative: what is stands for a signal.
            Self::Gone { exit_status, signal, duration_ns } => {
                (b'-', exit_status.unwrap_or(-signal.unwrap_or(0)), duration_ns)
            }
            Self::Lost => return false,
        };
        send_record(line, tag, first, second)
    }

    pub(super) fn receive(line: impl AsFd) -> Self {
        match receive_record(line) {
            Some((b'+', pid, supervisor)) => Self::Started { pid, supervisor },
            Some((b'!', errno, _)) => Self::Failed(errno),
            Some((b'-', status, duration_ns)) => Self::Gone {
                exit_status: (status >= 0).then_some(status),
                signal: (status < 0).then_some(-status),
                duration_ns,
            },
            _ => Self::Lost,
        }
    }
}

fn send_record(line: impl AsFd, tag: u8, first: i32, second: u64) -> bool {
    let mut record = [tag; RECORD_BYTES];
    record[1..5].copy_from_slice(&first.to_le_bytes());
    record[5..].copy_from_slice(&second.to_le_bytes());
    send_all(line, &record)
}

fn receive_record(line: impl AsFd) -> Option<(u8, i32, u64)> {
    let mut record = [0; RECORD_BYTES];
    receive_exact(line, &mut record)?;
    let first = i32::from_le_bytes(record[1..5].try_into().ok()?);
    Some((record[0], first, u64::from_le_bytes(record[5..].try_into().ok()?)))
}

/// False when nobody is there to receive it.
fn send_all(line: impl AsFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match send(&line, bytes, SendFlags::NOSIGNAL) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// None when the other end is closed before all has come.
fn receive_exact(line: impl AsFd, buffer: &mut [u8]) -> Option<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read(&line, &mut buffer[filled..]) {
            Ok(0) => return None,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(())
}

/// A pair of connected sockets that no command inherits.
pub(super) fn pair(kind: rustix::net::SocketType) -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, socketpair};
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rustix::net::SocketType;

    use super::*;

    #[test]
    fn a_job_of_any_bytes_arrives_as_it_was_sent() {
        let odd = || OsString::from_vec(vec![b'a', 0xff, b'\n', b' ']);
        let huge = OsString::from("x".repeat(3_000_000));
        let job = Job {
            program: odd(),
            directory: OsString::new(),
            argv: vec![OsString::new(), odd(), huge],
            environment: vec![(odd(), OsString::new())],
        };
        let (ours, theirs) = pair(SocketType::STREAM).unwrap();
        let received = thread::spawn(move || Job::receive(theirs));
        assert!(job.send(ours));
        assert_eq!(received.join().unwrap(), Some(job));
    }

    #[test]
    fn half_a_job_is_none() {
        let (ours, theirs) = pair(SocketType::STREAM).unwrap();
        send_all(&ours, &100_u64.to_le_bytes());
        send_all(&ours, b"not a hundred bytes");
        drop(ours);
        assert_eq!(Job::receive(theirs), None);
    }

    #[test]
    fn reports_and_orders_arrive_as_they_were_sent() {
        let (ours, theirs) = pair(SocketType::STREAM).unwrap();
        for report in [
            Report::Started { pid: 3, supervisor: 2 },
            Report::Failed(2),
            Report::Gone { exit_status: Some(255), signal: None, duration_ns: 0 },
            Report::Gone { exit_status: None, signal: Some(9), duration_ns: u64::MAX },
        ] {
            assert!(report.send(&ours));
            assert_eq!(Report::receive(&theirs), report);
        }
        for order in [Order::Signal(15), Order::Kill] {
            assert!(order.send(&ours));
            assert_eq!(Order::receive(&theirs), Some(order));
        }
        drop(ours);
        assert_eq!(Report::receive(&theirs), Report::Lost);
        assert!(!Report::Failed(2).send(&theirs));
    }
}
