//! Which way cuDNN took through recurrent networks.

use rustc_hash::FxHashSet;

use super::iterations::Iterations;
use super::launched::launched;
use super::select::Chosen;
use crate::trace::{CudnnRnnRow, Distinct, KernelRow, Kind, Trace};

/// The categories of kernels that compute all steps of a sequence, and of those that compute one.
const PERSISTENT: &str = "cudnn_rnn_persistent";
const STEP: &str = "cudnn_rnn_step";

/// Kernels of a row: in all, and those that compute one step.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    all: u64,
    step: u64,
}

/// A row for each runner and phase of which kernels of cuDNN's recurrent networks are there, and one for those that were
/// launched in no iteration.
pub(super) fn rows(
    trace: &Trace,
    chosen: &Chosen<'_>,
    kernels: &[KernelRow],
    iterations: &Iterations,
    sequence_length: Option<u64>,
) -> Vec<CudnnRnnRow> {
    let of_category = |category: &str| -> FxHashSet<&str> {
        kernels.iter().filter(|row| row.category == category).map(|row| &*row.name).collect()
    };
    let (persistent, step) = (of_category(PERSISTENT), of_category(STEP));
    if persistent.is_empty() && step.is_empty() {
        return Vec::new();
    }
    // By work: whether it computes one step, of those that count here.
    let is_step = trace.works.all().iter().map(|work| match work.kind {
        Kind::Kernel(name, _) => {
            let name = trace.names.text(name.full);
            if step.contains(name) { Some(true) } else { persistent.contains(name).then_some(false) }
        }
        Kind::Memory { .. } => None,
    });
    let is_step: Vec<Option<bool>> = is_step.collect();
    let mut groups = Distinct::default();
    let group_of: Vec<u32> =
        iterations.rows.iter().map(|row| groups.intern((row.runner.as_deref(), row.phase.as_deref()))).collect();
    let mut inside = vec![Counts::default(); groups.all().len()];
    let mut outside = Counts::default();
    for (entry, launch) in launched(trace, chosen).filter(|(entry, _)| chosen.operation(entry)) {
        let Some(is_step) = is_step[entry.what as usize] else { continue };
        let iteration = launch.and_then(|launch| iterations.of(trace, &launch));
        let counts = iteration.map_or(&mut outside, |place| &mut inside[group_of[place] as usize]);
        counts.all += 1;
        counts.step += u64::from(is_step);
    }
    let mut sizes = vec![0_u64; inside.len()];
    for &group in &group_of {
        sizes[group as usize] += 1;
    }
    let named = groups.all().iter().zip(inside).zip(sizes);
    let named = named.map(|((&(runner, phase), counts), size)| (runner, phase, counts, Some(size)));
    let all = named.chain([(None, None, outside, None)]).filter(|(_, _, counts, _)| counts.all > 0);
    all.map(|(runner, phase, counts, count)| row((runner, phase), counts, count, sequence_length)).collect()
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
        (Some(_), None) => " in each iteration".to_owned(),
        (None, _) => " outside iterations".to_owned(),
    };
    let per_step = row.kernels_per_step.map_or(String::new(), |kernels| format!(", {kernels:.1} for each step"));
    match row.path {
        "persistent" => format!("{whose}cuDNN took the persistent path: {}{of}", kernels(each(counts.all))),
        "stepwise" => format!(
            "{whose}cuDNN went step by step: {}{of}{per_step} (it has a persistent kernel for some types and sizes only)",
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
    use super::*;
    use crate::trace::Reach;
    use crate::trace::aggregate::made::{Made, options};
    use crate::trace::aggregate::summarize;
    use crate::trace::categories::Categories;

    const MAIN: (i64, i64) = (1, 10);

    fn rows(staged: &Made) -> Vec<CudnnRnnRow> {
        summarize(&staged.trace, &options(&Categories::built_in())).cudnn_rnn
    }

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
    fn both_are_mixed_and_what_is_outside_is_said() {
        let mut both = staged(&["RNN_blockPersist_fp_LSTM_HMMA", "elemWiseRNNcell", "elemWiseRNNcell"], &[]);
        both.launch(MAIN, 950, "elemWiseRNNcell", 0, (960, 970));
        let found = rows(&both);
        assert_eq!(
            found.iter().map(|row| (row.path, row.iterations)).collect::<Vec<_>>(),
            [("mixed", Some(2)), ("stepwise", None)]
        );
        assert_eq!(
            found[0].sentence,
            "cudnn/forward: cuDNN took both paths: 1 kernel for whole sequences and 2 kernels for single steps in each iteration"
        );
        assert!(found[1].sentence.starts_with("cuDNN went step by step: 1 kernel outside iterations"));
    }
}
