//! An event in Chrome's trace event format, as text.

use std::io::{self, Write};

/// Writes events, each on a line.
pub(super) struct Events<W> {
    out: W,
    is_first: bool,
}

/// Place of a drawn event: the numbers of a process and of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) process: i64,
    pub(super) thread: i64,
}

/// A slice: an event with a duration.
pub(super) struct Slice<'a> {
    pub(super) category: &'static str,
    /// In JSON, with its quotes.
    pub(super) name: &'a str,
    pub(super) place: Place,
    /// Nanoseconds after the origin of its clock.
    pub(super) start: u64,
    pub(super) duration: u64,
}

impl<W: Write> Events<W> {
    /// Events into `out`, from behind the bracket of their list.
    pub(super) fn new(out: W) -> Self {
        Self { out, is_first: true }
    }

    /// A slice. `arguments` writes the members of an object.
    pub(super) fn slice(
        &mut self,
        slice: &Slice<'_>,
        arguments: impl FnOnce(&mut Members<'_, W>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.begin()?;
        let Slice { category, name, place: Place { process, thread }, start, duration } = slice;
        write!(self.out, r#"{{"ph": "X", "cat": "{category}", "name": {name}, "pid": {process}, "tid": {thread}, "#)?;
        write!(self.out, r#""ts": {}, "dur": {}, "args": {{"#, Microseconds(*start), Microseconds(*duration))?;
        arguments(&mut Members { out: &mut self.out, is_first: true })?;
        self.out.write_all(b"}}")
    }

    /// Writes an arrow from a call to its activity, by their starts.
    pub(super) fn flow(&mut self, id: u64, from: (Place, u64), to: (Place, u64)) -> io::Result<()> {
        for (phase, (place, at), bound) in [("s", from, ""), ("f", to, r#", "bp": "e""#)] {
            self.begin()?;
            let (Place { process, thread }, at) = (place, Microseconds(at));
            write!(self.out, r#"{{"ph": "{phase}", "id": {id}, "pid": {process}, "tid": {thread}, "ts": {at}, "#)?;
            write!(self.out, r#""cat": "ac2g", "name": "ac2g"{bound}}}"#)?;
        }
        Ok(())
    }

    /// Writes the name of a process or a thread, and its place in the order.
    pub(super) fn describe(&mut self, what: &str, place: Place, name: &str, order: usize) -> io::Result<()> {
        let Place { process, thread } = place;
        let name = serde_json::Value::from(name);
        for (key, value) in
            [("name", format!(r#""name": {name}"#)), ("sort_index", format!(r#""sort_index": {order}"#))]
        {
            self.begin()?;
            write!(self.out, r#"{{"ph": "M", "name": "{what}_{key}", "pid": {process}, "tid": {thread}, "ts": 0, "#)?;
            write!(self.out, r#""args": {{{value}}}}}"#)?;
        }
        Ok(())
    }

    fn begin(&mut self) -> io::Result<()> {
        let between: &[u8] = if self.is_first { b"\n  " } else { b",\n  " };
        self.is_first = false;
        self.out.write_all(between)
    }

    /// Returns the writer, once all events are written.
    pub(super) fn into_inner(self) -> W {
        self.out
    }
}

/// Writes the members of an object.
pub(super) struct Members<'a, W> {
    out: &'a mut W,
    is_first: bool,
}

impl<W: Write> Members<'_, W> {
    /// Adds a member whose value prints as JSON.
    pub(super) fn add(&mut self, key: &str, value: impl std::fmt::Display) -> io::Result<()> {
        let between = if self.is_first { "" } else { ", " };
        self.is_first = false;
        write!(self.out, r#"{between}"{key}": {value}"#)
    }
}

/// Nanoseconds as microseconds, exactly.
struct Microseconds(u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let found = [0, 7, 1_000, 1_712_195_495_506_161_231, u64::MAX].map(|time| Microseconds(time).to_string());
        assert_eq!(found, ["0.000", "0.007", "1.000", "1712195495506161.231", "18446744073709551.615"]);
    }
}
