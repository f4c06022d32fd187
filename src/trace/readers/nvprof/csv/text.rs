//! Summaries as people read them: columns with spaces between them, and units behind the numbers.

use super::quantity::nanoseconds;
use super::{CUT_SHORT, NO_NUMBER, Sheet};

/// Columns in front of the name in a summary as text.
#[derive(Debug)]
pub(super) struct Columns {
    /// One for the calls of the host, or one more for those of the device.
    calls: usize,
    /// Kind of these rows, until another is named.
    kind: Option<String>,
}

impl Columns {
    pub(super) fn new(line: &str) -> Option<Self> {
        let line = line.trim();
        let line = line.strip_prefix("Type").unwrap_or(line);
        let calls = line.matches("Calls").count();
        let is_one = line.trim_start().starts_with("Time(%)") && line.ends_with("Name") && calls > 0;
        is_one.then_some(Self { calls, kind: None })
    }

    /// Adds a row, and says how many events it is.
    pub(super) fn row(&mut self, line: &str, sheet: &mut Sheet<'_>) -> Result<u64, &'static str> {
        let mut rest = line;
        for kind in ["GPU activities", "API calls", "Range", "OpenACC (excl)", "OpenMP (incl)"] {
            if let Some(behind) = line.trim_start().strip_prefix(kind).and_then(|rest| rest.strip_prefix(':')) {
                (self.kind, rest) = (Some(kind.to_owned()), behind);
            }
        }
        // The share, the time, the calls, and the average, the shortest and the longest.
        let mut fields = Vec::with_capacity(6);
        for _ in 0..5 + self.calls {
            rest = rest.trim_start();
            let (field, behind) = rest.split_once(' ').ok_or(CUT_SHORT)?;
            fields.push(field);
            rest = behind;
        }
        let name = rest.strip_prefix(' ').unwrap_or(rest);
        let time = |at: usize| nanoseconds(fields[at], "");
        let calls = fields[2..2 + self.calls].iter().filter_map(|field| field.parse::<u64>().ok());
        let last = 2 + self.calls;
        let numbers =
            time(1).zip(time(last + 1)).zip(time(last + 2)).zip(calls.into_iter().try_fold(0, u64::checked_add));
        let (((total, min), max), count) = numbers.ok_or(NO_NUMBER)?;
        let kind = self.kind.clone();
        sheet.total(kind.as_deref(), name, [count, total, min, max], 0)
    }
}
