//! Kernels and categories of captures, for a pull request.

use super::captures;
use super::document::Comparison;
use super::escape::{code_cell, code_span};
use super::kernel_lines::{self, COLUMNS, FIGURES, Line};

/// The blocks of a comparison of captures.
pub(super) fn blocks(comparison: &Comparison) -> Vec<String> {
    let (shown, left) = kernel_lines::kernels(comparison);
    let kernels =
        shown.iter().map(kernel_lines::kernel).chain(comparison.device_time.iter().map(kernel_lines::category));
    let renamed = shown.iter().filter_map(|kernel| {
        let former = kernel.former_name()?;
        Some(format!("- {} was {}, of the same shape\n", code_span(&kernel.change.name), code_span(former)))
    });
    vec![
        format!("{}\n", captures::heading(comparison)),
        table(&kernel_lines::headings(comparison, "kernel"), kernels),
        kernel_lines::more(left).map_or_else(String::new, |more| format!("{more}\n")),
        renamed.collect(),
        table(
            &kernel_lines::headings(comparison, "category"),
            comparison.categories.iter().map(kernel_lines::category),
        ),
    ]
}

/// The name stands first here: tables that are too wide are cut on the right.
fn table(headings: &Line, lines: impl Iterator<Item = Line>) -> String {
    const NAME: usize = COLUMNS - 1;
    let row = |name: String, line: &Line| format!("| {name} | {} |\n", line[..NAME].join(" | "));
    let aligns = (0..NAME).map(|index| if index < FIGURES { "---:|" } else { "---|" });
    let head = row(headings[NAME].clone(), headings);
    let lines = lines.map(|line| row(code_cell(&line[NAME]), &line));
    format!("{head}|---|{}\n{}", aligns.collect::<String>(), lines.collect::<String>())
}
