//! Index of the log of calls: a lookup reads only those parts of the log again in which the call may be.

use super::waits::Wait;
use crate::memory::{Room as _, collected, filled};
use crate::trace::{Distinct, Entries, Entry, Trace};

/// So many calls at a time; few in tests, so that there are many parts.
const PART: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// Number that means no scope and no thread.
pub(super) const NONE: u32 = u32::MAX;

/// An index of the calls of a trace.
///
/// Correlations are unique within a *scope*: a process of a clock in one capture or, for devices whose process is not known, the
/// clock in it. Other captures with the clock may be of the same process, or of a later one with its number on a host of the
/// same name: these have a second scope together.
#[derive(Debug)]
pub(super) struct Calls<'a> {
    parts: Vec<Part<'a>>,
    /// Correlations of all parts, one after another.
    correlations: Vec<Correlations>,
    /// By place of a device: the scope of its operations in their capture, and in all captures if these are several.
    pub(super) scopes_of_device: Vec<[u32; 2]>,
    /// By callee: the scopes in which its calls are found.
    pub(super) scopes_of_callee: Vec<[u32; 4]>,
    /// By callee: its process and capture.
    pub(super) origin_of_callee: Vec<(Option<i64>, u32)>,
    /// Number of scopes.
    pub(super) scopes: usize,
    /// By callee: the reason for which a thread waits in it.
    pub(super) waits: Vec<Option<Wait>>,
}

/// Some calls that follow one another in the log.
#[derive(Debug)]
struct Part<'a> {
    /// Behind the log's entries before it.
    entries: Entries<'a>,
    /// End of its correlations; they begin at the end of those of the part before it.
    correlations_end: usize,
    /// From the first start to the last end of its calls in which threads wait.
    waits: Option<(i64, i64)>,
}

/// Those of a part in one scope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Correlations {
    pub(super) scope: u32,
    pub(super) first: u64,
    pub(super) last: u64,
}

impl<'a> Calls<'a> {
    /// `clocks` has the first clock of each name, `user` the clock of a device's place and the process that used it.
    pub(super) fn new(trace: &'a Trace, clocks: &[u32], user: impl Fn(u32) -> (u32, Option<i64>)) -> Self {
        let mut scopes = Distinct::default();
        let shared = shared_clocks(trace, clocks);
        let scopes_of_device = collected((0..).zip(&trace.devices).map(|(place, device)| {
            let (clock, process) = user(place);
            let own = scopes.intern((clock, process, Some(device.capture)));
            [own, if shared[clock as usize] { scopes.intern((clock, process, None)) } else { NONE }]
        }));
        let scopes_of_callee = trace.callees.all().iter().map(|callee| {
            let clock = clocks[callee.clock as usize];
            let known = |process, capture| scopes.find(&(clock, process, capture)).unwrap_or(NONE);
            let of_process = |capture| callee.process_id.map_or(NONE, |process| known(Some(process), capture));
            let own = Some(callee.capture);
            [of_process(own), known(None, own), of_process(None), known(None, None)]
        });
        let waits = trace.callees.all().iter().map(|callee| Wait::in_call(trace.names.text(callee.name)));
        let mut calls = Self {
            parts: Vec::new(),
            correlations: Vec::new(),
            scopes_of_device,
            scopes_of_callee: collected(scopes_of_callee),
            origin_of_callee: collected(trace.callees.all().iter().map(|callee| (callee.process_id, callee.capture))),
            scopes: scopes.all().len(),
            waits: collected(waits),
        };
        let (mut entries, mut places) = (trace.calls.iter(), filled(usize::MAX, calls.scopes));
        for _ in 0..trace.calls.len().div_ceil(PART as u64) {
            calls.add_part(&mut entries, &mut places);
        }
        calls
    }

    /// Looks at the next calls. `places` has nothing for any scope, before and after.
    fn add_part(&mut self, entries: &mut Entries<'a>, places: &mut [usize]) {
        let begin = self.correlations.len();
        let (from, mut waits) = (entries.clone(), None::<(i64, i64)>);
        for call in entries.by_ref().take(PART) {
            if self.waits[call.what as usize].is_some() {
                let (first, last) = waits.unwrap_or((call.start, call.end));
                waits = Some((first.min(call.start), last.max(call.end)));
            }
            if call.correlation == 0 {
                continue;
            }
            for scope in self.scopes_of_callee[call.what as usize].into_iter().filter(|&scope| scope != NONE) {
                let place = &mut places[scope as usize];
                if *place == usize::MAX {
                    *place = self.correlations.len();
                    self.correlations.room(1);
                    self.correlations.push(Correlations { scope, first: u64::MAX, last: 0 });
                }
                let of_scope = &mut self.correlations[*place];
                of_scope.first = of_scope.first.min(call.correlation);
                of_scope.last = of_scope.last.max(call.correlation);
            }
        }
        for of_scope in &self.correlations[begin..] {
            places[of_scope.scope as usize] = usize::MAX;
        }
        self.parts.push(Part { entries: from, correlations_end: self.correlations.len(), waits });
    }

    /// Returns the calls of every part with `wanted` correlations, in the order of the log.
    pub(super) fn with_correlations(&self, wanted: impl Fn(&Correlations) -> bool) -> impl Iterator<Item = Entry> {
        let mut begin = 0;
        let parts = self.parts.iter().filter(move |part| {
            let correlations = &self.correlations[begin..part.correlations_end];
            begin = part.correlations_end;
            correlations.iter().any(&wanted)
        });
        parts.flat_map(|part| part.entries.clone().take(PART))
    }

    /// The calls of every part in which a thread waits at some time from `start` to `end`, in the order of the log.
    pub(super) fn with_waits(&self, start: i64, end: i64) -> impl Iterator<Item = (Entry, Wait)> {
        let meet = move |part: &&Part<'_>| part.waits.is_some_and(|(first, last)| first < end && last > start);
        let calls = self.parts.iter().filter(meet).flat_map(|part| part.entries.clone().take(PART));
        calls.filter_map(|call| Some((call, self.waits[call.what as usize]?)))
    }
}

/// Returns, by clock, whether several captures have it.
fn shared_clocks(trace: &Trace, clocks: &[u32]) -> Vec<bool> {
    let of_devices = trace.devices.iter().map(|device| (device.clock, device.capture));
    let of_callees = trace.callees.all().iter().map(|callee| (callee.clock, callee.capture));
    let mut seen = filled((None, false), clocks.len());
    for (clock, capture) in of_devices.chain(of_callees) {
        let (first, is_shared) = &mut seen[clocks[clock as usize] as usize];
        *is_shared |= *first.get_or_insert(capture) != capture;
    }
    collected(seen.into_iter().map(|(_, is_shared)| is_shared))
}
