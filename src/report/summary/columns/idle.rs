//! What the columns of idle time are.

use super::{Columns, column, screen, summed};
use crate::report::summary::value::Unit::{Nanoseconds, Plain, Text};
use crate::trace::IdleRow;

pub(in crate::report::summary) static IDLE: Columns<IdleRow> = &[
    summed("total", "total_ns", Nanoseconds, |row, _| row.total_ns.into()),
    summed("count", "count", Plain, |row, _| row.count.into()),
    column("device", "device_id", Plain, |row, _| row.device_id.into()),
    column("cause", "cause", Text, |row, _| row.cause.into()),
    screen("meanwhile", Text, |row, _| meaning(row.cause).into()),
];

/// What went on while the device waited, in a few words.
fn meaning(cause: &str) -> &'static str {
    match cause {
        "graph_gap" => "one CUDA graph went from node to node",
        "unmatched" => "nobody knows which call launched what came next",
        "launch" => "the call that launched what came next was under way",
        "synchronization" => "the host waited for the device",
        "allocation" => "the host allocated or freed memory",
        "data_loader" => "the host waited for data",
        "host" => "the host had not launched anything: Python, the framework",
        "dependency" => "what came next was launched already, and waited for other work",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The causes of the table in `docs/idle.md`.
    #[test]
    fn every_cause_is_said_in_words() {
        let causes =
            ["graph_gap", "unmatched", "launch", "synchronization", "allocation", "data_loader", "host", "dependency"];
        let mut words: Vec<_> = causes.into_iter().map(meaning).collect();
        words.sort_unstable();
        words.dedup();
        assert!(words.len() == causes.len() && !words.contains(&""), "{words:?}");
    }
}
