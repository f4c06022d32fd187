//! Traces of torch.profiler and other traces in Chrome's form, compressed or not.
//!
//! The text streams through a window. Each event is parsed where it lies and only those of a device or of its interface
//! are kept, so memory grows with them and not with the file. What is damaged is passed over up to the next event, and
//! counted.

mod annotation;
mod arguments;
mod decimal;
mod event;
mod events;
mod meaning;
mod metadata;
mod phrases;
mod pieces;
mod plain;
mod resume;
mod sink;
mod split;
#[cfg(test)]
mod tests;
mod text;
mod value;

pub(in crate::trace) use metadata::SHARED_CLOCK;

use events::{End, Events};
use metadata::Metadata;
use pieces::Grain;
use resume::skip_long;
use sink::Sink;
use text::Text;

use std::fs::File;
use std::sync::Arc;

use super::unknown::FORMATS_HINT;
use super::{Interrupted, Source, mark_cut};
use crate::error::{Error, Result};
use crate::trace::{Capture, Trace, Warning};

/// The format's name.
pub(super) const NAME: &str = "kineto";

/// Reads a trace.
pub(super) fn read(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>) -> Result<Capture> {
    read_grains(source, trace, interrupted, Grain::default())
}

/// Reads a trace that cannot be read once more, from a pipe: operators are kept aside until it is known that it has no GPU.
pub(super) fn read_once(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>) -> Result<Capture> {
    once(source, trace, interrupted, Grain::default())
}

fn once(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>, grain: Grain) -> Result<Capture> {
    let (operations, mut aside) = (trace.operations(), Trace::behind(trace.capture_number()));
    let mut second = Capture::default();
    let mut capture = take(source, trace, interrupted, grain, Operators::Aside(&mut aside, &mut second))?;
    if trace.operations() == operations {
        add_operators(trace, aside, &mut capture, second);
    }
    Ok(capture)
}

/// Reads the operators of the CPU, and nothing else. A capture has many times as many of them as activities of a GPU, and
/// where it has any of these operators are not used: only a capture without a GPU is read once more for them.
///
/// It was read before, so that all there is to say of it has been said, except of damaged operators and their names.
pub(super) fn read_operators(
    source: Source<'_>,
    trace: &mut Trace,
    first: &mut Capture,
    interrupted: Interrupted<'_>,
) -> Result<()> {
    operators(source, trace, first, interrupted, Grain::default())
}

/// Reads the operators, so many bytes at once.
#[cfg(any(test, fuzzing))]
pub(super) fn read_operators_finely(
    source: Source<'_>,
    trace: &mut Trace,
    first: &mut Capture,
    step: usize,
) -> Result<()> {
    operators(source, trace, first, &|| false, Grain { step, ..Grain::default() })
}

fn operators(
    source: Source<'_>,
    trace: &mut Trace,
    first: &mut Capture,
    interrupted: Interrupted<'_>,
    grain: Grain,
) -> Result<()> {
    let mut aside = Trace::behind(trace.capture_number());
    let source = Source { plain: None, ..source };
    let second = take(source, &mut aside, interrupted, grain, Operators::Only)?;
    add_operators(trace, aside, first, second);
    Ok(())
}

/// Adds operators to a `trace` without a GPU. Its `first` walk did not read every event to its end: what is damaged behind the
/// place where it stopped counted as read.
fn add_operators(trace: &mut Trace, aside: Trace, first: &mut Capture, second: Capture) {
    trace.append(aside);
    for skipped in second.skipped {
        let known = first.skipped.iter().find(|known| known.reason == skipped.reason).map_or(0, |known| known.count);
        let more = skipped.count.saturating_sub(known);
        first.events_read = first.events_read.saturating_sub(more);
        first.skip_many(&skipped.reason, more, skipped.first_offset_bytes);
    }
}

/// Reads a trace, so many bytes at once and in pieces of so many.
#[cfg(any(test, fuzzing))]
pub(super) fn read_finely(source: Source<'_>, trace: &mut Trace, step: usize, piece: u64) -> Result<Capture> {
    read_grains(source, trace, &|| false, Grain { step, piece })
}

fn read_grains(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>, grain: Grain) -> Result<Capture> {
    take(source, trace, interrupted, grain, Operators::Passed)
}

/// Treatment of the operators of the CPU.
enum Operators<'a> {
    /// Operators are counted as events that no summary needs.
    Passed,
    /// The same, and operators are put into this trace; their capture is the other.
    Aside(&'a mut Trace, &'a mut Capture),
    /// Only operators are taken.
    Only,
}

fn take(
    source: Source<'_>,
    trace: &mut Trace,
    interrupted: Interrupted<'_>,
    grain: Grain,
    operators: Operators<'_>,
) -> Result<Capture> {
    let Source { path, bytes, plain, capture, .. } = source;
    let clock = trace.add_clock(format!("capture {}", trace.capture_number()));
    let (text, mut sink) = (Text::new(bytes, 0, grain.step), Sink::new(trace, clock, capture));
    sink.only_operators = matches!(operators, Operators::Only);
    let mut events = Events::new(text, sink, interrupted);
    let mut second = None;
    if let Operators::Aside(aside, of_operators) = operators {
        second = Some(of_operators);
        let clock = aside.add_clock(String::new());
        let mut sink = Sink::new(aside, clock, Capture { path: path.to_owned(), ..Capture::default() });
        sink.only_operators = true;
        events.operators = Some(sink);
    }
    let mut reader = Reader { events, plain, grain, metadata: Metadata::default() };
    let not_one = |reason: &str| Error::NotACapture {
        path: path.to_owned(),
        reason: reason.to_owned(),
        hint: FORMATS_HINT.to_owned(),
    };
    reader.skip_byte_order_mark()?;
    let complete = match reader.events.peek()? {
        Some(b'{') => {
            reader.events.text.pass(1);
            match reader.object()? {
                Walk { has_events: false, .. } => {
                    return Err(not_one(&reader.metadata.without_events(reader.events.text.fault())));
                }
                Walk { complete, .. } => complete,
            }
        }
        Some(b'[') => {
            reader.events.text.pass(1);
            // A list of events may lack its closing bracket: the form allows that.
            let ended = reader.list()?;
            let capture = &reader.events.sink.capture;
            if !reader.events.sink.only_operators && capture.events_read == 0 && capture.events_skipped > 0 {
                return Err(not_one("the JSON list contains no event"));
            }
            ended || reader.events.text.fault().is_none()
        }
        _ => return Err(not_one(reader.events.text.fault().unwrap_or("the file is not a JSON trace"))),
    };
    // Behind the trace a stream may still turn out not to be what was packed.
    let trailing = complete && reader.events.peek()?.is_some();
    if !complete || reader.events.text.fault().is_some() {
        let reason = reader.events.text.fault().unwrap_or("the file ends inside the trace").to_owned();
        let position = reader.events.text.position();
        let mut warning = mark_cut(&mut reader.events.sink.capture, position, &reason);
        if complete {
            "events may be damaged, because the file fails after the trace".clone_into(&mut warning.message);
        }
        reader.events.sink.trace.warnings.push(warning);
    }
    if trailing {
        reader.events.sink.trace.warnings.push(Warning {
            code: "trailing_text",
            message: "text after the trace is not counted".to_owned(),
            evidence: format!("{path}: text at byte {}", reader.events.text.position()),
            hint: "Store each trace in its own file.".to_owned(),
        });
    }
    if reader.events.sink.only_operators {
        reader.events.sink.trace.warnings.clear();
    }
    if let (Some(operators), Some(second)) = (reader.events.operators, second) {
        *second = operators.finish(&reader.metadata);
    }
    Ok(reader.events.sink.finish(&reader.metadata))
}

struct Reader<'a> {
    events: Events<'a>,
    /// The file, where its bytes are the text, until a list of it has been read in pieces.
    plain: Option<Arc<File>>,
    grain: Grain,
    metadata: Metadata,
}

/// Result of a walk through the outermost object.
struct Walk {
    has_events: bool,
    complete: bool,
}

impl Reader<'_> {
    fn skip_byte_order_mark(&mut self) -> Result<()> {
        self.events.peek()?;
        while self.events.text.window().len() < 3 && self.events.text.grow(self.events.interrupted)? {}
        if self.events.text.window().starts_with(b"\xef\xbb\xbf") {
            self.events.text.pass(3);
        }
        Ok(())
    }

    /// Reads everything in the outermost object, whose brace has been passed.
    fn object(&mut self) -> Result<Walk> {
        let mut walk = Walk { has_events: false, complete: true };
        loop {
            match self.events.peek()? {
                None => return Ok(Walk { complete: false, ..walk }),
                Some(b'}') => {
                    self.events.text.pass(1);
                    return Ok(walk);
                }
                Some(b',') => {
                    self.events.text.pass(1);
                    continue;
                }
                Some(_) => {}
            }
            let Some(key) = self.events.whole(|window| value::key(window, 0).map(|(key, end)| (key.to_vec(), end)))?
            else {
                return Ok(Walk { complete: false, ..walk });
            };
            if key == b"traceEvents" && self.events.peek()? == Some(b'[') {
                walk.has_events = true;
                self.events.text.pass(1);
                if !self.list()? {
                    return Ok(Walk { complete: false, ..walk });
                }
                continue;
            }
            let taken = self
                .events
                .whole(|window| value::value(window, 0).map(|(value, end)| (Metadata::owned(value), end)))?;
            if taken.is_none() && !skip_long(&mut self.events.text, self.events.interrupted)? {
                return Ok(Walk { complete: false, ..walk });
            }
            match taken.flatten() {
                Some(value) => self.metadata.take(&key, value),
                None => self.metadata.lose(&key),
            }
        }
    }

    /// Reads all events of the list whose bracket has been passed; returns true if its end was met.
    fn list(&mut self) -> Result<bool> {
        // Once: a text of many lists would be read to its end for each.
        if let Some(file) = self.plain.take() {
            pieces::read(&file, &mut self.events, self.grain)?;
        }
        let end = self.events.until(u64::MAX)?;
        self.events.text.pass(usize::from(end == End::List));
        Ok(end == End::List)
    }
}
