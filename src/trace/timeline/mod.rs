//! Draws captures: one trace in Chrome's trace event format, for Perfetto's viewer and others.
//!
//! Times are microseconds with three decimals, exact to the nanosecond, after the first event of their clock. Captures whose
//! clocks cannot be compared are drawn as processes of their own, and each begins at zero. Overlaps on a queue, or among
//! ranges, are drawn on an additional lane: slices of one thread must not cross.

mod event;
mod lanes;
mod numbers;
mod tracks;

use std::fs::File;
use std::io::{self, BufWriter, Write};

use flate2::{Compression, write::GzEncoder};

use event::{Events, Members, Place, Slice};
use tracks::{Track, Tracks};

use crate::error::{Error, Result};
use crate::memory;
use crate::trace::escape;
use crate::trace::{Entry, Kind, Label, Reach, Shape, Source, Timeline, Work};

/// After so many events the caller is asked whether to go on.
const SELDOM: u64 = 1024;
/// Number of bytes that are compressed, or written, at once.
const BUFFER: usize = 256 * 1024;

/// Writes all of `timeline`, event by event, compressed or not.
///
/// # Errors
/// It cannot be written, or the caller has interrupted it.
pub fn write(timeline: &Timeline<'_>, file: File, compress: bool, interrupted: &dyn Fn() -> bool) -> Result<()> {
    let done = if compress {
        let mut packed = GzEncoder::new(file, Compression::fast());
        draw(timeline, &mut packed, interrupted).and_then(|()| packed.finish().map(drop))
    } else {
        draw(timeline, file, interrupted)
    };
    done.map_err(|error| match error.downcast() {
        Ok(interruption) => interruption,
        Err(error) => Error::Unwritable { errno: error.raw_os_error(), reason: error.to_string() },
    })
}

fn draw(timeline: &Timeline<'_>, out: impl Write, interrupted: &dyn Fn() -> bool) -> io::Result<()> {
    let mut drawing = Drawing::begin(timeline, BufWriter::with_capacity(BUFFER, out), interrupted)?;
    drawing.all()?;
    drawing.end()
}

struct Drawing<'a, 't, W> {
    timeline: &'a Timeline<'t>,
    tracks: Tracks,
    events: Events<W>,
    /// Every text of the trace as JSON.
    names: Vec<String>,
    interrupted: &'a dyn Fn() -> bool,
    count: u64,
}

impl<'a, 't, W: Write> Drawing<'a, 't, W> {
    fn begin(timeline: &'a Timeline<'t>, mut out: W, interrupted: &'a dyn Fn() -> bool) -> io::Result<Self> {
        let trace = timeline.trace();
        let quoted = |text: &str| escape::json(&serde_json::Value::from(text).to_string()).into_owned();
        let mut devices = Vec::new();
        for place in 0..trace.devices.len() {
            let device = timeline.device(place as u32);
            if let Some(id) = device.device_id {
                devices.push((id, device.name));
            }
        }
        devices.sort_unstable();
        devices.dedup();
        // A number that means several devices, of which one may have none, has no name.
        let known = devices.chunk_by(|(id, _), (other, _)| id == other).filter_map(|same| match same {
            [(id, Some(name))] => Some(format!(r#"{{"id": {id}, "name": {}}}"#, quoted(name))),
            _ => None,
        });
        let known: Vec<String> = known.collect();
        let alone = !trace.clocks.is_empty() && (0..trace.clocks.len()).all(|clock| timeline.clock(clock as u32) == 0);
        let base = if alone { timeline.origin(0) } else { 0 };
        // A folder of captures may contain what was drawn of them.
        writeln!(out, r#"{{"drawnBy": "fastrnns-rs", "schemaVersion": 1, "displayTimeUnit": "ns","#)?;
        writeln!(out, r#""baseTimeNanoseconds": {base},"#)?;
        write!(out, r#""deviceProperties": [{}], "traceEvents": ["#, known.join(", "))?;
        let names = memory::collected(trace.names.all().map(|text| {
            memory::check();
            quoted(text)
        }));
        Ok(Self { timeline, tracks: Tracks::new(timeline), events: Events::new(out), names, interrupted, count: 0 })
    }

    /// Everything that took time.
    fn all(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        for (range, end) in timeline.ranges() {
            self.range(&timeline.trace().labels.all()[range.label as usize], range.start, end, range.end.is_none())?;
            self.drawn_one()?;
        }
        for call in timeline.calls() {
            self.call(&call)?;
            self.drawn_one()?;
        }
        for operator in timeline.operators() {
            self.operator(&operator)?;
            self.drawn_one()?;
        }
        let mut flows = 0;
        for (entry, call) in timeline.operations() {
            let to = self.operation(&entry)?;
            if let Some(call) = call {
                let (clock, place) = self.place_of(&call);
                let from = (place, self.after_origin(clock, call.start));
                self.events.flow(flows, from, to)?;
                flows += 1;
            }
            self.drawn_one()?;
        }
        let mut pieces = timeline.idle();
        memory::probe(size_of_val(pieces.as_slice()));
        pieces.sort_by_key(|piece| piece.start);
        for piece in pieces {
            let place = self.tracks.device(piece.device, Track::Idle, (piece.start, piece.end));
            let start = self.after_origin(timeline.device(piece.device).clock, piece.start);
            let (category, duration, name) = ("idle", piece.end.abs_diff(piece.start), format!("\"{}\"", piece.cause));
            self.events.slice(&Slice { category, name: &name, place, start, duration }, |_| Ok(()))?;
            self.drawn_one()?;
        }
        Ok(())
    }

    /// Counts an event, and asks the caller now and then whether to go on.
    fn drawn_one(&mut self) -> io::Result<()> {
        self.count += 1;
        let stops = self.count.is_multiple_of(SELDOM) && (self.interrupted)();
        if stops { Err(io::Error::other(Error::Interrupted)) } else { Ok(()) }
    }

    fn after_origin(&self, clock: u32, time: i64) -> u64 {
        time.abs_diff(self.timeline.origin(clock))
    }

    /// The clock and the place of a call.
    fn place_of(&mut self, call: &Entry) -> (u32, Place) {
        let callee = &self.timeline.trace().callees.all()[call.what as usize];
        let clock = self.timeline.clock(callee.clock);
        (clock, self.tracks.calls(clock, callee.process_id, callee.thread_id))
    }

    fn call(&mut self, call: &Entry) -> io::Result<()> {
        let (clock, place) = self.place_of(call);
        let name = self.timeline.trace().callees.all()[call.what as usize].name;
        let text = self.timeline.trace().names.text(name);
        // As in torch.profiler: cuLaunchKernel is the driver's, cudaLaunchKernel the runtime's.
        let is_driver =
            text.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()));
        let category = if is_driver { "cuda_driver" } else { "cuda_runtime" };
        let (start, duration, name) =
            (self.after_origin(clock, call.start), call.duration(), &self.names[name.place()]);
        let correlation = self.timeline.correlation(clock, call.correlation);
        self.events.slice(&Slice { category, name, place, start, duration }, |members| joined(members, correlation))
    }

    fn operator(&mut self, entry: &Entry) -> io::Result<()> {
        let callee = &self.timeline.trace().callees.all()[entry.what as usize];
        let clock = self.timeline.clock(callee.clock);
        let place = self.tracks.operator(clock, callee.process_id, callee.thread_id, (entry.start, entry.end));
        let (start, name) = (self.after_origin(clock, entry.start), &self.names[callee.name.place()]);
        let slice = Slice { category: "cpu_op", name, place, start, duration: entry.duration() };
        self.events.slice(&slice, |_| Ok(()))
    }

    fn range(&mut self, label: &Label, start: i64, end: i64, is_open: bool) -> io::Result<()> {
        let clock = self.timeline.clock(label.clock);
        let place = self.tracks.range(clock, label.process_id, label.reach, (start, end));
        let (name, names) = (&self.names[label.name.place()], &self.names);
        let (category, start, duration) = ("user_annotation", self.after_origin(clock, start), end.abs_diff(start));
        self.events.slice(&Slice { category, name, place, start, duration }, |members| {
            match label.reach {
                Reach::Process => members.add("range reach", "\"process\"")?,
                Reach::Thread(thread) => members.add("range thread", Known(thread))?,
            }
            if label.source == Source::Nvtx {
                members.add("range source", "\"nvtx\"")?;
            }
            if let Some(domain) = label.domain {
                members.add("range domain", &names[domain.place()])?;
            }
            if let Some(runner) = label.runner {
                members.add("range runner", &names[runner.place()])?;
            }
            if is_open {
                members.add("range open", true)?;
            }
            Ok(())
        })
    }

    /// Draws the activity of a device, and returns its place.
    fn operation(&mut self, entry: &Entry) -> io::Result<(Place, u64)> {
        let work: &Work = &self.timeline.trace().works.all()[entry.what as usize];
        let device = self.timeline.device(work.queue.device);
        let track = Track::Stream(work.queue.stream);
        let place = self.tracks.device(work.queue.device, track, (entry.start, entry.end));
        let process = self.tracks.user(work.queue.device);
        let (start, duration) = (self.after_origin(device.clock, entry.start), entry.duration());
        let (category, name) = match work.kind {
            Kind::Kernel(name, _) => ("kernel", name.full),
            Kind::Memory { name, kind, .. } if self.timeline.trace().names.text(kind) == "memset" => {
                ("gpu_memset", name)
            }
            Kind::Memory { name, .. } => ("gpu_memcpy", name),
        };
        let direction = match work.kind {
            Kind::Memory { kind, .. } => self.timeline.trace().names.text(kind).strip_prefix("memcpy "),
            Kind::Kernel(..) => None,
        };
        let correlation = self.timeline.correlation(device.clock, entry.correlation);
        let slice = Slice { category, name: &self.names[name.place()], place, start, duration };
        self.events.slice(&slice, |members| {
            members.add("device", Known(device.device_id))?;
            members.add("stream", Known(work.queue.stream))?;
            members.add("process id", Known(process))?;
            joined(members, correlation)?;
            if work.in_graph {
                members.add("in graph", true)?;
            }
            match work.kind {
                Kind::Kernel(_, shape) => shaped(members, &shape)?,
                Kind::Memory { sized: true, .. } => members.add("bytes", entry.bytes)?,
                Kind::Memory { .. } => {}
            }
            match direction {
                Some(direction) => members.add("kind", serde_json::Value::from(direction)),
                None => Ok(()),
            }
        })?;
        Ok((place, start))
    }

    fn end(self) -> io::Result<()> {
        let mut events = self.events;
        self.tracks.describe(&mut events)?;
        let mut out = events.into_inner();
        out.write_all(b"\n]}\n")?;
        out.flush()
    }
}

/// Writes the common correlation ID of a call and an operation.
fn joined(members: &mut Members<'_, impl Write>, correlation: u64) -> io::Result<()> {
    if correlation == 0 { Ok(()) } else { members.add("correlation", correlation) }
}

fn shaped(members: &mut Members<'_, impl Write>, shape: &Shape) -> io::Result<()> {
    for (key, values) in [("grid", shape.grid), ("block", shape.block)] {
        if let Some([x, y, z]) = values {
            members.add(key, format_args!("[{x}, {y}, {z}]"))?;
        }
    }
    if let Some(registers) = shape.registers_per_thread {
        members.add("registers per thread", registers)?;
    }
    if let Some(bytes) = shape.shared_memory_bytes {
        members.add("shared memory", bytes)?;
    }
    Ok(())
}

/// A number, or null.
struct Known(Option<i64>);

impl std::fmt::Display for Known {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(number) => number.fmt(formatter),
            None => formatter.write_str("null"),
        }
    }
}
