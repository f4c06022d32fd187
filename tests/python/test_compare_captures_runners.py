"""Captures of several runners: a comparison is of one runner on each side."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import run_cli
from kineto_traces import document, kernel, write
from nsys_exports import STARTED, Export, thread
from torch_manifests import STEPS, manifest

from fastrnns_rs import compare
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.errors import UsageError

BEFORE, AFTER = {"cudnn": 10.0, "py": 90.0}, {"cudnn": 20.0, "py": 90.0}
MAIN = thread(100, 1)


def test_several_runners_are_refused_in_one_line(tmp_path: Path) -> None:
    sides = [manifest(tmp_path / name, runners) for name, runners in (("before", BEFORE), ("after", AFTER))]
    done = run_cli("compare", *sides)
    assert (done.status, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    for side in ("baseline", "candidate"):
        assert f"iterations of several runners: cudnn, py ({side})" in error
    assert "trace of one runner" in hint
    # One side suffices.
    alone = manifest(tmp_path / "alone", {"py": 5.0})
    with pytest.raises(UsageError, match=r"^iterations of several runners: cudnn, py \(baseline\)\. "):
        compare(sides[0], alone)


def test_the_traces_of_one_runner_are_compared(tmp_path: Path) -> None:
    sides = [manifest(tmp_path / name, runners) for name, runners in (("before", BEFORE), ("after", AFTER))]
    found = compare(*(side.with_name("prof_x.cudnn.0.json.gz") for side in sides))
    assert found.device_time is not None
    assert (found.basis, found.device_time.delta_ns) == ("per_iteration", 10_000)
    assert (found.baseline.iterations, found.baseline.gpu_median_ns) == (len(STEPS), 10_000)


def test_manifests_of_one_runner_are_compared_whichever_it_is(tmp_path: Path) -> None:
    sides = [manifest(tmp_path / runner, {runner: took}) for runner, took in BEFORE.items()]
    found = compare(*sides)
    assert found.device_time is not None
    assert found.device_time.delta_ns == 80_000


def test_captures_of_different_runners_are_not_repeats_of_one(tmp_path: Path) -> None:
    mixed = [manifest(tmp_path / runner, {runner: took}) for runner, took in BEFORE.items()]
    other = [manifest(tmp_path / f"py{place}", {"py": 90.0}, since=place + 1) for place in range(2)]
    with pytest.raises(UsageError, match=r"several runners: cudnn, py \(candidate\)"):
        compare(other, mixed)


def test_forced_sums_are_of_all_runners(tmp_path: Path) -> None:
    sides = [manifest(tmp_path / name, runners) for name, runners in (("before", BEFORE), ("after", AFTER))]
    found = compare(*sides, force=True)
    assert found.method.forced
    assert (found.baseline.iterations, found.baseline.gpu_time_median_ns) == (len(STEPS), 100_000)


def test_ranges_of_several_runners_in_one_file_are_refused(tmp_path: Path) -> None:
    sides = []
    for name, runners in (("one", ["py"]), ("two", ["py", "jit"])):
        export = Export(tmp_path / f"{name}.sqlite")
        for place, runner in enumerate(runners):
            export.range(f"{runner}/forward/0", 1000 * place, 1000 * place + 500, MAIN, kind=STARTED)
            export.call(1000 * place + 1, 1000 * place + 2, MAIN, place + 1)
            export.kernel(1000 * place + 5, 1000 * place + 50, MAIN, place + 1)
        sides.append(export.written())
    with pytest.raises(UsageError, match=r"several runners: jit, py \(candidate\)"):
        compare(*sides)


def changed(path: Path, **changes: Any) -> Path:
    """A manifest with another problem."""
    made = Capture.load(path)
    replace(made, problem=replace(made.problem, **changes)).save(path)
    return path


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"hidden_size": 7}, r"hidden-size \d+ and 7"),
        ({"allow_tf32": True, "mode": "inference"}, r"allow-tf32 False and True, mode train and inference"),
    ],
)
def test_different_problems_are_refused_unless_forced(changes: dict[str, Any], differing: str, tmp_path: Path) -> None:
    before, after = (manifest(tmp_path / name, {"cudnn": took}) for name, took in (("before", 10.0), ("after", 20.0)))
    for paths in ((before, changed(after, **changes)), (before.parent, after.parent)):
        with pytest.raises(UsageError, match=f"^different problems: {differing}\\. Capture the same problem"):
            compare(*paths)
        found = compare(*paths, force=True)
        assert found.method.forced
        [warning] = [one for one in found.warnings if one.code == "forced"]
        assert re.fullmatch(f"different problems: {differing}", warning.message)


@pytest.mark.parametrize("left", ["no artefact", "a trace that is gone"])
def test_a_manifest_whose_files_are_not_read_refuses_nothing(left: str, tmp_path: Path) -> None:
    before, after = (manifest(tmp_path / name, {"cudnn": took}) for name, took in (("before", 10.0), ("after", 20.0)))
    made = Capture.load(after)
    gone = [replace(made.artefacts[0], path=str(after.parent / "gone.json.gz"))]
    artefacts = [] if left == "no artefact" else gone
    stale = replace(made, artefacts=artefacts, problem=replace(made.problem, hidden_size=7))
    stale.save(after.parent / "prof_stale.json")
    found = compare(before.parent, after.parent)
    assert found.device_time is not None
    assert found.device_time.delta_ns == 10_000


def test_a_side_of_several_problems_is_told(tmp_path: Path) -> None:
    sides = [
        [manifest(tmp_path / f"{side}{at}", {"cudnn": 10.0 + at}, since=10 * side + at) for at in range(2)]
        for side in range(2)
    ]
    for _, second in sides:
        changed(second, hidden_size=7)
    found = [one for one in evidence(compare(*sides), "pooled_files_differ") if one]
    assert [one.rpartition(": ")[2] for one in found] == ["hidden-size"] * 2


def test_seeds_may_differ(tmp_path: Path) -> None:
    before, after = (manifest(tmp_path / name, {"cudnn": took}) for name, took in (("before", 10.0), ("after", 20.0)))
    assert compare(before, changed(after, seed=5)).device_time is not None


def evidence(found: Comparison, code: str) -> list[str | None]:
    return [one.evidence for one in found.warnings if one.code == code]


def test_captures_without_iterations_are_told(tmp_path: Path) -> None:
    with_them = manifest(tmp_path / "with", {"cudnn": 10.0}).with_name("prof_x.cudnn.0.json.gz")
    without = [
        write(tmp_path / f"{at}.json", document([kernel("k", at, 20.0), kernel("k", at + 40, 20.0)])) for at in (0, 5)
    ]
    assert evidence(compare(with_them, without[0]), "different_work") == ["iterations in 1 of 2 captures"]
    # One of several is enough: times are then those of whole captures.
    mixed = compare([with_them, without[0]], [without[1]])
    assert mixed.basis == "per_capture"
    assert evidence(mixed, "different_work") == ["iterations in 1 of 3 captures"]
    assert evidence(compare(*without), "different_work") == []


def ranged(path: Path, *ranges: str) -> Path:
    """An export of nsys with ranges one after the other. Those below number 9 launch a kernel."""
    export = Export(path)
    for place, name in enumerate(ranges):
        begin = 10_000 * place
        export.range(name, begin, begin + 9000, MAIN, kind=STARTED)
        if not name.endswith("9"):
            export.call(begin + 100, begin + 200, MAIN, place + 1)
            export.kernel(begin + 500, begin + 1500 + len(path.name), MAIN, place + 1)
    return export.written()


def test_other_phases_are_told(tmp_path: Path) -> None:
    forward = [ranged(tmp_path / f"f{at}.sqlite", "py/forward/0", "py/forward/1") for at in range(2)]
    backward = ranged(tmp_path / "backward.sqlite", "py/backward/0", "py/backward/1")
    both = ranged(tmp_path / "both.sqlite", "py/forward/0", "py/backward/0")
    assert evidence(compare(forward[0], backward), "different_work") == ["phases forward and backward"]
    assert evidence(compare(forward[0], both), "different_work") == ["phases forward and backward | forward"]
    assert (
        evidence(compare(both, ranged(tmp_path / "longer.sqlite", "py/forward/0", "py/backward/0")), "different_work")
        == []
    )


def test_iterations_that_launch_nothing_are_told(tmp_path: Path) -> None:
    whole = ranged(tmp_path / "whole.sqlite", "py/forward/0", "py/forward/1")
    half = ranged(tmp_path / "half.sqlite", "py/forward/0", "py/forward/1", "py/forward/9", "py/forward/19")
    assert evidence(compare(whole, half), "empty_iterations") == ["2 of 4 iterations of the candidate"]
    assert evidence(compare(half, whole), "empty_iterations") == ["2 of 4 iterations of the baseline"]
