//! Processes and threads of the drawing: threads that call, their ranges, queues of devices.

use std::hash::Hash;
use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};

use super::event::{Events, Place};
use super::lanes::Lanes;
use super::numbers::Numbers;
use crate::memory::Room as _;
use crate::trace::{Device, Reach, Timeline};

/// A process of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Group {
    /// A process that calls or names: its clock and number.
    Host(u32, Option<i64>),
    /// A device: its clock, the process that used it, and its number.
    Device(u32, Option<i64>, Option<i64>),
}

/// A track of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Track {
    /// Ranges of a process as a whole.
    ProcessRanges,
    /// Ranges of a thread.
    Ranges(Option<i64>),
    /// Calls of a thread.
    Calls(Option<i64>),
    /// Operators of a thread.
    Operators(Option<i64>),
    /// Causes of idle time of a device.
    Idle,
    /// Activities of a queue of a device.
    Stream(Option<i64>),
}

/// A process of the drawing, with its tracks.
struct Process {
    number: i64,
    name: String,
    threads: Numbers,
    /// Tracks in the order in which they came: the track, its lane, and its number.
    tracks: Vec<(Track, usize, i64)>,
}

/// All tracks.
pub(super) struct Tracks {
    processes: Vec<Process>,
    hosts: FxHashMap<(u32, Option<i64>), usize>,
    /// By place in the trace's devices.
    devices: Vec<usize>,
    /// The process that used each: a place in `processes`.
    users: Vec<Option<usize>>,
    lanes: FxHashMap<(usize, Track), Lanes>,
    numbers: FxHashMap<(usize, Track, usize), i64>,
}

impl Tracks {
    /// The processes of all that may come, and the threads that call: they keep their numbers.
    pub(super) fn new(timeline: &Timeline<'_>) -> Self {
        let trace = timeline.trace();
        let mut made = Maker::default();
        let several = trace.clocks.iter().enumerate().any(|(clock, _)| timeline.clock(clock as u32) > 0);
        let prefix = |clock: u32| if several { format!("capture {}: ", clock + 1) } else { String::new() };
        let number = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let callees = trace.callees.all().iter().map(|callee| (callee.clock, callee.process_id));
        let labels = trace.labels.all().iter().map(|label| (label.clock, label.process_id));
        let devices: Vec<_> = (0..trace.devices.len()).map(|place| timeline.device(place as u32)).collect();
        // Behind the calls: a device's process may make none that are known. Beside other captures, a device of which no
        // process is known has one of its own: a reader would take it for a device of theirs.
        let known = trace.callees.all().iter().filter(|callee| callee.process_id.is_some());
        let known: FxHashSet<u32> = known.map(|callee| timeline.clock(callee.clock)).collect();
        let has_user = |device: &Device| device.process_id.is_some() || (several && !known.contains(&device.clock));
        let user_of = |device: &Device| has_user(device).then_some((device.clock, device.process_id));
        let users: Vec<_> = devices.iter().map(user_of).collect();
        let mut hosts = FxHashMap::default();
        for (clock, process) in callees.chain(labels).chain(users.iter().copied().flatten()) {
            let clock = timeline.clock(clock);
            let name = || format!("{}process {}", prefix(clock), number(process));
            hosts.insert((clock, process), made.process(Group::Host(clock, process), process, name));
        }
        let devices = devices.iter().map(|device| {
            let name = || {
                let maker = device.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
                let (clock, process) = (prefix(device.clock), number(device.process_id));
                format!("{clock}device {}{maker}, process {process}", number(device.device_id))
            };
            made.process(Group::Device(device.clock, device.process_id, device.device_id), None, name)
        });
        let devices = devices.collect();
        let users = users.into_iter().map(|user| hosts.get(&user?).copied()).collect();
        let mut tracks = Self {
            processes: made.processes,
            hosts,
            devices,
            users,
            lanes: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        for callee in trace.callees.all() {
            let host = tracks.hosts[&(timeline.clock(callee.clock), callee.process_id)];
            tracks.number(host, Track::Calls(callee.thread_id), 0);
        }
        for work in trace.works.all() {
            tracks.number(tracks.devices[work.queue.device as usize], Track::Stream(work.queue.stream), 0);
        }
        tracks
    }

    /// The number of the process that used a device.
    pub(super) fn user(&self, device: u32) -> Option<i64> {
        self.users[device as usize].map(|user| self.processes[user].number)
    }

    /// The place of a thread's calls.
    pub(super) fn calls(&mut self, clock: u32, process: Option<i64>, thread: Option<i64>) -> Place {
        let host = self.hosts.get(&(clock, process)).copied().unwrap_or_default();
        let thread = self.number(host, Track::Calls(thread), 0);
        Place { process: self.processes[host].number, thread }
    }

    /// A place for an operator of a thread. Starts must not descend.
    pub(super) fn operator(
        &mut self,
        clock: u32,
        process: Option<i64>,
        thread: Option<i64>,
        times: (i64, i64),
    ) -> Place {
        let host = self.hosts.get(&(clock, process)).copied().unwrap_or_default();
        self.place(host, Track::Operators(thread), times)
    }

    /// A place for a range. Starts must not descend.
    pub(super) fn range(&mut self, clock: u32, process: Option<i64>, reach: Reach, times: (i64, i64)) -> Place {
        let host = self.hosts.get(&(clock, process)).copied().unwrap_or_default();
        let track = match reach {
            Reach::Process => Track::ProcessRanges,
            Reach::Thread(thread) => Track::Ranges(thread),
        };
        self.place(host, track, times)
    }

    /// Returns a place for an activity of a device, or for idle time. Starts must not descend.
    pub(super) fn device(&mut self, device: u32, track: Track, times: (i64, i64)) -> Place {
        self.place(self.devices[device as usize], track, times)
    }

    fn place(&mut self, process: usize, track: Track, (start, end): (i64, i64)) -> Place {
        let lane = self.lanes.entry((process, track)).or_default().place(start, end);
        let thread = self.number(process, track, lane);
        Place { process: self.processes[process].number, thread }
    }

    fn number(&mut self, process: usize, track: Track, lane: usize) -> i64 {
        let of = &mut self.processes[process];
        self.numbers.room(1);
        *self.numbers.entry((process, track, lane)).or_insert_with(|| {
            let own = match track {
                Track::Calls(id) | Track::Stream(id) if lane == 0 => id,
                _ => None,
            };
            let number = of.threads.take(own);
            of.tracks.push((track, lane, number));
            number
        })
    }

    /// Writes the names of all drawn tracks.
    pub(super) fn describe(mut self, events: &mut Events<impl Write>) -> io::Result<()> {
        for (order, process) in self.processes.iter_mut().enumerate().filter(|(_, process)| !process.tracks.is_empty())
        {
            let place = Place { process: process.number, thread: 0 };
            events.describe("process", place, &process.name, order)?;
            process.tracks.sort_unstable();
            for (order, &(track, lane, thread)) in process.tracks.iter().enumerate() {
                events.describe("thread", Place { thread, ..place }, &track.name(lane), order)?;
            }
        }
        Ok(())
    }
}

impl Track {
    fn name(self, lane: usize) -> String {
        let id = |id: Option<i64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let name = match self {
            Self::ProcessRanges => "ranges of the process".to_owned(),
            Self::Ranges(thread) => format!("ranges of thread {}", id(thread)),
            Self::Calls(thread) => format!("thread {}", id(thread)),
            Self::Operators(thread) => format!("operators of thread {}", id(thread)),
            Self::Idle => "idle".to_owned(),
            Self::Stream(stream) => format!("stream {}", id(stream)),
        };
        if lane == 0 { name } else { format!("{name} ({})", lane + 1) }
    }
}

/// Makes each process once.
#[derive(Default)]
struct Maker {
    processes: Vec<Process>,
    places: FxHashMap<Group, usize>,
    numbers: Numbers,
}

impl Maker {
    fn process(&mut self, group: Group, wanted: Option<i64>, name: impl FnOnce() -> String) -> usize {
        let Self { processes, places, numbers } = self;
        *places.entry(group).or_insert_with(|| {
            let (number, threads, tracks) = (numbers.take(wanted), Numbers::default(), Vec::new());
            processes.push(Process { number, name: name(), threads, tracks });
            processes.len() - 1
        })
    }
}
