"""Lines of Rust that count as new for the fuzzer."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SOURCE = """\
//! Tracks.

#[derive(Debug, PartialEq)]
enum Track {
    Thread(u32),
    /// A stream.
    Device {
        id: u32,
    },
}

#[derive(Hash)]
pub(super) struct Pair(u32, u32);

pub struct Whole<T>
where
    T: Copy,
{
    one: T,
}

impl Track {
    fn made(id: u32) -> Self {
        Self::Device {
            id: id + 1,
        }
    }
}
"""


def test_declarations_are_no_lines_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "fuzz"))
    from until_still import declarations

    (tmp_path / "tracks.rs").write_text(SOURCE)
    try:
        assert declarations(str(tmp_path / "tracks.rs")) == {*range(3, 11), 12, 13, *range(15, 21)}
        # In the crate too, none of them is a statement.
        for path in (ROOT / "src").rglob("*.rs"):
            lines = path.read_text().splitlines()
            declared = [lines[number - 1] for number in declarations(str(path))]
            assert not [one for one in declared if re.match(r"\s*(let|if|for|while|return|fn|impl|match) ", one)], path
    finally:
        sys.modules.pop("until_still", None)
