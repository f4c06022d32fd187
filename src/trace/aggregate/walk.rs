//! One pass over all operations that count, each with the call that launched it, for everything that depends on them.

use super::Options;
use super::cudnn_rnn::CudnnRnn;
use super::duplicates::Duplicates;
use super::idle::{Gaps, Sums as IdleSums};
use super::in_order::in_order;
use super::iterations::Iterations;
use super::launched::{Launch, launched};
use super::launches::Delays;
use super::ranges::Ranges;
use super::ranges::names::Called;
use super::ranks::Ranks;
use super::select::Chosen;
use super::sweep::Sweep;
use super::work_categories::WorkCategories;
use crate::memory::collected;
use crate::trace::{Entry, Kind, Trace};

/// Results that depend on operations and their launches.
pub(super) struct Walked<'a> {
    pub(super) sweep: Sweep<'a>,
    pub(super) delays: Delays<'a>,
    pub(super) idle: IdleSums<'a>,
    pub(super) ranges: Ranges<'a>,
    pub(super) iterations: Iterations,
    pub(super) cudnn_rnn: CudnnRnn,
    pub(super) ranks: Ranks<'a>,
    pub(super) duplicates: Duplicates,
}

impl<'a> Walked<'a> {
    pub(super) fn over(
        trace: &'a Trace,
        chosen: &'a Chosen<'a>,
        categories: &WorkCategories<'_>,
        options: &Options<'_>,
    ) -> Self {
        let called = Called::of_labels(trace);
        let mut walked = Self {
            sweep: Sweep::new(trace, chosen, categories, options.plot_data),
            delays: Delays::new(trace, chosen, options.plot_data),
            idle: IdleSums::new(chosen),
            iterations: Iterations::find(trace, chosen, &called, options.iteration_range.as_deref()),
            ranges: Ranges::new(trace, chosen, called, options.plot_data),
            cudnn_rnn: CudnnRnn::new(trace, categories),
            ranks: Ranks::new(trace, categories),
            duplicates: Duplicates::new(trace),
        };
        // In front of everything else that needs the index of calls.
        let operations = (!trace.calls.is_empty()).then(|| launched(trace, chosen));
        let mut gaps = Gaps::new(trace, chosen, &options.data_loaders, false);
        let works = trace.works.all();
        let is_kernel: Vec<bool> = collected(works.iter().map(|work| matches!(work.kind, Kind::Kernel(..))));
        let mut add = |entry: &Entry, launch: Option<&Launch>| {
            gaps.add(entry, launch, &mut |piece| walked.idle.add(&piece));
            walked.add(entry, launch, is_kernel[entry.what as usize], categories);
        };
        if let Some(operations) = operations {
            for (entry, launch) in operations.filter(|(entry, _)| chosen.operation(entry)) {
                add(&entry, launch.as_ref());
            }
        } else {
            // Without calls there is nothing to look for.
            for entry in in_order(&trace.kernels, &trace.memory).filter(|entry| chosen.operation(entry)) {
                add(&entry, None);
            }
        }
        gaps.finish(&mut |piece| walked.idle.add(&piece));
        walked.iterations.finish(categories);
        walked
    }

    // Where it is inlined without a launch, most of it is left out.
    #[inline]
    fn add(&mut self, entry: &Entry, launch: Option<&Launch>, is_kernel: bool, categories: &WorkCategories<'_>) {
        self.sweep.add(entry, is_kernel);
        self.ranks.add(entry, is_kernel);
        self.duplicates.add(entry);
        self.cudnn_rnn.add(entry, launch, &self.iterations);
        if is_kernel {
            self.delays.add(entry, launch);
        }
        if let Some(launch) = launch {
            self.ranges.add(entry, launch, is_kernel);
            self.iterations.add(entry, launch, categories);
        }
    }
}
