//! Sums of the pieces of parts that overlap: a thread's time is read once, however many parts there are.

use super::loaders::Load;
use super::spans::Spans;
use super::{Before, Cause, Cut};
use crate::memory::{collected, filled};

/// Causes of idle time before a launch, one after the other.
const CAUSES: [Cause; 4] = [Cause::Synchronization, Cause::Allocation, Cause::DataLoader, Cause::Host];

/// Number of pieces and their length, by cause.
type Pieces = [(u64, u64); CAUSES.len()];

fn place(cause: Cause) -> usize {
    cause as usize - CAUSES[0] as usize
}

/// Goes along the time of a thread, and adds up the pieces.
pub(super) struct Walk<'a, T> {
    waits: [(Cause, Spans<'a, T>); 2],
    loads: (Cause, Spans<'a, Load>),
    /// Many threads may have these spans. So they are not read one by one.
    of_process: &'a [Load],
    time: i64,
    /// Those that began before this time.
    pieces: Pieces,
    /// Cause of the last piece.
    last: Option<Cause>,
}

impl<'a, T> Walk<'a, T> {
    pub(super) fn new(
        waits: [(Cause, Spans<'a, T>); 2],
        loads: (Cause, Spans<'a, Load>),
        of_process: &'a [Load],
        time: i64,
    ) -> Self {
        Self { waits, loads, of_process, time, pieces: Pieces::default(), last: None }
    }

    /// Gives the pieces of each part, all of one cause as one.
    pub(super) fn sum(mut self, parts: &[Before], take: &mut impl FnMut(Cut)) {
        let points = |(number, part): (usize, &Before)| [(part.start, number), (part.end, number)];
        let mut points = collected(parts.iter().enumerate().flat_map(points));
        points.sort_unstable();
        let mut before_parts = filled(None, parts.len());
        for (time, number) in points {
            self.go(time);
            let Some(before) = before_parts[number].take() else {
                before_parts[number] = Some(self.before_part());
                continue;
            };
            let Before { device, start, .. } = parts[number];
            for ((cause, now), before) in CAUSES.into_iter().zip(self.pieces).zip(before) {
                let (count, end) = (now.0 - before.0, start.saturating_add_unsigned(now.1 - before.1));
                if count > 0 {
                    take(Cut { device, start, end, cause, count, in_stream: false });
                }
            }
        }
    }

    /// The pieces before a part that starts now; the piece that goes on belongs to both.
    fn before_part(&mut self) -> Pieces {
        let mut pieces = self.pieces;
        let cause = self.thread_cause().0.unwrap_or_else(|| self.process_causes(self.time, self.time + 1).0[0]);
        if self.last == Some(cause) {
            pieces[place(cause)].0 -= 1;
        }
        pieces
    }

    fn go(&mut self, until: i64) {
        while self.time < until {
            let (cause, changes) = self.thread_cause();
            let end = changes.min(until);
            let (ends, pieces) = match cause {
                Some(cause) => {
                    let mut pieces = Pieces::default();
                    pieces[place(cause)] = (1, end.abs_diff(self.time));
                    ([cause; 2], pieces)
                }
                None => self.process_causes(self.time, end),
            };
            for (sum, more) in self.pieces.iter_mut().zip(pieces) {
                *sum = (sum.0 + more.0, sum.1 + more.1);
            }
            if self.last == Some(ends[0]) {
                self.pieces[place(ends[0])].0 -= 1;
            }
            (self.last, self.time) = (Some(ends[1]), end);
        }
    }

    /// The cause that only the thread has now, if it has one, and the time until which that holds.
    fn thread_cause(&mut self) -> (Option<Cause>, i64) {
        let (mut cause, mut until) = (None, i64::MAX);
        let mut ask = |of: Cause, (covers, changes): (bool, i64)| {
            until = until.min(changes);
            cause = cause.or(covers.then_some(of));
        };
        for (of, spans) in &mut self.waits {
            ask(*of, spans.at(self.time));
        }
        ask(self.loads.0, self.loads.1.at(self.time));
        (cause, until)
    }

    /// The pieces of a time in which no wait or load of the thread itself is, and the causes of the first and the last.
    fn process_causes(&self, start: i64, end: i64) -> ([Cause; 2], Pieces) {
        let meet = &self.of_process[self.of_process.partition_point(|load| load.0.1 <= start)..];
        let meet = &meet[..meet.partition_point(|load| load.0.0 < end)];
        let (mut pieces, mut ends) = (Pieces::default(), [Cause::Host; 2]);
        let mut loaded = 0;
        if let (Some((first, before)), Some((last, before_last))) = (meet.first(), meet.last()) {
            loaded = before_last + last.1.min(end).abs_diff(last.0) - before;
            if first.0 <= start {
                ends[0] = Cause::DataLoader;
                loaded -= start.abs_diff(first.0);
            }
            if last.1 >= end {
                ends[1] = Cause::DataLoader;
            }
        }
        let count = meet.len() as u64;
        let loads_at_ends = ends.iter().filter(|cause| **cause == Cause::DataLoader).count() as u64;
        pieces[place(Cause::DataLoader)] = (count, loaded);
        pieces[place(Cause::Host)] = (count + 1 - loads_at_ends, end.abs_diff(start) - loaded);
        (ends, pieces)
    }
}
