"""An nsys that ends before it has run anything, since it missed its own agent, is started again; nothing else is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_tools
import pytest
from profile_commands import PRETENDED, kept, prepared_for, profile, told

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
WORKS = PRETENDED + "call.report()"
MISSED = "nsys missed its own agent"


def nsys(tmp_path: Path, times: int, fails: str, works: str = WORKS) -> Path:
    """A fake that fails so often, then works."""
    first = fake_tools.at_first(tmp_path / "starts", times, fails)
    return fake_tools.nsys(tmp_path / "bin" / "nsys", profile=f"{first}\n{works}")


def starts(tmp_path: Path) -> int:
    return len((tmp_path / "starts").read_text())


def restarts(record: Capture) -> list[str | None]:
    """What nsys said each time that it was started again."""
    assert {one.code for one in record.warnings} <= {"profiler_restarted"}
    return [one.evidence for one in record.warnings]


@pytest.mark.parametrize("words", WORDS)
def test_the_second_start_succeeds(words: str, tmp_path: Path) -> None:
    done = profile(nsys(tmp_path, 1, f"sys.exit({words!r})"), tmp_path / "out")
    assert done.status == 0, done.stderr
    assert f"{MISSED} and ran nothing: it is started again (2 of 3)\n" in done.stderr
    record, log = kept(tmp_path / "out")
    assert (record.ok, record.exit_status, restarts(record)) == (True, 0, [words])
    assert log.count("# under the profiler\n$ ") == starts(tmp_path) == 2
    assert words in log, "the start that failed is not hidden"


def test_three_in_a_row_are_a_failure_with_a_reason(tmp_path: Path) -> None:
    done = profile(nsys(tmp_path, 3, "sys.exit('End of file')"), tmp_path / "out")
    error, hint = told(done, 1)
    log = next((tmp_path / "out").glob("*.log"))
    assert error == MISSED
    assert hint == f"try again, on a machine that is less busy; everything that was printed is in {log}"
    record, _ = kept(tmp_path / "out")
    assert (record.ok, record.artefacts, starts(tmp_path)) == (False, [], 3)
    assert restarts(record) == ["End of file"] * 2


def test_what_a_start_that_failed_has_written_is_gone(tmp_path: Path) -> None:
    writes = "call.report('.qdstrm'); call.report('.qdrep'); sys.exit('End of file')"
    done = profile(nsys(tmp_path, 1, writes), tmp_path / "out")
    assert done.status == 0, done.stderr
    assert [one.kind for one in kept(tmp_path / "out")[0].artefacts] == ["nsys_sqlite", "nsys_report"]


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
    told(profile(nsys(tmp_path, 3, OTHERS[case]), tmp_path / "out"), 1)
    assert (starts(tmp_path), restarts(kept(tmp_path / "out")[0])) == (1, [])


def test_another_profiler_is_not_started_again(tmp_path: Path) -> None:
    first = fake_tools.at_first(tmp_path / "starts", 3, "sys.exit('End of file')")
    tool = tools.choose("nvprof", str(fake_tools.nvprof(tmp_path / "bin" / "nvprof", profile=first)))
    with pytest.raises(capture_run.CaptureError):
        capture_run.capture(prepared_for(tool), capture_run.Place(folder=tmp_path / "out", baseline=False))
    assert starts(tmp_path) == 1


def capture_with(tool: Path, out: Path, timeout: float) -> tuple[Capture, Path]:
    prepared = prepared_for(tools.choose("nsys", str(tool)), timeout)
    return capture_run.capture(prepared, capture_run.Place(folder=out, baseline=False))


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
    capture_with(nsys(tmp_path, 2, "time.sleep(0.2); sys.exit('End of file')"), tmp_path / "out", 60.0)
    first, second, third, export = allowed
    assert first == export == 60.0
    assert second < first - 0.2
    assert third < second - 0.2


def test_where_no_time_is_left_it_is_not_started_again(
    allowed: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 160.0])
    monkeypatch.setattr(capture_run, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with pytest.raises(capture_run.CaptureError, match=MISSED) as raised:
        capture_with(nsys(tmp_path, 1, "sys.exit('End of file')"), tmp_path / "out", 60.0)
    assert (allowed, restarts(raised.value.capture)) == ([60.0], [])


def test_ctrl_c_ends_the_second_start_and_there_is_no_third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = attempt.run_command, []

    def run(command: list[str], **options: Any) -> Completed:
        seen.append(command)
        if len(seen) > 1:
            raise KeyboardInterrupt
        return real(command, **options)

    monkeypatch.setattr(attempt, "run_command", run)
    with pytest.raises(KeyboardInterrupt):
        capture_with(nsys(tmp_path, 3, "sys.exit('End of file')"), tmp_path / "out", 60.0)
    assert len(seen) == 2
    record, log = kept(tmp_path / "out")
    assert (record.artefacts, restarts(record)) == ([], ["End of file"])
    assert log.endswith("# KeyboardInterrupt: \n")


def test_a_redacted_capture_says_where_the_output_would_be(tmp_path: Path) -> None:
    done = profile(nsys(tmp_path, 1, "print('hush-hush'); sys.exit(7)"), tmp_path / "out", "--redact")
    _, hint = told(done, 1)
    _, log = kept(tmp_path / "out")
    assert hint == f"without --redact {next((tmp_path / 'out').glob('*.log'))} has what was printed too"
    assert "hush-hush" not in log
