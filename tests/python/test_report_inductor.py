"""`report --by inductor`: its figures, and what a record tells; its text is held against torch's elsewhere."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import kineto_reference as reference
import pytest
from conftest import run_cli
from kineto_traces import NAMES, by_dice, call, document, kernel, operator, write
from parts import few
from test_report_command import report, rows_of, validate
from test_report_sources import failed
from torch_manifests import manifest

import fastrnns_rs
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.report.capture_reader import Inductor
from fastrnns_rs.verbs.report.manifests import find_sequence_length

CATEGORIES = ["triton_pointwise", "triton_reduction", "triton_persistent_reduction", "triton_unknown", "unknown"]


def test_categories_hold_all_operations_under_inductors_names(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", by_dice(5))
    found = fastrnns_rs.read(path, inductor=Inductor(wall_time_ms=10)).inductor
    assert [category.name for category in found.categories] == CATEGORIES
    expected = reference.summarize(path)
    total = sum(figures["total"] for figures in expected["kernels"].values())
    total += sum(times["total"] for times, _ in expected["memory"].values())
    assert sum(category.total_ns for category in found.categories) == total
    assert found.busy_fraction == pytest.approx(total / 10e6)
    for category in found.categories:
        assert category.total_ns == sum(one.total_ns for one in category.kernels)
        assert category.count == sum(one.count for one in category.kernels)
        assert [one.total_ns for one in category.kernels] == sorted(
            (one.total_ns for one in category.kernels), reverse=True
        )
    by_name = {one.name for category in found.categories for one in category.kernels}
    assert set(NAMES) <= by_name
    assert "Memcpy HtoD (Pinned -> Device)" in by_name


def test_the_command_shows_the_line_and_the_categories(tmp_path: Path) -> None:
    events = [
        call(),
        operator("triton_poi_fused_0", 1, 90),
        kernel("triton_poi_fused_0", 10, 40),
        kernel("triton_red_fused_1", 60, 30),
        kernel("other", 95, 5),
    ]
    path = write(tmp_path / "model.json", events)
    words = ("--by", "inductor", "--wall-time-ms", "0.05", "--runs", "2")
    line = "Output for tabulate: model.json, 40.00%, 30.00%, 0.00%, 0.00%, 5.00%, 75.00%, 0.050ms"
    text = report(path, *words).stdout
    assert line in text
    assert "75.00" in text
    assert f"`{line}`" in report(path, *words, "--format", "markdown").stdout
    document = validate(report(path, *words, "--json").json())
    assert document.inductor is not None
    assert document.inductor.tabulate_line == line
    rows = rows_of(report(path, *words, "--format", "csv").stdout)
    assert [(row["name"], row["total_ns"], row["count"]) for row in rows] == [
        ("triton_pointwise", "40000", "1"),
        ("triton_reduction", "30000", "1"),
        ("unknown", "5000", "1"),
    ]
    # Without a wall time there is nothing to say.
    assert report(path, "--json").json()["inductor"] is None
    # With one, the document has it whatever the view is.
    assert report(path, *words[2:], "--json").json()["inductor"]["runs"] == 2


WALL = ("--by", "inductor", "--wall-time-ms", "3.25")


def recorded(folder: Path, *more: str, baseline: bool = False) -> Path:
    """The record of a capture with torch. Its traces are replaced by some of a device, which a CPU has not."""
    words = ["--rnns", "py", "--quick", "--nloops", "9", "--warmup", "0", "--no-report", *more]
    words += [] if baseline else ["--no-unprofiled"]
    done = run_cli("profile", "--torch", *words, "--output-dir", folder)
    assert done.status == 0, done.stderr
    [path] = folder.glob("*.json")
    for number, one in enumerate(traces(path)):
        write(one, by_dice(number))
    return path


def traces(record: Path) -> list[Path]:
    return [Path(one.path) for one in Capture.load(record).artefacts if one.kind == "kineto"]


@pytest.mark.parametrize(
    ("schedule", "captures", "runs"),
    few([((), 1, 3)], [((), 1, 3), (("--schedule", "wait=0,active=2,repeat=0"), 3, 6)], "profilers"),
)
def test_a_record_tells_how_many_runs_there_are(
    schedule: tuple[str, ...], captures: int, runs: int, tmp_path: Path
) -> None:
    path = recorded(tmp_path / "out", *schedule)
    assert len(traces(path)) == captures

    def found(*words: str | Path) -> dict[str, object]:
        view = report(*words, *WALL, "--json").json()["inductor"]
        # The line begins with the name of the file.
        return {**view, "tabulate_line": view["tabulate_line"].partition(", ")[2]}

    by_record = found(path)
    assert by_record["runs"] == runs
    assert by_record == found(*traces(path), "--runs", str(runs))
    assert found(path, "--runs", "2")["runs"] == 2, "what is given counts"
    assert found(traces(path)[0])["runs"] == 1, "a trace does not tell"
    copy = shutil.copytree(path.parent, tmp_path / "copy") / path.name
    assert found(path, copy)["runs"] == 2 * runs


@pytest.mark.long("profilers")
def test_a_record_tells_how_long_a_run_takes(tmp_path: Path) -> None:
    path = recorded(tmp_path, baseline=True)
    [took_ns] = Capture.load(path).unprofiled_ns
    assert took_ns is not None

    def found(*words: str) -> dict[str, Any]:
        view: dict[str, Any] = report(path, "--by", "inductor", *words, "--json").json()["inductor"]
        return view

    by_record = found()
    assert by_record["wall_time_ns"] == pytest.approx(took_ns)
    assert by_record == found("--wall-time-ms", repr(took_ns / 1e6), "--runs", "3")
    # What is given counts, each by itself.
    assert found("--wall-time-ms", "3.25") == found("--wall-time-ms", "3.25", "--runs", "3")
    assert (found("--runs", "2")["runs"], found("--runs", "2")["wall_time_ns"]) == (2, by_record["wall_time_ns"])
    assert report(path, "--json").json()["inductor"] is None, "nobody asked"


@pytest.mark.long("profilers")
def test_a_record_that_does_not_tell_is_refused_by_name(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    record = Capture.load(path)
    assert record.unprofiled_ns == [None]
    two, bad = tmp_path / "two.json", tmp_path / "bad.json"
    replace(record, runners=["py", "jit"], unprofiled_ns=[1000, 1000]).save(two)
    replace(record, checks=[replace(record.checks[0], ok=False)], unprofiled_ns=[1000]).save(bad)
    trace = traces(path)[0]
    of_two, of_bad = "is of several runners: py, jit", "is the manifest of a failed capture"
    for files, why in (
        ([two], f"'{two}' {of_two}"),
        ([path, bad], f"'{bad}' {of_bad}"),
        ([path, trace], f"'{trace}' is not a capture manifest, and other files are"),
    ):
        error = failed(run_cli("report", *files, *WALL), 2)
        assert error == (f"unknown number of runs: {why}", "Add --runs.")
        assert report(*files, *WALL, "--runs", "3", "--json").json()["inductor"]["runs"] == 3
    for files, why in (
        ([path], f"{path} has no unprofiled_ns"),
        ([two], f"{two} {of_two}"),
        ([bad], f"{bad} {of_bad}"),
        ([trace], f"{trace} is not a capture manifest"),
        ([path, path], "several captures are given"),
    ):
        message, hint = failed(run_cli("report", *files, "--by", "inductor", "--runs", "3"), 2)
        assert message == f"the view inductor needs --wall-time-ms, the time of one run without a profiler: {why}"
        assert hint == "Add --wall-time-ms, or use one capture manifest of one runner."


def views(*words: str | Path) -> dict[str, Any]:
    view: dict[str, Any] = report(*words, "--by", "inductor", "--json").json()["inductor"]
    return view


def test_a_folder_has_the_runs_and_the_time_of_its_manifest(tmp_path: Path) -> None:
    path = manifest(tmp_path / "cap", {"py": 30})
    replace(Capture.load(path), iterations=3, unprofiled_ns=[60_000]).save(path)
    by_manifest = views(path)
    assert (by_manifest["runs"], by_manifest["busy_fraction"]) == (3, pytest.approx(0.5))
    (path.parent / "notes.txt").write_text("no capture")
    # The files of a second manifest of the same files are read once.
    shutil.copyfile(path, path.parent / "copy.json")
    (path.parent / "broken.json").write_text('{"schema": "fastrnns-rs/capture"}')
    line = by_manifest["tabulate_line"].replace(path.name, "cap")
    assert views(path.parent) == {**by_manifest, "tabulate_line": line}
    here = report(".", "--by", "inductor", "--json", cwd=path.parent).json()["inductor"]
    assert here["tabulate_line"] == line
    assert views(path.parent, "--wall-time-ms", "0.06")["runs"] == 3


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        ("x", "invalid pair: 'x'"),
        ("active=0", "out of range: 0"),
        (
            "wait=99",
            "schedule too long: 'wait=99,warmup=1,active=3,repeat=1,skip-first=0' needs 103 iterations, and 10 run",
        ),
    ],
)
def test_an_invalid_schedule_is_refused_with_its_manifest(schedule: str, reason: str, tmp_path: Path) -> None:
    path = manifest(tmp_path / "cap", {"py": 30})
    found = Capture.load(path)
    torch = replace(found.tool, name="torch")
    replace(found, tool=torch, command=["x", f"--schedule={schedule}"], unprofiled_ns=[60_000]).save(path)
    message, hint = failed(run_cli("report", path, "--by", "inductor"), 2)
    assert (message, hint) == (
        f"unknown number of runs: '{path}' has an invalid --schedule in its command: {reason}",
        "Add --runs.",
    )
    assert views(path, "--runs", "3")["runs"] == 3


def test_a_folder_with_other_captures_has_no_number_of_runs(tmp_path: Path) -> None:
    path = manifest(tmp_path / "cap", {"py": 30})
    other = write(path.parent / "z.json", document([call(), kernel("k", 10, 5)]))
    words = ("report", path.parent, "--by", "inductor")
    message, hint = failed(run_cli(*words, "--wall-time-ms", "1"), 2)
    assert (message, hint) == (
        f"unknown number of runs: '{other}' is not a capture manifest, and other files are",
        "Add --runs.",
    )
    assert failed(run_cli(*words, "--runs", "3"), 2)[0].endswith("several captures are given")
    path.unlink()
    assert views(path.parent, "--wall-time-ms", "1")["runs"] == 1


def test_runs_of_captures_that_are_left_out_do_not_count(tmp_path: Path) -> None:
    path = manifest(tmp_path / "cap", {"py": 30})
    other, trace = path.parent / "prof_y.json", path.parent / "prof_y.0.json.gz"
    trace.write_text("damaged")
    made = Capture.load(path)
    replace(made, artefacts=[replace(made.artefacts[0], path=str(trace))]).save(other)
    words = ("report", path.parent, *WALL)
    message, hint = failed(run_cli(*words), 2)
    assert (message, hint) == (
        f"unknown number of runs: '{other}' has a file that cannot be read: '{trace}'",
        "Add --runs.",
    )
    assert views(path.parent, *WALL[2:], "--runs", "3")["runs"] == 3
    other.unlink()
    assert views(path.parent, *WALL[2:])["runs"] == views(path, *WALL[2:])["runs"]


def test_a_folder_has_the_sequence_length_of_its_manifests(tmp_path: Path) -> None:
    path = manifest(tmp_path / "cap", {"py": 30})
    length = Capture.load(path).problem.seq_length
    assert length is not None
    assert find_sequence_length([path.parent]) == length
    write(path.parent / "z.json", document([call(), kernel("k", 10, 5)]))
    assert find_sequence_length([path.parent]) is None


SELECTIONS: list[tuple[str, dict[str, Any]]] = [
    ("--devices 0", {"devices": [0]}),
    ("--stream 7", {"streams": [7]}),
    ("--process 0", {"processes": iter([0])}),
    ("--match k", {"pattern": "k"}),
    ("--since 0ms", {"since_ns": 0}),
    ("--until 1ms", {"until_ns": 1_000_000}),
]


@pytest.mark.parametrize(("words", "arguments"), SELECTIONS)
def test_a_part_of_a_capture_has_no_view(words: str, arguments: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", document([call(), kernel("k", 10, 5)]))
    flag, (name,) = words.partition(" ")[0], arguments
    message, hint = failed(run_cli("report", path, *WALL, *words.split()), 2)
    assert (message, hint) == (
        f"the view inductor needs whole captures: {flag} selects a part",
        f"Leave out {flag}.",
    )
    with pytest.raises(UsageError, match=f"needs whole captures: `{name}` selects a part"):
        fastrnns_rs.read(path, inductor=Inductor(wall_time_ms=1), **arguments)
