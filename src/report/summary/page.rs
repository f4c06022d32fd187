//! What stands on a page: what a reader must know first, then the lists of the view and what is said of them.

use super::columns::{Head, INDUCTOR, INDUCTOR_KERNELS, ITERATION_STATISTICS, Place};
use super::notes::{self, Note};
use super::sheet::Sheet;
use super::value::{Unit, Value};
use super::views::{list, nothing};
use super::{Options, View, overview};
use crate::trace::{IdleRow, Summary};

/// Everything that people read of a view, from the top.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// None of them empty.
    pub(super) parts: Vec<Part<'a>>,
}

/// What stands together, apart from the rest by an empty line.
#[derive(Debug)]
pub(super) enum Part<'a> {
    Sheet(Sheet<'a>),
    Notes(Vec<Note>),
    /// Said where there is no list.
    Nothing(&'static str),
}

impl Part<'_> {
    fn is_empty(&self) -> bool {
        match self {
            // A list of which no row was asked for still says what it would hold.
            Self::Sheet(sheet) => sheet.rows.is_empty() && sheet.more.is_none(),
            Self::Notes(notes) => notes.is_empty(),
            Self::Nothing(_) => false,
        }
    }
}

impl<'a> Page<'a> {
    pub(super) fn of(summary: &'a Summary, options: &Options) -> Self {
        let view = options.view;
        let mut parts =
            if view == View::Overview { overview::parts(summary, options) } else { parts(summary, options) };
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() {
            parts.push(Part::Nothing(nothing(view)));
        }
        let mut first = notes::warnings(summary);
        if let (View::Inductor, Some(inductor)) = (view, &summary.inductor) {
            first.push(Note { label: "tabulate", text: inductor.tabulate_line.clone() });
        }
        if !first.is_empty() {
            parts.insert(0, Part::Notes(first));
        }
        Self { parts }
    }
}

/// The list of a view other than the overview, with what belongs to it.
fn parts<'a>(summary: &'a Summary, options: &Options) -> Vec<Part<'a>> {
    let view = options.view;
    let (whole, cut) = ((options.names, None), (options.names, options.top));
    let keep = |head: &Head| match head.place {
        Place::Everywhere | Place::Screen => true,
        Place::LaunchShape => view == View::LaunchShape,
        Place::Data => false,
    };
    let mut rows = list(summary, view, cut, &keep);
    match (view, &summary.inductor) {
        (View::Idle, _) => {
            shares_of_idle(&mut rows, &summary.idle_causes);
            vec![Part::Sheet(rows)]
        }
        (View::Iteration, _) => {
            let statistics = &summary.iteration_statistics;
            let statistics = Sheet::new("Statistics of iterations", ITERATION_STATISTICS, statistics, whole, keep);
            vec![Part::Sheet(statistics), Part::Notes(notes::outliers(summary, None)), Part::Sheet(rows)]
        }
        (View::CudnnRnn, _) => vec![Part::Sheet(rows), Part::Notes(notes::cudnn_rnn(summary, options.top))],
        (View::Inductor, Some(inductor)) => {
            let figures = Sheet::new("Inductor", INDUCTOR, std::slice::from_ref(inductor), whole, |_| true);
            let kernels = inductor.categories.iter();
            let kernels = kernels.map(|one| Sheet::new(&one.name, INDUCTOR_KERNELS, &one.kernels, cut, |_| true));
            [figures, rows].into_iter().chain(kernels).map(Part::Sheet).collect()
        }
        _ => vec![Part::Sheet(rows)],
    }
}

/// In front, the share of each row in the idle time of its device.
pub(super) fn shares_of_idle(sheet: &mut Sheet<'_>, rows: &[IdleRow]) {
    let sum = |of: &IdleRow| -> f64 {
        rows.iter().filter(|row| row.device_id == of.device_id).map(|row| row.total_ns as f64).sum()
    };
    let head = Head { heading: "share", key: "", unit: Unit::Fraction, place: Place::Screen, summed: false };
    sheet.heads.insert(0, head);
    for (cells, row) in sheet.rows.iter_mut().zip(rows) {
        // Nothing of nothing is unknown.
        cells.insert(0, Value::from(row.total_ns as f64 / sum(row)));
    }
}
