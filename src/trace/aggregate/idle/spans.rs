//! Spans of time that cover others.

use super::{Before, Cause, Cut};

/// Merges touching ones among sorted spans, if `is_same` returns true for them.
pub(super) fn merge<T: Copy>(
    all: &mut Vec<T>,
    is_same: impl Fn(&T, &T) -> bool,
    span: impl Fn(&mut T) -> &mut (i64, i64),
) {
    all.dedup_by(|later, kept| {
        if !is_same(later, kept) {
            return false;
        }
        let (from, to) = *span(later);
        let kept = span(kept);
        let touch = from <= kept.1;
        if touch {
            kept.1 = kept.1.max(to);
        }
        touch
    });
}

/// Sorted spans that do not touch, read in the order of time.
pub(super) struct Spans<'a, T> {
    rest: &'a [T],
    span: fn(&T) -> (i64, i64),
}

impl<'a, T> Spans<'a, T> {
    /// Those that end after `time`.
    pub(super) fn new(all: &'a [T], span: fn(&T) -> (i64, i64), time: i64) -> Self {
        Self { rest: &all[all.partition_point(|item| span(item).1 <= time)..], span }
    }

    /// Returns true if a span covers `time`, which is not before that of the last call, and the time until which that holds.
    pub(super) fn at(&mut self, time: i64) -> (bool, i64) {
        while let Some(first) = self.rest.first() {
            let (start, end) = (self.span)(first);
            if end > time {
                return if start > time { (false, start) } else { (true, end) };
            }
            self.rest = &self.rest[1..];
        }
        (false, i64::MAX)
    }
}

/// Cuts a part into pieces: each has the first cause that covers it, and the host where none does.
pub(super) fn cut<T, U>(
    mut first: [(Cause, Spans<'_, T>); 2],
    mut then: [(Cause, Spans<'_, U>); 2],
    part: &Before,
    take: &mut impl FnMut(Cut),
) {
    let piece = |start, cause| Cut { device: part.device, start, end: start, cause, count: 1, in_stream: false };
    let mut open: Option<Cut> = None;
    let mut time = part.start;
    while time < part.end {
        let (mut cause, mut until) = (None, part.end);
        let mut ask = |of: Cause, (covers, changes): (bool, i64)| {
            until = until.min(changes);
            cause = cause.or(covers.then_some(of));
        };
        for (of, spans) in &mut first {
            ask(*of, spans.at(time));
        }
        for (of, spans) in &mut then {
            ask(*of, spans.at(time));
        }
        let cause = cause.unwrap_or(Cause::Host);
        match &mut open {
            Some(open) if open.cause == cause => {}
            _ => {
                open.replace(piece(time, cause)).into_iter().for_each(&mut *take);
            }
        }
        if let Some(open) = &mut open {
            open.end = until;
        }
        time = until;
    }
    open.into_iter().for_each(take);
}
