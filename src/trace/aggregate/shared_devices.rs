//! Devices that several processes used during the same time.

use std::collections::BTreeMap;

use super::select::Chosen;
use crate::memory::Room as _;
use crate::trace::Warning;

/// So many devices are named.
const NAMED: usize = 10;

/// Warns of such devices: the work of one process is idle time to the others. `spans` has the first start and the last end of
/// each of [`Chosen::devices`], as far as it did something.
pub(super) fn warning(chosen: &Chosen<'_>, spans: impl Iterator<Item = Option<(i64, i64)>>) -> Option<Warning> {
    let mut by_number: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    for (&number, span) in chosen.number_of.iter().zip(spans) {
        if let Some(span) = span {
            by_number.entry(number).or_default().put(span);
        }
    }
    let shared = by_number.into_iter().filter_map(|(number, mut spans)| {
        spans.sort_unstable();
        let meet = spans.windows(2).any(|pair| pair[1].0 < pair[0].1);
        let device = chosen.numbers.all()[number as usize].1.filter(|_| meet)?;
        Some(format!("GPU {device}: {} processes", spans.len()))
    });
    let mut named: Vec<String> = shared.collect();
    if named.is_empty() {
        return None;
    }
    let more = named.split_off(named.len().min(NAMED)).len();
    named.extend((more > 0).then(|| format!("and {more} more")));
    Some(Warning {
        code: "gpu_shared",
        message: "idle time of a GPU may contain the work of other processes, because each process is counted alone"
            .to_owned(),
        evidence: named.join("; "),
        hint: "Compare the busy times of the processes: fastrnns-rs report FILE --by device".to_owned(),
    })
}
