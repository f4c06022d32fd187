//! What the columns of each list are, a topic a file. A new column is one line there.

mod calls;
mod devices;
mod idle;
mod inductor;
mod kernels;
mod memory;
mod metrics;
mod ranges;

use super::Names;
use super::value::{Unit, Value};
pub(super) use calls::{API_CALLS, LAUNCHES};
pub(super) use devices::{CAPTURES, DEVICES, RANKS, STREAMS};
pub(super) use idle::IDLE;
pub(super) use inductor::{INDUCTOR, INDUCTOR_CATEGORIES, INDUCTOR_KERNELS};
pub(super) use kernels::{CATEGORIES, CUDNN_RNN, KERNELS};
pub(super) use memory::MEMORY;
pub(super) use metrics::METRICS;
pub(super) use ranges::{ITERATION_STATISTICS, ITERATIONS, RANGES};

/// Where a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Everywhere,
    /// Only where programs read: too much for a screen.
    Data,
    /// Only where people read: the document has no such key.
    Screen,
    /// Where programs read, and where people ask for the shapes of launches.
    LaunchShape,
}

/// What a column says of itself, whatever its rows are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// For people, without the unit.
    pub(super) heading: &'static str,
    /// The document's key.
    pub(super) key: &'static str,
    pub(super) unit: Unit,
    pub(super) place: Place,
    /// Whether the sum over rows means something.
    pub(super) summed: bool,
}

/// A column of rows of one kind.
#[derive(Debug)]
pub(super) struct Column<R> {
    pub(super) head: Head,
    pub(super) get: Get<R>,
}

/// Text comes last in each list, so that a long one pushes nothing aside.
pub(super) type Columns<R> = &'static [Column<R>];

type Get<R> = for<'a> fn(&'a R, Names) -> Value<'a>;

const fn column<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::Everywhere, summed: false }, get }
}

/// A column whose sum over rows means something.
const fn summed<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::Everywhere, summed: true }, get }
}

const fn data<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::Data, summed: false }, get }
}

const fn launch<R>(heading: &'static str, key: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key, unit, place: Place::LaunchShape, summed: false }, get }
}

const fn screen<R>(heading: &'static str, unit: Unit, get: Get<R>) -> Column<R> {
    Column { head: Head { heading, key: "", unit, place: Place::Screen, summed: false }, get }
}
