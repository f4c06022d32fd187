//! Annotations of the program: `record_function`, the profiler's steps, and ranges of other tools in traces that we have
//! merged.

use super::meaning::number;
use super::value::{Fault, Value, members};
use crate::trace::{Reach, Source};

/// Prefixes of torch's own annotations: until 2021 they were written as operators.
const ANNOTATION_PREFIXES: [&[u8]; 4] = [b"ProfilerStep#", b"enumerate(DataLoader)", b"Optimizer.", b"## "];
/// Our marks of phases. Kernels of the second are launched by autograd's thread.
const PHASES: [&[u8]; 2] = [b"## forward ##", b"## backward ##"];

/// Returns true if an operator with this name is an annotation.
#[inline]
pub(super) fn is_annotation_name(name: Value<'_>) -> bool {
    let Value::Text(name) = name else { return false };
    name.first().is_some_and(|&letter| may_begin(letter))
        && ANNOTATION_PREFIXES.iter().any(|begin| name.starts_with(begin))
}

/// Returns true if the name of an annotation may begin with this letter; a backslash begins names that must be parsed.
pub(super) fn may_begin(letter: u8) -> bool {
    matches!(letter, b'P' | b'e' | b'O' | b'#' | b'\\')
}

/// Arguments of an annotation, in traces that we have merged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RangeArguments<'a> {
    pub(super) domain: Option<Value<'a>>,
    pub(super) runner: Option<Value<'a>>,
    thread: Option<Value<'a>>,
    is_nvtx: bool,
    is_of_process: bool,
    /// True if it was never closed.
    pub(super) is_open: bool,
}

impl<'a> RangeArguments<'a> {
    /// The arguments at the beginning of a text.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        let mut given = Self::default();
        if text.starts_with(b"{") {
            members(text, 0, |key, value| match key {
                b"range domain" => given.domain = Some(value),
                b"range runner" => given.runner = Some(value),
                b"range thread" => given.thread = Some(value),
                b"range source" => given.is_nvtx = value == Value::Text(b"nvtx"),
                b"range reach" => given.is_of_process = value == Value::Text(b"process"),
                b"range open" => given.is_open = value == Value::Bare(b"true"),
                _ => {}
            })?;
        }
        Ok(given)
    }

    /// Returns the tool that recorded it.
    pub(super) fn source(&self) -> Source {
        if self.is_nvtx { Source::Nvtx } else { Source::RecordFunction }
    }

    /// Returns the threads whose calls belong to an annotation with this name on `thread`.
    pub(super) fn reach(&self, name: Option<Value<'_>>, thread: Option<Value<'_>>) -> Reach {
        let is_phase = matches!(name, Some(Value::Text(name)) if PHASES.contains(&name));
        // Of a merged trace the arguments say it, whatever the name: a pushed range of NVTX may be called so too.
        if self.is_of_process || (is_phase && self.thread.is_none()) {
            Reach::Process
        } else {
            Reach::Thread(self.thread.or(thread).and_then(number))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_differ_from_annotations() {
        for name in ["ProfilerStep#7", "enumerate(DataLoader)#x.__next__", "Optimizer.step#SGD.step", "## forward ##"] {
            assert!(is_annotation_name(Value::Text(name.as_bytes())), "{name}");
        }
        for name in ["aten::mm", "", "Profiler", "enumerate", "#", "OptimizerX", "ProfilerStep"] {
            assert!(!is_annotation_name(Value::Text(name.as_bytes())), "{name}");
        }
    }

    #[test]
    fn phases_are_of_their_process() {
        let given = RangeArguments::parse(b"{}").expect("an object");
        let thread = Some(Value::Bare(b"7"));
        assert_eq!(given.reach(Some(Value::Text(b"x")), thread), Reach::Thread(Some(7)));
        assert_eq!(given.reach(Some(Value::Text(b"## backward ##")), thread), Reach::Process);
        let given = RangeArguments::parse(br#"{"range thread": 8, "range source": "nvtx"}"#).expect("an object");
        assert_eq!(given.reach(Some(Value::Text(b"## backward ##")), thread), Reach::Thread(Some(8)));
        assert_eq!((given.reach(None, thread), given.source()), (Reach::Thread(Some(8)), Source::Nvtx));
    }
}
