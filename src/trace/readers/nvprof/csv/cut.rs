//! Cuts lines into columns. Quotes inside of quotes are not escaped.

/// The names of a header: quoted, every one.
pub(super) fn header(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('"')?.strip_suffix('"')?;
    let names: Vec<&str> = inner.split("\",\"").collect();
    (names.len() > 2).then_some(names)
}

/// Returns true if a line is the row of units below a header.
pub(super) fn is_units(line: &str) -> bool {
    const UNITS: [&str; 12] = ["", "%", "s", "ms", "us", "ns", "B", "KB", "MB", "GB", "GB/s", "MB/s"];
    line.contains(',') && line.split(',').all(|unit| UNITS.contains(&unit) || matches!(unit, "B/s" | "KB/s" | "TB/s"))
}

/// The units of a table's columns, from the row below its header, if that is one.
#[derive(Debug, Default)]
pub(super) struct Units(Option<Vec<String>>);

impl Units {
    /// Returns true if a line is that row. Only the first one below the header can be.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let may_be = self.0.is_none();
        let units = self.0.get_or_insert_default();
        if may_be && is_units(line) {
            units.extend(line.split(',').map(str::to_owned));
        }
        may_be && !units.is_empty()
    }

    /// Returns the unit of a column; empty without a unit.
    pub(super) fn of(&self, column: usize) -> &str {
        self.0.as_ref().and_then(|units| units.get(column)).map_or("", String::as_str)
    }
}

/// So many columns in front of a name, the name, and so many behind it.
pub(super) fn row(line: &str, before: usize, after: usize) -> Option<(Vec<&str>, &str, Vec<&str>)> {
    let (mut first, mut rest) = (Vec::with_capacity(before), line);
    for _ in 0..before {
        let (field, behind) =
            if let Some(quoted) = rest.strip_prefix('"') { quoted.split_once("\",")? } else { rest.split_once(',')? };
        first.push(field);
        rest = behind;
    }
    let mut last = Vec::with_capacity(after);
    for _ in 0..after {
        let (front, field) = rest.rsplit_once(',')?;
        last.push(field.trim_matches('"'));
        rest = front;
    }
    last.reverse();
    Some((first, rest.strip_prefix('"')?.strip_suffix('"')?, last))
}

/// A kernel's name and the number of its launch, which older releases put behind it.
pub(super) fn without_number(name: &str) -> (&str, Option<u64>) {
    let numbered = name.strip_suffix(']').and_then(|name| name.rsplit_once(" ["));
    match numbered.and_then(|(name, number)| Some((name, number.parse().ok()?))) {
        Some((name, number)) => (name, Some(number)),
        None => (name, None),
    }
}

/// The name and the number of a device: `GeForce GTX 950 (0)`.
pub(in crate::trace) fn named_device(text: &str) -> (String, Option<i64>) {
    let number = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    match number.and_then(|(name, number)| Some((name, number.trim().parse().ok()?))) {
        Some((name, number)) => (name.to_owned(), Some(number)),
        None => (text.to_owned(), None),
    }
}
