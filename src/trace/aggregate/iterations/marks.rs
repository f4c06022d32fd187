//! Ranges that mark iterations.

use rustc_hash::FxHashMap;

use crate::memory::{self, collected};
use crate::trace::aggregate::ranges::names::{Called, Mark};
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Range, Trace};

/// A range that marks an iteration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked<'a> {
    pub(super) label: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) index: u64,
    pub(super) runner: Option<&'a str>,
    pub(super) phase: Option<&'a str>,
}

/// Those that count and were closed, in the order of their starts: iterations, then the phases within them.
pub(super) fn find<'a>(
    trace: &'a Trace,
    chosen: &Chosen<'_>,
    called: &[Called<'a>],
    name: Option<&str>,
) -> (Vec<Marked<'a>>, Vec<Marked<'a>>) {
    let text = |label: u32| trace.names.text(trace.labels.all()[label as usize].name);
    let those = |marks: &dyn Fn(u32) -> bool| {
        // Asked once for each label: there may be many more ranges.
        let marks: Vec<bool> = collected((0..called.len() as u32).map(marks));
        let counts = |range: &&Range| marks[range.label as usize] && range.end.is_some() && chosen.range(range);
        let mut ranges: Vec<&Range> = collected(trace.ranges.iter().filter(counts));
        memory::probe(size_of_val(ranges.as_slice()));
        ranges.sort_by_key(|range| range.start);
        ranges
    };
    if let Some(name) = name {
        let ranges = those(&|label| text(label) == name || called[label as usize].group == name);
        let runner = |label: u32| trace.labels.all()[label as usize].runner.map(|runner| trace.names.text(runner));
        return (numbered(trace, chosen, ranges, |label| (runner(label), None, None)), Vec::new());
    }
    let of_kind = |kind: fn(Mark) -> bool| {
        numbered(trace, chosen, those(&|label| called[label as usize].mark.is_some_and(kind)), |label| {
            let Called { runner, phase, mark, .. } = called[label as usize];
            let index = match mark {
                Some(Mark::Ours(index) | Mark::Step(index)) => Some(index),
                _ => None,
            };
            (runner, phase, index)
        })
    };
    let steps = of_kind(|mark| matches!(mark, Mark::Step(_)));
    let mut phases = of_kind(|mark| matches!(mark, Mark::Ours(_)));
    if phases.is_empty() {
        phases = of_kind(|mark| mark == Mark::Phase);
    }
    if steps.is_empty() { (phases, Vec::new()) } else { (steps, phases) }
}

/// A clock, a process, a runner and a phase.
type Counted<'a> = (u32, Option<i64>, Option<&'a str>, Option<&'a str>);

/// Those without a number of their own count from 0 in each process, runner and phase.
fn numbered<'a>(
    trace: &Trace,
    chosen: &Chosen<'_>,
    ranges: Vec<&Range>,
    of: impl Fn(u32) -> (Option<&'a str>, Option<&'a str>, Option<u64>),
) -> Vec<Marked<'a>> {
    let mut counts: FxHashMap<Counted<'a>, u64> = FxHashMap::default();
    let mark = |range: &Range| {
        let (label, start) = (range.label, range.start);
        let (runner, phase, index) = of(label);
        let own = || {
            let label = &trace.labels.all()[label as usize];
            let clock = chosen.clocks[label.clock as usize];
            let count = counts.entry((clock, label.process_id, runner, phase)).or_default();
            *count += 1;
            *count - 1
        };
        Marked { label, start, end: range.end.unwrap_or(start), index: index.unwrap_or_else(own), runner, phase }
    };
    collected(ranges.into_iter().map(mark))
}
