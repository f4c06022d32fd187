//! Meaning of the numbers in rows.

use crate::trace::Shape;
use crate::trace::readers::times::plausible;

/// Number for NULL. No identifier and no time of a capture is this number.
pub(in crate::trace::readers) const NONE: i64 = i64::MIN;

/// Returns the times of an event, or the reason why they are unknown.
pub(in crate::trace::readers) fn times(start: i64, end: i64) -> Result<(i64, i64), &'static str> {
    match (start, end) {
        (NONE, _) | (_, NONE) => Err("no start or no end"),
        (start, end) if end < start => Err("an end before the start"),
        (start, end) => plausible(start, end),
    }
}

/// Returns the number that joins a call with its activities; 0 if unknown.
pub(in crate::trace::readers) fn correlation(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// `None` for [`NONE`].
pub(in crate::trace::readers) fn known(number: i64) -> Option<i64> {
    (number != NONE).then_some(number)
}

/// The shape of a launch: registers, static and dynamic shared memory, grid and block.
pub(in crate::trace::readers) fn shape(numbers: [i64; 9]) -> Shape {
    let [registers, fixed, dynamic, grid @ .., bx, by, bz] = numbers;
    let size = |number| u64::try_from(number).ok();
    Shape {
        grid: extent(grid),
        block: extent([bx, by, bz]),
        registers_per_thread: u32::try_from(registers).ok(),
        shared_memory_bytes: size(fixed).zip(size(dynamic)).and_then(|(fixed, dynamic)| fixed.checked_add(dynamic)),
    }
}

fn extent(numbers: [i64; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = numbers.map(|number| u32::try_from(number).ok());
    Some([x?, y?, z?])
}

/// The name of a kind of copies; `kinds` are in the order of their numbers.
pub(in crate::trace::readers) fn copy_kind(kinds: &[&str], number: i64) -> String {
    let number = if number == NONE { 0 } else { number };
    match usize::try_from(number).ok().and_then(|number| kinds.get(number)) {
        Some(kind) => format!("memcpy {kind}"),
        None => format!("memcpy kind {number}"),
    }
}

/// Returns true if a number of a graph or of its node is set: the operation ran in a graph.
pub(in crate::trace::readers) fn in_graph(number: i64) -> bool {
    number != NONE && number != 0
}
