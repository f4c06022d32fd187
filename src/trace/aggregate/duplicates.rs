//! Operations that a file contains twice.

use crate::memory::filled;
use crate::trace::{Entry, Trace, Warning};

/// Share of operations below which duplicates are ignored: rounded times may make short operations equal.
const FEW: f64 = 0.01;

/// Counts operations that equal an earlier one of their stream in name, start and end. A stream runs one at a time.
pub(super) struct Duplicates {
    /// Times of the last operation, by the place of its work.
    last: Vec<(i64, i64)>,
    count: u64,
    all: u64,
}

impl Duplicates {
    pub(super) fn new(trace: &Trace) -> Self {
        // Starts before ends: no operation is like this.
        Self { last: filled((0, -1), trace.works.all().len()), count: 0, all: 0 }
    }

    /// Takes an operation that counts; starts ascend.
    #[inline]
    pub(super) fn add(&mut self, entry: &Entry) {
        let times = (entry.start, entry.end);
        let last = &mut self.last[entry.what as usize];
        self.count += u64::from(*last == times && entry.start < entry.end);
        self.all += 1;
        *last = times;
    }

    pub(super) fn warning(&self) -> Option<Warning> {
        (self.count > 0 && self.count as f64 >= FEW * self.all as f64).then(|| Warning {
            code: "activities_repeated",
            message: "activities count twice, because a file contains them twice".to_owned(),
            evidence: format!(
                "{} of {} activities equal another one in name, stream, start and end",
                self.count, self.all
            ),
            hint: "Capture again: fastrnns-rs profile RUNNER".to_owned(),
        })
    }
}
