//! The processor's tick counter, given its scale by the operating system's clock over the very interval it measured.
//!
//! Reading the counter costs about half of what the system clock costs. Where the processor has no counter of constant
//! rate, `quanta` reads the system's monotonic clock instead, and the scale comes out as 1.

use std::time::{Duration, Instant};

/// A shorter interval would let the error of one clock read show in the scale: 30 ns in 10 ms is 3 parts in a million.
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(10);

/// Two scales further apart than this have been measured on either side of a pause: of a machine that slept, or of a virtual
/// one that stood still, one clock may count the pause and the other not. Corrections by network time stay below half of it.
const SAME_SCALE: f64 = 1e-3;

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

    /// Returns the duration of a tick in nanoseconds since the start of the clock; after a pause of the machine, the present one.
    ///
    /// Sleeps out the rest of the first ten milliseconds of the clock's life, should it be called so soon.
    pub fn nanoseconds_per_tick(&self) -> f64 {
        const MANY: u64 = 1 << 32;
        let scale = self.scale_since(self.began);
        // What `quanta` measured at its first clock is less exact, yet tells at no cost that a pause came after it.
        let first = self.source.delta_as_nanos(0, MANY) as f64 / MANY as f64;
        if (scale / first - 1.0).abs() < SAME_SCALE {
            return scale;
        }
        let present = self.scale_since(Anchor::take(&self.source));
        if (scale / present - 1.0).abs() < SAME_SCALE { scale } else { present }
    }

    fn scale_since(&self, began: Anchor) -> f64 {
        std::thread::sleep(SHORTEST_CALIBRATION.saturating_sub(began.at.elapsed()));
        let ended = Anchor::take(&self.source);
        let ticks = ended.ticks.saturating_sub(began.ticks).max(1);
        ended.at.duration_since(began.at).as_nanos() as f64 / ticks as f64
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

#[cfg(test)]
mod tests {
    use super::{Clock, SAME_SCALE};

    /// The scale after `change` of the ticks at the clock's beginning, by the scale without it.
    fn ratio_after(change: impl Fn(u64) -> u64) -> f64 {
        let mut clock = Clock::start();
        let scale = clock.nanoseconds_per_tick();
        clock.began.ticks = change(clock.began.ticks);
        clock.nanoseconds_per_tick() / scale
    }

    #[test]
    fn a_pause_that_one_clock_counted_does_not_change_the_scale() {
        for change in [
            (|ticks| ticks - ticks / 2) as fn(u64) -> u64, // counted by the ticks alone
            |ticks| ticks + 5_000_000,                     // a part of it counted by the system's clock alone
            |_| u64::MAX,                                  // the counter began again
        ] {
            let ratio = ratio_after(change);
            assert!((ratio - 1.0).abs() < SAME_SCALE, "{ratio}");
        }
    }
}
