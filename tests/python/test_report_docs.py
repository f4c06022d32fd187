"""Commands of the guide to reports run on traces made here, and the reference has every name."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, get_args, get_type_hints

import pytest
from conftest import ROOT, run_cli
from kineto_traces import by_dice, write

from fastrnns_rs._core import capture_formats
from fastrnns_rs.documents.codec import added_keys
from fastrnns_rs.documents.summary import IdleRow, LaunchesEntry, SummaryDocument
from fastrnns_rs.documents.summary_ranges import IterationRow, RangeRow
from fastrnns_rs.views.summary import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = (ROOT / "docs" / "how-to" / "report.md").read_text()
PAGE = GUIDE + (ROOT / "docs" / "reference" / "report.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
INLINE = re.findall(r"`fastrnns-rs (report trace[^`]+)`", GUIDE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # What a file is, is told by its content, so that a trace may stand for each.
    for name in ("trace.json.gz", "rank0.json.gz", "rank1.json.gz", "capture.sqlite", "record.json", "capture.json"):
        write(tmp_path / name, by_dice(1))
    return tmp_path


@pytest.mark.parametrize("command", [*(line.removeprefix("fastrnns-rs ") for line in COMMANDS), *INLINE])
def test_its_commands_run(command: str, folder: Path) -> None:
    done = run_cli(*shlex.split(command), cwd=folder)
    assert done.status == 0, done.stderr
    assert done.stdout or (folder / shlex.split(command)[-1]).stat().st_size


def test_its_python_runs(folder: Path) -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "python"]
    command = [sys.executable, "-W", "error::DeprecationWarning", "-c", text]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_it_names_every_format_and_category() -> None:
    assert len(COMMANDS) > 3
    assert len(INLINE) == 2
    assert all(f"`{name}`" in PAGE for name, _ in capture_formats())
    rules = (ROOT / "src" / "trace" / "categories" / "rules.txt").read_text()
    for line in rules.splitlines():
        if line and not line.startswith("#"):
            assert re.search(rf"\b{line.split()[0]}\b", PAGE.split("## Categories")[1]), line


def test_it_names_every_view_part_and_cause() -> None:
    assert all(f"`--by {name}`" in PAGE or f"[`--by {name}`]" in PAGE for name in [*VIEWS][1:])
    own = {"schema", "schema_version"}
    assert all(f"`{key}`" in PAGE for key in added_keys(SummaryDocument) if key not in own)
    idle, ranges = ((ROOT / "docs" / "reference" / name).read_text() for name in ("idle.md", "ranges.md"))
    for page, *kinds in ((ranges, RangeRow, IterationRow), (idle, LaunchesEntry)):
        told = {field.name for kind in kinds for field in fields(kind)} - {"name"}
        assert {name for name in told if f"`{name}`" not in page} == set()
    causes = get_args(get_type_hints(IdleRow)["cause"])
    table = idle.split("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == sorted(causes)
