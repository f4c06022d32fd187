//! Warning for a requested range name that no range has.

use std::collections::BTreeSet;

use crate::trace::aggregate::ranges::names::Called;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Trace, Warning};

/// Number of names in the warning.
const SHOWN: usize = 5;
/// Names that differ later are as near as they were until there; as much of one is shown.
const COMPARED: usize = 40;

/// Names the ranges that there are, the nearest first.
pub(super) fn warning(trace: &Trace, chosen: &Chosen<'_>, name: &str) -> Warning {
    let ranges = trace.ranges.iter().filter(|range| range.end.is_some() && chosen.range(range));
    let labels: BTreeSet<u32> = ranges.map(|range| range.label).collect();
    let text = |label: &u32| trace.names.text(trace.labels.all()[*label as usize].name);
    let names: BTreeSet<_> = labels.iter().map(|label| Called::of(text(label)).group).collect();
    let wanted = begin(name);
    let mut nearest: Vec<(bool, usize, &str)> = names
        .iter()
        .map(|known| {
            let start = begin(known);
            let holds = |one: &[char], other: &[char]| one.windows(other.len().max(1)).any(|part| part == other);
            (!holds(&start, &wanted) && !holds(&wanted, &start), edits(&start, &wanted), &**known)
        })
        .collect();
    nearest.sort_unstable();
    nearest.truncate(SHOWN);
    let shown: Vec<String> = nearest.iter().map(|(.., known)| quoted(known)).collect();
    let (evidence, hint) = if shown.is_empty() {
        (
            "the capture has no closed range among the included events".to_owned(),
            "Capture with NVTX ranges or torch annotations.",
        )
    } else {
        (
            format!("{} range names, nearest: {}", names.len(), shown.join(", ")),
            "Use the name of a range: --iteration-range NAME",
        )
    };
    let message = format!("figures per iteration are missing, because no closed range has the name {}", quoted(name));
    Warning { code: "no_iterations", message, evidence, hint: hint.to_owned() }
}

fn begin(name: &str) -> Vec<char> {
    name.chars().take(COMPARED).flat_map(char::to_lowercase).collect()
}

fn quoted(name: &str) -> String {
    match name.char_indices().nth(COMPARED) {
        Some((end, _)) => format!("{:?}…", &name[..end]),
        None => format!("{name:?}"),
    }
}

/// Returns the number of letters to insert, remove or replace to turn one name into the other.
fn edits(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in (1..).zip(one) {
        let mut diagonal = std::mem::replace(&mut row[0], above);
        for (place, theirs) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != theirs);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}
