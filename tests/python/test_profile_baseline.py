"""The run without the profiler: what it is compared with, and what is said where it cannot be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import fake_tools
import pytest
from profile_commands import REPORTS, prepared_for

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.errors import ExitCode
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile import capture_run, tools
from fastrnns_rs.verbs.profile.baseline import Baseline

WAITS = ["/bin/sleep", "600"]


def runner(name: str, *forward_ns: int, status: str = "ok") -> dict[str, Any]:
    """How a runner went, as the process says it."""
    known = {"reason": None, "hint": "", "phases": ["forward"], "backward_ns": None}
    return {"name": name, "status": status, "forward_ns": [*forward_ns], **known}


def saying(*runners: dict[str, Any]) -> str:
    """A command's statements that say how its runners went."""
    answer = {"runners": runners, "cycles": [], "warnings": [], "finished": True}
    return f"open(sys.argv[1], 'w').write({json.dumps(answer)!r})"


def captured(
    folder: Path, patch: pytest.MonkeyPatch, baseline: str | list[str], profile: str = REPORTS, timeout: float = 60.0
) -> tuple[Capture, str, list[str]]:
    """The record, the log and what was said of a capture with a fake, beside this run without it."""
    real = capture_run.child_command

    def child(request: ProfileRequest, plan: Any, stem: Path, answer: str | None) -> list[str]:
        if request.tool is not None:
            return real(request, plan, stem, answer)
        return [sys.executable, "-c", f"import sys; {baseline}", str(answer)] if isinstance(baseline, str) else baseline

    patch.setattr(capture_run, "child_command", child)
    tool = tools.choose("nsys", str(fake_tools.nsys(folder / "bin" / "nsys", profile=profile)))
    said: list[str] = []
    prepared = prepared_for(tool, timeout, rnns=("cudnn", "py"), nloops=3)
    record, stem = capture_run.capture(prepared, capture_run.Place(folder=folder / "out"), said.append)
    assert Capture.load(f"{stem}.json") == record
    return record, Path(f"{stem}.log").read_text(), said


def test_the_ratio_is_of_medians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One slow iteration of three changes nothing; the fake says that each took 1000 ns."""
    baseline = saying(runner("cudnn", 400, 400, 10**9), runner("py", 1, 600, 600))
    record, log, _ = captured(tmp_path, monkeypatch, baseline)
    assert (record.profiled_over_unprofiled, record.warnings) == (2.0, [])
    assert record.unprofiled_ns == [400, 600]
    ranges = "iterations took 0.000 to 1000.000 ms without it, 0.002 to 0.002 ms under it"
    assert f"# cudnn: 2.50 times as long under the profiler; {ranges}\n" in log
    assert "# py: 1.67 times as long" in log


def test_the_time_of_an_iteration_is_the_median_of_all_its_phases() -> None:
    """Of those that are captured alone; not the sum of the medians of phases, which no iteration need have taken."""
    both = {**runner("py", 9000, 100, 200, 600), "backward_ns": [9000, 600, 200, 150]}
    answer = {"runners": [both, runner("cudnn", 0, 1, 2, 4), runner("jit", status="failed")], "finished": True}
    baseline = Baseline(None, answer)  # type: ignore[arg-type]  # how it ended is not looked at
    assert baseline.iteration_ns([1, 2, 3]) == {"py": 700, "cudnn": 2}
    assert baseline.iteration_ns([2, 3]) == {"py": 575, "cudnn": 3}


def test_a_runner_that_failed_on_one_side_leaves_no_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the others would pass for that of all."""
    baseline = saying(runner("cudnn", 500, 500, 500), runner("py", status="failed"))
    record, log, _ = captured(tmp_path, monkeypatch, baseline)
    assert (record.ok, record.profiled_over_unprofiled, record.unprofiled_ns) == (True, None, [500, None])
    [warning] = record.warnings
    assert warning.code == "baseline_differs"
    assert warning.message.startswith("py failed without the profiler: how much longer")
    assert "# cudnn: 2.00 times as long" in log
    assert "# py:" not in log


def test_a_runner_that_fails_under_it_leaves_no_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = """
call.pretend()
said = json.loads(Path(call.option('--answer')).read_text())
said['runners'][0].update(status='failed', reason='no')
call.answer(said)
call.report()
"""
    baseline = saying(runner("cudnn", 500, 500, 500), runner("py", 500, 500, 500))
    with pytest.raises(capture_run.CaptureError, match="the runner cudnn failed: no") as raised:
        captured(tmp_path, monkeypatch, baseline, profile=f"import json\n{fails}")
    record = raised.value.capture
    assert (record.profiled_over_unprofiled, record.unprofiled_ns) == (None, [500, 500])
    assert record.warnings[0].message.startswith("cudnn failed under the profiler: ")


REFUSAL = {"runners": [], "refusal": {"message": "no such folder", "hint": "make it", "exit_code": 2}}
DYING = {
    "killed": (["/bin/sh", "-c", "kill -9 $$"], "it was killed by signal 9"),
    "exits": (["/bin/sh", "-c", "exit 7"], "exit status 7"),
    "refuses": (f"open(sys.argv[1], 'w').write({json.dumps(REFUSAL)!r}); sys.exit(2)", "no such folder"),
    "in a runner": ("open(sys.argv[1], 'w').write('{\"runners\": []}'); sys.exit(3)", "exit status 3"),
}


@pytest.mark.parametrize("case", DYING)
def test_a_baseline_that_dies_is_told(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, reason = DYING[case]
    record, _, said = captured(tmp_path, monkeypatch, command)
    assert (record.ok, record.profiled_over_unprofiled, record.unprofiled_ns) == (True, None, [None, None])
    [warning] = record.warnings
    assert warning.code == "baseline_failed"
    assert warning.message.startswith(f"the run without the profiler failed: {reason}; how much longer")
    assert said[:2] == ["running without the profiler", warning.message]


def test_a_baseline_that_takes_too_long_costs_no_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, log, _ = captured(tmp_path, monkeypatch, WAITS, timeout=5.0)
    assert (record.ok, record.timed_out, record.profiled_over_unprofiled) == (True, False, None)
    [warning] = record.warnings
    assert "the run without the profiler failed: its time was up; " in warning.message
    assert warning.hint == "give --timeout more seconds, or --no-baseline"
    assert "# its time was up after " in log


def test_when_both_take_too_long_the_capture_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(capture_run.CaptureError, match="nsys was not done in time") as raised:
        captured(tmp_path, monkeypatch, WAITS, profile="time.sleep(600)", timeout=1.0)
    assert raised.value.exit_code == ExitCode.TIMED_OUT
    assert [one.code for one in raised.value.capture.warnings] == ["baseline_failed"]


def test_where_no_runner_works_nothing_is_captured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = [{**runner(name, status="failed"), "reason": "broken"} for name in ("cudnn", "py")]
    with pytest.raises(capture_run.CaptureError, match="the runner cudnn failed: broken") as raised:
        captured(tmp_path, monkeypatch, saying(*failed))
    assert "# under the profiler" not in raised.value.log.read_text()
