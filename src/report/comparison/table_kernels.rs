//! Kernels and categories of captures, as aligned columns.

use super::align::{Align, pad, width};
use super::captures;
use super::document::Comparison;
use super::escape::visible;
use super::kernel_lines::{self, COLUMNS, FIGURES, Line};
use super::words;

const GAP: &str = "  ";
/// Longer names are cut in the middle: what tells templates apart stands at either end.
const LONGEST_NAME: usize = 90;
/// So many characters of such a name are shown from its end.
const TAIL: usize = 36;

/// The blocks of a comparison of captures.
pub(super) fn blocks(comparison: &Comparison) -> Vec<String> {
    let (shown, left) = kernel_lines::kernels(comparison);
    let kernels =
        shown.iter().map(kernel_lines::kernel).chain(comparison.device_time.iter().map(kernel_lines::category));
    let mut lines = draw(kernel_lines::headings(comparison, "kernel"), kernels);
    lines.extend(kernel_lines::more(left).map(|more| format!("{more}\n")));
    let renamed = shown.iter().filter_map(|kernel| {
        let former = kernel.former_name()?;
        Some(format!("{} was {}, of the same shape\n", visible(&kernel.change.name), visible(former)))
    });
    let categories = comparison.categories.iter().map(kernel_lines::category);
    vec![
        format!("{}\n", captures::heading(comparison)),
        lines.concat(),
        renamed.collect(),
        draw(kernel_lines::headings(comparison, "category"), categories).concat(),
        format!("{}\n", words::counts(&comparison.counts)),
    ]
}

/// Columns without any text are left out.
fn draw(headings: Line, lines: impl Iterator<Item = Line>) -> Vec<String> {
    let lines: Vec<Line> = lines.map(|line| line.map(|cell| cut(&visible(&cell)))).collect();
    let is_empty = |index: usize| lines.iter().all(|line| line[index].is_empty());
    let wanted: Vec<usize> = (0..COLUMNS).filter(|&index| !is_empty(index)).collect();
    let all: Vec<Line> = std::iter::once(headings).chain(lines).collect();
    let column = |index: usize| all.iter().map(|line| width(&line[index])).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(column);
    let align = |index| if index < FIGURES { Align::Right } else { Align::Left };
    let draw = |line: &Line| {
        let cells: Vec<_> = wanted.iter().map(|&index| pad(&line[index], widths[index], align(index))).collect();
        format!("{}\n", cells.join(GAP).trim_end())
    };
    all.iter().map(draw).collect()
}

fn cut(name: &str) -> String {
    let count = name.chars().count();
    if count <= LONGEST_NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(LONGEST_NAME - TAIL - 1).collect();
    let tail: String = name.chars().skip(count - TAIL).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = format!("begin{}end", "é".repeat(200));
        let short = cut(&name);
        assert_eq!(short.chars().count(), LONGEST_NAME);
        assert!(short.starts_with("beginé") && short.ends_with("éend") && short.contains('…'));
        assert_eq!(cut("short"), "short");
    }
}
