//! Device activities in the ranges that the program named, by the calls that launched them.
//!
//! - [`names`] decides which ranges are one row, [`context`] the runner and phase of the row.
//! - [`scopes`] has the threads whose calls a range covers, [`innermost`] the open range that was opened last.
//! - [`sums`] adds up: time is cut into pieces at the bounds of ranges, so that memory grows with ranges, and not with the
//!   activities in them. [`mixed`] has the activities that this would count twice.
//! - [`nested`] has the ranges within each other, for a plot.
//! - [`other_threads`] adds up launches of other threads of the process meanwhile, above all autograd's.

mod context;
pub(super) mod innermost;
mod mixed;
pub(super) mod names;
mod nested;
mod other_threads;
pub(super) mod scopes;
mod sums;
#[cfg(test)]
mod tests;

use super::launched::Launch;
use super::select::Chosen;
use crate::memory::{self, Room as _, collected, filled};
use crate::trace::{Distinct, Entry, Label, NameId, Names, NestedRange, RangeRow, Reach, Source, Trace};
use context::{Context, Phases};
use innermost::Open;
use mixed::Mixed;
use names::Called;
use nested::Nested;
use other_threads::OtherThreads;
use scopes::Scopes;
use sums::{Sum, Timeline};

/// Key of a row.
type Key<'a> = (std::borrow::Cow<'a, str>, Option<NameId>, Source);

/// Properties of a row other than its activities.
#[derive(Debug, Default)]
struct Row<'a> {
    count: u64,
    host_total: u64,
    context: Context<'a>,
}

/// Ranges of a trace, and the launches in them.
pub(super) struct Ranges<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    called: Vec<Called<'a>>,
    /// By number of label.
    row_of: Vec<u32>,
    keys: Distinct<Key<'a>>,
    scopes: Scopes,
    timelines: Vec<Timeline>,
    mixed: Mixed,
    others: OtherThreads,
    /// By row: time of the operations of whose ranges it is the innermost.
    exclusive: Vec<u128>,
    /// For a plot.
    nested: Option<Nested>,
}

impl<'a> Ranges<'a> {
    pub(super) fn new(trace: &'a Trace, chosen: &'a Chosen<'a>, called: Vec<Called<'a>>, plot_data: bool) -> Self {
        let labels = trace.labels.all();
        let mut keys: Distinct<Key<'_>> = Distinct::default();
        let row =
            |(label, called): (&Label, &Called<'a>)| keys.intern((called.group.clone(), label.domain, label.source));
        let row_of: Vec<u32> = collected(labels.iter().zip(&called).map(row));
        let scopes = Scopes::of(trace, chosen);
        let opens = opens(trace, chosen, &scopes, &row_of);
        let nested = plot_data.then(|| Nested::of(trace, chosen, &scopes, &opens));
        let timelines = collected(opens.into_iter().map(Timeline::of));
        let reaches = reaches(trace, &row_of, keys.all().len());
        let mixed = Mixed::of(&scopes, &timelines, &reaches);
        let others = OtherThreads::of(trace, chosen, &row_of, &reaches);
        let exclusive = filled(0, keys.all().len());
        Self { trace, chosen, called, row_of, keys, scopes, timelines, mixed, others, exclusive, nested }
    }

    /// Takes an operation that counts, with the call that launched it.
    pub(super) fn add(&mut self, entry: &Entry, launch: &Launch, is_kernel: bool) {
        let sum = Sum { ns: entry.duration().into(), kernels: is_kernel.into() };
        let mut innermost: Option<Open> = None;
        for scope in self.scopes.around(launch.callee).each() {
            let found = self.timelines[scope].add(launch.start, sum);
            innermost = [innermost, found].into_iter().flatten().max_by_key(Open::depth);
            self.mixed.add(scope, launch.start, sum);
        }
        if let Some(open) = innermost {
            self.exclusive[open.what as usize] += sum.ns;
        }
        self.others.add(launch, sum);
        if let Some(nested) = &mut self.nested {
            nested.add(launch, &self.scopes, sum);
        }
    }

    /// Takes the ranges within each other; none unless data of plots is requested.
    pub(super) fn nested(&mut self) -> Vec<NestedRange> {
        let name = |row: u32| {
            let (name, domain, _) = &self.keys.all()[row as usize];
            (name.clone().into_owned(), domain.map(|domain| self.trace.names.text(domain).to_owned()))
        };
        self.nested.take().map_or_else(Vec::new, |nested| nested.rows(name))
    }

    /// A row for each name, domain and kind, those with the most device time first.
    ///
    /// A range counts where it starts in the window of the selection; operations count wherever their range starts.
    pub(super) fn rows(self) -> Vec<RangeRow> {
        let Self { trace, chosen, called, row_of, keys, scopes, mut timelines, mixed, others, exclusive, .. } = self;
        let mut inclusive = filled(Sum::default(), keys.all().len());
        for timeline in &mut timelines {
            timeline.inclusive(&mut inclusive);
        }
        mixed.take_away(&timelines, &mut inclusive);
        drop(timelines);
        let others = others.sums(&inclusive);

        let mut found: Vec<Row<'_>> = collected(keys.all().iter().map(|_| Row::default()));
        let phases = Phases::of(trace, chosen, &scopes, &called);
        for range in trace.ranges.iter().filter(|range| chosen.range(range)) {
            let row = &mut found[row_of[range.label as usize] as usize];
            row.count += 1;
            let length = range.end.map_or(0, |end| end.abs_diff(range.start));
            row.host_total = row.host_total.saturating_add(length);
            row.context.add(phases.of_range(range, &scopes, &called));
        }
        let cut = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        let sums = inclusive.into_iter().zip(exclusive).zip(others);
        let all = keys.all().iter().zip(found).zip(sums);
        let some = all.filter(|((_, row), ((inclusive, _), _))| row.count > 0 || *inclusive != Sum::default());
        let some = some.inspect(|_| memory::check());
        let mut names = Names::default();
        let mut rows: Vec<RangeRow> =
            collected(some.map(|(((name, domain, source), row), ((inclusive, exclusive), others))| RangeRow {
                name: names.share(name),
                domain: domain.map(|domain| trace.names.shared(domain)),
                kind: match source {
                    Source::Nvtx => "nvtx",
                    Source::RecordFunction => "record_function",
                },
                runner: row.context.runner().map(|runner| names.share(runner)),
                phase: row.context.phase().map(str::to_owned),
                count: row.count,
                host_total_ns: row.host_total,
                gpu_inclusive_ns: cut(inclusive.ns),
                gpu_exclusive_ns: cut(exclusive),
                kernel_count: inclusive.kernels,
                gpu_other_threads_ns: cut(others.ns),
            }));
        rows.sort_unstable_by(|one, other| {
            let key = |row: &RangeRow| (row.domain.clone(), row.kind);
            let by_time = other.gpu_inclusive_ns.cmp(&one.gpu_inclusive_ns);
            by_time.then_with(|| one.name.cmp(&other.name)).then_with(|| key(one).cmp(&key(other)))
        });
        rows
    }
}

/// The ranges of each scope, with their rows.
fn opens(trace: &Trace, chosen: &Chosen<'_>, scopes: &Scopes, row_of: &[u32]) -> Vec<Vec<Open>> {
    let mut opens: Vec<Vec<Open>> = filled(Vec::new(), scopes.len());
    for (order, range) in (0..).zip(&trace.ranges).filter(|(_, range)| chosen.labels[range.label as usize]) {
        let (what, last) = (row_of[range.label as usize], range.end.unwrap_or(i64::MAX));
        opens[scopes.of_label(range.label)].put(Open { start: range.start, last, order, what });
    }
    opens
}

/// Returns, for each row, whether it contains ranges of threads, and ranges of whole processes.
fn reaches(trace: &Trace, row_of: &[u32], rows: usize) -> Vec<(bool, bool)> {
    let mut reaches = filled((false, false), rows);
    for (label, &row) in trace.labels.all().iter().zip(row_of) {
        let (thread, process) = &mut reaches[row as usize];
        match label.reach {
            Reach::Thread(_) => *thread = true,
            Reach::Process => *process = true,
        }
    }
    reaches
}
