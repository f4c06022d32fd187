//! As much of GitHub's markdown as rows of tables need.

/// The cells of a row as GitHub cuts it: a pipe ends a cell unless a backslash stands before it. `pairs` is the other
/// reading, in which a backslash may itself be escaped; a row must mean the same in both.
pub(crate) fn cells(row: &str, pairs: bool) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in row.trim().trim_start_matches('|').chars() {
        match (c, escaped, cells.last_mut()) {
            ('|', false, _) => cells.push(String::new()),
            ('|', true, Some(cell)) => {
                cell.pop();
                cell.push('|');
            }
            (c, _, Some(cell)) => cell.push(c),
            (_, _, None) => {}
        }
        escaped = c == '\\' && !(pairs && escaped);
    }
    assert_eq!(cells.pop().as_deref(), Some(""), "the row ends with a pipe: {row}");
    cells.into_iter().map(|cell| cell.get(1..cell.len() - 1).unwrap_or_default().to_owned()).collect()
}

/// What a code span holds by the rules of `CommonMark`; `None` if the cell is anything but one code span.
pub(crate) fn code(cell: &str) -> Option<String> {
    let fence = cell.len() - cell.trim_start_matches('`').len();
    let inner = cell.get(fence..cell.len().checked_sub(fence)?)?;
    let closed = fence > 0 && cell.ends_with(&"`".repeat(fence)) && !inner.is_empty();
    let runs = inner.split(|c| c != '`').map(str::len);
    if !closed || runs.into_iter().any(|run| run == fence) || inner.starts_with('`') || inner.ends_with('`') {
        return None;
    }
    let stripped = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
    Some(stripped.filter(|_| !inner.trim_matches(' ').is_empty()).unwrap_or(inner).to_owned())
}
