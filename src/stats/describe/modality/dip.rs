//! The dip statistic, by the algorithm of Hartigan and Hartigan, *The Dip Test of Unimodality* (The Annals of Statistics 13,
//! 1985), section 4.
//!
//! A distribution with one mode is convex below it and concave above. The greatest convex function below the samples'
//! distribution function and the least concave one above are taken within an interval that is then narrowed to where they
//! are farthest apart; what was cut off on either side says how far the samples are from convex and from concave there.
//! Heights are whole numbers of samples, so that the result has no rounding but that of the lines between two of them.

use super::steps::Steps;
use crate::error::Result;
use crate::memory;
use crate::stats::samples::check;

/// Steps between which the caller is asked: a millisecond or two.
const PART: usize = 1 << 16;

/// The dip: the largest distance between the distribution function of the samples and the nearest one with a single mode.
///
/// From 1/(2n) to 1/4, but 0 where all samples are the same.
pub(super) fn dip(steps: &Steps, interrupted: &dyn Fn() -> bool) -> Result<f64> {
    if steps.len() == 1 {
        return Ok(0.0);
    }
    let (convex, concave) = (Hulls::of(steps, true, interrupted)?, Hulls::of(steps, false, interrupted)?);
    let (mut low, mut high) = (0, steps.len() - 1);
    // Twice the dip, in samples: no function comes nearer to a step than half of it.
    let mut twice = 1.0_f64;
    loop {
        check(interrupted)?;
        let (below, above) = (convex.between(low, high), concave.between(low, high));
        let apart = farthest(&convex, &below, &concave, &above);
        if apart.distance <= twice {
            break;
        }
        // The steps at the new ends are the mode's own: it may rise by any of them at once.
        for piece in below.windows(2).take_while(|piece| piece[0] < apart.low) {
            let line = convex.line(piece[0], piece[1]);
            twice = (piece[0]..piece[1]).fold(twice, |most, i| most.max(steps.up_to(i) as f64 - line.at(steps.at[i])));
        }
        for piece in above.windows(2).rev().take_while(|piece| piece[1] > apart.high) {
            let line = concave.line(piece[0], piece[1]);
            let rises = piece[0] + 1..=piece[1];
            twice = rises.fold(twice, |most, i| most.max(line.at(steps.at[i]) - steps.below(i) as f64));
        }
        if (apart.low, apart.high) == (low, high) {
            break;
        }
        (low, high) = (apart.low, apart.high);
    }
    Ok(twice / (2 * steps.samples()) as f64)
}

/// For every step, which one comes before it on the convex hull of all steps up to there; for the concave hull, which one
/// comes after it on that of all from there on.
///
/// A corner of a hull is a corner of any part's hull that has it, so that these are all hulls that the narrowing asks for.
struct Hulls<'a> {
    steps: &'a Steps,
    is_convex: bool,
    next: Vec<usize>,
}

impl<'a> Hulls<'a> {
    fn of(steps: &'a Steps, is_convex: bool, interrupted: &dyn Fn() -> bool) -> Result<Self> {
        let last = steps.len() - 1;
        let mut hulls = Self { steps, is_convex, next: memory::filled(0, steps.len()) };
        // The concave hull is built from its far end, and then walked from the low one.
        let place = |i: usize| if is_convex { i } else { last - i };
        let end = place(0);
        hulls.next[end] = end;
        for i in 1..=last {
            if i % PART == 0 {
                check(interrupted)?;
            }
            let new = place(i);
            let mut corner = place(i - 1);
            while corner != end && !hulls.turns(hulls.next[corner], corner, new) {
                corner = hulls.next[corner];
            }
            hulls.next[new] = corner;
        }
        Ok(hulls)
    }

    /// The height of the hull at a corner: the foot of the step for the one below, its top for the one above.
    fn height(&self, step: usize) -> usize {
        if self.is_convex { self.steps.below(step) } else { self.steps.up_to(step) }
    }

    /// Returns true if the middle one of three steps is a corner: lies beyond the line between the others.
    fn turns(&self, first: usize, middle: usize, last: usize) -> bool {
        let across = |one: usize, other: usize| (self.steps.at[one] - self.steps.at[other]).abs();
        let up = |one: usize, other: usize| self.height(one).abs_diff(self.height(other)) as f64;
        up(first, middle) * across(middle, last) < up(middle, last) * across(first, middle)
    }

    /// The corners from `low` to `high`, both of which are some.
    fn between(&self, low: usize, high: usize) -> Vec<usize> {
        let (begin, end) = if self.is_convex { (high, low) } else { (low, high) };
        let mut corners = vec![begin];
        let mut corner = begin;
        while corner != end {
            corner = self.next[corner];
            corners.push(corner);
        }
        if self.is_convex {
            corners.reverse();
        }
        corners
    }

    fn line(&self, from: usize, to: usize) -> Line {
        let (height, rise) = (self.height(from), self.height(to) - self.height(from));
        let (from, to) = (self.steps.at[from], self.steps.at[to]);
        Line { from, height: height as f64, rise: rise as f64, run: to - from }
    }
}

/// The line between two corners.
struct Line {
    from: f64,
    height: f64,
    rise: f64,
    run: f64,
}

impl Line {
    fn at(&self, value: f64) -> f64 {
        self.height + self.rise * ((value - self.from) / self.run)
    }
}

/// Place where two hulls are farthest apart, and the corners of both around that place.
struct Apart {
    distance: f64,
    low: usize,
    high: usize,
}

fn farthest(convex: &Hulls, below: &[usize], concave: &Hulls, above: &[usize]) -> Apart {
    let mut apart = Apart { distance: 0.0, low: below[0], high: above[above.len() - 1] };
    // At each corner of the convex hull; the mode's interval then ends at the next corner of the concave one.
    let mut next = 0;
    for &corner in below {
        while above[next] < corner {
            next += 1;
        }
        let distance = height_at(concave, above, next, corner) - convex.height(corner) as f64;
        if distance > apart.distance {
            apart = Apart { distance, low: corner, high: above[next] };
        }
    }
    // The other way round.
    let mut next = 0;
    for &corner in above {
        while below[next] < corner {
            next += 1;
        }
        let distance = concave.height(corner) as f64 - height_at(convex, below, next, corner);
        if distance > apart.distance {
            let low = if below[next] == corner { corner } else { below[next - 1] };
            apart = Apart { distance, low, high: corner };
        }
    }
    apart
}

/// Returns the height of the hull at a step, given its first corner that is not before the step.
fn height_at(hull: &Hulls, corners: &[usize], next: usize, step: usize) -> f64 {
    if corners[next] == step {
        return hull.height(step) as f64;
    }
    hull.line(corners[next - 1], corners[next]).at(hull.steps.at[step])
}
