"""Captures of several runs: one without the profiler, and an nsys that missed its own agent and is started again."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import fake_tools
import pytest
from conftest import ROOT
from profile_commands import REPORTS, bad, faked, kept, prepared_for

from fastrnns_rs import stats
from fastrnns_rs._core import Completed
from fastrnns_rs.cli.exit_codes import ExitCode, find_exit_code
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.runners.profile_request import ProfileRequest
from fastrnns_rs.verbs.profile import attempt, capture_run, tools
from fastrnns_rs.verbs.profile.baseline import Baseline
from fastrnns_rs.views import capture_screen, figures

WAITS = ["/bin/sleep", "600"]


def runner(name: str, *forward_ns: int, status: str = "ok") -> dict[str, Any]:
    """How a runner went, as the process says it."""
    known = {"reason": None, "hint": "", "phases": ["forward"], "backward_ns": None}
    return {"name": name, "status": status, "forward_ns": [*forward_ns], **known}


def saying(*runners: dict[str, Any]) -> str:
    """A command's statements that say how its runners went, backward as forward."""
    both = [{**one, "phases": ["forward", "backward"], "backward_ns": one["forward_ns"]} for one in runners]
    answer = {"runners": both, "cycles": [], "warnings": [], "finished": True}
    return f"open(sys.argv[1], 'w').write({json.dumps(answer)!r})"


class Seen:
    """Observer that keeps what it saw."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def process_begins(self, profiler: str | None, report: Callable[[], dict[str, Any]]) -> None:
        assert report() == {}, "an earlier process must not seem to be this one"
        self.events.append(f"begins under {profiler}")

    def reads(self, program: str | None) -> None:
        self.events.append(f"reads with {program}")

    def note(self, text: str) -> None:
        self.events.append(text)


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
    seen = Seen()
    prepared = prepared_for(tool, timeout, rnns=("cudnn", "py"), nloops=3)
    record, stem = capture_run.capture(prepared, capture_run.Place(folder=folder / "out"), seen)
    assert Capture.load(f"{stem}.json") == record
    return record, Path(f"{stem}.log").read_text(), seen.events


def test_the_ratio_is_of_medians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One slow iteration of three changes nothing; the fake says that each phase took 1000 ns."""
    baseline = saying(runner("cudnn", 400, 400, 10**9), runner("py", 1, 600, 600))
    record, log, _ = captured(tmp_path, monkeypatch, baseline)
    assert (record.profiled_over_unprofiled, record.warnings) == (2.0, [])
    assert record.unprofiled_ns == [800, 1200]
    ranges = "iterations took 0.001 to 2000.000 ms without it, 0.002 to 0.002 ms under it"
    assert f"# cudnn: 2.50 times as long under the profiler; {ranges}\n" in log
    assert "# py: 1.67 times as long" in log


def test_the_time_of_an_iteration_is_the_median_of_all_its_phases() -> None:
    """Of those that are captured alone; not the sum of the medians of phases, which no iteration need have taken."""
    both = {**runner("py", 9000, 100, 200, 600), "backward_ns": [9000, 600, 200, 150]}
    answer = {"runners": [both, runner("cudnn", 0, 1, 2, 4), runner("jit", status="failed")], "finished": True}
    baseline = Baseline(None, answer)  # type: ignore[arg-type]  # how it ended is not looked at
    assert baseline.iteration_ns([1, 2, 3]) == {"py": 700, "cudnn": 2}
    assert baseline.iteration_ns([2, 3]) == {"py": 575, "cudnn": 3}


def test_how_sure_the_ratio_is_takes_ten_iterations() -> None:
    """Of both runners together: the intervals of their medians are combined."""
    times = [100, 104, 98, 101, 99, 103, 97, 102, 100, 96, 105, 100]
    baseline = Baseline(None, {"runners": [runner("py", *times), runner("cudnn", *times)], "finished": True})  # type: ignore[arg-type]
    under = {"runners": [runner("py", *(2 * one for one in times)), runner("cudnn", *times)]}
    found = baseline.interval([*range(12)], under)
    one = stats.median_ci(times)
    assert one.ci_low is not None
    assert one.ci_high is not None
    # Runners are independent, and so are sides; the slower runner has the larger part.
    low, high = ((end - one.estimate) / one.estimate for end in (one.ci_low, one.ci_high))
    slower = [math.log1p(end * math.sqrt(5) / 3) for end in (low, high)]
    usual = [math.log1p(end / math.sqrt(2)) for end in (low, high)]
    assert found is not None
    assert found[0] == pytest.approx(1.5 * math.exp(-math.hypot(slower[0], usual[1])))
    assert found[1] == pytest.approx(1.5 * math.exp(math.hypot(slower[1], usual[0])))
    assert found[0] < 1.5 < found[1]
    # Samples of a runner that failed in both runs are not part of the ratio.
    broken = runner("jit", 7, status="failed")
    both = Baseline(None, {**baseline.answer, "runners": [*baseline.answer["runners"], broken]})  # type: ignore[arg-type]
    assert both.interval([*range(12)], {"runners": [*under["runners"], broken]}) == found
    assert baseline.interval([*range(9)], under) is None
    assert baseline.interval([*range(12)], {"runners": []}) is None


def test_the_ratio_is_in_its_interval() -> None:
    """Each fourth iteration under the profiler takes nine times as long, as when buffers are written."""
    under = {"runners": [runner("py", *[102, 102, 102, 900] * 5)]}
    baseline = Baseline(None, {"runners": [runner("py", *[100, 99, 101, 100] * 5)], "finished": True})  # type: ignore[arg-type]
    ratio, found = baseline.ratio([*range(20)], under)[0], baseline.interval([*range(20)], under)
    assert ratio == 1.02
    assert found is not None
    assert found[0] <= ratio <= found[1]


def test_a_time_of_0_has_no_interval() -> None:
    """Its logarithm would have no end."""
    baseline = Baseline(None, {"runners": [runner("py", *[0] * 4, *[100] * 8)], "finished": True})  # type: ignore[arg-type]
    assert baseline.ratio([*range(12)], baseline.answer)[0] == 1.0
    assert baseline.interval([*range(12)], baseline.answer) is None


@pytest.mark.parametrize(
    ("bounds", "said"), [(None, False), ([0.9, 1.2], False), ([1.1, 1.2], True), ([0.7, 0.9], True)]
)
def test_the_ratio_is_printed_where_it_is_not_1(*, bounds: list[float] | None, said: bool) -> None:
    plain = json.loads((ROOT / "tests" / "data" / "documents" / "capture_4_2d2eee5.json").read_text())
    plain |= {"profiled_over_unprofiled": 1.15, "profiled_over_unprofiled_ci": bounds}
    text = " ".join(one.text for one in capture_screen.lines(Capture.from_dict(plain), Path("x"), 200))
    assert ("under the profiler" in text) is said
    assert not said or f"{figures.change(1.15, *bounds)} %" in text  # type: ignore[misc]


def test_a_runner_that_failed_on_one_side_leaves_no_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the others would pass for that of all."""
    baseline = saying(runner("cudnn", 500, 500, 500), runner("py", status="failed"))
    record, log, _ = captured(tmp_path, monkeypatch, baseline)
    assert (record.ok, record.profiled_over_unprofiled, record.unprofiled_ns) == (True, None, [1000, None])
    [warning] = record.warnings
    assert warning.code == "baseline_differs"
    assert warning.evidence == "py failed without the profiler"
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
    assert (record.profiled_over_unprofiled, record.unprofiled_ns) == (None, [1000, 1000])
    assert record.warnings[0].evidence == "cudnn failed under the profiler"


REFUSAL = {"runners": [], "refusal": {"message": "no such folder", "hint": "make it", "kind": "UsageError"}}
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
    assert warning.evidence == reason
    assert said[0] == "begins under None"
    assert said[1].endswith(f": {reason}")
    assert said[2] == "begins under nsys"
    assert said[-1] == "reads with None"


def test_a_baseline_that_takes_too_long_costs_no_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, log, _ = captured(tmp_path, monkeypatch, WAITS, timeout=5.0)
    assert (record.ok, record.timed_out, record.profiled_over_unprofiled) == (True, False, None)
    [warning] = record.warnings
    assert (warning.code, warning.evidence) == ("baseline_failed", "its time was up")
    assert "--timeout" in warning.hint
    assert "# its time was up after " in log


def test_when_both_take_too_long_the_capture_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(capture_run.CaptureError, match="nsys was not done in time") as raised:
        captured(tmp_path, monkeypatch, WAITS, profile="time.sleep(600)", timeout=1.0)
    assert find_exit_code(raised.value) == ExitCode.TIMED_OUT
    assert [one.code for one in raised.value.capture.warnings] == ["baseline_failed"]


def test_where_no_runner_works_nothing_is_captured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = [{**runner(name, status="failed"), "reason": "broken"} for name in ("cudnn", "py")]
    with pytest.raises(capture_run.CaptureError, match="the runner cudnn failed: broken") as raised:
        captured(tmp_path, monkeypatch, saying(*failed))
    assert "# under the profiler" not in raised.value.log.read_text()


#: All that nsys 2022.4 prints then. It exits with 1.
WORDS = (
    "sem_open: No such file or directory",
    "Local Endpoint is not available",
    "End of file",
    "Connection reset by peer",
)
MISSED = "nsys missed its own agent"


def failing(tmp_path: Path, times: int, fails: str) -> str:
    """Statements of a fake that fails so often, then works."""
    return f"{fake_tools.at_first(tmp_path / 'starts', times, fails)}\n{REPORTS}"


def starts(tmp_path: Path) -> int:
    return len((tmp_path / "starts").read_text())


def restarts(record: Capture) -> list[str | None]:
    """What nsys said each time that it was started again."""
    assert {one.code for one in record.warnings} <= {"profiler_restarted"}
    return [str(one.evidence).partition(", after: ")[2] for one in record.warnings]


@pytest.mark.parametrize("words", WORDS)
def test_the_second_start_succeeds(words: str, tmp_path: Path) -> None:
    """What the first has written is gone."""
    fails = f"call.report('.qdstrm'); call.report('.qdrep'); sys.exit({words!r})"
    done = faked(tmp_path, failing(tmp_path, 1, fails))
    assert done.status == 0, done.stderr
    assert "starting nsys again (2 of 3)\n" in done.stderr
    record, log = kept(tmp_path / "out")
    assert (record.ok, record.exit_status, restarts(record)) == (True, 0, [words])
    assert [one.kind for one in record.artefacts] == ["nsys_sqlite", "nsys_report"]
    assert log.count("# under the profiler\n$ ") == starts(tmp_path) == 2
    assert words in log, "the start that failed is not hidden"


def test_three_in_a_row_are_a_failure_with_a_reason(tmp_path: Path) -> None:
    error, hint = bad(tmp_path, failing(tmp_path, 3, "sys.exit('End of file')"))
    [log] = (tmp_path / "out").glob("*.log")
    assert error == MISSED
    assert hint == f"try again, on a machine that is less busy; everything that was printed is in {log}"
    record, _ = kept(tmp_path / "out")
    assert (record.ok, record.artefacts, starts(tmp_path)) == (False, [], 3)
    assert restarts(record) == ["End of file"] * 2


OTHERS = {
    "no word of it": "sys.exit(1)",
    "an exit status that is good": "print('End of file'); sys.exit(0)",
    "a signal": "print('End of file', flush=True); import os; os.kill(os.getpid(), 11)",
    "a command that was killed": "print('End of file'); sys.exit(137)",
    "words in the middle of a line": "sys.exit('reading x.py: End of file')",
    "another reason": "print('Failed to create it: No space left on device'); sys.exit('End of file')",
    "an agent that does not start": "print('Agent launcher failed.'); sys.exit('End of file')",
    "the command says why it ended": "print('error: no such module'); sys.exit('End of file')",
    "something ran": "call.pretend(status='running'); sys.exit('End of file')",
    "everything ran": "call.pretend(); sys.exit('End of file')",
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_failures_are_told_at_once(case: str, tmp_path: Path) -> None:
    bad(tmp_path, failing(tmp_path, 3, OTHERS[case]))
    assert (starts(tmp_path), restarts(kept(tmp_path / "out")[0])) == (1, [])


def capture_with(tmp_path: Path, times: int, fails: str, name: str = "nsys") -> tuple[Capture, Path]:
    statements = failing(tmp_path, times, fails)
    tool = tools.choose(name, str(getattr(fake_tools, name)(tmp_path / "bin" / name, profile=statements)))
    return capture_run.capture(prepared_for(tool), capture_run.Place(folder=tmp_path / "out", baseline=False))


def test_another_profiler_is_not_started_again(tmp_path: Path) -> None:
    with pytest.raises(capture_run.CaptureError):
        capture_with(tmp_path, 3, "sys.exit('End of file')", "nvprof")
    assert starts(tmp_path) == 1


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many seconds each command was given."""
    given: list[float] = []
    real = attempt.run_command

    def run(command: list[str], **options: Any) -> Completed:
        given.append(options["timeout"])
        return real(command, **options)

    monkeypatch.setattr(attempt, "run_command", run)
    return given


def test_all_starts_together_have_the_time_of_one(allowed: list[float], tmp_path: Path) -> None:
    capture_with(tmp_path, 2, "time.sleep(0.2); sys.exit('End of file')")
    first, second, third, export = allowed
    assert first == export == 60.0
    assert second < first - 0.2
    assert third < second - 0.2


def test_without_time_it_is_not_started(allowed: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 160.0])
    monkeypatch.setattr(capture_run, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with pytest.raises(capture_run.CaptureError, match=MISSED) as raised:
        capture_with(tmp_path, 1, "sys.exit('End of file')")
    assert (allowed, restarts(raised.value.capture)) == ([60.0], [])


def test_ctrl_c_ends_the_second_start_and_there_is_no_third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = attempt.run_command
    run = Mock(side_effect=lambda *given, **named: real(*given, **named) if run.call_count == 1 else pressed())
    pressed = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(attempt, "run_command", run)
    with pytest.raises(KeyboardInterrupt):
        capture_with(tmp_path, 3, "sys.exit('End of file')")
    assert run.call_count == 2
    record, log = kept(tmp_path / "out")
    assert (record.artefacts, restarts(record)) == ([], ["End of file"])
    assert log.endswith("# KeyboardInterrupt: \n")


ASK = 'import sys; from fastrnns_rs._core import Profiler; Profiler("nsys", sys.argv[1])'


def test_a_profiler_that_does_not_answer_need_not_be_waited_for(tmp_path: Path) -> None:
    """Ctrl-C while it is asked for its version."""
    program, asked = tmp_path / "nsys", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\ntouch '{asked}'\nexec sleep 60\n")
    program.chmod(0o755)
    with subprocess.Popen([sys.executable, "-c", ASK, str(program)], stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while not asked.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    # Unasked, it gives up after twenty seconds.
    assert time.monotonic() - begin < 10
    assert said.splitlines()[-1] == "KeyboardInterrupt"
