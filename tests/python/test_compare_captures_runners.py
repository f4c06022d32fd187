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
    """A manifest with another problem, or other phases."""
    made = Capture.load(path)
    parts = {name: changes.pop(name) for name in ("phases",) if name in changes}
    replace(made, problem=replace(made.problem, **changes), **parts).save(path)
    return path


@pytest.mark.parametrize(
    ("changes", "evidence"),
    [
        ({"hidden_size": 7}, r"hidden-size \d+ and 7"),
        ({"allow_tf32": True}, "allow-tf32 False and True"),
        ({"phases": ["forward"]}, "phases forward, backward and forward"),
        ({"seed": 5}, None),
        ({}, None),
    ],
)
def test_different_work_is_told(changes: dict[str, Any], evidence: str | None, tmp_path: Path) -> None:
    before, after = (manifest(tmp_path / name, {"cudnn": took}) for name, took in (("before", 10.0), ("after", 20.0)))
    for paths in ((before, changed(after, **changes)), (before.parent, after.parent)):
        found = [one.evidence for one in compare(*paths).warnings if one.code == "different_work"]
        assert len(found) == (evidence is not None)
        assert evidence is None or re.fullmatch(evidence, str(found[0]))


def test_a_side_without_iterations_is_told(tmp_path: Path) -> None:
    with_them = manifest(tmp_path / "with", {"cudnn": 10.0}).with_name("prof_x.cudnn.0.json.gz")
    without = write(tmp_path / "without.json", document([kernel("k", 0, 20.0), kernel("k", 40, 20.0)]))
    [warning] = [one for one in compare(with_them, without).warnings if one.code == "different_work"]
    assert warning.evidence == f"iterations {len(STEPS)} and unknown"
