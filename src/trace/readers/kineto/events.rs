//! The list of events: each event is read, and damaged text is skipped.

use super::event::{Event, Member, is_unneeded};
use super::plain::Layout;
use super::resume::{Boundary, boundary, skip_long};
use super::sink::Sink;
use super::split::{Splitter, Stop};
use super::text::{LONGEST, Text};
use super::value::{self, Fault, Value};
use crate::error::Result;
use crate::trace::readers::Interrupted;

/// A walk through a list of events.
pub(super) struct Events<'a> {
    pub(super) text: Text,
    pub(super) sink: Sink<'a>,
    /// For operators, if the text cannot be read once more for them.
    pub(super) operators: Option<Sink<'a>>,
    pub(super) interrupted: Interrupted<'a>,
    splitter: Splitter,
    layout: Layout<Member>,
}

/// Reason why a walk has stopped, in front of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The bracket that closes the list.
    List,
    /// Nothing.
    Text,
    /// An event, when the place had been reached.
    Reached,
}

/// End of the events that are plainly events.
enum Plain {
    On,
    Look,
    Reached,
}

impl<'a> Events<'a> {
    pub(super) fn new(text: Text, sink: Sink<'a>, interrupted: Interrupted<'a>) -> Self {
        let (splitter, layout) = (Splitter::default(), Layout::new(Member::named));
        Self { text, sink, operators: None, interrupted, splitter, layout }
    }

    /// Takes events, from between two of them, up to the first that ends behind `place` of the stream.
    pub(super) fn until(&mut self, place: u64) -> Result<End> {
        let mut reached = self.text.position() > place;
        loop {
            // Of events that nothing needs, operators among them, that takes no times.
            if !reached && !self.sink.only_operators {
                match self.plain(place)? {
                    Plain::On => continue,
                    Plain::Look => {}
                    Plain::Reached => reached = true,
                }
            }
            let before = self.text.position();
            match self.peek()? {
                None => return Ok(End::Text),
                Some(b']') => return Ok(End::List),
                Some(b',') => {
                    self.text.pass(1);
                    continue;
                }
                Some(_) if reached => return Ok(End::Reached),
                Some(b'{') => self.event()?,
                Some(_) => self.no_event()?,
            }
            reached = self.text.position() > before.max(place);
        }
    }

    /// Moves on to the first event that begins behind the end of another, from anywhere.
    pub(super) fn find(&mut self) -> Result<()> {
        self.resume(0)
    }

    /// Reads plain events, from here on.
    fn plain(&mut self, until: u64) -> Result<Plain> {
        let (window, position) = (self.text.window(), self.text.position());
        let stop = self.splitter.split(window);
        for event in &self.splitter.events {
            let (text, offset) = (&window[event.start..], position + event.start as u64);
            let plain = event.len() <= LONGEST
                && if is_unneeded(text, &self.layout) {
                    self.sink.pass();
                    true
                } else {
                    let mut found = Event::default();
                    let plain = found.take_plain(text, &mut self.layout, Some(&self.sink.callees));
                    plain.is_some() && self.sink.take(&found, offset).is_ok()
                };
            // The parser says why.
            if !plain {
                self.text.pass(event.start);
                self.splitter.shorten();
                return Ok(Plain::Look);
            }
            keep(self.operators.as_mut(), text, offset);
            if position + event.end as u64 > until {
                self.text.pass(event.end);
                return Ok(Plain::Reached);
            }
        }
        let (Stop::Ends(place) | Stop::More(place) | Stop::Look(place)) = stop;
        self.text.pass(place);
        let goes_on = match stop {
            Stop::More(_) => true,
            Stop::Ends(_) => self.text.window().len() <= LONGEST && self.grow()?,
            Stop::Look(_) => false,
        };
        Ok(if goes_on { Plain::On } else { Plain::Look })
    }

    /// Reads on until `parse` has all that it needs; `None` where that never comes, or not within the longest window.
    pub(super) fn whole<T>(
        &mut self,
        parse: impl Fn(&[u8]) -> std::result::Result<(T, usize), Fault>,
    ) -> Result<Option<T>> {
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

    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        self.text.peek(self.interrupted)
    }

    /// Reads one event, whose brace is the first of the window.
    fn event(&mut self) -> Result<()> {
        let position = self.text.position();
        let parsed = match Event::parse(self.text.window(), 0) {
            // As if no more were there: how much is there is chance.
            Ok((_, place)) | Err(Fault::Malformed(place, _)) if place > LONGEST => Err(Fault::Incomplete),
            parsed => parsed,
        };
        let taken = parsed.and_then(|(event, end)| {
            self.sink.take(&event, position)?;
            self.operators.as_mut().map_or(Ok(()), |operators| operators.take(&event, position))?;
            Ok(end)
        });
        let fault = match taken {
            Ok(end) => {
                self.text.pass(end);
                return Ok(());
            }
            Err(fault) => fault,
        };
        match fault {
            Fault::Incomplete if self.text.window().len() > LONGEST => {
                self.lose("an event is too long", position);
                skip_long(&mut self.text, self.interrupted)?;
            }
            Fault::Incomplete => {
                if !self.grow()? {
                    self.lose("the file ends inside an event", position);
                    self.text.pass(usize::MAX);
                }
            }
            Fault::Malformed(place, reason) => {
                self.lose(reason, position);
                self.resume(place)?;
            }
        }
        Ok(())
    }

    /// Counts an event that is not one.
    fn lose(&mut self, reason: &str, position: u64) {
        for sink in [&mut self.sink].into_iter().chain(&mut self.operators) {
            sink.capture.skip(reason, Some(position));
        }
    }

    /// Skips a value in the place of an event.
    fn no_event(&mut self) -> Result<()> {
        let position = self.text.position();
        let passed = self.whole(|window| match value::value(window, 0)? {
            (Value::Nested(_) | Value::Text(_) | Value::Bare(_), end) => Ok(((), end)),
        })?;
        self.lose("an event is not an object", position);
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

/// Keeps the operator, if the event at the beginning of a text is one; the event is read to its end.
fn keep(operators: Option<&mut Sink<'_>>, text: &[u8], offset: u64) {
    let Some(operators) = operators else { return };
    let kept = Event::parse(text, 0).and_then(|(event, _)| operators.take(&event, offset));
    if let Err(Fault::Malformed(_, reason)) = kept {
        operators.capture.skip(reason, Some(offset));
    }
}
