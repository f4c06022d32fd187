//! Busy times of devices and their queues, and their activities.

use rustc_hash::FxHashSet;

use super::activity::{Activities, Bins};
use super::idle::Sums as IdleSums;
use super::ranks::{path_of, rank_of};
use super::select::{Chosen, Number, Numbers};
use super::work_categories::WorkCategories;
use super::{fraction, shared_devices};
use crate::memory::{Room as _, collected, filled};
use crate::trace::{
    Activity, ActivityRow, Budget, BudgetRow, Busy, DeviceRow, Distinct, Entry, Kind, StreamRow, Trace, Warning, Work,
};

/// Busy times of devices and queues, and their activities.
pub(super) struct Sweep<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    /// By number of work.
    places: Vec<Place>,
    /// Devices with the numbers of their streams.
    queues: Distinct<(u32, Option<i64>)>,
    of_devices: Vec<Timeline>,
    of_queues: Vec<Timeline>,
    /// Time of each device with anything but communication.
    without_communication: Vec<Busy>,
    /// Devices with a category of kernels, or with a kind of copies or sets.
    budget: Distinct<(u32, bool, u32)>,
    /// By place there: count and time.
    times: Vec<(u64, u64)>,
    /// For plots.
    activities: Option<Activities>,
}

/// Rows in which an operation counts.
#[derive(Debug, Clone, Copy)]
struct Place {
    device: u32,
    queue: u32,
    /// Row in the budget.
    row: u32,
    is_communication: bool,
}

#[derive(Debug, Clone, Default)]
struct Timeline {
    busy: Busy,
    total: u64,
    kernel_count: u64,
    kernel_total: u64,
}

impl Timeline {
    #[inline]
    fn add(&mut self, entry: &Entry, is_kernel: bool) {
        self.busy.add(entry.start, entry.end);
        self.total = self.total.saturating_add(entry.duration());
        if is_kernel {
            self.kernel_count += 1;
            self.kernel_total = self.kernel_total.saturating_add(entry.duration());
        }
    }
}

impl<'a> Sweep<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        chosen: &'a Chosen<'a>,
        categories: &WorkCategories<'_>,
        plot_data: bool,
    ) -> Self {
        let (mut queues, mut budget) = (Distinct::default(), Distinct::default());
        let place = |(what, work): (u32, &Work)| {
            let device = chosen.device_of[work.queue.device as usize];
            let is_kernel = matches!(work.kind, Kind::Kernel(..));
            let row = budget.intern((device, is_kernel, categories.of_work(what)));
            let queue = queues.intern((device, work.queue.stream));
            Place { device, queue, row, is_communication: categories.is_communication(what, work) }
        };
        let places = collected((0..).zip(trace.works.all()).map(place));
        let timelines = |count| filled(Timeline::default(), count);
        let (of_devices, of_queues) = (timelines(chosen.devices.all().len()), timelines(queues.all().len()));
        let times = filled((0, 0), budget.all().len());
        let activities = plot_data.then(|| Activities::of(of_devices.len(), times.len())).flatten();
        let without_communication = filled(Busy::default(), of_devices.len());
        Self { trace, chosen, places, queues, of_devices, of_queues, without_communication, budget, times, activities }
    }

    /// Takes an operation that counts; starts ascend.
    #[inline]
    pub(super) fn add(&mut self, entry: &Entry, is_kernel: bool) {
        let Place { device, queue, row, is_communication } = self.places[entry.what as usize];
        self.of_devices[device as usize].add(entry, is_kernel);
        self.of_queues[queue as usize].add(entry, is_kernel);
        if !is_communication {
            self.without_communication[device as usize].add(entry.start, entry.end);
        }
        let (count, time) = &mut self.times[row as usize];
        (*count, *time) = (*count + 1, time.saturating_add(entry.duration()));
        if let Some(activities) = &mut self.activities {
            activities.add(device, row, entry);
        }
    }

    /// Returns a row for each active device, in the order of their numbers, and the devices. `idle` has the causes of each
    /// device.
    pub(super) fn devices(&self, categories: &WorkCategories<'_>, idle: &IdleSums<'_>) -> (Vec<DeviceRow>, Numbers) {
        let devices = self.chosen.devices.all();
        // Captures of one device may differ in whether they name it.
        let (mut names, mut files) = (filled((None, None), devices.len()), filled((None, false), devices.len()));
        for (work, place) in self.trace.works.all().iter().zip(&self.places) {
            let place = place.device as usize;
            let (device, (name, rank)) = (&self.trace.devices[work.queue.device as usize], &mut names[place]);
            *name = name.take().or_else(|| device.name.clone());
            *rank = rank.or_else(|| rank_of(&self.trace.captures, device.capture));
            let (file, is_shared) = &mut files[place];
            *is_shared |= *file.get_or_insert(device.capture) != device.capture;
        }
        let (mut budgets, mut drawn) = (filled(Budget::default(), devices.len()), self.drawn());
        let times = self.budget.all().iter().zip(&self.times).enumerate();
        for (row, (&(device, is_kernel, category), &(count, total_ns))) in times.filter(|(_, (_, times))| times.0 > 0) {
            let (budget, name) = (&mut budgets[device as usize], categories.name(category).to_owned());
            if let (Some(activities), Some((activity, bins))) = (&self.activities, &mut drawn[device as usize]) {
                let rows = if is_kernel { &mut activity.kernels } else { &mut activity.copies };
                rows.push(ActivityRow { name: name.clone(), bins_ns: activities.row(row, *bins) });
            }
            let rows = if is_kernel { &mut budget.kernels } else { &mut budget.copies };
            rows.push(BudgetRow { name, count, total_ns });
        }
        let coverage = self.chosen.coverage();
        let keys = devices.iter().zip(&self.chosen.number_of).enumerate();
        let names = names.into_iter().zip(files).zip(budgets).zip(drawn);
        let lines = keys.zip(&self.of_devices).zip(idle.of_devices()).zip(names);
        let mut rows: Vec<(DeviceRow, u32)> = lines
            .filter_map(|((((place, (key, number)), timeline), idle), line)| {
                let ((((name, rank), (file, is_shared)), mut budget), drawn) = line;
                let (start_ns, end_ns) = timeline.busy.span()?;
                let span_ns = end_ns.abs_diff(start_ns) - coverage.missing_ns(place);
                let busy_ns = timeline.busy.busy_ns();
                budget.counted_twice_ns = timeline.total.saturating_sub(busy_ns);
                budget.idle = idle;
                for rows in [&mut budget.kernels, &mut budget.copies, &mut budget.idle] {
                    rows.sort_by(|one, other| {
                        other.total_ns.cmp(&one.total_ns).then_with(|| one.name.cmp(&other.name))
                    });
                }
                let row = DeviceRow {
                    device_id: key.device_id,
                    process_id: key.process_id,
                    name,
                    rank,
                    start_ns,
                    end_ns,
                    span_ns,
                    busy_ns,
                    idle_ns: span_ns - busy_ns,
                    overlap_ns: timeline.busy.overlap_ns(),
                    utilization: fraction(busy_ns, span_ns),
                    kernel_count: timeline.kernel_count,
                    kernel_total_ns: timeline.kernel_total,
                    activity: drawn.map(|(mut activity, _)| {
                        let place = |rows: &[BudgetRow], name: &str| rows.iter().position(|row| row.name == name);
                        activity.kernels.sort_by_key(|row| place(&budget.kernels, &row.name));
                        activity.copies.sort_by_key(|row| place(&budget.copies, &row.name));
                        activity
                    }),
                    budget,
                    path: file.filter(|_| !is_shared).and_then(|place| path_of(&self.trace.captures, place)),
                    exposed_communication_ns: busy_ns - self.without_communication[place].busy_ns(),
                };
                Some((row, *number))
            })
            .collect();
        rows.sort_by_key(|(row, _)| (row.device_id, row.process_id, row.start_ns));
        let (mut numbers, mut seen) = (vec![Number::default(); self.chosen.numbers.all().len()], FxHashSet::default());
        for (place, (row, number)) in (0..).zip(&rows) {
            let is_first = seen.insert(*number);
            let number = &mut numbers[*number as usize];
            number.row = is_first.then_some(place);
            number.span_ns = number.span_ns.saturating_add(row.span_ns);
        }
        (rows.into_iter().map(|(row, _)| row).collect(), Numbers { of: numbers })
    }

    /// Warns of devices that several processes used during the same time.
    pub(super) fn shared_devices(&self) -> Option<Warning> {
        shared_devices::warning(self.chosen, self.of_devices.iter().map(|timeline| timeline.busy.span()))
    }

    /// The activity of each device, for plots, still without categories.
    fn drawn(&self) -> Vec<Option<(Activity, Bins)>> {
        collected(self.of_devices.iter().enumerate().map(|(place, timeline)| {
            let activities = self.activities.as_ref()?;
            let bins = activities.bins(place, &timeline.busy)?;
            Some((activities.activity(place, bins), bins))
        }))
    }

    /// A row for each queue that did something; those of several processes under one number are one row.
    pub(super) fn streams(&self, numbers: &Numbers) -> Vec<StreamRow> {
        let (mut places, mut rows) = (Distinct::default(), Vec::<StreamRow>::new());
        let queues = self.queues.all().iter().zip(&self.of_queues);
        for ((device, stream_id), timeline) in queues.filter(|(_, timeline)| timeline.busy.span().is_some()) {
            let number = self.chosen.number_of[*device as usize];
            let place = places.intern((number, *stream_id)) as usize;
            if place == rows.len() {
                let (device_id, device) =
                    (self.chosen.numbers.all()[number as usize].1, numbers.of[number as usize].row);
                let stream_id = *stream_id;
                rows.put(StreamRow { device_id, device, stream_id, kernel_count: 0, busy_ns: 0, total_ns: 0 });
            }
            let row = &mut rows[place];
            row.kernel_count += timeline.kernel_count;
            row.busy_ns = row.busy_ns.saturating_add(timeline.busy.busy_ns());
            row.total_ns = row.total_ns.saturating_add(timeline.total);
        }
        rows.sort_by_key(|row| (row.device_id, row.device, row.stream_id));
        rows
    }
}
