//! PELT: the cheapest partition of a series, without looking at every one (Killick, Fearnhead and Eckley, *Optimal Detection
//! of Changepoints with a Linear Computational Cost*, 2012).

use super::candidates::{Candidates, Cost};
use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::stats::samples::check;

/// Number of candidates between two checks for an interruption: a few milliseconds.
const WORK: usize = 1 << 20;

/// Options of a search for change points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePointOptions {
    /// Cost of a segment.
    pub cost: Cost,
    /// Penalty of one more segment; `None` for [`super::default_penalty`].
    pub penalty: Option<f64>,
    /// The fewest samples of a segment; one with a variance has 2 at least.
    pub min_size: usize,
    /// Segments begin at multiples of this only.
    pub jump: usize,
    /// True if the partition must have the lowest cost, which `ruptures` may miss by a little: a candidate is dropped only once
    /// that cannot lose the optimum.
    pub optimal: bool,
}

/// Returns the ends of the segments, and the sum of their costs and penalties.
///
/// A candidate is too dear where its cost, without the penalty of its segment, exceeds the best with that penalty. From
/// there on a segment that begins at the better place is cheaper, but only `min_size` later may one begin there and end.
/// To drop the candidate at once, as ruptures does, may lose the optimum in between.
///
/// `samples` must hold `min_size` finite values.
pub(super) fn partition(
    samples: &[f64],
    options: ChangePointOptions,
    penalty: f64,
    interrupted: &dyn Fn() -> bool,
) -> Result<(Vec<usize>, f64)> {
    let ChangePointOptions { cost, min_size, jump, optimal, .. } = options;
    let n = samples.len();
    let first = min_size.div_ceil(jump).saturating_mul(jump);
    let ends = (first..n).step_by(jump).chain(std::iter::once(n));

    // By multiples of `jump`: the best cost of everything before, and where its last segment begins.
    let mut best = memory::filled((0.0, 0), n / jump + 1);
    let mut candidates = Candidates::default();
    let mut last = (0.0, 0);
    let (mut reached, mut work) = (0, 0);
    let mut ask = |more: usize| {
        work += more;
        if work < WORK {
            return Ok(());
        }
        work = 0;
        check(interrupted)
    };
    for end in ends {
        for &value in &samples[reached..end] {
            candidates.extend(value);
            ask(candidates.len() + 1)?;
        }
        reached = end;
        // Near the end of the series it may be there already, or have been dropped; once more does no harm.
        let begin = (end - min_size) / jump * jump;
        if begin == 0 || begin >= first {
            candidates.push(begin, best[begin / jump].0, &samples[begin..end]);
            ask(end - begin)?;
        }
        let (least, begin) = candidates.cheapest(cost);
        ask(candidates.len())?;
        last = (least + penalty, begin);
        if end < n {
            best[end / jump] = last;
            candidates.prune(last.0, end, if optimal { min_size } else { 0 });
        }
    }
    Ok((ends_from(n, last.1, jump, &best), last.0))
}

fn ends_from(n: usize, mut begin: usize, jump: usize, best: &[(f64, usize)]) -> Vec<usize> {
    let mut ends = vec![n];
    while begin > 0 {
        ends.put(begin);
        begin = best[begin / jump].1;
    }
    ends.reverse();
    ends
}
