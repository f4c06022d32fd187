//! Limit on the work that SQLite does for one row.
//!
//! SQLite detects neither cycles nor shared pages in its trees. In a damaged file of some kilobytes, one statement can visit the
//! same pages for ever. The first such statement reads the list of tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};

/// Number of steps between two checks. A row takes some ten steps, and milliseconds if it has a long text.
const STRIDE: u16 = 1_000;
/// Number of steps for a file without pages, and the largest addition: a step for each byte. The list of 100 tables takes
/// 20,000 steps.
const LEAST: u64 = 1_000_000;
const LARGEST_ADDITION: u64 = 100_000_000;
/// Longest time on a CPU: a step can parse a statement that is as long as the file.
const LONGEST: Duration = Duration::from_secs(2);

/// Limit on the statements of a connection.
#[derive(Debug, Default)]
pub(super) struct StepLimit(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of checks since the last row.
    checks: AtomicU64,
    exceeded: AtomicBool,
}

impl StepLimit {
    /// Limits all statements of a connection to a file with so many stored bytes.
    pub(super) fn set(connection: &mut Connection, stored_bytes: u64) -> rusqlite::Result<Self> {
        let limit = Self::default();
        let state = Arc::clone(&limit.0);
        let most = (LEAST + stored_bytes.min(LARGEST_ADDITION)) / u64::from(STRIDE);
        let mut begin = Duration::ZERO;
        let stop = move || {
            let checks = state.checks.fetch_add(1, Ordering::Relaxed);
            let now = cpu_time();
            if checks == 0 {
                begin = now;
            }
            if checks >= most || now.saturating_sub(begin) > LONGEST {
                state.exceeded.store(true, Ordering::Relaxed);
            }
            state.exceeded.load(Ordering::Relaxed)
        };
        connection.progress_handler(STRIDE.into(), Some(stop))?;
        Ok(limit)
    }

    /// Starts a row or a statement.
    pub(super) fn start(&self) {
        self.0.checks.store(0, Ordering::Relaxed);
    }

    /// Returns true once a statement has exceeded the limit. All later statements end at their first check.
    pub(super) fn is_exceeded(&self) -> bool {
        self.0.exceeded.load(Ordering::Relaxed)
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}
