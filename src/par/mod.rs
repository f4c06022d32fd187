//! Threads for computing. No other module starts such threads.

mod ahead;
mod start;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::memory;
use crate::panics::{self, Caught};

pub(crate) use ahead::ahead;
pub(crate) use start::{Ready, Start};

/// Largest number of threads: more would wait for memory.
const MOST_THREADS: usize = 8;
/// Time between two checks for an interruption.
const PATIENCE: Duration = Duration::from_millis(50);

thread_local! {
    /// On how many threads the work of this one may be shared out, where that has been said.
    static ALLOWED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Returns the number of threads that run at once.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// On how many threads work is worth sharing out.
pub(crate) fn threads() -> usize {
    // The same input must take the same way each time.
    if cfg!(fuzzing) {
        return 1;
    }
    ALLOWED.get().unwrap_or_else(|| cores().min(MOST_THREADS))
}

/// Runs `work` on this thread, which may distribute it over at most so many threads, this thread included.
pub(crate) fn within<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    /// Restores the previous limit, also after a panic.
    struct Before(Option<usize>);
    impl Drop for Before {
        fn drop(&mut self) {
            ALLOWED.set(self.0);
        }
    }
    let _before = Before(ALLOWED.replace(Some(threads.clamp(1, MOST_THREADS))));
    work()
}

/// Runs `work` for every job, on this thread and others, and returns the results in the order of the jobs.
///
/// Only this thread calls `interrupted`; the others receive its answer.
///
/// # Panics
/// If `work` panics.
pub(crate) fn map<J: Send, R: Send>(
    jobs: impl IntoIterator<Item = J>,
    interrupted: &dyn Fn() -> bool,
    work: impl Fn(J, &dyn Fn() -> bool) -> R + Sync,
) -> Vec<R> {
    map_on(threads(), jobs, interrupted, work)
}

/// The same on at most so many threads, this one included.
///
/// # Panics
/// Where `work` does.
pub(crate) fn map_on<J: Send, R: Send>(
    threads: usize,
    jobs: impl IntoIterator<Item = J>,
    interrupted: &dyn Fn() -> bool,
    work: impl Fn(J, &dyn Fn() -> bool) -> R + Sync,
) -> Vec<R> {
    let jobs: Vec<J> = memory::collected(jobs);
    let helpers = threads.min(jobs.len()).saturating_sub(1);
    let done: Mutex<Vec<Option<R>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let jobs = Mutex::new(jobs.into_iter().enumerate());
    together(helpers, interrupted, &|interrupted| {
        loop {
            // Released before the work begins.
            let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, job)) = next else { return };
            let result = work(job, interrupted);
            done.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(result);
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().map(|result| result.expect("every job taken is done")).collect()
}

/// Runs `share` on this thread and at most so many others, until each has returned. It is separate from the kind of job, so that
/// threads and channels are not compiled again for each kind.
fn together(helpers: usize, interrupted: &dyn Fn() -> bool, share: &(dyn Fn(&dyn Fn() -> bool) + Sync)) {
    let (stop, caught) = (AtomicBool::new(false), Mutex::new(None));
    let ask = || {
        let now = interrupted();
        stop.fetch_or(now, Ordering::Relaxed) || now
    };
    let stopped = || {
        memory::check();
        stop.load(Ordering::Relaxed)
    };
    // The first panic ends the others too.
    let keep = |panic: Caught| {
        stop.store(true, Ordering::Relaxed);
        caught.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
    };
    thread::scope(|scope| {
        // Nothing is sent: the channel disconnects when the last thread drops its sender.
        let (running, ended) = mpsc::channel::<()>();
        // Without memory for more threads, this thread does the work.
        if let Some(start) = Start::new(helpers) {
            for _ in 0..helpers {
                let (running, ready, stopped, keep) = (running.clone(), start.ready(), &stopped, &keep);
                // The work is done by the threads that could be created.
                let _ = thread::Builder::new().spawn_scoped(scope, move || {
                    let _running = running;
                    ready.signal();
                    panics::catch(|| share(stopped)).unwrap_or_else(keep);
                });
            }
            start.finish();
        }
        drop(running);
        panics::catch(|| share(&ask)).unwrap_or_else(keep);
        while ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            if let Err(caught) = panics::catch(ask) {
                keep(caught);
            }
        }
    });
    if let Some(caught) = caught.into_inner().unwrap_or_else(PoisonError::into_inner) {
        caught.pass_on();
    }
}

/// Runs both functions, on two threads if `apart`.
///
/// # Panics
/// If one of them panics.
pub(crate) fn join<A, B: Send>(apart: bool, one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    if !apart || threads() < 2 {
        return (one(), other());
    }
    let Some(start) = Start::new(1) else { return (one(), other()) };
    let other = Mutex::new(Some(other));
    let run = |ready: Option<Ready>| {
        if let Some(ready) = ready {
            ready.signal();
        }
        let other = other.lock().unwrap_or_else(PoisonError::into_inner).take();
        other.map(|other| panics::catch(other))
    };
    thread::scope(|scope| {
        let (run, ready) = (&run, start.ready());
        let started = thread::Builder::new().spawn_scoped(scope, move || run(Some(ready)));
        start.finish();
        let one = one();
        let other = match started.map(thread::ScopedJoinHandle::join) {
            Ok(other) => other.unwrap_or_default(),
            // No thread could be created.
            Err(_) => run(None),
        };
        (one, other.expect("it was run by the thread that took it").unwrap_or_else(|caught| caught.pass_on()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_the_jobs_on_any_number_of_threads() {
        assert!(map(0..0, &|| false, |job: u64, _| job).is_empty());
        for threads in [0, 1, 2, 16] {
            let squares = map_on(threads, 0..50_u64, &|| false, |job, _| job * job);
            assert_eq!(squares, (0..50).map(|job| job * job).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn every_job_receives_an_interruption() {
        let stopped = map(0..16, &|| true, |_, interrupted| {
            while !interrupted() {
                thread::yield_now();
            }
            true
        });
        assert_eq!(stopped.len(), 16);
    }

    #[test]
    fn keeps_within_the_limit() {
        let before = threads();
        assert_eq!(within(1, || (threads(), within(3, threads), threads())), (1, 3, 1));
        assert_eq!((within(0, threads), within(usize::MAX, threads), threads()), (1, MOST_THREADS, before));
        let caught = std::panic::catch_unwind(|| within(1, || panic!("a panic of the work")));
        assert!(caught.is_err() && threads() == before);
    }

    #[test]
    fn joins_two() {
        for apart in [false, true] {
            assert_eq!(join(apart, || 1, || "two"), (1, "two"));
        }
    }

    #[test]
    fn passes_a_panic_on_with_its_message() {
        let words = |work: fn()| panics::catch(work).expect_err("a panic").message();
        for _ in 0..20 {
            let of_jobs =
                words(|| drop(map_on(4, 0..50, &|| false, |job, _| assert!(job != 30, "a panic of job {job}"))));
            assert_eq!(of_jobs, "a panic of job 30");
        }
        assert_eq!(words(|| drop(map_on(1, 0..2, &|| panic!("the caller"), |_, ask| ask()))), "the caller");
        for apart in [false, true] {
            let other = if apart {
                || {
                    let _ = join(true, || 1, || panic!("the other"));
                }
            } else {
                || {
                    let _ = join(false, || 1, || panic!("the other"));
                }
            };
            assert_eq!(words(other), "the other");
        }
    }
}
