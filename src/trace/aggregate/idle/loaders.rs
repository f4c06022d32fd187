//! Times in which threads waited for data: ranges of a data loader.

use rustc_hash::FxHashMap;

use super::spans::merge;
use crate::memory::{Room as _, collected};
use crate::trace::aggregate::select::Chosen;
use crate::trace::{Reach, Trace};

/// Range names of torch's data loaders.
const NAMES: [&str; 2] = ["enumerate(DataLoader)", "_next_data"];

/// A thread: its clock, its process and its number.
type Thread = (u32, Option<i64>, i64);

/// A span, and the length of all spans before it.
pub(super) type Load = ((i64, i64), u64);

/// Spans that are sorted and do not touch.
type Sorted = Vec<Load>;

/// The ranges of data loaders, of threads and of whole processes.
pub(super) struct Loaders {
    lists: Vec<Sorted>,
    /// By callee: the places of the lists of its thread and of its process; an empty list comes first.
    of_callee: Vec<[usize; 2]>,
}

impl Loaders {
    pub(super) fn new(trace: &Trace, chosen: &Chosen<'_>, data_loaders: &[String]) -> Self {
        let loads = |name: &str| {
            NAMES.iter().any(|known| name.contains(known))
                || data_loaders.iter().any(|given| !given.is_empty() && name.contains(given.as_str()))
        };
        let mut lists = vec![Sorted::new()];
        let (mut of_threads, mut of_processes) = (FxHashMap::<Thread, usize>::default(), FxHashMap::default());
        let labels = trace.labels.all().iter().map(|label| {
            let clock = chosen.clocks[label.clock as usize];
            let next = lists.len();
            let place = match label.reach {
                _ if !loads(trace.names.text(label.name)) => return None,
                Reach::Thread(thread) => *of_threads.entry((clock, label.process_id, thread?)).or_insert(next),
                Reach::Process => *of_processes.entry((clock, label.process_id)).or_insert(next),
            };
            lists.room(1);
            lists.resize_with(next.max(place + 1), Sorted::new);
            Some(place)
        });
        let places: Vec<Option<usize>> = collected(labels);
        for range in &trace.ranges {
            if let Some(place) = places[range.label as usize] {
                lists[place].put(((range.start, range.end.unwrap_or(i64::MAX)), 0));
            }
        }
        for list in &mut lists {
            list.retain(|((start, end), _)| end > start);
            list.sort_unstable();
            merge(list, |_, _| true, |load| &mut load.0);
            let mut length = 0;
            for ((start, end), before) in list {
                *before = length;
                length += end.abs_diff(*start);
            }
        }
        let callees = trace.callees.all().iter().map(|callee| {
            let clock = chosen.clocks[callee.clock as usize];
            let thread = callee.thread_id.and_then(|thread| of_threads.get(&(clock, callee.process_id, thread)));
            let process = of_processes.get(&(clock, callee.process_id));
            [thread, process].map(|place| place.copied().unwrap_or_default())
        });
        let of_callee = collected(callees);
        Self { lists, of_callee }
    }

    /// The same for callees of one thread, and of one process without a thread.
    pub(super) fn places(&self, callee: u32) -> [usize; 2] {
        self.of_callee[callee as usize]
    }

    /// The spans in which the thread of a callee waited for data, and those in which its process did.
    pub(super) fn of(&self, callee: u32) -> [&[Load]; 2] {
        self.places(callee).map(|place| self.lists[place].as_slice())
    }
}
