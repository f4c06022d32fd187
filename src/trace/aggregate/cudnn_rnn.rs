//! Path of cuDNN through recurrent networks.

use rustc_hash::FxHashMap;

use super::iterations::Iterations;
use super::launched::Launch;
use super::work_categories::WorkCategories;
use crate::memory::{Room as _, collected};
use crate::trace::{CudnnRnnRow, Distinct, Entry, IterationRow, Kind, Trace};

/// The categories of kernels that compute all steps of a sequence, and of those that compute one.
const PERSISTENT: &str = "cudnn_rnn_persistent";
const STEP: &str = "cudnn_rnn_step";

/// Kernels of a row: in all, and those that compute one step.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    all: u64,
    step: u64,
}

/// Kernels of cuDNN's recurrent networks, as they are counted.
pub(super) struct CudnnRnn {
    /// By work: whether it computes one step, of those that count here; empty where there are none.
    is_step: Vec<Option<bool>>,
    /// By place of an iteration, and of all that were launched in none.
    inside: FxHashMap<usize, Counts>,
    outside: Counts,
}

impl CudnnRnn {
    pub(super) fn new(trace: &Trace, categories: &WorkCategories<'_>) -> Self {
        let is_step = (0..).zip(trace.works.all()).map(|(what, work)| match work.kind {
            Kind::Kernel(..) => match categories.name(categories.of_work(what)) {
                PERSISTENT => Some(false),
                STEP => Some(true),
                _ => None,
            },
            Kind::Memory { .. } => None,
        });
        let is_step: Vec<Option<bool>> = collected(is_step);
        let some = is_step.iter().any(Option::is_some);
        let is_step = if some { is_step } else { Vec::new() };
        Self { is_step, inside: FxHashMap::default(), outside: Counts::default() }
    }

    /// Takes an operation that counts.
    #[inline]
    pub(super) fn add(&mut self, entry: &Entry, launch: Option<&Launch>, iterations: &Iterations) {
        let Some(is_step) = self.is_step.get(entry.what as usize).copied().flatten() else { return };
        self.inside.room(1);
        let iteration = launch.and_then(|launch| iterations.of(launch));
        let counts = iteration.map_or(&mut self.outside, |place| self.inside.entry(place).or_default());
        counts.all += 1;
        counts.step += u64::from(is_step);
    }

    /// A row for each runner and phase of which there are some, and one for those that were launched in no iteration.
    pub(super) fn rows(self, iterations: &[IterationRow], sequence_length: Option<u64>) -> Vec<CudnnRnnRow> {
        let mut groups = Distinct::default();
        let (mut sums, mut sizes) = (Vec::new(), Vec::new());
        for (place, row) in iterations.iter().enumerate().filter(|_| !self.inside.is_empty()) {
            let group = groups.intern((row.runner.as_deref(), row.phase.as_deref())) as usize;
            sums.resize(groups.all().len(), Counts::default());
            sizes.resize(groups.all().len(), 0_u64);
            let found = self.inside.get(&place).copied().unwrap_or_default();
            (sums[group].all, sums[group].step) = (sums[group].all + found.all, sums[group].step + found.step);
            sizes[group] += 1;
        }
        let named = groups.all().iter().zip(sums).zip(sizes);
        let named = named.map(|((&(runner, phase), counts), size)| (runner, phase, counts, Some(size)));
        let all = named.chain([(None, None, self.outside, None)]).filter(|(_, _, counts, _)| counts.all > 0);
        all.map(|(runner, phase, counts, count)| row((runner, phase), counts, count, sequence_length)).collect()
    }
}

fn row(
    (runner, phase): (Option<&str>, Option<&str>),
    counts: Counts,
    iterations: Option<u64>,
    sequence_length: Option<u64>,
) -> CudnnRnnRow {
    let path = match counts.step {
        0 => "persistent",
        step if step == counts.all => "stepwise",
        _ => "mixed",
    };
    let kernels_per_iteration = iterations.map(|iterations| counts.all as f64 / iterations as f64);
    let steps = sequence_length.filter(|&steps| steps > 0);
    let kernels_per_step = kernels_per_iteration.zip(steps).map(|(kernels, steps)| kernels / steps as f64);
    let mut row = CudnnRnnRow {
        runner: runner.map(str::to_owned),
        phase: phase.map(str::to_owned),
        path,
        kernel_count: counts.all,
        iterations,
        kernels_per_iteration,
        kernels_per_step,
        sentence: String::new(),
    };
    row.sentence = sentence(&row, counts, steps);
    row
}

/// `cudnn/forward: cuDNN took the persistent path: 1 kernel for a sequence of 512 steps`.
fn sentence(row: &CudnnRnnRow, counts: Counts, steps: Option<u64>) -> String {
    let whose: Vec<&str> = row.runner.as_deref().into_iter().chain(row.phase.as_deref()).collect();
    let whose = if whose.is_empty() { String::new() } else { format!("{}: ", whose.join("/")) };
    let each = |count: u64| row.iterations.map_or(count as f64, |iterations| count as f64 / iterations as f64);
    // Of a sequence only where it is known how often one was computed.
    let of = match (row.iterations, steps) {
        (Some(_), Some(1)) => " for a sequence of 1 step".to_owned(),
        (Some(_), Some(steps)) => format!(" for a sequence of {steps} steps"),
        (Some(_), None) => " per iteration".to_owned(),
        (None, _) => " outside iterations".to_owned(),
    };
    let per_step = row.kernels_per_step.map_or(String::new(), |kernels| format!(", {kernels:.1} per step"));
    match row.path {
        "persistent" => format!("{whose}cuDNN took the persistent path: {}{of}", kernels(each(counts.all))),
        "stepwise" => format!(
            "{whose}cuDNN took the stepwise path: {}{of}{per_step} (persistent kernels support only some types and sizes)",
            kernels(each(counts.all))
        ),
        _ => {
            let (persistent, step) = (kernels(each(counts.all - counts.step)), kernels(each(counts.step)));
            format!("{whose}cuDNN took both paths: {persistent} for whole sequences and {step} for single steps{of}")
        }
    }
}

fn kernels(count: f64) -> String {
    match count {
        1.0 => "1 kernel".to_owned(),
        whole if whole.fract() == 0.0 => format!("{whole:.0} kernels"),
        other => format!("{other:.1} kernels"),
    }
}

#[cfg(test)]
mod tests {
    use crate::trace::Reach;
    use crate::trace::aggregate::Selection;
    use crate::trace::aggregate::made::Made;

    const MAIN: (i64, i64) = (1, 10);

    /// Two iterations of each phase, each of which launches these.
    fn staged(forward: &[&str], backward: &[&str]) -> Made {
        let mut staged = Made::new();
        let mut at = 0;
        for step in 0..2 {
            for (phase, names) in [("forward", forward), ("backward", backward)] {
                staged.range(1, Reach::Process, &format!("cudnn/{phase}/{step}"), at, Some(at + 900));
                for (place, name) in (1..).zip(names) {
                    staged.launch(MAIN, at + place, name, 0, (at + place, at + place + 1));
                }
                at += 1000;
            }
        }
        staged
    }

    #[test]
    fn mixed_paths_and_kernels_outside_iterations() {
        let mut both = staged(&["RNN_blockPersist_fp_LSTM_HMMA", "elemWiseRNNcell", "elemWiseRNNcell"], &[]);
        both.launch(MAIN, 950, "elemWiseRNNcell", 0, (960, 970));
        let found = both.summary(Selection::default()).cudnn_rnn;
        let paths: Vec<_> = found.iter().map(|row| (row.path, row.iterations)).collect();
        assert_eq!(paths, [("mixed", Some(2)), ("stepwise", None)]);
        let kernels = "1 kernel for whole sequences and 2 kernels for single steps per iteration";
        assert_eq!(found[0].sentence, format!("cudnn/forward: cuDNN took both paths: {kernels}"));
        assert!(found[1].sentence.starts_with("cuDNN took the stepwise path: 1 kernel outside iterations"));
    }
}
