//! Summaries: a row for each kernel or function, with totals and no events.

use super::cut::{self, Units};
use super::quantity::nanoseconds;
use super::{CUT_SHORT, NO_NUMBER, Sheet, check_number};
use crate::memory::Room as _;
use crate::trace::readers::times::plausible;
use crate::trace::{Total, TotalKind};

/// Columns that are read.
const WANTED: [&str; 3] = ["Time", "Min", "Max"];
/// Last digit of times that are printed in seconds, in nanoseconds.
const MICROSECOND: u64 = 1_000;
/// Times with five digits are wrong by less than one part in so many.
const ROUNDED: u128 = 1_000;

/// Places of the columns of a summary, and their units.
#[derive(Debug)]
pub(super) struct Columns {
    kind: Option<usize>,
    times: [usize; 3],
    /// Columns of the host alone, or of the host and the device.
    calls: Vec<usize>,
    /// Number of columns in front of the name, which is the last one.
    before: usize,
    units: Units,
}

impl Columns {
    pub(super) fn new(names: &[&str]) -> Option<Self> {
        let at = |wanted: &str| names.iter().position(|name| *name == wanted);
        let before = at("Name").filter(|&at| at + 1 == names.len())?;
        at("Time(%)")?;
        let [time, min, max] = WANTED.map(at);
        let calls: Vec<usize> = (0..names.len()).filter(|&at| names[at].starts_with("Calls")).collect();
        let is_whole = !calls.is_empty();
        is_whole.then_some(Self {
            kind: at("Type"),
            times: [time?, min?, max?],
            calls,
            before,
            units: Units::default(),
        })
    }

    /// Adds a row, and says how many events it is.
    pub(super) fn row(&mut self, line: &str, sheet: &mut Sheet<'_>) -> Result<u64, &'static str> {
        if self.units.take(line) {
            return Ok(0);
        }
        let (fields, name, _) = cut::row(line, self.before, 0).ok_or(CUT_SHORT)?;
        let time = |which: usize| nanoseconds(fields[self.times[which]], self.units.of(self.times[which]));
        let count = self.calls.iter().filter_map(|&at| fields[at].parse::<u64>().ok()).try_fold(0, u64::checked_add);
        let numbers = time(0).zip(time(1)).zip(time(2)).zip(count);
        let (((total, min), max), count) = numbers.ok_or(NO_NUMBER)?;
        let kind = self.kind.map(|at| fields[at]);
        // Columns have units of their own, so that a total in seconds may be less than a longest in microseconds.
        let slack = if self.times.iter().any(|&at| self.units.of(at) == "s") { MICROSECOND } else { 0 };
        sheet.total(kind, name, [count, total, min, max], slack)
    }
}

impl Sheet<'_> {
    /// Adds the row of a summary: count, total time, and the shortest and the longest time.
    ///
    /// By up to `slack` a number may be too small for having been rounded.
    pub(super) fn total(
        &mut self,
        kind: Option<&str>,
        name: &str,
        numbers: [u64; 4],
        slack: u64,
    ) -> Result<u64, &'static str> {
        let [count, total_ns, min_ns, max_ns] = numbers;
        let is_ordered = min_ns <= max_ns.saturating_add(slack) && max_ns <= total_ns.saturating_add(slack);
        if count == 0 || !is_ordered || !is_between(total_ns, [min_ns, max_ns], count, slack) {
            return Err("inconsistent times");
        }
        check_number(count)?;
        plausible(0, i64::try_from(max_ns).unwrap_or(i64::MAX))?;
        let max_ns = max_ns.max(min_ns);
        let total_ns = total_ns.max(max_ns);
        let of_calls = match kind {
            Some("GPU activities") => false,
            Some("API calls") => true,
            Some(_) => return Ok(1),
            None => self.place.of_calls,
        };
        let names = &mut self.trace.names;
        let kind = if of_calls {
            TotalKind::Call(names.intern(name))
        } else if let Some(kind) = memory_kind(name) {
            TotalKind::Memory(names.intern(kind))
        } else {
            let raw = names.intern(name);
            TotalKind::Kernel(self.names.of(raw, names))
        };
        let device_id = self.place.device.as_ref().and_then(|(_, number)| *number);
        let total = Total { kind, device_id, count, total_ns, min_ns, max_ns };
        let row = (self.process.clone(), total);
        self.repeated += u64::from(self.totals.contains(&row));
        self.totals.put(row);
        self.trace.totals.put(total);
        self.summaries += 1;
        Ok(1)
    }
}

/// Returns true if so many times between the shortest and the longest can add up to the total. All have few digits.
fn is_between(total: u64, ends: [u64; 2], count: u64, slack: u64) -> bool {
    let count = u128::from(count);
    // Products of two numbers of 64 bits leave no room for more.
    let with_rounding =
        |time: u128| time.saturating_add(time / ROUNDED).saturating_add(count * u128::from(slack.max(1)));
    let [least, most] = ends.map(|time| u128::from(time) * count);
    least <= with_rounding(u128::from(total)) && u128::from(total) <= with_rounding(most)
}

/// Returns the name of a copy or a set in summaries: `memcpy HtoD` for `[CUDA memcpy HtoD]`.
pub(super) fn memory_kind(name: &str) -> Option<&str> {
    name.strip_prefix("[CUDA ")?.strip_suffix(']').filter(|kind| kind.starts_with("mem"))
}
