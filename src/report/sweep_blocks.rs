//! Arranges a sweep into tables: an axis down and the runners across, one for each phase and rate.

use super::sweep::{Cell, Growth, Point, Sweep, told, written};
use crate::units::{show_milliseconds, significant};

/// What does not exist.
const NONE: &str = "-";

/// A table with a title, its first column the name of its rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) title: String,
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// What one must know to read it.
    pub(super) notes: Vec<String>,
}

/// What a table may show of a cell.
struct Quantity {
    phase: &'static str,
    title: &'static str,
    show: fn(&Cell) -> Option<String>,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity { phase: "forward", title: "forward, ms", show: |cell| Some(show_milliseconds(cell.time_ns)) },
    Quantity { phase: "backward", title: "backward, ms", show: |cell| Some(show_milliseconds(cell.time_ns)) },
    Quantity {
        phase: "iteration",
        title: "sequence steps per second",
        show: |cell| cell.steps_per_second.map(significant),
    },
    Quantity { phase: "iteration", title: "samples per second", show: |cell| cell.samples_per_second.map(significant) },
];

impl Sweep {
    /// Every table: times, then rates, then exponents.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut found = Vec::new();
        for (axis, at) in distinct(self.cells.iter().filter_map(|cell| self.place(cell))) {
            let here: Vec<&Cell> = self
                .cells
                .iter()
                .filter(|cell| self.place(cell).is_some_and(|place| place == (axis, at.clone())))
                .collect();
            found.extend(QUANTITIES.iter().filter_map(|quantity| self.table(axis, &at, &here, quantity)));
        }
        for (axis, at) in distinct(self.growth.iter().map(|one| (one.axis.as_str(), one.at.clone()))) {
            let here: Vec<&Growth> = self.growth.iter().filter(|one| one.axis == axis && one.at == at).collect();
            found.push(exponents(axis, &at, &here));
        }
        found
    }

    /// The axis that runs down where a cell stands, the first of those that concern its runner, and the others' values.
    fn place(&self, cell: &Cell) -> Option<(&str, Point)> {
        let axis = self.axes.iter().find(|axis| cell.point.contains_key(&axis.name))?;
        let at = cell.point.iter().filter(|(name, _)| **name != axis.name);
        Some((&axis.name, at.map(|(name, value)| (name.clone(), value.clone())).collect()))
    }

    fn table(&self, axis: &str, at: &Point, cells: &[&Cell], quantity: &Quantity) -> Option<Block> {
        let wanted: Vec<&&Cell> = cells.iter().filter(|cell| cell.phase == quantity.phase).collect();
        if wanted.iter().all(|cell| (quantity.show)(cell).is_none()) {
            return None;
        }
        let runners = distinct(wanted.iter().map(|cell| cell.runner.as_str()));
        let values = self.axes.iter().find(|one| one.name == axis).map(|one| one.values.as_slice()).unwrap_or_default();
        let rows = values.iter().filter(|value| wanted.iter().any(|cell| cell.point.get(axis) == Some(value)));
        let rows = rows.map(|value| {
            let of = |runner: &&str| {
                let mut found = wanted.iter().filter(|one| one.runner == *runner && one.point.get(axis) == Some(value));
                found.next().and_then(|cell| (quantity.show)(cell)).unwrap_or_else(|| NONE.to_owned())
            };
            [written(value)].into_iter().chain(runners.iter().map(of)).collect()
        });
        Some(Block {
            title: titled(quantity.title, at),
            headings: [axis].iter().chain(&runners).map(|&name| name.to_owned()).collect(),
            rows: rows.collect(),
            notes: Vec::new(),
        })
    }
}

fn exponents(axis: &str, at: &Point, found: &[&Growth]) -> Block {
    let phases = distinct(found.iter().map(|one| one.phase.as_str()));
    let runners = distinct(found.iter().map(|one| one.runner.as_str()));
    let of = |runner: &str, phase: &str| found.iter().find(|one| one.runner == runner && one.phase == phase);
    let rows = runners.iter().map(|runner| {
        let cells = phases.iter().map(|phase| of(runner, phase).map_or_else(|| NONE.to_owned(), |one| exponent(one)));
        [(*runner).to_owned()].into_iter().chain(cells).collect()
    });
    Block {
        title: titled(&format!("exponent b of time ~ {axis}^b, with its 95 % interval"), at),
        headings: ["runner"].iter().chain(&phases).map(|&name| name.to_owned()).collect(),
        rows: rows.collect(),
        notes: found.iter().filter_map(|one| note(one)).collect(),
    }
}

fn exponent(growth: &Growth) -> String {
    match (growth.exponent, growth.ci_low, growth.ci_high) {
        (Some(exponent), Some(low), Some(high)) => format!("{exponent:.2} ({low:.2}..{high:.2})"),
        _ => NONE.to_owned(),
    }
}

/// Why there is no exponent, or why one number does not say it all.
fn note(growth: &Growth) -> Option<String> {
    let name = format!("{} {}", growth.runner, growth.phase);
    if let Some(reason) = &growth.reason {
        return Some(format!("{name}: no exponent: {reason}"));
    }
    if growth.straight != Some(false) {
        return None;
    }
    let steps: Vec<String> = growth.local_exponents.iter().map(|one| format!("{one:.2}")).collect();
    let off = growth.largest_deviation.map(|share| format!(", up to {:.0} % off", 100.0 * share)).unwrap_or_default();
    Some(format!("{name} does not follow one exponent{off}: from value to value it is {}", steps.join(", ")))
}

fn titled(what: &str, at: &Point) -> String {
    if at.is_empty() { what.to_owned() } else { format!("{what}, at {}", told(at)) }
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}
