"""An nsys that ends before it has run anything, since it missed its own agent, is started again; nothing else is."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import fake_tools
import pytest
from profile_commands import REPORTS, bad, faked, kept, prepared_for

from fastrnns_rs._core import Completed
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.verbs.profile import attempt, capture_run, tools

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
    return [one.evidence for one in record.warnings]


@pytest.mark.parametrize("words", WORDS)
def test_the_second_start_succeeds(words: str, tmp_path: Path) -> None:
    """What the first has written is gone."""
    fails = f"call.report('.qdstrm'); call.report('.qdrep'); sys.exit({words!r})"
    done = faked(tmp_path, failing(tmp_path, 1, fails))
    assert done.status == 0, done.stderr
    assert f"{MISSED} and ran nothing: it is started again (2 of 3)\n" in done.stderr
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
