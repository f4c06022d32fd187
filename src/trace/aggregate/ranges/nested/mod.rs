//! Ranges within ranges, by name, with the activities that were launched in each: for a plot.
//!
//! A range is nested in the innermost one that encloses it, of its thread or of its process.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::innermost::{Innermost, Open};
use super::scopes::Scopes;
use super::sums::Sum;
use crate::memory::{Room as _, collected, filled};
use crate::trace::aggregate::calls::NONE;
use crate::trace::aggregate::launched::Launch;
use crate::trace::aggregate::select::Chosen;
use crate::trace::{NestedRange, Trace};

#[cfg(test)]
mod tests;

/// Most rows with a name: those with the most device time.
const MOST: usize = 300;
/// So many ranges of processes are looked at for all their threads together; beyond that, threads have their own alone.
const MOST_OF_PROCESSES: usize = 1 << 22;

/// Ranges by their names and those of the ranges around them.
pub(super) struct Nested {
    /// By scope.
    lines: Vec<Line>,
    tree: Tree,
}

/// Ranges of a thread and of its process.
struct Line {
    /// Open ranges, each with its node of the tree.
    innermost: Innermost,
    /// Place of the last call.
    near: usize,
}

#[derive(Default)]
struct Tree {
    places: FxHashMap<(u32, u32), u32>,
    /// Parents come before what is nested in them.
    nodes: Vec<Node>,
}

struct Node {
    parent: u32,
    row: u32,
    count: u64,
    /// Launches of which it is the innermost.
    sum: Sum,
}

impl Tree {
    fn node(&mut self, parent: u32, row: u32) -> u32 {
        if let Some(&place) = self.places.get(&(parent, row)) {
            return place;
        }
        let place = self.nodes.len() as u32;
        self.nodes.put(Node { parent, row, count: 0, sum: Sum::default() });
        self.places.put(((parent, row), place));
        place
    }

    /// Replaces rows by nodes.
    fn nest(&mut self, opens: &mut [Open]) {
        opens.sort_unstable_by_key(Open::depth);
        let mut around: Vec<(i64, u32)> = Vec::new();
        for open in opens {
            // What ends before this one encloses nothing that comes later and that this one does not enclose.
            while around.last().is_some_and(|&(last, _)| last < open.last) {
                around.pop();
            }
            open.what = self.node(around.last().map_or(NONE, |&(_, node)| node), open.what);
            around.put((open.last, open.what));
        }
    }
}

impl Nested {
    /// Nests ranges. `opens` has those of each scope, with their rows.
    pub(super) fn of(trace: &Trace, chosen: &Chosen<'_>, scopes: &Scopes, opens: &[Vec<Open>]) -> Self {
        let process_of = |scope: usize| scopes.process_of(scope).filter(|&process| process != scope);
        let shared =
            (0..opens.len()).filter_map(process_of).fold(0_usize, |sum, one| sum.saturating_add(opens[one].len()));
        let (mut tree, mut nodes) = (Tree::default(), filled(NONE, trace.ranges.len()));
        let mut lines: Vec<Option<Line>> = collected(opens.iter().map(|_| None));
        // Ranges of processes first, to know which have another path in a thread.
        let mut order: Vec<usize> = collected(0..opens.len());
        order.sort_by_key(|&scope| process_of(scope).is_some());
        for scope in order {
            let outer: &[Open] = match process_of(scope) {
                Some(process) if shared <= MOST_OF_PROCESSES => &opens[process],
                _ => &[],
            };
            let mut all = collected(opens[scope].iter().chain(outer).copied());
            tree.nest(&mut all);
            for open in &all {
                let node = &mut nodes[open.order as usize];
                if *node != open.what && chosen.range(&trace.ranges[open.order as usize]) {
                    tree.nodes[open.what as usize].count += 1;
                }
                *node = if *node == NONE { open.what } else { *node };
            }
            lines[scope] = Some(Line { innermost: Innermost::of(all), near: 0 });
        }
        Self { lines: collected(lines.into_iter().flatten()), tree }
    }

    /// Adds the launches of a call.
    pub(super) fn add(&mut self, launch: &Launch, scopes: &Scopes, sum: Sum) {
        for scope in scopes.around(launch.callee).each() {
            let line = &mut self.lines[scope];
            let Some(piece) = line.innermost.piece(launch.start, line.near) else { continue };
            line.near = piece;
            if let Some(open) = line.innermost.inside(piece) {
                self.tree.nodes[open.what as usize].sum += sum;
                return;
            }
        }
    }

    /// The rows with the most device time, each after the one that encloses it. `name` has the name and domain of a row.
    pub(super) fn rows(self, name: impl Fn(u32) -> (String, Option<String>)) -> Vec<NestedRange> {
        let nodes = self.tree.nodes;
        let mut inclusive: Vec<Sum> = collected(nodes.iter().map(|node| node.sum));
        let mut below: Vec<u64> = filled(0, nodes.len());
        for (place, node) in nodes.iter().enumerate().rev() {
            below[place] += u64::from(inclusive[place] != Sum::default());
            if node.parent != NONE {
                let (sum, count) = (inclusive[place], below[place]);
                inclusive[node.parent as usize] += sum;
                below[node.parent as usize] += count;
            }
        }
        let largest = |&place: &u32| (Reverse(inclusive[place as usize].ns), place);
        let mut kept: Vec<u32> =
            collected((0..nodes.len() as u32).filter(|&place| inclusive[place as usize] != Sum::default()));
        kept.sort_unstable_by_key(largest);
        let rest = kept.split_off(kept.len().min(MOST));
        // By parent: what is nested in it, the longest first, and the sum of what is left out.
        let mut nested: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &place in &kept {
            nested.room(1);
            nested.entry(nodes[place as usize].parent).or_default().put(place);
        }
        let mut folded: FxHashMap<u32, NestedRange> = FxHashMap::default();
        let cut = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        for &place in &rest {
            let parent = nodes[place as usize].parent;
            if parent == NONE || largest(&parent) < largest(&rest[0]) {
                folded.room(1);
                let row = folded.entry(parent).or_insert_with(NestedRange::folded);
                row.count += nodes[place as usize].count;
                row.gpu_inclusive_ns = row.gpu_inclusive_ns.saturating_add(cut(inclusive[place as usize].ns));
                row.gpu_exclusive_ns = row.gpu_inclusive_ns;
                row.kernel_count += inclusive[place as usize].kernels;
                row.folded_count += below[place as usize];
            }
        }
        let mut rows: Vec<NestedRange> = Vec::new();
        // Nodes with the place of their parent's row; the last is next.
        let mut waiting: Vec<(u32, Option<u32>)> = Vec::new();
        let children =
            |node: u32, parent: Option<u32>, waiting: &mut Vec<(u32, Option<u32>)>, rows: &mut Vec<NestedRange>| {
                for &place in nested.get(&node).into_iter().flatten().rev() {
                    waiting.put((place, parent));
                }
                if let Some(row) = folded.get(&node) {
                    rows.put(NestedRange { parent, ..row.clone() });
                }
            };
        children(NONE, None, &mut waiting, &mut rows);
        while let Some((place, parent)) = waiting.pop() {
            let (node, sum, here) = (&nodes[place as usize], inclusive[place as usize], rows.len() as u32);
            let (name, domain) = name(node.row);
            rows.put(NestedRange {
                name: Some(name),
                domain,
                parent,
                count: node.count,
                gpu_inclusive_ns: cut(sum.ns),
                gpu_exclusive_ns: cut(node.sum.ns),
                kernel_count: sum.kernels,
                folded_count: 0,
            });
            children(place, Some(here), &mut waiting, &mut rows);
        }
        rows
    }
}

impl NestedRange {
    /// A row for the smallest ranges together.
    fn folded() -> Self {
        Self {
            name: None,
            domain: None,
            parent: None,
            count: 0,
            gpu_inclusive_ns: 0,
            gpu_exclusive_ns: 0,
            kernel_count: 0,
            folded_count: 0,
        }
    }
}
