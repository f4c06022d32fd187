//! Sharing resamples out over threads.

use super::positions::{Drawn, PATIENCE};
use crate::error::{Result, require};
use crate::memory;
use crate::par;
use crate::stats::samples::check;
use crate::stats::samples::random::Positions;

/// Options of resampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// Number of resamples, from 1 to [`Self::MOST`].
    pub resamples: usize,
    /// Seed of the random numbers; the same seed gives the same result.
    pub seed: u64,
    /// On how many threads at most; the result does not depend on it.
    pub threads: usize,
}

impl Resampling {
    /// Their statistics fill 800 MB.
    pub const MOST: usize = 100_000_000;

    /// Rejects a number of resamples that is out of range.
    pub(super) fn check(self) -> Result<Self> {
        let fits = (1..=Self::MOST).contains(&self.resamples);
        require(fits, "resamples", self.resamples as f64, "from 1 to 100000000")?;
        Ok(self)
    }

    /// Returns the statistics of all resamples: `statistic` computes one, in a space that `workspace` made.
    pub(super) fn statistics<W>(
        self,
        Work { steps, memory, same_bound }: Work,
        workspace: impl Fn() -> W + Sync,
        statistic: impl Fn(&mut W, &mut Drawn<'_>) -> Result<f64> + Sync,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<f64>> {
        let mut statistics = memory::filled(0.0, self.resamples);
        // As many resamples as keep a thread busy for a few milliseconds, or more, so that the list of jobs stays small.
        let size = (PATIENCE / steps.max(1)).max(self.resamples.div_ceil(MOST_JOBS));
        let jobs = statistics.chunks_mut(size).enumerate();
        let work = |(number, job): (usize, &mut [f64]), interrupted: &dyn Fn() -> bool| {
            check(interrupted)?;
            let mut drawn = Drawn::new(Positions::new(self.seed, number as u64), same_bound, interrupted);
            let mut workspace = workspace();
            job.iter_mut().try_for_each(|value| statistic(&mut workspace, &mut drawn).map(|found| *value = found))
        };
        let done = par::map_on(affordable(self.threads, memory), jobs, interrupted, work);
        done.into_iter().collect::<Result<()>>()?;
        Ok(statistics)
    }
}

const MOST_JOBS: usize = 1 << 16;

/// Cost of one resample.
#[derive(Clone, Copy)]
pub(super) struct Work {
    /// Number of draws, or of steps of equal cost.
    pub(super) steps: usize,
    /// Bytes of a thread's workspace.
    pub(super) memory: usize,
    /// True if all positions are below the same number.
    pub(super) same_bound: bool,
}

/// Returns the number of threads that may have a workspace of `memory` bytes each.
fn affordable(threads: usize, memory: usize) -> usize {
    const MOST: usize = 256 << 20;
    threads.min(MOST / memory.max(1)).max(1)
}
