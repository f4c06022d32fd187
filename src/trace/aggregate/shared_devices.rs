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
        let count = sharing(&mut spans);
        let device = chosen.numbers.all()[number as usize].1.filter(|_| count > 0)?;
        Some(format!("GPU {device}: {count} processes"))
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

/// Returns the number of spans that overlap another one.
fn sharing(spans: &mut [(i64, i64)]) -> usize {
    spans.sort_unstable();
    let (mut count, mut covered) = (0, i64::MIN);
    for (place, &(start, end)) in spans.iter().enumerate() {
        let meets_next = spans.get(place + 1).is_some_and(|next| next.0 < end);
        count += usize::from(start < covered || meets_next);
        covered = covered.max(end);
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sharing;
    use crate::trace::aggregate::Selection;
    use crate::trace::aggregate::made::Made;

    /// The third process ran when the others were over.
    #[test]
    fn only_processes_that_overlap_are_counted() {
        let mut made = Made::new();
        for (process, start) in [(1, 0), (2, 50), (3, 1000)] {
            made.kernel((0, Some(process)), (start, start + 100), 0);
        }
        let warnings = made.summary(Selection::default()).warnings;
        let evidence: Vec<_> =
            warnings.iter().filter(|one| one.code == "gpu_shared").map(|one| &*one.evidence).collect();
        assert_eq!(evidence, ["GPU 0: 2 processes"]);
    }

    proptest! {
        #[test]
        fn agrees_with_comparing_all(spans in prop::collection::vec((0_i64..60, 1_i64..20), 0..12)) {
            let mut spans: Vec<_> = spans.into_iter().map(|(start, length)| (start, start + length)).collect();
            let meets = |place: usize| {
                let (start, end) = spans[place];
                (0..spans.len()).any(|other| other != place && spans[other].0 < end && start < spans[other].1)
            };
            let expected = (0..spans.len()).filter(|&place| meets(place)).count();
            prop_assert_eq!(sharing(&mut spans), expected);
        }
    }
}
