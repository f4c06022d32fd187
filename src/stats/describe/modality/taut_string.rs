//! The taut string: the shortest way through a band around the samples' distribution function.
//!
//! Of all distribution functions within the band it is one whose density has the fewest local maxima (Davies and Kovac,
//! *Local Extremes, Runs, Strings and Multiresolution*, The Annals of Statistics 29, 2001). It is pulled through from both
//! ends of the samples, and found as the shortest way through a corridor is: by the funnel of what can be seen from the last
//! corner.

use std::collections::VecDeque;

use super::steps::Steps;
use crate::error::Result;
use crate::memory::{self, Room as _};
use crate::stats::samples::check;

/// Steps between which the caller is asked: a few milliseconds.
const PART: usize = 1 << 16;

/// A straight piece of the string, between two steps of the distribution function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The density there; infinite where so many samples share a value that the band must rise at once.
    pub(super) slope: f64,
}

/// The pieces of the string through the band of so many samples on either side of the distribution function.
pub(super) fn taut_string(steps: &Steps, half_width: f64, interrupted: &dyn Fn() -> bool) -> Result<Vec<Piece>> {
    let last = steps.len() - 1;
    // Left of its step the function may be so high, right of it must be at least so high.
    let ceiling = |i: usize| Point { step: i, x: steps.at[i], y: steps.below(i) as f64 + half_width };
    let floor = |i: usize| Point { step: i, x: steps.at[i], y: steps.up_to(i) as f64 - half_width };
    let mut funnel = Funnel::new(ceiling(0));
    for i in 0..=last {
        if i % PART == 0 {
            check(interrupted)?;
        }
        if floor(i).y > ceiling(i).y {
            if i > 0 {
                funnel.end(ceiling(i));
            }
            funnel.jump(floor(i));
        } else if i == last {
            funnel.end(floor(i));
        } else if i > 0 {
            funnel.add(ceiling(i), floor(i));
        }
    }
    let piece = |ends: &[Point]| Piece { from: ends[0].step, to: ends[1].step, slope: ends[0].slope(ends[1]) };
    Ok(memory::collected(funnel.path.windows(2).map(piece)))
}

#[derive(Debug, Clone, Copy)]
struct Point {
    step: usize,
    x: f64,
    y: f64,
}

impl Point {
    fn slope(self, other: Self) -> f64 {
        if self.step == other.step { f64::INFINITY } else { (other.y - self.y) / (other.x - self.x) }
    }

    /// Returns true if the line to `one` is steeper than that to `other`, both to the right.
    fn steeper(self, one: Self, other: Self) -> bool {
        (one.y - self.y) * (other.x - self.x) > (other.y - self.y) * (one.x - self.x)
    }
}

/// Region that is visible from the last corner: between a convex chain under the ceilings and a concave one over the floors.
struct Funnel {
    path: Vec<Point>,
    apex: Point,
    ceilings: VecDeque<Point>,
    floors: VecDeque<Point>,
}

impl Funnel {
    fn new(apex: Point) -> Self {
        Self { path: vec![apex], apex, ceilings: VecDeque::new(), floors: VecDeque::new() }
    }

    fn add(&mut self, ceiling: Point, floor: Point) {
        let (apex, path) = (&mut self.apex, &mut self.path);
        extend(apex, path, &mut self.ceilings, &mut self.floors, ceiling, Point::steeper);
        extend(apex, path, &mut self.floors, &mut self.ceilings, floor, |from, one, other| from.steeper(other, one));
    }

    /// Pulls the string up to `end`.
    fn end(&mut self, end: Point) {
        let (apex, path) = (&mut self.apex, &mut self.path);
        extend(apex, path, &mut self.floors, &mut self.ceilings, end, |from, one, other| from.steeper(other, one));
        path.room(self.floors.len());
        path.extend(self.floors.drain(..));
        self.ceilings.clear();
        self.apex = end;
    }

    /// Goes on from `to`, straight above.
    fn jump(&mut self, to: Point) {
        self.path.put(to);
        self.apex = to;
    }
}

/// Adds a point to one chain and removes the points that it hides. If it is visible past corners of the other chain, the string
/// bends there.
fn extend(
    apex: &mut Point,
    path: &mut Vec<Point>,
    chain: &mut VecDeque<Point>,
    other: &mut VecDeque<Point>,
    point: Point,
    beyond: impl Fn(Point, Point, Point) -> bool,
) {
    // A corner stays while the chain bends there: while it does not lie beyond the line from the one before to the new one.
    while let Some(&last) = chain.back() {
        let before = if chain.len() > 1 { chain[chain.len() - 2] } else { *apex };
        if beyond(before, point, last) {
            break;
        }
        chain.pop_back();
    }
    if chain.is_empty() {
        while let Some(&corner) = other.front()
            && beyond(*apex, corner, point)
        {
            path.put(corner);
            *apex = corner;
            other.pop_front();
        }
    }
    chain.put(point);
}
