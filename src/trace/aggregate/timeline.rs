//! The selected events, piece by piece, for drawing.

use super::idle::{self, Piece};
use super::in_order::{in_order, longer_first};
use super::launched::launched;
use super::select::{Chosen, Selection};
use crate::memory;
use crate::trace::{Device, Entry, Log, Range, Trace};

/// Selected part of a trace.
pub struct Timeline<'a> {
    trace: &'a Trace,
    chosen: Chosen<'a>,
    data_loaders: &'a [String],
    /// By clock: the first start and the last end.
    spans: Vec<(i64, i64)>,
    /// By clock: the highest correlations of all clocks before it, added up.
    shifts: Vec<u64>,
    /// For going through one log in order.
    nothing: Log,
}

impl<'a> Timeline<'a> {
    /// Selects from `trace`. `data_loaders` are texts in the names of ranges in which a thread waits for data.
    pub fn new(trace: &'a Trace, selection: &Selection, data_loaders: &'a [String]) -> Self {
        let chosen = Chosen::new(trace, selection);
        let spans = vec![(i64::MAX, i64::MIN); trace.clocks.len()];
        let mut timeline = Self { trace, chosen, data_loaders, spans, shifts: Vec::new(), nothing: Log::default() };
        timeline.measure();
        timeline
    }

    /// All that was read.
    pub fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// The first of the clocks that are called the same.
    pub fn clock(&self, clock: u32) -> u32 {
        self.chosen.clocks[clock as usize]
    }

    /// Returns the earliest start on a clock.
    pub fn origin(&self, clock: u32) -> i64 {
        self.spans[self.clock(clock) as usize].0
    }

    /// Returns a correlation as no other clock has it; 0 if it would be too high. Captures count from the same start.
    pub fn correlation(&self, clock: u32, correlation: u64) -> u64 {
        let shift = self.shifts[self.clock(clock) as usize];
        if correlation == 0 { 0 } else { correlation.checked_add(shift).unwrap_or(0) }
    }

    /// Returns a device, with its process as far as the captures together record it, and its clock's first namesake.
    pub fn device(&self, place: u32) -> Device {
        let device = &self.trace.devices[place as usize];
        Device { clock: self.clock(device.clock), process_id: self.chosen.device(place).process_id, ..device.clone() }
    }

    /// Calls, by their starts.
    pub fn calls(&self) -> impl Iterator<Item = Entry> {
        in_order(&self.trace.calls, &self.nothing).filter(|call| self.chosen.call(call))
    }

    /// Operators of the CPU by their starts, those that call others before them; none in a capture with GPU activity, as in a summary.
    pub fn operators(&self) -> impl Iterator<Item = Entry> {
        longer_first(self.known_operators()).filter(|operator| self.chosen.call(operator))
    }

    /// Device operations by their starts, each with the call that launched it, where that is known and chosen too.
    pub fn operations(&self) -> impl Iterator<Item = (Entry, Option<Entry>)> {
        let chosen = launched(self.trace, &self.chosen).filter(|(entry, _)| self.chosen.operation(entry));
        chosen.map(|(entry, launch)| {
            let correlation = entry.correlation;
            let call =
                launch.map(|call| Entry { what: call.callee, start: call.start, end: call.end, bytes: 0, correlation });
            (entry, call.filter(|call| self.chosen.call(call)))
        })
    }

    /// Ranges by their starts, those that hold others before them; each with its end, which is that of everything for one
    /// that was never closed.
    pub fn ranges(&self) -> Vec<(Range, i64)> {
        let mut ranges: Vec<(Range, i64)> =
            memory::collected(self.chosen_ranges().map(|range| (*range, self.end_of(range))));
        memory::probe(size_of_val(ranges.as_slice()));
        ranges.sort_by_key(|&(range, end)| (range.start, std::cmp::Reverse(end)));
        ranges
    }

    /// Returns the causes of idle time.
    pub fn idle(&self) -> Vec<Piece> {
        idle::pieces(self.trace, &self.chosen, self.data_loaders)
    }

    fn known_operators(&self) -> &Log {
        if self.trace.operations() > 0 { &self.nothing } else { &self.trace.operators }
    }

    fn chosen_ranges(&self) -> impl Iterator<Item = &'a Range> {
        self.trace.ranges.iter().filter(|range| self.chosen.range(range))
    }

    fn end_of(&self, range: &Range) -> i64 {
        let clock = self.trace.labels.all()[range.label as usize].clock;
        range.end.unwrap_or_else(|| self.spans[self.clock(clock) as usize].1.max(range.start))
    }

    fn measure(&mut self) {
        let mut spans = self.spans.clone();
        let mut highest = vec![0; spans.len()];
        let mut take = |clock: u32, start: i64, end: i64, correlation: u64| {
            let clock = self.clock(clock) as usize;
            let (first, last) = &mut spans[clock];
            (*first, *last) = (start.min(*first), end.max(*last));
            highest[clock] = correlation.max(highest[clock]);
        };
        for entry in self.trace.kernels.iter().chain(&self.trace.memory).filter(|entry| self.chosen.operation(entry)) {
            let device = self.trace.works.all()[entry.what as usize].queue.device;
            take(self.trace.devices[device as usize].clock, entry.start, entry.end, entry.correlation);
        }
        for call in self.trace.calls.iter().chain(self.known_operators()).filter(|call| self.chosen.call(call)) {
            take(self.trace.callees.all()[call.what as usize].clock, call.start, call.end, call.correlation);
        }
        for range in self.chosen_ranges() {
            let clock = self.trace.labels.all()[range.label as usize].clock;
            take(clock, range.start, range.end.unwrap_or(range.start), 0);
        }
        let before = |sum: &mut u64, highest| Some(std::mem::replace(sum, sum.saturating_add(highest)));
        let shifts = highest.into_iter().scan(0, before).collect();
        (self.spans, self.shifts) = (spans, shifts);
    }
}
