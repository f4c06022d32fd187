//! Changes of a text whose lines have columns: lines and cells are moved as wholes.

use fastrand::Rng;

type Lines = Vec<Vec<Vec<u8>>>;

/// Values of cells that nvprof prints.
const CELLS: [&str; 16] = [
    "",
    "0",
    "-1",
    "1",
    "2.5",
    "1e3",
    "18446744073709551616",
    "ns",
    "us",
    "ms",
    "s",
    "%",
    "MB",
    "\"k\"",
    "\"G (0)\"",
    "<OVERFLOW>",
];

/// The text with lines or cells changed, moved, repeated or removed.
#[allow(clippy::unnecessary_wraps, reason = "other forms are not of every text")]
pub(crate) fn changed(text: &[u8], dice: &mut Rng) -> Option<Vec<u8>> {
    let mut lines = split(text);
    for _ in 0..dice.usize(1..4) {
        let (from, to) = (dice.usize(..lines.len()), dice.usize(..lines.len()));
        match dice.u8(..6) {
            0 => lines.insert(to, lines[from].clone()),
            1 if lines.len() > 1 => drop(lines.remove(from)),
            2 => lines.swap(from, to),
            3 => {
                let other = cell(&lines[to], dice);
                replace(&mut lines[from], other, dice);
            }
            4 => replace(&mut lines[from], CELLS[dice.usize(..CELLS.len())].into(), dice),
            _ => {
                let (cells, other) = (lines[to].clone(), dice.usize(..=lines[from].len()));
                match dice.u8(..3) {
                    0 => lines[from].insert(other, cell(&cells, dice)),
                    1 if lines[from].len() > 1 => drop(lines[from].remove(other.saturating_sub(1))),
                    _ => lines[from].reverse(),
                }
            }
        }
    }
    Some(join(&lines))
}

/// The text with lines, or a cell, of another text.
#[allow(clippy::unnecessary_wraps, reason = "other forms are not of every text")]
pub(crate) fn crossed(text: &[u8], other: &[u8], dice: &mut Rng) -> Option<Vec<u8>> {
    let (mut lines, other) = (split(text), split(other));
    let (place, from) = (dice.usize(..lines.len()), dice.usize(..other.len()));
    if dice.bool() {
        replace(&mut lines[place], cell(&other[from], dice), dice);
    } else {
        let behind = dice.usize(from..other.len()) + 1;
        lines.splice(place..place, other[from..behind].iter().cloned());
    }
    Some(join(&lines))
}

fn cell(line: &[Vec<u8>], dice: &mut Rng) -> Vec<u8> {
    line[dice.usize(..line.len())].clone()
}

fn replace(line: &mut [Vec<u8>], by: Vec<u8>, dice: &mut Rng) {
    let place = dice.usize(..line.len());
    line[place] = by;
}

/// No line is without a cell, and no text without a line.
fn split(text: &[u8]) -> Lines {
    text.split(|one| *one == b'\n').map(|line| line.split(|one| *one == b',').map(<[u8]>::to_vec).collect()).collect()
}

fn join(lines: &Lines) -> Vec<u8> {
    lines.iter().map(|cells| cells.join(&b',')).collect::<Vec<_>>().join(&b'\n')
}
