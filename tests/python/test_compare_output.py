"""Where `compare` and `show` write, what they tell beside it, and what they do when nobody reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from run_files import result, run, write
from test_compare_command import call, files

from fastrnns_rs.documents.codec import Notice

__all__ = ["call", "files"]


@pytest.mark.parametrize("words", [["--json"], ["--format", "table"], ["--format", "junit"]])
def test_a_derivation_has_no_format(words: list[str], call: Any, files: list[str], anywhere: Path) -> None:
    done = call("compare", *files, "--explain", "cudnn/forward", *words)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --explain is text, and has no --format; ")
    # A default is for tables, and no contradiction.
    (anywhere / "pyproject.toml").write_text('[tool.fastrnns-rs.compare]\nformat = "junit"\n')
    done = call("compare", *files, "--explain", "cudnn/forward")
    assert done.status == 0
    assert done.stdout.startswith("cudnn/forward: slower\n")


@pytest.mark.parametrize(
    ("words", "told"), [(["--json"], True), (["--format", "junit"], True), (["--explain", "cudnn"], True), ([], False)]
)
def test_warnings_are_told_once_with_what_to_do(words: list[str], told: bool, call: Any, tmp_path: Path) -> None:
    """One may have neither evidence nor hint."""
    warnings = [
        Notice(code="odd", message="odd \x1b[2J", evidence="as \u202eseen", hint="do\nit"),
        Notice(code="bare", message="bare", evidence=None, hint=None),
    ]
    paths = [write(tmp_path / name, run([result()], warnings=warnings)) for name in ("a.json", "b.json")]
    done = call("compare", *paths, *words)
    lines = "warning: odd \\x1b[2J (as \\u{202e}seen)\n  hint: do\\nit\nwarning: bare\n"
    assert done.stderr.count(lines) == told
    assert told or ("warning" in done.stdout and not done.stderr)


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
            f"error: --output {output} would overwrite {files[1]}, which is to be read\n"
            "hint: give the path of another file\n"
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
        assert ended(*words) == (status, b""), words
    assert ended("compare", *files, "--json", "--fail-on", "regression", both=True)[0] == 3
    assert ended("compare", *files, "--margin", "much", both=True)[0] == 2
