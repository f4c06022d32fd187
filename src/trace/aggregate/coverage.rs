//! Time that captures cover, by device: no capture contains the activity of a device between two captures of one process.

use crate::memory::{Room as _, filled};
use crate::trace::{Device, Distinct, Entry, Trace};

/// The time from the first to the last operation that counts of each capture, for devices that several captures contain.
#[derive(Debug)]
pub(super) struct Coverage {
    /// By place of the device: in ascending order, and none meets another. Empty for a device of one capture.
    windows: Vec<Vec<(i64, i64)>>,
}

impl Coverage {
    /// Finds the windows of `devices` devices.
    ///
    /// `device_of` has the place of each device of the trace, and `counts` selects the operations that count.
    pub(super) fn of(trace: &Trace, devices: usize, device_of: &[u32], counts: impl Fn(&Entry) -> bool) -> Self {
        let mut windows: Vec<Vec<(i64, i64)>> = filled(Vec::new(), devices);
        let mut parts = Distinct::default();
        let part = |(device, &place): (&Device, &u32)| parts.intern((place, device.capture));
        let part_of: Vec<u32> = trace.devices.iter().zip(device_of).map(part).collect();
        if parts.all().len() == devices {
            return Self { windows };
        }
        let mut spans = filled((i64::MAX, i64::MIN), parts.all().len());
        for entry in trace.kernels.iter().chain(&trace.memory).filter(|entry| counts(entry)) {
            let device = trace.works.all()[entry.what as usize].queue.device;
            let (first, last) = &mut spans[part_of[device as usize] as usize];
            (*first, *last) = (entry.start.min(*first), entry.end.max(*last));
        }
        for (&(place, _), span) in parts.all().iter().zip(spans).filter(|(_, (first, last))| first <= last) {
            windows[place as usize].put(span);
        }
        for of_device in &mut windows {
            of_device.sort_unstable();
            of_device.dedup_by(|next, window| {
                let meets = next.0 <= window.1;
                if meets {
                    window.1 = window.1.max(next.1);
                }
                meets
            });
        }
        Self { windows }
    }

    /// Returns true if a capture covers the time between two operations of a device, of which none lies between them.
    pub(super) fn holds(&self, device: usize, start: i64, end: i64) -> bool {
        let windows = &self.windows[device];
        let before = windows.partition_point(|&(first, _)| first <= start);
        windows.is_empty() || windows[..before].last().is_some_and(|&(_, last)| last >= end)
    }

    /// For how long no capture covers a device between its first and its last operation.
    pub(super) fn missing_ns(&self, device: usize) -> u64 {
        self.windows[device].windows(2).map(|pair| pair[1].0.abs_diff(pair[0].1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::trace::aggregate::Selection;
    use crate::trace::aggregate::made::Made;
    use crate::trace::{Capture, DeviceRow};

    const MAIN: (Option<i64>, Option<i64>) = (Some(7), Some(1));

    /// The device of files of one process, each with kernels by start and length.
    fn device(files: &[Vec<(i64, i64)>]) -> Option<DeviceRow> {
        let mut made = Made::new();
        for kernels in files {
            for &(start, length) in kernels {
                made.kernel((0, Some(7)), (start, start + length), 0);
            }
            made.trace.captures.push(Capture::default());
        }
        made.summary(Selection::default()).devices.into_iter().next()
    }

    #[test]
    fn time_between_two_files_of_a_process_is_not_idle() {
        let row = device(&[vec![(0, 10), (20, 10)], vec![(1000, 10), (1040, 10)]]).expect("a device");
        assert_eq!((row.start_ns, row.end_ns, row.span_ns, row.busy_ns, row.idle_ns), (0, 1050, 80, 40, 40));
        assert_eq!(row.utilization, Some(0.5));
        let [idle] = &row.budget.idle[..] else { panic!("one cause") };
        assert_eq!((&*idle.name, idle.count, idle.total_ns), ("unmatched", 2, 40));
        // In one file it is.
        let row = device(&[vec![(0, 10), (20, 10), (1000, 10), (1040, 10)]]).expect("a device");
        assert_eq!((row.span_ns, row.idle_ns), (1050, 1010));
    }

    #[test]
    fn the_host_between_two_files_is_no_cause() {
        let mut made = Made::new();
        for (correlation, at) in [(1, 0), (2, 20), (3, 1000)] {
            made.call(MAIN, "cudaLaunchKernel", (at, at + 1), correlation);
            made.kernel((0, Some(7)), (at + 5, at + 10), correlation);
            if correlation == 2 {
                made.trace.captures.push(Capture::default());
            }
        }
        made.trace.captures.push(Capture::default());
        let summary = made.summary(Selection::default());
        let causes: Vec<_> = summary.idle_causes.iter().map(|row| (row.cause, row.total_ns)).collect();
        assert_eq!(causes, [("host", 10), ("launch", 5)]);
        let spans: Vec<u64> = summary.ranks.iter().map(|row| row.span_ns).collect();
        assert_eq!((summary.devices[0].span_ns, spans), (30, vec![25, 5]));
    }

    proptest! {
        #[test]
        fn agrees_with_counting_every_nanosecond(
            files in prop::collection::vec(prop::collection::vec((0_i64..150, 0_i64..12), 0..6), 1..5),
        ) {
            let ends = |&(start, length): &(i64, i64)| (start, start + length);
            let window = |kernels: &Vec<(i64, i64)>| {
                let first = kernels.iter().map(|kernel| kernel.0).min()?;
                Some((first, kernels.iter().map(|kernel| ends(kernel).1).max()?))
            };
            let windows: Vec<(i64, i64)> = files.iter().filter_map(window).collect();
            let ran: Vec<(i64, i64)> = files.iter().flatten().map(ends).collect();
            let count = |spans: &[(i64, i64)]| {
                (0..200).filter(|at| spans.iter().any(|(start, end)| (start..end).contains(&at))).count() as u64
            };
            let Some(row) = device(&files) else {
                prop_assert!(ran.is_empty());
                return Ok(());
            };
            prop_assert_eq!((row.span_ns, row.busy_ns), (count(&windows), count(&ran)));
            prop_assert_eq!(row.idle_ns, row.span_ns - row.busy_ns);
            prop_assert_eq!(row.budget.idle.iter().map(|row| row.total_ns).sum::<u64>(), row.idle_ns);
        }
    }
}
