//! The edges of timed regions, written into memory that was set aside beforehand.

use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::Clock;
use crate::error::{Error, Result, require};
use crate::memory;

/// Room for a number of iterations with the same number of edges each.
///
/// An iteration of a forward and a backward phase has four edges: forward begins, forward ends, backward begins, backward
/// ends. [`Recorder::mark`] is all that the timed loop calls. One thread marks; any thread may read what is complete, so a
/// watcher can save the samples of a loop that will not end.
#[derive(Debug)]
pub struct Recorder {
    clock: Clock,
    edges: usize,
    ticks: Box<[AtomicU64]>,
    marked: AtomicUsize,
}

impl Recorder {
    /// Sets memory aside for `iterations` of `edges` edges and touches every page of it.
    ///
    /// # Errors
    /// Fewer than two edges, no iterations, or more than memory can address.
    pub fn new(iterations: usize, edges: usize) -> Result<Self> {
        require(edges >= 2, "edges", edges as f64, "2 or more")?;
        let capacity = iterations.saturating_mul(edges);
        // Beyond this the memory is either not there or not worth asking for: 2^40 edges are 8 TiB.
        let ticks = Some(capacity).filter(|capacity| (1..=1 << 40).contains(capacity)).and_then(memory::try_list);
        require(ticks.is_some(), "iterations", iterations as f64, "1 or more, and fit into memory")?;
        let mut ticks = ticks.unwrap_or_default();
        // 1 is stored, not 0: pages of zeros are handed out untouched, and the first store would then pay for them.
        ticks.extend((0..capacity).map(|_| AtomicU64::new(1)));
        Ok(Self { clock: Clock::start(), edges, ticks: ticks.into_boxed_slice(), marked: AtomicUsize::new(0) })
    }

    /// Notes that an edge is passed now. Beyond the capacity edges are counted but not kept.
    #[inline]
    pub fn mark(&self) {
        let now = self.clock.ticks();
        let index = self.marked.load(Relaxed);
        if let Some(slot) = self.ticks.get(index) {
            slot.store(now, Relaxed);
        }
        // A thread that reads this count also sees the ticks that it counts.
        self.marked.store(index + 1, Release);
    }

    /// Returns the number of iterations with all edges marked and kept.
    pub fn iterations(&self) -> usize {
        self.marked.load(Acquire).min(self.ticks.len()) / self.edges
    }

    /// For each complete iteration, the nanoseconds from the edge `from` to the edge `to`, both counted from 0.
    ///
    /// # Errors
    /// An edge that iterations do not have, edges in the wrong order, or more marks than the capacity.
    pub fn durations_ns(&self, from: usize, to: usize) -> Result<Vec<u64>> {
        if to >= self.edges {
            return Err(Error::NoSuchEdge { argument: "edge", index: to, available: self.edges });
        }
        require(from < to, "from_edge", from as f64, "below to_edge")?;
        self.refuse_overrun()?;
        let scale = self.clock.nanoseconds_per_tick();
        let iterations = 0..self.iterations();
        let durations =
            iterations.map(|iteration| self.between(self.edge(iteration, from), self.edge(iteration, to), scale));
        Ok(memory::collected(durations))
    }

    /// Nanoseconds from the first edge of iteration `first` to the last edge of the last complete one.
    ///
    /// # Errors
    /// An iteration that is not complete, or more marks than the capacity.
    pub fn elapsed_ns(&self, first: usize) -> Result<u64> {
        self.refuse_overrun()?;
        let available = self.iterations();
        if first >= available {
            return Err(Error::NoSuchEdge { argument: "iteration", index: first, available });
        }
        let (began, ended) = (self.edge(first, 0), self.edge(available - 1, self.edges - 1));
        Ok(self.between(began, ended, self.clock.nanoseconds_per_tick()))
    }

    fn edge(&self, iteration: usize, edge: usize) -> usize {
        iteration * self.edges + edge
    }

    fn between(&self, began: usize, ended: usize, scale: f64) -> u64 {
        let tick = |index: usize| self.ticks[index].load(Relaxed);
        // A thread that moved between processors may see a counter step back; a duration is then 0, never huge.
        (tick(ended).saturating_sub(tick(began)) as f64 * scale).round() as u64
    }

    fn refuse_overrun(&self) -> Result<()> {
        let (marked, capacity) = (self.marked.load(Acquire), self.ticks.len());
        if marked > capacity { Err(Error::RecorderOverrun { marked, capacity }) } else { Ok(()) }
    }
}
