"""Completion of a command line by the shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run_cli

from fastrnns_rs.cli import VERBS


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fastrnns-rs ", [*VERBS]),
        ("fastrnns-rs be", ["bench"]),
        ("fastrnns-rs bench --nl", ["--nloops"]),
        ("fastrnns-rs bench cudnn --dty", ["--dtype"]),
        ("fastrnns-rs bnch --nl", []),
        ("fastrnns-rs bench --filter cudnn --qui", ["--quick", "--quiet"]),
    ],
)
def test_words_are_completed_without_messages(line: str, words: list[str], anywhere: Path) -> None:
    (anywhere / "pyproject.toml").write_text("[tool.fastrnns-rs.bench]\nnlops = 1\n")
    n_before = len(line.split(" ")) - 1
    done = run_cli(cwd=anywhere, _FASTRNNS_RS_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(n_before))
    assert (done.status, done.stderr) == (0, "")
    assert {one.partition(",")[2] for one in done.stdout.splitlines()} - {""} == {*words}
