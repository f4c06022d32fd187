//! Puts events into the trace.

use rustc_hash::{FxHashMap, FxHashSet};

use super::annotation::RangeArguments;
use super::arguments::{Argument, Arguments, correlation};
use super::event::{Class, Event, callee_key};
use super::meaning::{number, unescaped, whole};
use super::metadata::Metadata;
use super::phrases::{Phrases, key};
use super::plain::Layout;
use super::value::{Fault, Value};
use crate::memory::Room as _;
use crate::trace::readers::times::plausible;
use crate::trace::{
    Capture, Entry, KernelName, Kind, Label, NameId, Queue, Range, Reach, Shape, Trace, Warning, Work, counted,
};

/// So many activities are not of whole microseconds by chance; few may be made by hand.
const ENOUGH: u64 = 20;

/// Sink of the events of one capture.
pub(super) struct Sink<'a> {
    pub(super) trace: &'a mut Trace,
    pub(super) capture: Capture,
    clock: u32,
    /// Names as they are written.
    names: FxHashMap<Box<[u8]>, NameId>,
    /// The kinds of memory operations: by name, direction and whether they set.
    kinds: FxHashMap<(NameId, Option<NameId>, bool), NameId>,
    /// The process that calls the interface; `Err` where there are several.
    host: Option<Result<i64, ()>>,
    /// Activities of devices, and those of them with a time that is not of whole microseconds.
    activities: [u64; 2],
    /// Names that are not valid text.
    broken_names: FxHashSet<NameId>,
    /// Layouts of arguments: of calls, kernels and memory operations.
    layout: [Layout<Argument>; 3],
    /// Callees by the text with their name, process and thread: a few functions in a few threads make millions of calls.
    pub(super) callees: Phrases<u32>,
    /// Shapes by the end of a kernel's arguments.
    shapes: Phrases<Shape>,
    /// True takes CPU operators and nothing else.
    pub(super) only_operators: bool,
}

/// Findings of a sink about a part of a capture, in addition to events.
pub(super) struct Findings {
    capture: Capture,
    host: Option<Result<i64, ()>>,
    activities: [u64; 2],
    broken_names: FxHashSet<NameId>,
}

impl<'a> Sink<'a> {
    /// Events go into `trace`; their times are on its `clock`.
    pub(super) fn new(trace: &'a mut Trace, clock: u32, capture: Capture) -> Self {
        let (names, kinds) = (FxHashMap::default(), FxHashMap::default());
        let (broken_names, layout) = (FxHashSet::default(), [(); 3].map(|()| Layout::new(Argument::named)));
        let (callees, shapes) = (Phrases::default(), Phrases::default());
        let (host, activities, only_operators) = (None, [0; 2], false);
        Self {
            trace,
            capture,
            clock,
            names,
            kinds,
            host,
            activities,
            broken_names,
            layout,
            callees,
            shapes,
            only_operators,
        }
    }

    /// Counts an event that no summary needs.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.capture.events_read += 1;
    }

    /// Takes an event at `position`.
    ///
    /// # Errors
    /// Its arguments are malformed; nothing was taken or counted.
    pub(super) fn take(&mut self, event: &Event<'_>, position: u64) -> Result<(), Fault> {
        let class = event.class();
        let [of_calls, of_kernels, of_memory] = &mut self.layout;
        let taken = match class {
            _ if self.only_operators => self.operator(event, class),
            Class::Other => Ok(()),
            Class::Call => {
                let correlation =
                    event.arguments.map(|text| correlation(text, of_calls)).transpose()?.unwrap_or_default();
                self.call(event, correlation)
            }
            Class::Annotation => {
                let given = event.arguments.map(RangeArguments::parse).transpose()?.unwrap_or_default();
                self.annotation(event, &given)
            }
            Class::Kernel | Class::Memory => {
                let is_kernel = class == Class::Kernel;
                let layout = if is_kernel { of_kernels } else { of_memory };
                let shapes = (kernel_key(event), &mut self.shapes);
                let shapes = is_kernel.then_some(shapes);
                let arguments = event.arguments.map(|text| Arguments::parse(text, layout, shapes)).transpose()?;
                self.operation(event, &arguments.unwrap_or_default(), is_kernel)
            }
        };
        match taken {
            Ok(()) => self.capture.events_read += 1,
            Err(reason) => self.capture.skip(reason, Some(position)),
        }
        Ok(())
    }

    fn call(&mut self, event: &Event<'_>, correlation: u64) -> Result<(), &'static str> {
        let (start, end) = event.times().and_then(|(start, end)| plausible(start, end))?;
        let what = match event.callee {
            Some(callee) => callee,
            None => self.callee(event)?,
        };
        self.trace.calls.push(Entry { what, start, end, bytes: 0, correlation });
        Ok(())
    }

    /// Returns the callee of a call.
    fn callee(&mut self, event: &Event<'_>) -> Result<u32, &'static str> {
        let name = self.name(event)?;
        let process = event.process.and_then(number);
        if let Some(process) = process {
            let same = self.host.is_none_or(|host| host == Ok(process));
            self.host = Some(if same { Ok(process) } else { Err(()) });
        }
        let thread_id = event.thread.and_then(number);
        let callee = self.trace.callee(self.clock, process, thread_id, name);
        if let Some(text) = event.callee_text {
            self.callees.add(callee_key(text), text, callee);
        }
        Ok(callee)
    }

    fn operator(&mut self, event: &Event<'_>, class: Class) -> Result<(), &'static str> {
        if class == Class::Other && event.is_activity() && event.is_operator() {
            // Reasons of its own: those of a walk that takes other events are known already.
            let times = event.times().and_then(|(start, end)| plausible(start, end));
            let (start, end) = times.map_err(|_| "an operator has no valid times")?;
            let (process_id, thread_id) = (event.process.and_then(number), event.thread.and_then(number));
            let name = self.name(event).map_err(|_| "an operator has no name")?;
            let what = self.trace.callee(self.clock, process_id, thread_id, name);
            self.trace.operators.push(Entry { what, start, end, bytes: 0, correlation: 0 });
        }
        Ok(())
    }

    fn annotation(&mut self, event: &Event<'_>, given: &RangeArguments<'_>) -> Result<(), &'static str> {
        let (start, end) = event.times()?;
        // Of one that was never closed, only the start was recorded.
        let end = (!given.is_open).then_some(end);
        plausible(start, end.unwrap_or(start))?;
        let name = self.name(event)?;
        let mut text = |value| match value {
            Some(Value::Text(raw)) => Some(self.trace.names.intern(&unescaped(raw).0)),
            _ => None,
        };
        let (domain, runner) = (text(given.domain), text(given.runner));
        let process_id = event.process.and_then(number);
        let reach = given.reach(event.name, event.thread);
        let (capture, clock, source) = (self.trace.captures.len() as u32, self.clock, given.source());
        let label = Label { capture, clock, process_id, reach, name, domain, source, runner };
        let label = self.trace.labels.intern(label);
        self.trace.ranges.put(Range { label, start, end });
        Ok(())
    }

    fn operation(&mut self, event: &Event<'_>, arguments: &Arguments<'_>, is_kernel: bool) -> Result<(), &'static str> {
        let (start, end) = event.times().and_then(|(start, end)| plausible(start, end))?;
        let name = self.name(event)?;
        self.activities[0] += 1;
        self.activities[1] += u64::from(start % 1000 != 0 || end % 1000 != 0);
        let device = arguments.device.or(event.process).and_then(number);
        let stream = arguments.stream.or(event.thread).and_then(number);
        let process = arguments.process.and_then(number);
        let queue = Queue { device: self.trace.device(self.clock, process, device), stream };
        let bytes = arguments.bytes.and_then(whole::<u64>);
        let kind = if is_kernel {
            Kind::Kernel(KernelName { full: name, short: None, mangled: None }, arguments.shape)
        } else {
            Kind::Memory { name, kind: self.kind(name, event, arguments), sized: bytes.is_some() }
        };
        let what = self.trace.works.intern(Work { queue, in_graph: arguments.in_graph, kind });
        let log = if is_kernel { &mut self.trace.kernels } else { &mut self.trace.memory };
        log.push(Entry { what, start, end, bytes: bytes.unwrap_or(0), correlation: arguments.correlation });
        Ok(())
    }

    fn name(&mut self, event: &Event<'_>) -> Result<NameId, &'static str> {
        let Some(Value::Text(raw)) = event.name else { return Err("an event has no name") };
        if let Some(&id) = self.names.get(raw) {
            return Ok(id);
        }
        let (text, broken) = unescaped(raw);
        let id = self.trace.names.intern(&text);
        if broken {
            self.broken_names.put(id);
        }
        self.names.put((raw.into(), id));
        Ok(id)
    }

    /// Returns the name of a copy or a set in summaries.
    fn kind(&mut self, name: NameId, event: &Event<'_>, arguments: &Arguments<'_>) -> NameId {
        let names = &mut self.trace.names;
        let direction = match arguments.kind {
            Some(Value::Text(kind)) => std::str::from_utf8(kind).ok().map(|kind| names.intern(kind)),
            _ => None,
        };
        let is_set = matches!(event.category, Some(Value::Text(b"gpu_memset" | b"Memset")));
        *self.kinds.entry((name, direction, is_set)).or_insert_with(|| {
            let kind = memory_kind(names.text(name), direction.map(|direction| names.text(direction)), is_set);
            names.intern(&kind)
        })
    }

    /// Returns the name of its clock for now.
    pub(super) fn clock(&self) -> &str {
        &self.trace.clocks[self.clock as usize]
    }

    /// Returns the findings, once a part has been read.
    pub(super) fn findings(self) -> Findings {
        Findings {
            capture: self.capture,
            host: self.host,
            activities: self.activities,
            broken_names: self.broken_names,
        }
    }

    /// Appends a part of the same capture that was read separately.
    pub(super) fn absorb(&mut self, part: Trace, findings: Findings) {
        let names = &mut self.trace.names;
        self.broken_names.extend(findings.broken_names.into_iter().map(|name| names.intern(part.names.text(name))));
        self.trace.append(part);
        for (sum, more) in self.activities.iter_mut().zip(findings.activities) {
            *sum += more;
        }
        self.capture.events_read += findings.capture.events_read;
        for skipped in findings.capture.skipped {
            self.capture.skip_many(&skipped.reason, skipped.count, skipped.first_offset_bytes);
        }
        if let Some(host) = findings.host {
            self.host = Some(if self.host.is_none_or(|known| known == host) { host } else { Err(()) });
        }
    }

    /// Gives the profiler's steps the process that called. From inside a container they come under its number outside, while
    /// everything else has the one inside; they are entered by the main thread. Where several processes have steps, each
    /// keeps its own.
    fn take_steps_home(&mut self, process: i64) {
        let Trace { labels, ranges, names, .. } = &mut *self.trace;
        let is_step = |label: &Label| label.clock == self.clock && names.text(label.name).starts_with("ProfilerStep#");
        let mut steps = labels.all().iter().filter(|label| is_step(label));
        let Some(away) = steps.next().map(|label| label.process_id) else { return };
        if away == Some(process) || steps.any(|label| label.process_id != away) {
            return;
        }
        let is_away = |label: &Label| is_step(label) && label.reach == Reach::Thread(away);
        let homes: FxHashMap<u32, Label> = (0..)
            .zip(labels.all())
            .filter(|(_, label)| is_away(label))
            .map(|(place, label)| {
                (place, Label { process_id: Some(process), reach: Reach::Thread(Some(process)), ..*label })
            })
            .collect();
        for range in ranges.iter_mut().filter(|_| !homes.is_empty()) {
            if let Some(&home) = homes.get(&range.label) {
                range.label = labels.intern(home);
            }
        }
    }

    /// The capture, once everything has been read.
    pub(super) fn finish(mut self, metadata: &Metadata) -> Capture {
        self.capture.format_version.clone_from(&metadata.schema_version);
        (self.capture.rank, self.capture.world_size) = metadata.place;
        self.capture.environment = metadata.environment();
        // Who used the devices, and what sets their clock apart, may stand behind the events.
        let process_id = self.host.and_then(Result::ok);
        self.trace.rename_clock(self.clock, metadata.clock(self.trace.capture_number()));
        self.trace.describe_devices(self.clock, process_id, |id| metadata.device_name(id));
        // What we drew has them where they belong, also beside processes that do not call.
        if let Some(process) = process_id.filter(|_| !metadata.is_drawn) {
            self.take_steps_home(process);
        }
        if !self.broken_names.is_empty() {
            self.trace.warnings.push(Warning {
                code: "names_damaged",
                message: "some names are shown in part, and names that differ only there are one row".to_owned(),
                evidence: format!(
                    "{}: {} with invalid UTF-8",
                    self.capture.path,
                    counted(self.broken_names.len() as u64, "name")
                ),
                hint: "Ignore this warning where only the figures matter.".to_owned(),
            });
        }
        for (lost, key, message) in [
            (metadata.lost_devices, "deviceProperties", "the names of GPUs are missing"),
            (metadata.lost_rank, "distributedInfo", "the rank of a trace is missing"),
        ] {
            if lost && !self.only_operators {
                self.trace.warnings.push(Warning {
                    code: "names_damaged",
                    message: message.to_owned(),
                    evidence: format!("{}: {key} cannot be read", self.capture.path),
                    hint: "Ignore this warning where only the figures matter.".to_owned(),
                });
            }
        }
        if self.activities[0] >= ENOUGH && self.activities[1] == 0 {
            self.trace.warnings.push(Warning {
                code: "rounded_times",
                message: "each time has an error of up to 1 µs, because the trace has whole microseconds".to_owned(),
                evidence: format!("{}: {}", self.capture.path, counted(self.activities[0], "event")),
                hint: "Capture with a torch that writes nanoseconds: torch 2.4 or newer.".to_owned(),
            });
        }
        self.capture
    }
}

/// A key for kernels: bytes from the middle and the end of the name, and its length.
fn kernel_key(event: &Event<'_>) -> u64 {
    let Some(Value::Text(name)) = event.name else { return 0 };
    let length = name.len();
    key(name, length / 2) ^ key(name, length.saturating_sub(8)).rotate_left(32) ^ length as u64
}

/// `memcpy HtoD` or `memset`, from the words of NVIDIA's and of AMD's traces.
fn memory_kind(name: &str, direction: Option<&str>, is_set: bool) -> String {
    if is_set {
        return "memset".to_owned();
    }
    let mut words = name.split_whitespace();
    if words.next() == Some("Memcpy")
        && let Some(direction) = words.next()
    {
        return format!("memcpy {direction}");
    }
    if let Some(direction) = direction {
        return format!("memcpy {direction}");
    }
    let long = ["HostToDevice", "DeviceToHost", "DeviceToDevice", "HostToHost"];
    let short = ["HtoD", "DtoH", "DtoD", "HtoH"];
    let found = long.iter().zip(short).find(|(long, _)| name.contains(*long));
    found.map_or_else(|| name.to_owned(), |(_, short)| format!("memcpy {short}"))
}

#[cfg(test)]
mod tests {
    use super::memory_kind;

    #[test]
    fn memory_operations_have_common_names() {
        assert_eq!(memory_kind("Memcpy HtoD (Pinned -> Device)", None, false), "memcpy HtoD");
        assert_eq!(memory_kind("Memset (Device)", None, true), "memset");
        assert_eq!(memory_kind("CopyDeviceToHost", None, false), "memcpy DtoH");
        assert_eq!(memory_kind("hipMemcpy", Some("DtoD"), false), "memcpy DtoD");
        assert_eq!(memory_kind("something", None, false), "something");
    }
}
