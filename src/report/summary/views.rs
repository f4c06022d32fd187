//! The list of each view, and what is said where it is empty.

use super::columns::{
    API_CALLS, CATEGORIES, CUDNN_RNN, DEVICES, Head, IDLE, INDUCTOR_CATEGORIES, ITERATIONS, KERNELS, LAUNCHES, MEMORY,
    METRICS, RANGES, RANKS, STREAMS,
};
use super::sheet::Sheet;
use super::{Names, View};
use crate::trace::{Launches, Summary};

/// The list of a view; that of the overview is the kernels.
pub(super) fn list<'a>(
    summary: &'a Summary,
    view: View,
    cut: (Names, Option<usize>),
    keep: &dyn Fn(&Head) -> bool,
) -> Sheet<'a> {
    match view {
        View::Overview | View::Kernel => Sheet::new("Kernels", KERNELS, &summary.kernels, cut, keep),
        View::LaunchShape => Sheet::new("Kernels by launch shape", KERNELS, &summary.kernels, cut, keep),
        View::Category => Sheet::new("Categories", CATEGORIES, &summary.categories, cut, keep),
        View::Device => Sheet::new("Devices", DEVICES, &summary.devices, cut, keep),
        View::Stream => Sheet::new("Streams", STREAMS, &summary.streams, cut, keep),
        View::Api => Sheet::new("Calls of the device's interface", API_CALLS, &summary.api_calls, cut, keep),
        View::Memory => Sheet::new("Memory operations", MEMORY, &summary.memory_operations, cut, keep),
        View::Range => Sheet::new("Ranges", RANGES, &summary.ranges, cut, keep),
        View::Iteration => Sheet::new("Iterations", ITERATIONS, &summary.iterations, cut, keep),
        View::Launch => Sheet::new("Launches", LAUNCHES, launches(&summary.launches), cut, keep),
        View::Idle => Sheet::new("Idle time", IDLE, &summary.idle_causes, cut, keep),
        View::CudnnRnn => Sheet::new("cuDNN's recurrent networks", CUDNN_RNN, &summary.cudnn_rnn, cut, keep),
        View::Rank => Sheet::new("Ranks", RANKS, &summary.ranks, cut, keep),
        View::Metric => Sheet::new("Metrics", METRICS, &summary.metrics, cut, keep),
        View::Inductor => {
            let categories = summary.inductor.as_ref().map_or(&[][..], |inductor| &inductor.categories);
            Sheet::new("Inductor's categories", INDUCTOR_CATEGORIES, categories, cut, keep)
        }
    }
}

/// None where there are no kernels, of which they tell.
fn launches(found: &Launches) -> &[Launches] {
    if found.matched_count == 0 && found.unmatched_kernel_count == 0 { &[] } else { std::slice::from_ref(found) }
}

/// Said where a view has no row.
pub(super) fn nothing(view: View) -> &'static str {
    match view {
        View::Overview => "no device operations",
        View::Kernel | View::LaunchShape | View::Launch => "no kernels",
        View::Category => "no categories",
        View::Device => "no devices",
        View::Stream => "no streams",
        View::Api => "no calls of the device's interface",
        View::Memory => "no memory operations",
        View::Range => "no ranges",
        View::Iteration => "no iterations: no ranges of ours, no ProfilerStep, or none of the --iteration-range given",
        View::Idle => "no idle time",
        View::CudnnRnn => "no kernels of cuDNN's recurrent networks",
        View::Rank => "no ranks: a single file",
        View::Metric => "no metrics of nvprof",
        View::Inductor => "no figures of Inductor",
    }
}
