"""Empty arguments: no command reads the current folder in place of a name that a script left empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import run_cli
from kineto_traces import kernel, write

from fastrnns_rs.cli import VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_an_empty_argument_is_a_wrong_command(verb: str, tmp_path: Path) -> None:
    write(tmp_path / "trace.json", [kernel("k")])
    done = run_cli(verb, "", cwd=tmp_path)
    assert (done.status, done.stdout) == (2, "")
    start = "error: unexpected argument: ''" if verb == "doctor" else "error: empty argument: ''"
    assert done.stderr.startswith(start), done.stderr


@pytest.mark.parametrize("words", [("--output-dir", ""), ("--output-dir=",)])
def test_an_empty_path_is_a_wrong_command(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run_cli("profile", "cudnn", *words, cwd=tmp_path)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: empty path: '' (--output-dir)"), done.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_name_that_resembles_no_runner_has_a_short_hint() -> None:
    done = run_cli("bench", "zzzzzz")
    assert (done.status, done.stderr) == (
        2,
        "error: unknown runner: 'zzzzzz' (RUNNER)\nhint: List all runners: fastrnns-rs list\n",
    )
