//! One event of a trace: the members that a summary needs, as they are written.

use super::annotation;
use super::decimal::microseconds_to_nanoseconds;
use super::meaning::{named, unescaped};
use super::phrases::{Phrases, key};
use super::plain::{Layout, Members, Next};
use super::value::{Fault, Value, members};

/// A member of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Phase,
    Category,
    Name,
    Process,
    Thread,
    Start,
    Duration,
    Arguments,
    Other,
}

/// The bit of a member.
const fn bit(member: Member) -> u32 {
    1 << member as u32
}

const ARGUMENTS: u32 = bit(Member::Arguments);
const CALLEE: u32 = bit(Member::Name) | bit(Member::Process) | bit(Member::Thread);
const ALL: u32 = bit(Member::Other) - 1;
/// Members that decide the class.
const CLASSED: u32 = bit(Member::Phase) | bit(Member::Category);

impl Member {
    pub(super) fn named(key: &[u8]) -> Self {
        match key {
            b"ph" => Self::Phase,
            b"cat" => Self::Category,
            b"name" => Self::Name,
            b"pid" => Self::Process,
            b"tid" => Self::Thread,
            b"ts" => Self::Start,
            b"dur" => Self::Duration,
            b"args" => Self::Arguments,
            _ => Self::Other,
        }
    }
}

/// The members of an event, wherever in it they stood, as far as they were looked for: see [`Event::take_plain`].
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    pub(super) phase: Option<Value<'a>>,
    pub(super) category: Option<Value<'a>>,
    pub(super) name: Option<Value<'a>>,
    pub(super) process: Option<Value<'a>>,
    pub(super) thread: Option<Value<'a>>,
    pub(super) start: Option<Value<'a>>,
    pub(super) duration: Option<Value<'a>>,
    pub(super) arguments: Option<&'a [u8]>,
    /// Callee, if its name, process and thread are known text.
    pub(super) callee: Option<u32>,
    /// Text up to behind the thread, if it alone decides the callee and the callee is new.
    pub(super) callee_text: Option<&'a [u8]>,
    /// Class of the event, if it is known already.
    known: Option<Class>,
}

/// Class of an event in a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A kernel ran.
    Kernel,
    /// A copy or a set ran.
    Memory,
    /// The host called the device's interface.
    Call,
    /// Annotation of the program.
    Annotation,
    /// Anything else.
    Other,
}

/// Returns true if the first bytes show that no summary needs the event; [`Event::take_plain`] would return the same.
#[inline]
pub(super) fn is_unneeded(text: &[u8], layout: &Layout<Member>) -> bool {
    let Some((Member::Phase, [b'"', phase, b'"', rest @ ..])) = text.get(1..).and_then(|text| layout.expected(text, 0))
    else {
        return false;
    };
    match phase {
        b'X' => {
            let Some((Member::Category, rest)) = layout.expected(rest, 1) else { return false };
            let name = rest.strip_prefix(b"\"cpu_op\"").or_else(|| rest.strip_prefix(b"\"Operator\""));
            name.is_some_and(is_operators_name)
        }
        b'B' | b'"' | b'\\' => false,
        _ => true,
    }
}

/// Returns a key for callees: bytes with the name of the function, whether or not spaces follow colons and commas.
#[inline]
pub(super) fn callee_key(text: &[u8]) -> u64 {
    key(text, 40) ^ key(text, 48).rotate_left(21) ^ key(text, 56).rotate_left(42)
}

/// Returns true if the name of an operator follows, and not one of an annotation.
#[inline]
fn is_operators_name(text: &[u8]) -> bool {
    let letter = text.strip_prefix(b", \"name\": \"").and_then(<[u8]>::first);
    letter.is_some_and(|&letter| !annotation::may_begin(letter))
}

/// Returns a phase or a category without escapes, or another with the same meaning; empty if no event here has it.
#[cold]
fn known_text(raw: &[u8]) -> &'static [u8] {
    match unescaped(raw).0.as_bytes() {
        b"X" => b"X",
        b"B" => b"B",
        b"kernel" | b"Kernel" => b"kernel",
        b"gpu_memcpy" | b"Memcpy" => b"gpu_memcpy",
        b"gpu_memset" | b"Memset" => b"gpu_memset",
        b"user_annotation" => b"user_annotation",
        b"cpu_op" | b"Operator" => b"cpu_op",
        b"Runtime" => b"cuda_runtime",
        other if other.ends_with(b"_runtime") || other.ends_with(b"_driver") => b"cuda_runtime",
        _ => b"",
    }
}

impl<'a> Event<'a> {
    /// The event at `at`, and the place after it.
    pub(super) fn parse(text: &'a [u8], at: usize) -> Result<(Self, usize), Fault> {
        let mut event = Self::default();
        let end = members(text, at, |key, value| event.take(named(key, Member::named), value))?;
        if event.has_escapes() {
            for place in [&mut event.phase, &mut event.category] {
                if let Some(Value::Text(text)) = place {
                    *text = known_text(text);
                }
            }
        }
        Ok((event, end))
    }

    /// Returns true if its phase or its category has an escape.
    fn has_escapes(&self) -> bool {
        [self.phase, self.category]
            .iter()
            .any(|place| matches!(place, Some(Value::Text(text)) if text.contains(&b'\\')))
    }

    #[inline]
    fn take(&mut self, member: Member, value: Value<'a>) {
        let place = match member {
            Member::Phase => &mut self.phase,
            Member::Category => &mut self.category,
            Member::Name => &mut self.name,
            Member::Process => &mut self.process,
            Member::Thread => &mut self.thread,
            Member::Start => &mut self.start,
            Member::Duration => &mut self.duration,
            Member::Arguments => {
                self.arguments = if let Value::Nested(text) = value { Some(text) } else { None };
                return;
            }
            Member::Other => return,
        };
        *place = Some(value);
    }

    /// Reads the event at the beginning of `text`, as far as it is needed. If a summary needs nothing more of it, the rest is
    /// not read, damage and repeated members included. `None` if it is not written as most are.
    pub(super) fn take_plain(
        &mut self,
        text: &'a [u8],
        layout: &mut Layout<Member>,
        callees: Option<&Phrases<u32>>,
    ) -> Option<()> {
        let mut members = Members::of(text, layout);
        // Members so far; the class, once known; whether a callee that becomes known is new.
        let (mut seen, mut class, mut is_new) = (0, None, false);
        if let Some((callee, length)) = callees.and_then(|callees| callees.find(callee_key(text), text)) {
            (self.known, self.callee) = (Some(Class::Call), Some(callee));
            (seen, class) = (CLASSED | CALLEE, self.known);
            // The last byte of the text only shows that the thread's number ends.
            members.skip(length - 2, 5);
        }
        while let Next::Key(member) = members.next()? {
            if member == Member::Arguments && class.is_some() && seen & ALL == ALL - ARGUMENTS {
                // They are parsed once, by their consumer.
                self.arguments = Some(members.rest());
                return Some(());
            }
            let value = members.value()?;
            if seen & bit(member) & CALLEE != 0 {
                // A repeated member changes the callee, but not its text. Events must not change each other's result.
                if self.callee.is_some() {
                    *self = Self::default();
                    return self.take_plain(text, layout, None);
                }
                (is_new, self.callee_text) = (false, None);
            }
            self.take(member, value);
            seen |= bit(member);
            match class {
                Some(_) if is_new && seen == CLASSED | CALLEE => {
                    (is_new, self.callee_text) = (false, text.get(..=members.at()));
                }
                Some(_) => {}
                None if seen & bit(Member::Phase) != 0 && !self.is_activity() => {
                    if members.escaped() && self.has_escapes() {
                        return None;
                    }
                    self.known = Some(Class::Other);
                    return Some(());
                }
                None if seen & CLASSED == CLASSED => {
                    // The name of an operator says whether it is one.
                    if seen & bit(Member::Name) == 0 && self.is_operator() {
                        if is_operators_name(members.rest()) {
                            self.known = Some(Class::Other);
                            return Some(());
                        }
                        continue;
                    }
                    let found = self.class();
                    self.known = Some(found);
                    if found == Class::Other {
                        // The category may be another without its escapes.
                        return (!members.escaped() || !self.has_escapes()).then_some(());
                    }
                    class = Some(found);
                    is_new = found == Class::Call && seen == CLASSED && callees.is_some();
                }
                None => continue,
            }
            if seen & ALL == ALL {
                return Some(());
            }
        }
        Some(())
    }

    /// Its class, by its category: operators of the host carry streams and correlations too.
    pub(super) fn class(&self) -> Class {
        if let Some(known) = self.known {
            return known;
        }
        let Some(Value::Text(category)) = self.category.filter(|_| self.is_activity()) else {
            return Class::Other;
        };
        match category {
            b"kernel" | b"Kernel" => Class::Kernel,
            b"gpu_memcpy" | b"gpu_memset" | b"Memcpy" | b"Memset" => Class::Memory,
            b"cuda_runtime" | b"cuda_driver" | b"Runtime" => Class::Call,
            b"user_annotation" => Class::Annotation,
            b"cpu_op" | b"Operator" if self.name.is_some_and(annotation::is_annotation_name) => Class::Annotation,
            other if other.ends_with(b"_runtime") || other.ends_with(b"_driver") => Class::Call,
            _ => Class::Other,
        }
    }

    /// Returns true for something that takes time: complete, or only its begin.
    #[inline]
    pub(super) fn is_activity(&self) -> bool {
        matches!(self.phase, Some(Value::Text(b"X" | b"B")))
    }

    /// Returns true for an operator of the host, or an annotation that old versions wrote as an operator.
    #[inline]
    pub(super) fn is_operator(&self) -> bool {
        matches!(self.category, Some(Value::Text(b"cpu_op" | b"Operator")))
    }

    /// Returns start and end in nanoseconds.
    ///
    /// # Errors
    /// The fault of its times.
    pub(super) fn times(&self) -> Result<(i64, i64), &'static str> {
        if self.phase == Some(Value::Text(b"B")) {
            return Err("begin and end are two events");
        }
        let start = self.start.and_then(Value::number).ok_or("an event has no start")?;
        let start = microseconds_to_nanoseconds(start).ok_or("a start is not a time")?;
        let duration = self.duration.and_then(Value::number).ok_or("an event has no duration")?;
        let duration = microseconds_to_nanoseconds(duration).ok_or("a duration is not a time")?;
        if duration < 0 {
            return Err("an event ends before it starts");
        }
        Ok((start, start.checked_add(duration).ok_or("an end is not a time")?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Event<'_> {
        Event::parse(text.as_bytes(), 0).expect("an event").0
    }

    #[test]
    fn takes_members_in_any_order() {
        let event = parse(
            r#"{"args": {"name": "inner", "stream": 7}, "dur": 2.5, "ts": 1, "name": "outer", "cat": "kernel", "ph": "X"}"#,
        );
        assert_eq!(event.class(), Class::Kernel);
        assert_eq!(event.name, Some(Value::Text(b"outer")));
        assert_eq!(event.times(), Ok((1000, 3500)));
        assert_eq!(event.arguments, Some(br#"{"name": "inner", "stream": 7}"#.as_slice()));
    }

    #[test]
    fn goes_by_the_category() {
        let class =
            |category: &str| parse(&format!(r#"{{"ph": "X", "cat": "{category}", "args": {{"stream": 7}}}}"#)).class();
        assert_eq!(class("cpu_op"), Class::Other);
        assert_eq!(class("cuda_sync"), Class::Other);
        assert_eq!(class("gpu_user_annotation"), Class::Other);
        assert_eq!(class("xpu_runtime"), Class::Call);
        assert_eq!(class("Memset"), Class::Memory);
        assert_eq!(parse(r#"{"ph": "B", "cat": "kernel"}"#).class(), Class::Kernel);
        assert_eq!(parse(r#"{"ph": "i", "cat": "kernel"}"#).class(), Class::Other);
        assert_eq!(parse("{}").class(), Class::Other);
    }
}
