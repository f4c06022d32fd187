//! The part at the end of a segmented series that keeps one level.

use std::ops::Range;

use super::levels::{Equality, Level, Place};
use crate::memory;

/// Share of all points up to which a segment is an interruption instead of a level.
pub(super) const INTERRUPTION: f64 = 0.05;

/// See the module; and what comes before it.
pub(super) struct SteadyPart {
    /// The points at the last level, without interruptions; there is one at least.
    pub(super) steady: Vec<usize>,
    /// The points of the level before it, if there is one.
    pub(super) before: Range<usize>,
    /// True if something before it was faster, and not only for a moment.
    pub(super) faster: bool,
}

impl SteadyPart {
    /// Joins levels from the last one backwards. Others between them are passed over as long as they are interruptions.
    pub(super) fn of(levels: &[Level], equality: &Equality) -> Self {
        let points = levels.iter().map(Level::len).sum::<usize>() as f64;
        let lasting = |length: usize| length as f64 > INTERRUPTION * points;
        // Not always the last one: what happens at the very end may be an interruption too.
        let end = levels.last().map_or(0, |level| level.end);
        let reference = levels.iter().rposition(|level| lasting(end - level.begin)).unwrap_or(0);
        let places: Vec<Place> =
            memory::collected(levels.iter().map(|level| equality.place(level, &levels[reference])));
        let (mut first, mut others) = (reference, 0);
        for index in (0..levels.len()).rev() {
            if places[index] == Place::Same {
                first = index;
            } else {
                others += levels[index].len();
                if lasting(others) {
                    break;
                }
            }
        }
        let of = |place: Place| {
            levels.iter().zip(&places).filter(move |&(_, &other)| other == place).map(|(level, _)| level)
        };
        let begin = levels[first].begin;
        let before = |place| of(place).filter(|level| level.begin < begin).map(Level::len).sum::<usize>();
        let faster = before(Place::Faster);
        let before_it = levels[..first].last().map_or(0..0, |level| level.begin..level.end);
        Self {
            before: before_it,
            steady: of(Place::Same)
                .filter(|level| level.begin >= begin)
                .flat_map(|level| level.begin..level.end)
                .collect(),
            faster: lasting(faster) || (faster > 0 && before(Place::Slower) == 0),
        }
    }
}
