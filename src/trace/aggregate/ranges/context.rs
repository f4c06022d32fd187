//! To which runner and phase ranges belong.

use super::innermost::{Innermost, Open};
use super::names::Called;
use super::scopes::Scopes;
use crate::memory::{Room as _, collected, filled};
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Range, Reach, Trace};

/// Common value of all that were added.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Common<'a> {
    /// Nothing was added yet.
    #[default]
    Untold,
    Is(&'a str),
    /// It differs, or one has none.
    Nothing,
}

impl<'a> Common<'a> {
    fn add(&mut self, found: Option<&'a str>) {
        *self = match (*self, found) {
            (Self::Untold, Some(found)) => Self::Is(found),
            (Self::Is(known), Some(found)) if known == found => Self::Is(known),
            _ => Self::Nothing,
        };
    }

    fn text(self) -> Option<&'a str> {
        if let Self::Is(text) = self { Some(text) } else { None }
    }
}

/// The runner and the phase of all ranges of a row.
#[derive(Debug, Default)]
pub(super) struct Context<'a> {
    runner: Common<'a>,
    phase: Common<'a>,
}

impl<'a> Context<'a> {
    pub(super) fn add(&mut self, (runner, phase): (Option<&'a str>, Option<&'a str>)) {
        self.runner.add(runner);
        self.phase.add(phase);
    }

    pub(super) fn runner(&self) -> Option<&'a str> {
        self.runner.text()
    }

    pub(super) fn phase(&self) -> Option<&'a str> {
        self.phase.text()
    }
}

/// Our ranges that name the work of a process, by scope.
pub(super) struct Phases(Vec<Innermost>);

impl Phases {
    pub(super) fn of(trace: &Trace, chosen: &Chosen<'_>, scopes: &Scopes, called: &[Called<'_>]) -> Self {
        let mut opens: Vec<Vec<Open>> = filled(Vec::new(), scopes.len());
        for (order, range) in (0..).zip(&trace.ranges) {
            let label = range.label as usize;
            let names_the_process = trace.labels.all()[label].reach == Reach::Process && called[label].is_ours();
            if names_the_process && chosen.labels[label] {
                let (what, last) = (range.label, range.end.unwrap_or(i64::MAX));
                opens[scopes.of_label(range.label)].put(Open { start: range.start, last, order, what });
            }
        }
        Self(collected(opens.into_iter().map(Innermost::of)))
    }

    /// The runner and the phase of a range: its own, or those of the one of ours that is open when it starts.
    pub(super) fn of_range<'a>(
        &self,
        range: &Range,
        scopes: &Scopes,
        called: &[Called<'a>],
    ) -> (Option<&'a str>, Option<&'a str>) {
        let own = &called[range.label as usize];
        let around = || {
            let process = scopes.process_of(scopes.of_label(range.label))?;
            self.0[process].at(range.start).map(|open| &called[open.what as usize])
        };
        let naming = if own.is_ours() { Some(own) } else { around() };
        naming.map_or((None, None), |called| (called.runner, called.phase))
    }
}
