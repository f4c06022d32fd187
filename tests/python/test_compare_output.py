"""Where `compare` and `show` write, what they tell beside it, and what they do when nobody reads."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run_files import result, run, write
from test_compare_command import call, files

from fastrnns_rs import compare
from fastrnns_rs.documents.codec import RunWarning

__all__ = ["call", "files"]


@pytest.mark.parametrize("words", [["--json"], ["--format", "table"], ["--format", "junit"], ["--open"]])
def test_a_derivation_has_no_format(words: list[str], call: Any, files: list[str], anywhere: Path) -> None:
    done = call("compare", *files, "--explain", "cudnn/forward", *words)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: --explain and {words[0]} exclude each other\n")
    # A default is for tables, and no contradiction.
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs.compare]\nformat = "junit"\n')
    done = call("compare", *files, "--explain", "cudnn/forward")
    assert done.status == 0
    assert done.stdout.startswith("cudnn/forward: slower by ")


@pytest.mark.parametrize("words", [[], ["--json"], ["--format", "junit"], ["--wide"], ["--format", "markdown"]])
def test_warnings_of_the_comparison_are_told_once(words: list[str], call: Any, tmp_path: Path) -> None:
    """Warnings of the runs are counted, and those of the comparison have their hints."""
    warnings = [RunWarning(code="odd", message="odd \x1b[2J", hint="do\nit", rows=["cudnn/forward"])]
    paths = [write(tmp_path / name, run([result()], warnings=warnings)) for name in ("a.json", "b.json")]
    done = call("compare", *paths, *words, "--color", "never")
    told = "markdown" not in words
    assert done.stderr.count("warning[same_times]: ") == told
    assert done.stderr.count("hint: ") == told
    assert ("1 warning of the candidate: fastrnns-rs show" in done.stderr) == told
    assert "odd" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    # A derivation has the warnings of its rows, and of the runs too.
    text = call("compare", *paths, "--explain", "cudnn/forward").stderr
    assert "warning[odd]: odd \\x1b[2J\n  hint: do\\nit\n" in text
    assert "odd" not in call("compare", *paths, "--explain", "cudnn/backward").stderr


def test_merged_warnings_keep_all_rows_and_hints() -> None:
    """A warning of both sides had the rows and the command of the baseline only."""
    first = RunWarning(code="load", message="busy", evidence="load 9", hint="Run: a", rows=["cudnn/forward"])
    second = replace(first, rows=["jit/forward", "cudnn/forward"])
    one, other, more = (run([result(seed=seed)], warnings=[]) for seed in range(3))
    one, other = replace(one, warnings=[first]), replace(other, warnings=[second, replace(first, hint="Run: b")])
    for candidate in (other, [other, replace(more, warnings=[first])]):
        found = [each for each in compare(one, candidate).warnings if each.code == "load"]
        assert [(each.message, {*each.rows}, each.hint) for each in found] == [
            ("busy", {"cudnn/forward", "jit/forward"}, "Run: a"),
            ("candidate: busy", {"cudnn/forward"}, "Run: b"),
        ]


@pytest.mark.parametrize("way", ["itself", "by another way", "by a link", "by a hard link"])
def test_what_is_read_is_not_overwritten(way: str, call: Any, files: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    (tmp_path / "inner").mkdir()
    if way == "by a link":
        other.symlink_to(files[1])
    elif way == "by a hard link":
        other.hardlink_to(files[1])
    output = {"itself": files[1], "by another way": f"{tmp_path}/inner/../after.json"}.get(way, str(other))
    before = Path(files[1]).read_bytes()
    for words in (
        ["compare", *files],
        ["compare", "--baseline", files[0], "--candidate", files[1]],
        ["compare", *reversed(files)],
        ["show", files[1]],
    ):
        done = call(*words, "--output", output)
        assert (done.status, done.stdout) == (2, "")
        assert done.stderr == (
            f"error: cannot overwrite input: {output!r} (--output): the command reads this file\n"
            "hint: Use the path of another file.\n"
        )
        assert Path(files[1]).read_bytes() == before


def test_that_nobody_reads_changes_no_exit_code(files: list[str], anywhere: Path) -> None:
    def ended(*words: str, both: bool = False) -> tuple[int, bytes]:
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-m", "fastrnns_rs", *words]
        errors = writer if both else subprocess.PIPE
        done = subprocess.run(command, stdout=writer, stderr=errors, check=False, cwd=anywhere)
        os.close(writer)
        return done.returncode, done.stderr or b""

    for words, status in (
        (["compare", *files], 0),
        (["compare", *files, "--fail-on", "regression", "--format", "markdown"], 3),
        (["compare", *reversed(files)], 1),
        (["show", files[1]], 0),
        (["compare", "--help"], 0),
        (["--version"], 0),
        (["list"], 0),
    ):
        # Warnings are told to a stderr that is read.
        quiet = [] if words[-1] in {"--help", "--version"} else ["--quiet"]
        assert ended(*words, *quiet) == (status, b""), words
    assert ended("compare", *files, "--json", "--fail-on", "regression", both=True)[0] == 3
    assert ended("compare", *files, "--margin", "much", both=True)[0] == 2
