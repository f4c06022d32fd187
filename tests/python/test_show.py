"""`show`: a file again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from run_files import exactly, result, run, write
from test_compare_command import call, validated

from fastrnns_rs import compare
from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.verbs.compare import run_files
from fastrnns_rs.verbs.compare.side import Series, Side
from fastrnns_rs.views import foreign_results, formats

__all__ = ["call"]


@pytest.mark.parametrize("name", formats.RUN)
def test_a_run_is_shown_as_bench_shows_it(name: str, call: Any, tmp_path: Path) -> None:
    made = run([result()])
    path = write(tmp_path / "run.json", made)
    done = call("show", path, "--format", name)
    assert (done.status, done.stdout, done.stderr) == (0, made.render(name), "")
    output = tmp_path / "out"
    assert call("show", path, "--format", name, "--output", output).stdout == ""
    assert output.read_text() == made.render(name)
    assert call("show", path, "--json").stdout == made.render("json")
    assert call("show", path).stdout == made.render("table")


@pytest.mark.parametrize("name", formats.RUN)
def test_what_a_run_warns_of_is_told_again(name: str, call: Any, tmp_path: Path) -> None:
    notices = [
        Notice(code="load", message="other programs \x1b[2J", evidence="load 3.1", hint="stop them"),
        Notice(code="odd", message="something is odd", evidence=None, hint=None),
    ]
    done = call("show", write(tmp_path / "x.json", run([result()], warnings=notices)), "--format", name)
    assert done.status == 0
    assert done.stderr == (
        "warning: other programs \\x1b[2J (load 3.1)\n  hint: stop them\nwarning: something is odd\n"
    )


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_run_that_is_not_whole_says_so(status: Any, call: Any, tmp_path: Path) -> None:
    done = call("show", write(tmp_path / "x.json", run([result()], status=status)))
    assert (done.status, done.stderr) == (0, f"note: this run is not complete, but {status}\n")


@pytest.mark.parametrize(("name", "told"), [("table", False), ("markdown", False), ("json", True), ("junit", True)])
def test_what_a_comparison_warns_of_is_told_once(name: str, told: bool, call: Any, tmp_path: Path) -> None:
    path = tmp_path / "comparison.json"
    sides = [run([exactly([100, 101, 102])]) for _ in "ab"]
    found = compare(*sides)
    assert [one.code for one in found.warnings] == ["same_times"]
    found.save(path)
    done = call("show", path, "--format", name)
    assert done.stderr.count("warning: both sides have the same times") == told
    assert done.stderr.count("  hint: give the two files of two runs") == told
    assert told or "both sides have the same times" in done.stdout


def test_a_number_without_sense_is_told(call: Any, tmp_path: Path) -> None:
    made = exactly([100])
    made.processes[0].forward_ns.append(10**400)
    done = call("show", write(tmp_path / "x.json", run([made])))
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path}/x.json cannot be shown: ")


def test_a_comparison_is_shown_again(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "comparison.json"
    found = compare(run([exactly([100, 101, 102])]), run([exactly([200, 201, 202])]))
    found.save(path)
    done = call("show", path)
    assert (done.status, done.stdout) == (0, found.render("table"))
    assert validated(call("show", path, "--json").stdout) == found.to_dict()
    refused = call("show", path, "--format", "oss")
    assert (refused.status, refused.stdout) == (2, "")
    assert "is a comparison, which has no format oss" in refused.stderr
    path.write_text(json.dumps({**found.to_dict(), "kind": "x"}))
    assert f"error: {path} is not a comparison: kind is 'x'" in call("show", path).stderr


def series(runner: str, values: list[float], **changes: Any) -> Series:
    given = {"group": None, "phase": None, "problem": None, "timing_mode": None, "lack": None, "reason": None}
    return Series(**{**given, "runner": runner, "medians_ns": values, "n_samples": 10 * len(values), **changes})


def test_what_another_tool_measured_is_a_plain_table(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        series("sort \x1b[2J", [1e6, 3e6, 2e6]),
        series("alone", [5e3], lack="no process level: descriptive only"),
        series("broken", [], reason="failed: exit status 1", n_samples=0),
    ]
    side = Side(label="x", files=["x"], series=rows, environment={}, warnings=[])
    monkeypatch.setattr(run_files, "_foreign", lambda _plain, _name: side)
    path = tmp_path / "foreign.json"
    path.write_text("{}")
    done = call("show", path)
    assert (done.status, done.stdout) == (0, foreign_results.table(side))
    lines = done.stdout.splitlines()
    assert " ".join(lines[0].split()) == "benchmark processes samples median (ms) min (ms) max (ms) note"
    assert lines[1].split() == ["sort", "\\x1b[2J", "3", "30", "2", "1", "3"]
    assert lines[2].split(maxsplit=6) == ["alone", "-", "10", *["0.005"] * 3, "no process level: descriptive only"]
    assert lines[3].split(maxsplit=6) == ["broken", "-", "0", "-", "-", "-", "failed: exit status 1"]
    refused = call("show", path, "--json")
    assert (refused.status, refused.stdout) == (2, "")
    assert "has no format json" in refused.stderr


def test_foreign_series_are_described_and_not_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lack = "no process level: descriptive only"
    sides = {
        name: Side(
            label=name,
            files=[name],
            series=[
                series("one", [factor * value for value in (1.0, 2.0, 4.0)], lack=lack),
                series("two", [factor] * 3),
            ],
            environment={"tool": "other"},
            warnings=[],
        )
        for name, factor in (("a", 1.0), ("b", 3.0))
    }
    monkeypatch.setattr(run_files, "_foreign", lambda _plain, name: sides[Path(name).name])
    for name in sides:
        (tmp_path / name).write_text("{}")
    found = compare(tmp_path / "a", tmp_path / "b")
    one, two = found.rows
    assert (one.verdict, one.reason, one.ratio, one.ratio_ci_low, one.p_value) == (None, lack, 3.0, None, None)
    assert (one.baseline.n_processes, one.baseline.n_samples, one.baseline.estimate_ns) == (0, 30, 2.0)
    assert (one.phase, one.group, one.problem) == (None, None, None)
    assert one.shift_ns == 4.0
    assert two.verdict == "slower"
    assert two.baseline.n_processes == 3
    assert found["two"] is two
    with pytest.raises(KeyError):
        found["three"]


@pytest.mark.parametrize(
    ("text", "message", "status"),
    [("", "is empty", 2), ('{"schema": "fastrnns-rs/capture"}', "is a fastrnns-rs/capture document", 2)],
)
def test_other_files_are_refused(text: str, message: str, status: int, call: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    done = call("show", path)
    assert (done.status, done.stdout) == (status, "")
    assert message in done.stderr
    assert call("show", tmp_path / "nothing").status == 5
