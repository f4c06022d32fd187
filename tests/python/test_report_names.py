"""Names from captures that would run, colour, hide or break something where they are shown."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from kineto_traces import annotation, call, document, kernel, write
from test_report_command import LISTS, report, rows_of, validate

import fastrnns_rs
from fastrnns_rs.verbs.report.capture_reader import Inductor

#: Names as a file may hold them, each with what a cell of CSV holds of it.
NAMES = {
    'quote"s "" and \'s': None,
    "comma, semicolon; tab-free": None,
    "a|b||c": None,
    "back`ticks`` and ```": None,
    "<script>alert(1)</script>": None,
    "![x](http://example.com/x.png) **bold** @someone #1": None,
    "&amp; &#x1b; \\u001b[31m": None,
    "ends with a backslash\\": None,
    "pipe after a backslash \\| b": None,
    "漢字 e\u0301 🔥": None,
    " leading and trailing ": None,
    "": None,
    "new\nline": "new\\nline",
    "carriage\rreturn": "carriage\\rreturn",
    "a\tb": "a\\tb",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07": "\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07",
    "nul\0del\x7fcsi\x9b31m": "nul\\x00del\\x7fcsi\\x9b31m",
    "\u202eright to left\u2066\u200b\ufeff": "\\u{202e}right to left\\u{2066}\\u{200b}\\u{feff}",
    "\u2028line\u2029paragraph\x85": "\\u{2028}line\\u{2029}paragraph\\x85",
    "=cmd()": "'=cmd()",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "  =HYPERLINK(1)": "'  =HYPERLINK(1)",
    "\t=cmd()": "'\\t=cmd()",
    "\uff1dcmd()": "'\uff1dcmd()",
}
VIEWS = [*LISTS, "inductor"]


def acts(text: str) -> set[str]:
    """Characters that do something to who reads them, line ends left out."""
    kinds = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
    return {one for one in text if unicodedata.category(one) in kinds and one != "\n"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace in which everything that has a name has each of these."""
    events = []
    for at, name in enumerate(NAMES):
        copied = {**kernel(name, 10 * at + 5, 1, bytes=4, kind=name), "cat": "gpu_memcpy"}
        events += [kernel(name, 10 * at, 3), call(name, 10 * at, 2), copied, annotation(name, 10 * at, 4)]
    bad = "\x1b[2J=|`\n\u202e"
    members = {"deviceProperties": [{"id": 0, "name": bad}], "schemaVersion": bad}
    trace = {**document(events), **members}
    return write(tmp_path_factory.mktemp("hostile") / "a|b`c\x1b[31m\u202e.json", trace)


@pytest.mark.parametrize("format_name", ["table", "json", "csv", "markdown"])
def test_nothing_that_acts_reaches_the_output(format_name: str, hostile: Path) -> None:
    inductor = Inductor(wall_time_ms=1, name=hostile.name)
    for view in VIEWS:
        summary = fastrnns_rs.read(
            hostile, kernels_by="shape" if view == "launch-shape" else "device", inductor=inductor
        )
        for names in ("full", "short", "mangled"):
            text = summary.render(format_name, view=view, top=1000, names=names)
            assert not acts(text), (view, names, ascii(acts(text)))
    done = report(hostile, "--format", format_name)
    assert not acts(done.stdout + done.stderr)


def test_warnings_are_as_safe(tmp_path: Path) -> None:
    """They name the file, whose name may come from anywhere."""
    path = write(tmp_path / "\x07\u202ebad\x1b.json", [call()])
    for words in ([], ["--json"], ["--format", "csv"], ["--format", "markdown"]):
        done = report(path, *words)
        assert not acts(done.stdout + done.stderr), words
        assert words == ["--format", "csv"] or "bad" in done.stdout


def test_csv_reads_back_as_what_was_written(hostile: Path) -> None:
    expected = {name if shown is None else shown for name, shown in NAMES.items()}
    kernels = rows_of(report(hostile, "--by", "kernel", "--format", "csv").stdout)
    assert {row["name"] for row in kernels} == expected
    assert {row["name"] for row in rows_of(report(hostile, "--by", "api", "--format", "csv").stdout)} == expected
    for row in kernels:
        # All columns but texts are numbers or empty.
        for key in row.keys() - {"name", "short_name", "mangled_name", "category", "grid", "block"}:
            assert re.fullmatch(r"[0-9.e-]*", row[key]), (key, row[key])


def test_json_holds_every_name_as_it_was(hostile: Path) -> None:
    done = report(hostile, "--json")
    found = validate(json.loads(done.stdout))
    assert {row.name for row in found.kernels} == set(NAMES)
    assert {row.name for row in found.api_calls} == set(NAMES)
    assert found.captures[0].path == str(hostile)
    assert {row.name for row in fastrnns_rs.read(hostile).kernels} == set(NAMES)


def test_a_device_with_two_names_has_none(tmp_path: Path) -> None:
    """One of them would be that of the GPU, and decide which captures may be compared."""
    names = [(0, "A100"), (1, "H100"), (0, "V100"), (1, "H100"), (0, "A100")]
    members = {"deviceProperties": [{"id": number, "name": name} for number, name in names]}
    path = write(tmp_path / "x.json", document([kernel("k", device=0), kernel("k", device=1)], **members))
    assert [(one.device_id, one.name) for one in fastrnns_rs.read(path).devices] == [(0, None), (1, "H100")]
