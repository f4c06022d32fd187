//! The processor's tick counter, given its scale by the operating system's clock over the very interval it measured.
//!
//! Reading the counter costs about half of what the system clock costs. Where the processor has no counter of constant
//! rate, `quanta` reads the system's monotonic clock instead, and the scale comes out as 1.

use std::time::{Duration, Instant};

/// A shorter interval would let the error of one clock read show in the scale: 30 ns in 10 ms is 3 parts in a million.
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(10);

/// A source of ticks with a known beginning.
#[derive(Debug)]
pub struct Clock {
    source: quanta::Clock,
    began: Anchor,
}

impl Clock {
    /// Starts a clock. The first one of a process takes up to 0.2 s, in which `quanta` looks at the counter.
    pub fn start() -> Self {
        let source = quanta::Clock::new();
        let began = Anchor::take(&source);
        Self { source, began }
    }

    /// Ticks since some fixed moment. Not serialised against the instructions around it (some ten nanoseconds).
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.source.raw()
    }

    /// Returns the duration of a tick in nanoseconds since the start of the clock.
    ///
    /// Sleeps out the rest of the first ten milliseconds of the clock's life, should it be called so soon.
    pub fn nanoseconds_per_tick(&self) -> f64 {
        std::thread::sleep(SHORTEST_CALIBRATION.saturating_sub(self.began.at.elapsed()));
        let ended = Anchor::take(&self.source);
        let ticks = ended.ticks.saturating_sub(self.began.ticks).max(1);
        ended.at.duration_since(self.began.at).as_nanos() as f64 / ticks as f64
    }
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    ticks: u64,
    at: Instant,
}

impl Anchor {
    /// The tightest of several readings, so that losing the processor between the two clocks does no harm.
    fn take(source: &quanta::Clock) -> Self {
        let reading = || {
            let before = source.raw();
            let at = Instant::now();
            let after = source.raw();
            (after.saturating_sub(before), Self { ticks: before + after.saturating_sub(before) / 2, at })
        };
        let (mut tightest, mut anchor) = reading();
        for _ in 0..15 {
            let (width, another) = reading();
            if width < tightest {
                (tightest, anchor) = (width, another);
            }
        }
        anchor
    }
}

/// The smallest step of the clock that was seen between reads in direct succession, in nanoseconds, at least 1.
pub fn resolution_ns() -> u64 {
    let clock = Clock::start();
    let mut smallest = u64::MAX;
    let mut last = clock.ticks();
    for _ in 0..10_000 {
        let now = clock.ticks();
        if now > last {
            smallest = smallest.min(now - last);
        }
        last = now;
    }
    ((smallest as f64 * clock.nanoseconds_per_tick()).round() as u64).max(1)
}
