//! One pass over all operations in the order of their starts: when devices and their queues were busy.

use rustc_hash::FxHashMap;

use super::fraction;
use super::select::Chosen;
use crate::trace::{Busy, DeviceRow, Distinct, Entries, Entry, Kind, Log, StreamRow, Trace};

/// A device as one process sees it: its clock, its process and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DeviceKey {
    clock: u32,
    process_id: Option<i64>,
    device_id: Option<i64>,
}

impl DeviceKey {
    /// That of a place in [`Trace::devices`].
    pub(super) fn at(place: u32, trace: &Trace, chosen: &Chosen<'_>) -> Self {
        let (place, device) = (place as usize, &trace.devices[place as usize]);
        let clock = chosen.clocks[device.clock as usize];
        Self { clock, process_id: chosen.processes[place], device_id: device.device_id }
    }
}

/// When devices and queues were busy.
pub(super) struct Timelines {
    devices: Vec<(DeviceKey, Option<String>, Timeline)>,
    queues: Vec<(DeviceKey, Option<i64>, Timeline)>,
}

#[derive(Debug, Clone, Default)]
struct Timeline {
    busy: Busy,
    total: u64,
    kernel_count: u64,
    kernel_total: u64,
}

impl Timeline {
    fn add(&mut self, entry: &Entry, is_kernel: bool) {
        self.busy.add(entry.start, entry.end);
        self.total = self.total.saturating_add(entry.duration());
        if is_kernel {
            self.kernel_count += 1;
            self.kernel_total = self.kernel_total.saturating_add(entry.duration());
        }
    }

    /// The span; nothing was added to those that have none.
    fn span(&self) -> Option<(i64, i64, u64)> {
        self.busy.span().map(|(start, end)| (start, end, end.abs_diff(start)))
    }
}

/// Sweeps over all operations that count.
pub(super) fn timelines(trace: &Trace, chosen: &Chosen<'_>) -> Timelines {
    let (mut devices, mut queues) = (Distinct::default(), Distinct::default());
    let places: Vec<(usize, usize)> = trace
        .works
        .all()
        .iter()
        .map(|work| {
            let key = DeviceKey::at(work.queue.device, trace, chosen);
            (devices.intern(key) as usize, queues.intern((key, work.queue.stream)) as usize)
        })
        .collect();
    // Captures of one device may differ in whether they name it.
    let mut names = vec![None; devices.all().len()];
    for (work, &(device, _)) in trace.works.all().iter().zip(&places) {
        let name = &trace.devices[work.queue.device as usize].name;
        names[device] = names[device].take().or_else(|| name.clone());
    }
    let mut of_devices = vec![Timeline::default(); devices.all().len()];
    let mut of_queues = vec![Timeline::default(); queues.all().len()];
    for entry in in_order(&trace.kernels, &trace.memory).filter(|entry| chosen.operation(entry)) {
        let (device, queue) = places[entry.what as usize];
        let is_kernel = matches!(trace.works.all()[entry.what as usize].kind, Kind::Kernel(..));
        of_devices[device].add(&entry, is_kernel);
        of_queues[queue].add(&entry, is_kernel);
    }
    let queues = queues.all().iter().zip(of_queues);
    Timelines {
        devices: devices
            .all()
            .iter()
            .zip(names)
            .zip(of_devices)
            .map(|((&key, name), line)| (key, name, line))
            .collect(),
        queues: queues.map(|(&(key, stream), timeline)| (key, stream, timeline)).collect(),
    }
}

/// The entries of both by ascending start.
pub(super) fn in_order<'a>(one: &'a Log, other: &'a Log) -> impl Iterator<Item = Entry> + 'a {
    let (mut one, mut other) = (sorted(one).peekable(), sorted(other).peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(left), Some(right)) if right.start < left.start => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}

/// The entries of a log by ascending start.
enum Sorted<'a> {
    /// One that is in order needs no memory.
    AsItIs(Entries<'a>),
    InMemory(std::vec::IntoIter<Entry>),
}

impl Iterator for Sorted<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        match self {
            Self::AsItIs(entries) => entries.next(),
            Self::InMemory(entries) => entries.next(),
        }
    }
}

fn sorted(log: &Log) -> Sorted<'_> {
    if log.is_sorted() {
        return Sorted::AsItIs(log.iter());
    }
    let mut entries: Vec<Entry> = log.iter().collect();
    entries.sort_by_key(|entry| entry.start);
    Sorted::InMemory(entries.into_iter())
}

impl Timelines {
    /// A row for each device that did something, in the order of their numbers.
    pub(super) fn devices(&self) -> Vec<DeviceRow> {
        let mut rows: Vec<DeviceRow> = self
            .devices
            .iter()
            .filter_map(|(key, name, timeline)| {
                let (start_ns, end_ns, span_ns) = timeline.span()?;
                let busy_ns = timeline.busy.busy_ns();
                Some(DeviceRow {
                    device_id: key.device_id,
                    process_id: key.process_id,
                    name: name.clone(),
                    start_ns,
                    end_ns,
                    span_ns,
                    busy_ns,
                    idle_ns: span_ns - busy_ns,
                    overlap_ns: timeline.busy.overlap_ns(),
                    utilization: fraction(busy_ns, span_ns),
                    kernel_count: timeline.kernel_count,
                    kernel_total_ns: timeline.kernel_total,
                })
            })
            .collect();
        rows.sort_by_key(|row| (row.device_id, row.process_id, row.start_ns));
        rows
    }

    /// A row for each queue that did something; those of several processes under one number are one row.
    pub(super) fn streams(&self) -> Vec<StreamRow> {
        let (mut numbers, mut rows) = (Distinct::default(), Vec::<StreamRow>::new());
        for (key, stream_id, timeline) in self.queues.iter().filter(|(.., timeline)| timeline.span().is_some()) {
            let number = (key.device_id, *stream_id);
            let place = numbers.intern(number) as usize;
            if place == rows.len() {
                let (device_id, stream_id) = number;
                rows.push(StreamRow { device_id, stream_id, kernel_count: 0, busy_ns: 0, total_ns: 0 });
            }
            let row = &mut rows[place];
            row.kernel_count += timeline.kernel_count;
            row.busy_ns = row.busy_ns.saturating_add(timeline.busy.busy_ns());
            row.total_ns = row.total_ns.saturating_add(timeline.total);
        }
        rows.sort_by_key(|row| (row.device_id, row.stream_id));
        rows
    }

    /// For how long the devices of a number were there, over all processes.
    pub(super) fn spans(&self) -> FxHashMap<Option<i64>, u64> {
        let mut spans = FxHashMap::default();
        for (key, _, timeline) in &self.devices {
            if let Some((_, _, span)) = timeline.span() {
                let sum: &mut u64 = spans.entry(key.device_id).or_default();
                *sum = sum.saturating_add(span);
            }
        }
        spans
    }
}
