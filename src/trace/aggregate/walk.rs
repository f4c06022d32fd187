//! One pass over all operations that count, each with the call that launched it, for everything that depends on them.

use super::Options;
use super::cudnn_rnn::CudnnRnn;
use super::idle::{Gaps, Sums as IdleSums};
use super::iterations::Iterations;
use super::launched::launched;
use super::launches::Delays;
use super::ranges::Ranges;
use super::ranges::names::Called;
use super::ranks::Ranks;
use super::select::Chosen;
use super::sweep::Sweep;
use super::work_categories::WorkCategories;
use crate::trace::{Kind, Trace};

/// What came of it.
pub(super) struct Walked<'a> {
    pub(super) sweep: Sweep<'a>,
    pub(super) delays: Delays<'a>,
    pub(super) idle: IdleSums<'a>,
    pub(super) ranges: Ranges<'a>,
    pub(super) iterations: Iterations,
    pub(super) cudnn_rnn: CudnnRnn,
    pub(super) ranks: Ranks<'a>,
}

impl<'a> Walked<'a> {
    pub(super) fn over(
        trace: &'a Trace,
        chosen: &'a Chosen<'a>,
        categories: &WorkCategories<'_>,
        options: &Options<'_>,
    ) -> Self {
        let mut sweep = Sweep::new(trace, chosen, categories);
        let mut delays = Delays::new(trace, chosen);
        let mut idle = IdleSums::new(chosen);
        let mut gaps = Gaps::new(trace, chosen, &options.data_loaders);
        let called = Called::of_labels(trace);
        let mut iterations = Iterations::find(trace, chosen, &called, options.iteration_range.as_deref());
        let mut ranges = Ranges::new(trace, chosen, called);
        let mut cudnn_rnn = CudnnRnn::new(trace, categories);
        let mut ranks = Ranks::new(trace);
        let works = trace.works.all();
        let is_kernel: Vec<bool> = works.iter().map(|work| matches!(work.kind, Kind::Kernel(..))).collect();
        for (entry, launch) in launched(trace, chosen).filter(|(entry, _)| chosen.operation(entry)) {
            let is_kernel = is_kernel[entry.what as usize];
            sweep.add(&entry, is_kernel);
            ranks.add(&entry, is_kernel);
            gaps.add(&entry, launch.as_ref(), &mut |piece| idle.add(&piece));
            cudnn_rnn.add(&entry, launch.as_ref(), &iterations);
            if is_kernel {
                delays.add(&entry, launch.as_ref());
            }
            if let Some(launch) = &launch {
                ranges.add(&entry, launch, is_kernel);
                iterations.add(&entry, launch, categories);
            }
        }
        gaps.finish(&mut |piece| idle.add(&piece));
        iterations.finish(categories);
        Self { sweep, delays, idle, ranges, iterations, cudnn_rnn, ranks }
    }
}
