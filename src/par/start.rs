//! Starts of threads while memory may run out.
//!
//! The C library allocates the thread-local data of a new thread before the thread runs any code of ours. If that allocation
//! fails, the C library ends the process. The caller and other threads allocate meanwhile, so the memory must be there until the
//! last thread has taken its part: it is reserved, and the caller waits.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::memory::{self, Reserve};
use crate::panics;

/// Memory for the thread-local data of a thread: a few pages, with a margin.
const BYTES: usize = 256 << 10;

/// Reserved memory for threads that are about to start.
pub(crate) struct Start {
    reserve: Reserve,
    ready: Sender<()>,
    all_ready: Receiver<()>,
}

impl Start {
    /// Reserves memory for the start of so many threads. `None` if there is too little, or no thread is to start.
    pub(crate) fn new(threads: usize) -> Option<Self> {
        if threads == 0 || memory::is_short() {
            return None;
        }
        let reserve = Reserve::new(threads.checked_mul(BYTES)?)?;
        let (ready, all_ready) = channel();
        Some(Self { reserve, ready, all_ready })
    }

    /// Makes the signal of one thread, which the thread gives first.
    pub(crate) fn ready(&self) -> Ready {
        Ready(self.ready.clone())
    }

    /// Gives the memory to the threads that were created, and waits until each has given its signal.
    pub(crate) fn finish(self) {
        let Self { reserve, ready, all_ready } = self;
        drop(reserve);
        drop(ready);
        // Nothing is sent: the channel disconnects with the last signal. A thread that was not created has dropped its signal.
        let _ = all_ready.recv();
    }
}

/// Signal of a thread that it has its thread-local data.
pub(crate) struct Ready(Sender<()>);

impl Ready {
    /// Gives the signal.
    pub(crate) fn signal(self) {
        // The first thread-local value with a destructor takes memory too.
        panics::prepare_thread();
        drop(self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn finish_waits_for_every_thread() {
        let ready = AtomicUsize::new(0);
        thread::scope(|scope| {
            let start = Start::new(3).expect("memory");
            for _ in 0..3 {
                let signal = start.ready();
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(20));
                    ready.fetch_add(1, Ordering::Relaxed);
                    signal.signal();
                });
            }
            start.finish();
            assert_eq!(ready.load(Ordering::Relaxed), 3);
        });
    }

    #[test]
    fn threads_that_were_not_created_are_not_awaited() {
        let start = Start::new(2).expect("memory");
        drop((start.ready(), start.ready()));
        start.finish();
    }

    #[test]
    fn there_is_no_start_without_memory() {
        assert!(Start::new(0).is_none());
        assert!(Start::new(usize::MAX).is_none());
        assert!(Start::new(1 << 40).is_none());
    }
}
