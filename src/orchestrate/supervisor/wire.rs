//! Messages between the supervisor and this process. Both are the same build, so the format has no version.

use std::ffi::OsString;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, read};
use rustix::net::{SendFlags, send};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::memory;

/// For the waits of both.
pub(in crate::orchestrate) fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

/// A command to start.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Job {
    pub program: OsString,
    pub directory: OsString,
    pub argv: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

/// Orders to the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::orchestrate) enum Order {
    /// Send a signal to the command's process group.
    Signal(i32),
    /// Kill it and all that it started.
    Kill,
}

/// Reports of the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::orchestrate) enum Report {
    /// The command runs, under this number if ours are also the supervisor's.
    Started { pid: i32, supervisor: u64 },
    /// It could not be started; the number is the system's reason.
    Failed(i32),
    /// The command has ended after so many nanoseconds, and none of its processes is left.
    Gone { exit_status: Option<i32>, signal: Option<i32>, duration_ns: u64 },
    /// The supervisor is no more. It cannot say so itself.
    #[serde(skip)]
    Lost,
}

/// Sends the length of a message, then the message. False if the other end is closed.
pub(super) fn send_message(line: impl AsFd, message: &impl Serialize) -> bool {
    let Ok(message) = postcard::to_allocvec(message) else { return false };
    // In one piece: who has read the length waits for the rest, from a sender that may be stopped between two.
    let mut bytes = (message.len() as u64).to_le_bytes().to_vec();
    bytes.extend(message);
    send_all(&line, &bytes)
}

/// The next message. None when the other end is closed before all of it has come.
pub(super) fn receive_message<M: DeserializeOwned>(line: impl AsFd) -> Option<M> {
    let mut length = [0; 8];
    receive_exact(&line, &mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
    let mut message = memory::try_list(length)?;
    message.resize(length, 0);
    receive_exact(&line, &mut message)?;
    postcard::from_bytes(&message).ok()
}

/// The next report; [`Report::Lost`] where the line is closed.
pub(super) fn receive_report(line: impl AsFd) -> Report {
    receive_message(line).unwrap_or(Report::Lost)
}

/// Sends all bytes; returns false if the other end is closed.
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
    use std::os::unix::ffi::OsStringExt;
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
        let received = thread::spawn(move || receive_message::<Job>(theirs));
        assert!(send_message(ours, &job));
        assert_eq!(received.join().unwrap(), Some(job));
    }

    #[test]
    fn half_a_job_is_none() {
        let (ours, theirs) = pair(SocketType::STREAM).unwrap();
        send_all(&ours, &100_u64.to_le_bytes());
        send_all(&ours, b"not a hundred bytes");
        drop(ours);
        assert_eq!(receive_message::<Job>(theirs), None);
    }

    #[test]
    fn reports_and_orders_arrive_as_they_were_sent() {
        let (ours, theirs) = pair(SocketType::STREAM).unwrap();
        for report in [
            Report::Started { pid: 3, supervisor: 2 },
            Report::Gone { exit_status: Some(255), signal: None, duration_ns: 0 },
            Report::Gone { exit_status: None, signal: Some(9), duration_ns: u64::MAX },
        ] {
            assert!(send_message(&ours, &report));
            assert_eq!(receive_report(&theirs), report);
        }
        for order in [Order::Signal(15), Order::Kill] {
            assert!(send_message(&ours, &order));
            assert_eq!(receive_message(&theirs), Some(order));
        }
    }

    #[test]
    fn a_closed_end_receives_nothing_and_is_lost() {
        let (ours, theirs) = pair(SocketType::STREAM).unwrap();
        assert!(send_message(&ours, &Report::Failed(2)) && !send_message(&ours, &Report::Lost));
        drop(ours);
        assert_eq!([receive_report(&theirs), receive_report(&theirs)], [Report::Failed(2), Report::Lost]);
        assert!(!send_message(&theirs, &Order::Kill));
    }
}
