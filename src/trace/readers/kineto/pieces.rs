//! A long list of events in pieces, each read apart and on any thread.
//!
//! Where the first event of a piece begins is guessed, from the piece alone. The walk through the piece in front of it shows
//! whether that was right: it ends there or somewhere else. Of a piece that was guessed wrong nothing is taken, and the walk
//! goes on through it.

use std::fs::File;
use std::sync::Arc;

use super::events::{End, Events};
use super::sink::{Findings, Sink};
use super::text::{STEP, Section, Text};
use crate::error::Result;
use crate::par;
use crate::trace::readers::Interrupted;
use crate::trace::{Capture, Trace};

/// Sizes in which a text is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grain {
    /// Number of bytes that are read at once.
    pub(super) step: usize,
    /// Least number of bytes of a piece.
    pub(super) piece: u64,
}

impl Default for Grain {
    fn default() -> Self {
        Self { step: STEP, piece: 4 * 1024 * 1024 }
    }
}

/// Pieces for each thread: one that is held up leaves some of its share to others.
const SHARES: u64 = 4;

/// A piece that was read.
struct Piece {
    /// Start of its first event, and end of its last one.
    start: u64,
    end: u64,
    trace: Trace,
    findings: Findings,
}

/// Reads events as far as pieces of `file` are right; the rest is for the walk.
pub(super) fn read(file: &Arc<File>, events: &mut Events<'_>, grain: Grain) -> Result<()> {
    // In front of the first event, where the first piece begins.
    events.peek()?;
    let start = events.text.position();
    let length = file.metadata().map_or(0, |metadata| metadata.len().saturating_sub(start));
    let count = (length / grain.piece.max(1)).min(par::threads() as u64 * SHARES);
    if count < 2 {
        return Ok(());
    }
    let edge = |place: u64| start + (u128::from(length) * u128::from(place) / u128::from(count)) as u64;
    let clock = events.sink.clock().to_owned();
    let read = |place: u64, interrupted: Interrupted<'_>| {
        let text = Text::new(Box::new(Section::new(file, edge(place))), edge(place), grain.step);
        Piece::read(text, place > 0, edge(place + 1), &clock, interrupted)
    };
    for (place, piece) in (0..).zip(par::map(0..count, events.interrupted, read)) {
        let end = match piece? {
            Some(piece) if piece.start == events.text.position() => {
                events.sink.absorb(piece.trace, piece.findings);
                events.text = Text::new(Box::new(Section::new(file, piece.end)), piece.end, grain.step);
                End::Reached
            }
            _ => events.until(edge(place + 1))?,
        };
        if end != End::Reached {
            break;
        }
    }
    Ok(())
}

impl Piece {
    /// The piece at the beginning of `text`, up to the first event that ends behind `end`; `None` if it cannot be read.
    fn read(text: Text, guess: bool, end: u64, clock: &str, interrupted: Interrupted<'_>) -> Result<Option<Self>> {
        let mut trace = Trace::default();
        let clock = trace.add_clock(clock.to_owned());
        let mut events = Events::new(text, Sink::new(&mut trace, clock, Capture::default()), interrupted);
        if guess {
            events.find()?;
        }
        let start = events.text.position();
        events.until(end)?;
        if events.text.fault().is_some() {
            return Ok(None);
        }
        let (end, findings) = (events.text.position(), events.sink.findings());
        Ok(Some(Self { start, end, trace, findings }))
    }
}
