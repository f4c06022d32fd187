//! What the program named: `record_function`, the profiler's steps, and ranges of other tools in traces that we have merged.

use super::meaning::number;
use super::value::{Fault, Value, members};
use crate::trace::{Reach, Source};

/// Beginnings of what torch itself annotates: until 2021 that was written as an operator.
const TOLD_BY_NAME: [&[u8]; 4] = [b"ProfilerStep#", b"enumerate(DataLoader)", b"Optimizer.", b"## "];
/// Our marks of phases. Kernels of the second are launched by autograd's thread.
const PHASES: [&[u8]; 2] = [b"## forward ##", b"## backward ##"];

/// Whether an operator of this name is an annotation.
#[inline]
pub(super) fn is_told_by_name(name: Value<'_>) -> bool {
    let Value::Text(name) = name else { return false };
    name.first().is_some_and(|&letter| may_begin(letter)) && TOLD_BY_NAME.iter().any(|begin| name.starts_with(begin))
}

/// Whether the name of an annotation may begin so; a backslash begins what must be looked at.
pub(super) fn may_begin(letter: u8) -> bool {
    matches!(letter, b'P' | b'e' | b'O' | b'#' | b'\\')
}

/// What the arguments of an annotation say, in traces that we have merged.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said<'a> {
    pub(super) domain: Option<Value<'a>>,
    thread: Option<Value<'a>>,
    is_nvtx: bool,
    is_of_process: bool,
    /// Whether it was never closed.
    pub(super) is_open: bool,
}

impl<'a> Said<'a> {
    /// The arguments at the beginning of a text.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        let mut said = Self::default();
        if text.starts_with(b"{") {
            members(text, 0, |key, value| match key {
                b"range domain" => said.domain = Some(value),
                b"range thread" => said.thread = Some(value),
                b"range source" => said.is_nvtx = value == Value::Text(b"nvtx"),
                b"range reach" => said.is_of_process = value == Value::Text(b"process"),
                b"range open" => said.is_open = value == Value::Bare(b"true"),
                _ => {}
            })?;
        }
        Ok(said)
    }

    /// Who wrote it down.
    pub(super) fn source(&self) -> Source {
        if self.is_nvtx { Source::Nvtx } else { Source::RecordFunction }
    }

    /// Whose calls belong to an annotation of this name, which stands on `thread`.
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
    fn operators_are_told_from_annotations() {
        for name in ["ProfilerStep#7", "enumerate(DataLoader)#x.__next__", "Optimizer.step#SGD.step", "## forward ##"] {
            assert!(is_told_by_name(Value::Text(name.as_bytes())), "{name}");
        }
        for name in ["aten::mm", "", "Profiler", "enumerate", "#", "OptimizerX", "ProfilerStep"] {
            assert!(!is_told_by_name(Value::Text(name.as_bytes())), "{name}");
        }
    }

    #[test]
    fn phases_are_of_their_process() {
        let said = Said::parse(b"{}").expect("an object");
        let thread = Some(Value::Bare(b"7"));
        assert_eq!(said.reach(Some(Value::Text(b"x")), thread), Reach::Thread(Some(7)));
        assert_eq!(said.reach(Some(Value::Text(b"## backward ##")), thread), Reach::Process);
        let said = Said::parse(br#"{"range thread": 8, "range source": "nvtx"}"#).expect("an object");
        assert_eq!(said.reach(Some(Value::Text(b"## backward ##")), thread), Reach::Thread(Some(8)));
        assert_eq!((said.reach(None, thread), said.source()), (Reach::Thread(Some(8)), Source::Nvtx));
    }
}
