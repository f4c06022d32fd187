//! Traces of torch.profiler and other traces in Chrome's form, compressed or not.
//!
//! The text streams through a window. Each event is parsed where it lies and only those of a device or of its interface
//! are kept, so memory grows with them and not with the file. What is damaged is passed over up to the next event, and
//! counted.

mod decimal;
mod event;
mod metadata;
mod resume;
mod sink;
mod split;
#[cfg(test)]
mod tests;
mod text;
mod value;

use event::Event;
use metadata::Metadata;
use resume::{Boundary, boundary, skip_long};
use sink::Sink;
use split::{Splitter, Stop};
use text::{LONGEST, STEP, Text};
use value::{Fault, Value};

use super::{Interrupted, Source};
use crate::error::{Error, Result};
use crate::trace::{Capture, Trace, Warning};

/// Reads a trace.
pub(super) fn read(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>) -> Result<Capture> {
    read_in_steps(source, trace, interrupted, STEP)
}

fn read_in_steps(source: Source<'_>, trace: &mut Trace, interrupted: Interrupted<'_>, step: usize) -> Result<Capture> {
    let Source { path, bytes, capture, .. } = source;
    let (text, sink) = (Text::new(bytes, step), Sink::new(trace, capture));
    let mut reader = Reader { text, sink, metadata: Metadata::default(), interrupted };
    let not_one = |reason: &str| Error::NotACapture {
        path: path.to_owned(),
        reason: reason.to_owned(),
        hint: "give a trace of torch.profiler, an export of nsys to SQLite or a record of `profile`".to_owned(),
    };
    reader.skip_byte_order_mark()?;
    let complete = match reader.peek()? {
        Some(b'{') => {
            reader.text.pass(1);
            match reader.object()? {
                Walk { has_events: false, .. } => {
                    return Err(not_one(&reader.metadata.without_events(reader.text.fault())));
                }
                Walk { complete, .. } => complete,
            }
        }
        Some(b'[') => {
            reader.text.pass(1);
            // A list of events may lack its closing bracket: the form allows that.
            reader.events()?;
            true
        }
        _ => return Err(not_one(reader.text.fault().unwrap_or("it is no trace in JSON"))),
    };
    if !complete || reader.text.fault().is_some() {
        let evidence = reader.text.fault().unwrap_or("the file ends in the middle").to_owned();
        reader.sink.trace.warnings.push(Warning {
            code: "capture_incomplete",
            message: format!("{path} is damaged: what comes after byte {} is lost", reader.text.position()),
            evidence,
            hint: "capture again, and let the program end by itself".to_owned(),
        });
    }
    if complete && reader.peek()?.is_some() {
        reader.sink.trace.warnings.push(Warning {
            code: "trailing_text",
            message: format!("{path}: what follows the trace is left out"),
            evidence: format!("more text at byte {}", reader.text.position()),
            hint: "give each trace a file of its own".to_owned(),
        });
    }
    Ok(reader.sink.finish(&reader.metadata))
}

struct Reader<'a, 'b> {
    text: Text<'a>,
    sink: Sink<'b>,
    metadata: Metadata,
    interrupted: Interrupted<'b>,
}

/// What a walk through the outermost object has met.
struct Walk {
    has_events: bool,
    complete: bool,
}

impl Reader<'_, '_> {
    fn skip_byte_order_mark(&mut self) -> Result<()> {
        self.peek()?;
        if self.text.window().starts_with(b"\xef\xbb\xbf") {
            self.text.pass(3);
        }
        Ok(())
    }

    /// Everything in the outermost object, whose brace has been passed.
    fn object(&mut self) -> Result<Walk> {
        let mut walk = Walk { has_events: false, complete: true };
        loop {
            match self.peek()? {
                None => return Ok(Walk { complete: false, ..walk }),
                Some(b'}') => {
                    self.text.pass(1);
                    return Ok(walk);
                }
                Some(b',') => {
                    self.text.pass(1);
                    continue;
                }
                Some(_) => {}
            }
            let Some(key) = self.whole(|window| value::key(window, 0).map(|(key, end)| (key.to_vec(), end)))? else {
                return Ok(Walk { complete: false, ..walk });
            };
            if key == b"traceEvents" && self.peek()? == Some(b'[') {
                walk.has_events = true;
                self.text.pass(1);
                if !self.events()? {
                    return Ok(Walk { complete: false, ..walk });
                }
                continue;
            }
            let taken =
                self.whole(|window| value::value(window, 0).map(|(value, end)| (Metadata::owned(value), end)))?;
            match taken {
                Some(value) => self.metadata.take(&key, value),
                None if !skip_long(&mut self.text, self.interrupted)? => return Ok(Walk { complete: false, ..walk }),
                None => {}
            }
        }
    }

    /// Reads on until `parse` has all that it needs; `None` where that never comes, or not within the longest window.
    fn whole<T>(&mut self, parse: impl Fn(&[u8]) -> std::result::Result<(T, usize), Fault>) -> Result<Option<T>> {
        loop {
            match parse(self.text.window()) {
                Ok((value, end)) => {
                    self.text.pass(end);
                    return Ok(Some(value));
                }
                Err(Fault::Incomplete) if self.text.window().len() <= LONGEST && self.grow()? => {}
                Err(_) => return Ok(None),
            }
        }
    }

    fn grow(&mut self) -> Result<bool> {
        self.text.grow(self.interrupted)
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        self.text.peek(self.interrupted)
    }

    /// All events of the list whose bracket has been passed; whether its end was met.
    fn events(&mut self) -> Result<bool> {
        let mut splitter = Splitter::default();
        loop {
            if self.plain_events(&mut splitter)? {
                continue;
            }
            match self.peek()? {
                None => return Ok(false),
                Some(b',') => self.text.pass(1),
                Some(b']') => {
                    self.text.pass(1);
                    return Ok(true);
                }
                Some(b'{') => self.event()?,
                Some(_) => self.no_event()?,
            }
        }
    }

    /// The events from here on that are plainly events; false where the parser must look at what follows.
    fn plain_events(&mut self, splitter: &mut Splitter) -> Result<bool> {
        let (window, position) = (self.text.window(), self.text.position());
        let stop = splitter.split(window);
        for event in &splitter.events {
            // The parser says why.
            let offset = position + event.start as u64;
            let taken = Event::parse_plain(&window[event.clone()]).and_then(|found| self.sink.take(&found, offset));
            if taken.is_err() {
                self.text.pass(event.start);
                return Ok(false);
            }
        }
        let (Stop::Ends(place) | Stop::More(place) | Stop::Look(place)) = stop;
        self.text.pass(place);
        match stop {
            Stop::More(_) => Ok(true),
            Stop::Ends(_) => Ok(self.text.window().len() <= LONGEST && self.grow()?),
            Stop::Look(_) => Ok(false),
        }
    }

    /// One event, whose brace is the first of the window.
    fn event(&mut self) -> Result<()> {
        let position = self.text.position();
        let parsed = Event::parse(self.text.window(), 0);
        let fault = match parsed.and_then(|(event, end)| self.sink.take(&event, position).map(|()| end)) {
            Ok(end) => {
                self.text.pass(end);
                return Ok(());
            }
            Err(fault) => fault,
        };
        match fault {
            Fault::Incomplete if self.text.window().len() > LONGEST => {
                self.sink.capture.skip("an event is too long", Some(position));
                skip_long(&mut self.text, self.interrupted)?;
            }
            Fault::Incomplete => {
                if !self.grow()? {
                    self.sink.capture.skip("the file ends inside an event", Some(position));
                    self.text.pass(usize::MAX);
                }
            }
            Fault::Malformed(place, reason) => {
                self.sink.capture.skip(reason, Some(position));
                self.resume(place)?;
            }
        }
        Ok(())
    }

    /// Something that stands where an event should.
    fn no_event(&mut self) -> Result<()> {
        let position = self.text.position();
        let passed = self.whole(|window| match value::value(window, 0)? {
            (Value::Nested(_) | Value::Text(_) | Value::Bare(_), end) => Ok(((), end)),
        })?;
        self.sink.capture.skip("an event is no object", Some(position));
        if passed.is_none() {
            self.resume(0)?;
        }
        Ok(())
    }

    /// Moves on to the next event, or to the end of the list, from somewhere inside a damaged one.
    fn resume(&mut self, place: usize) -> Result<()> {
        self.text.pass(place);
        let mut from = 0;
        loop {
            match boundary(self.text.window(), from) {
                Boundary::At(place) => {
                    self.text.pass(place);
                    return Ok(());
                }
                Boundary::Unknown(place) => {
                    self.text.pass(place);
                    from = 0;
                    if !self.grow()? {
                        self.text.pass(usize::MAX);
                        return Ok(());
                    }
                }
            }
        }
    }
}
