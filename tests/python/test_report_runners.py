"""Captures of several runners by torch's profiler: their iterations are never one statistic."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from test_torch_session import iterate
from torch_manifests import STEPS, manifest

import fastrnns_rs
from fastrnns_rs import Summary
from fastrnns_rs._core import Trace
from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.file_names import by_distinct, distinct, find_runner
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.verbs.profile.attempt import Attempt
from fastrnns_rs.verbs.profile.capture_storage import save_tables
from fastrnns_rs.verbs.report.ray_nodes import read_share
from fastrnns_rs.verbs.report.sources import behind
from fastrnns_rs.worker.profile.torch_session import TorchSession

RUNNERS = {"cudnn": 10.0, "py": 90.0}


def statistics(summary: Summary) -> list[tuple[str | None, int, float]]:
    return [(row.runner, row.count, row.median_ns) for row in summary.iteration_statistics]


@pytest.mark.parametrize("iteration_range", [None, "ProfilerStep", "## forward ##"])
def test_iterations_of_a_manifest_are_those_of_each_runner(iteration_range: str | None, tmp_path: Path) -> None:
    path = manifest(tmp_path / "out", RUNNERS)
    expected = [("cudnn", 3, 10_000), ("py", 3, 90_000)]
    summary = fastrnns_rs.read(path, iteration_range=iteration_range)
    assert statistics(summary) == expected
    # A folder is read by the manifest in it.
    assert statistics(fastrnns_rs.read(tmp_path / "out", iteration_range=iteration_range)) == expected
    assert [row.name for row in summary.iteration_statistics] == [iteration_range or "ProfilerStep"] * 2
    numbers = STEPS if iteration_range is None else range(3)
    assert [(row.runner, row.index) for row in summary.iterations] == [(one, at) for one in RUNNERS for at in numbers]


def test_the_brief_report_has_a_line_for_each_runner(tmp_path: Path) -> None:
    path = manifest(tmp_path / "out", RUNNERS)
    shown = fastrnns_rs.read(path).render(width=80)
    for runner, took in RUNNERS.items():
        assert f"3 iterations ({runner}), median: host 900.0 µs, GPU {took:.2f} µs" in shown
    assert "6 iterations" not in shown
    screen = fastrnns_rs.read(path).render(view="iteration", width=200)
    assert [line.split()[-2:] for line in screen.splitlines() if "ProfilerStep" in line] == [
        ["-", "cudnn"],
        ["-", "py"],
    ]


def test_parts_of_steps_have_the_runner(tmp_path: Path) -> None:
    summary = fastrnns_rs.read(manifest(tmp_path / "out", RUNNERS))
    assert [(row.runner, [part.runner for part in row.parts]) for row in summary.iterations] == [
        (runner, [runner]) for runner in RUNNERS for _ in STEPS
    ]
    [forward] = [row for row in summary.ranges if row.name == "## forward ##"]
    assert (forward.runner, forward.phase, forward.count) == (None, "forward", 6)
    alone = fastrnns_rs.read(manifest(tmp_path / "alone", {"py": 5.0}))
    [forward] = [row for row in alone.ranges if row.name == "## forward ##"]
    assert forward.runner == "py"


def test_a_trace_without_its_manifest_has_no_runner(tmp_path: Path) -> None:
    path = manifest(tmp_path / "out", RUNNERS).with_name("prof_x.py.0.json.gz")
    assert statistics(fastrnns_rs.read(path)) == [(None, 3, 90_000)]


def test_time_between_the_runners_is_not_idle(tmp_path: Path) -> None:
    path = manifest(tmp_path / "out", RUNNERS)
    [device] = fastrnns_rs.read(path).devices
    # From the first kernel of a runner to the end of its third.
    assert (device.span_ns, device.busy_ns) == (2_010_000 + 2_090_000, 300_000)


@pytest.mark.parametrize("runner", ["a/b", "ünïcode 日本", "x" * 300, "new\nline", "a.b", "a"])
def test_a_runner_is_found_whatever_it_is_called(runner: str, tmp_path: Path) -> None:
    others = {runner: 5.0, "aten": 7.0, "0": 9.0}
    assert [row[0] for row in statistics(fastrnns_rs.read(manifest(tmp_path / "out", others)))] == [*others]
    file = f"prof_x.{distinct(runner)}.0.pt.trace.json"
    assert find_runner(file, by_distinct([*others])) == runner
    assert find_runner("trace.json", by_distinct([*others])) is None


def test_names_of_runners_that_differ_only_in_case_make_files_that_differ_in_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On file systems that ignore case, the second file would replace the first."""
    monkeypatch.setattr("torch.cuda.memory._dump_snapshot", lambda path: Path(path).touch())
    monkeypatch.setattr("torch.cuda.memory._record_memory_history", lambda _enabled, **_: None)
    session = TorchSession(TorchOptions(memory_timeline=True), "cpu", tmp_path, "stem")
    # No CUDA device is needed for the name of a snapshot.
    session.options = replace(session.options, memory_snapshot=True)
    runners = ["Net", "net", "NET", "other"]
    for runner in runners:
        iterate(session, runner, 5)
    attempt = Attempt(tmp_path / "stem", 1.0, answer={"cycles": [asdict(cycle) for cycle in session.results]})
    save_tables(attempt)
    files = [(cycle["runner"], Path(path).name) for cycle in attempt.cycles for path, _ in cycle["files"]]
    assert len(files) == len({name.casefold() for _, name in files}) == len(list(tmp_path.iterdir())) == 16
    assert all(find_runner(name, by_distinct(runners)) == runner for runner, name in files)
    assert {"stem.Net.0.json.gz", "stem.other.0.json.gz"} < {name for _, name in files}


def test_files_do_not_each_search_all_runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = manifest(tmp_path / "out", {f"a{number}": 5.0 for number in range(8)})
    asked: list[str] = []
    monkeypatch.setattr(file_names, "distinct", lambda runner: asked.append(runner) or distinct(runner))
    assert [runner for _, _, runner in behind(path)] == asked[::-1] == [f"a{number}" for number in range(8)]


@pytest.mark.parametrize("runners", [RUNNERS, {'a "quoted" \\ name\n日本': 5.0}])
def test_a_drawn_trace_keeps_runners(runners: dict[str, float], tmp_path: Path) -> None:
    """The iterations of all runners were one statistic."""
    drawn = tmp_path / "drawn.json.gz"
    before = fastrnns_rs.read(manifest(tmp_path / "out", runners), trace_output=drawn)
    after = fastrnns_rs.read(drawn)
    assert statistics(after) == statistics(before) == [(one, 3, 1000 * took) for one, took in runners.items()]
    assert [(row.name, row.runner) for row in after.ranges] == [(row.name, row.runner) for row in before.ranges]


def test_shares_that_are_read_elsewhere_keep_runners(tmp_path: Path) -> None:
    found = behind(manifest(tmp_path / "out", RUNNERS))
    shares = [read_share([(path, path)], [False], at, "whole", [runner]) for at, (path, _, runner) in enumerate(found)]
    assert all(isinstance(one, bytes) for one in shares)
    rows = Trace.joined([one for one in shares if isinstance(one, bytes)]).summarize().to_dict()["iteration_statistics"]
    assert [(row["runner"], row["count"]) for row in rows] == [("cudnn", 3), ("py", 3)]
