//! Names of ranges: runner, phase and iteration, and the part without a number.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::memory::collected;
use crate::trace::Trace;

/// Numbers of a single call in the texts of `torch.autograd.profiler.emit_nvtx`; sizes describe the work, and stay.
static NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r", (?:(?:stashed )?seq ?= ?-?[0-9]+|op_id = [0-9]+)").expect("an expression"));
/// The same for lists of numbers. In one expression with the others, each match would look for the bracket up to the end of the
/// name, which takes the square of its length.
static LISTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r", input_op_ids = \[.*\]").expect("an expression"));

/// Mark of an iteration by a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trace::aggregate) enum Mark {
    /// A range of ours, with the number of the iteration.
    Ours(u64),
    /// A phase that our run under torch's profiler marks; iterations have no number.
    Phase,
    /// A step of torch's profiler.
    Step(u64),
}

/// Parsed name of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::trace::aggregate) struct Called<'a> {
    /// Common name of all ranges of its row.
    pub(in crate::trace::aggregate) group: Cow<'a, str>,
    pub(in crate::trace::aggregate) runner: Option<&'a str>,
    pub(in crate::trace::aggregate) phase: Option<&'a str>,
    pub(in crate::trace::aggregate) mark: Option<Mark>,
}

impl<'a> Called<'a> {
    pub(in crate::trace::aggregate) fn of(name: &'a str) -> Self {
        let other = |group| Self { group, runner: None, phase: None, mark: None };
        if let Some(ours) = ours(name) {
            return ours;
        }
        match name {
            "## forward ##" => Self { phase: Some("forward"), mark: Some(Mark::Phase), ..other(name.into()) },
            "## backward ##" => Self { phase: Some("backward"), mark: Some(Mark::Phase), ..other(name.into()) },
            _ => match name.strip_prefix("ProfilerStep#").and_then(number) {
                Some(step) => Self { mark: Some(Mark::Step(step)), ..other("ProfilerStep".into()) },
                // Most names have none of this, and looking for the space is quicker than the expression.
                None if name.contains(", ") => other(without_numbers(name)),
                None => other(name.into()),
            },
        }
    }

    /// Parses each label of a trace; the runner of its file is that of marks without a runner.
    pub(in crate::trace::aggregate) fn of_labels(trace: &'a Trace) -> Vec<Self> {
        collected(trace.labels.all().iter().map(|label| {
            let mut called = Self::of(trace.names.text(label.name));
            if called.mark.is_some() {
                called.runner = called.runner.or_else(|| label.runner.map(|runner| trace.names.text(runner)));
            }
            called
        }))
    }

    /// Returns true if the name has a phase, and so describes the work of a process.
    pub(in crate::trace::aggregate) fn is_ours(&self) -> bool {
        matches!(self.mark, Some(Mark::Ours(_) | Mark::Phase))
    }
}

/// Removes what differs from call to call.
fn without_numbers(name: &str) -> Cow<'_, str> {
    match LISTS.replace_all(name, "") {
        Cow::Borrowed(name) => NUMBERS.replace_all(name, ""),
        Cow::Owned(name) => NUMBERS.replace_all(&name, "").into_owned().into(),
    }
}

/// `RUNNER/forward/3`.
fn ours(name: &str) -> Option<Called<'_>> {
    let (group, index) = name.rsplit_once('/')?;
    let (runner, phase) = group.rsplit_once('/')?;
    let mark = Some(Mark::Ours(number(index)?));
    let known = !runner.is_empty() && matches!(phase, "forward" | "backward");
    known.then(|| Called { group: group.into(), runner: Some(runner), phase: Some(phase), mark })
}

/// Digits only: `parse` takes a sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(name: &str) -> String {
        Called::of(name).group.into_owned()
    }

    #[test]
    fn ours_say_runner_phase_and_number() {
        let called = Called::of("jit/premul/backward/12");
        assert_eq!(
            (&*called.group, called.runner, called.phase),
            ("jit/premul/backward", Some("jit/premul"), Some("backward"))
        );
        assert_eq!(called.mark, Some(Mark::Ours(12)));
        for other in ["/forward/1", "forward/1", "a/forward/", "a/forward/+1", "a/sideways/1", "a/forward/1x"] {
            assert_eq!(Called::of(other).mark, None, "{other}");
            assert_eq!(grouped(other), other);
        }
        assert_eq!(Called::of("a/forward/99999999999999999999").mark, None);
    }

    #[test]
    fn torchs_marks_and_steps() {
        let forward = Called::of("## forward ##");
        assert_eq!((forward.runner, forward.phase, forward.mark), (None, Some("forward"), Some(Mark::Phase)));
        assert!(forward.is_ours() && !Called::of("ProfilerStep#7").is_ours());
        assert_eq!(
            (grouped("ProfilerStep#7"), Called::of("ProfilerStep#7").mark),
            ("ProfilerStep".into(), Some(Mark::Step(7)))
        );
        assert_eq!(grouped("ProfilerStep#x"), "ProfilerStep#x");
    }

    #[test]
    fn calls_of_one_operator_are_one() {
        for (name, group) in [
            ("aten::add, op_id = 41", "aten::add"),
            ("aten::mm, seq = 12, op_id = 7", "aten::mm"),
            ("AddBackward0, stashed seq=3", "AddBackward0"),
            (
                "aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], [3]], input_op_ids = [(5,0), (6,1)]",
                "aten::mm, sizes = [[2, 3], [3]]",
            ),
            ("f, input_op_ids = [1], seq = 2, g]", "f"),
            ("f, input_op_ids = [1, seq = 2, g", "f, input_op_ids = [1, g"),
            ("load, then seq", "load, then seq"),
        ] {
            assert_eq!(grouped(name), group);
        }
    }

    /// It took minutes, and four times as long for twice the length.
    #[test]
    fn a_long_name_without_the_bracket_comes_to_its_end() {
        let (list, count) = (", input_op_ids = [", 100_000);
        assert_eq!(grouped(&format!("{list}, seq = 1").repeat(count)), list.repeat(count));
    }
}
