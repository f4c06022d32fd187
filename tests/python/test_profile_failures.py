"""What goes wrong around a capture: tools that crash, hang, lie or are told to end, and runners that break."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import fake_tools
import pytest
from parts import few
from processes import left_of
from profile_commands import (
    CHECKS,
    PLANTED_RUN,
    PRETENDED,
    QUICK,
    REPORTS,
    WITH_CUDA,
    argv,
    bad,
    checks_of,
    faked,
    good,
    kept,
    prepared_for,
    profile,
    profile_cli,
    told,
)

from fastrnns_rs.cli.exit_codes import ExitCode, find_exit_code
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.processes.folder_removal import remove_folders
from fastrnns_rs.verbs.profile import capture_run, tools
from fastrnns_rs.verbs.profile.attempt import Attempt
from fastrnns_rs.verbs.profile.capture_observer import Silent


def test_the_fake_makes_a_valid_capture(tmp_path: Path) -> None:
    """Else nothing below would mean anything: once with the real runners in it, once without."""
    record, log = good(tmp_path, "call.run(); call.report()", runners=("cudnn", "py"))
    assert (record.ok, checks_of(record)) == (True, dict.fromkeys(CHECKS, True))
    assert (record.runners, record.phases, record.exit_status) == (["cudnn", "py"], ["forward", "backward"], 0)
    assert "cudnn: 2 iterations" in log
    done = faked(tmp_path, out="pretended", runners=("cudnn", "py"))
    assert done.status == 0, done.stderr
    assert re.search(r"^py/forward .*^2 iterations \(py forward\), median", done.stdout, re.MULTILINE | re.DOTALL)
    assert checks_of(kept(tmp_path / "pretended")[0]) == checks_of(record)


NOTHING_RAN = {
    "it crashes at once": ("import os; os.kill(os.getpid(), 11)", "it was killed by signal 11 (SIGSEGV)"),
    "it fails at once": ("sys.exit(7)", "exit status 7"),
    "it does nothing and is content": ("pass", "exit status 0"),
    "its command is killed for its memory": ("sys.exit(137)", "exit status 137 (SIGKILL); the kernel does this when"),
    "the command says why": ("print('error: no module of that name', file=sys.stderr)", "no module of that name"),
    "the answer is no JSON": ("call.answer('['); call._answer.write_text('{')", "exit status 0"),
}


@pytest.mark.parametrize("case", NOTHING_RAN)
def test_a_tool_that_runs_nothing(case: str, tmp_path: Path) -> None:
    statements, reason = NOTHING_RAN[case]
    error, hint = bad(tmp_path, statements)
    assert error.startswith(f"nsys ended without having run anything: {reason}")
    record, _ = kept(tmp_path / "out")
    assert hint == f"everything that was printed is in {next((tmp_path / 'out').glob('*.log'))}"
    assert (record.artefacts, checks_of(record)) == ([], {"runners": False})


def test_a_tool_that_writes_nothing_or_elsewhere(tmp_path: Path) -> None:
    """Measured: nsys exits with 0 when its range was never entered, and where it could not bring its report there."""
    error, _ = bad(tmp_path, PRETENDED)
    assert error.endswith(".sqlite: expected a file with content, found no file")
    record, _ = kept(tmp_path / "out")
    assert (record.artefacts, checks_of(record)) == ([], {"runners": True, "written": False})
    left = tmp_path / "nsys-report-1.qdstrm"
    statements = f"{PRETENDED}Path({str(left)!r}).touch(); print('Generated:\\n    {left}')"
    _, hint = bad(tmp_path, statements, out="elsewhere")
    assert f"nsys left its report in {left}; everything that" in hint


DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
HANGS = {
    "before it runs anything": ("time.sleep(600)", "nsys was not done in time", []),
    "when all is done": (
        f"{DEAF}call.pretend(); call.report(); time.sleep(600)",
        "nsys was not done in time, though every runner was",
        ["nsys_sqlite", "nsys_report"],
    ),
    "at a runner": (
        "call.pretend(status='pending'); call.report('.qdstrm'); time.sleep(600)",
        "nsys was not done in time: it was at the runner py",
        ["nsys_stream"],
    ),
}


@pytest.mark.parametrize("case", HANGS)
def test_a_tool_that_hangs(case: str, tmp_path: Path) -> None:
    statements, reason, kinds = HANGS[case]
    error, hint = bad(tmp_path, statements, "--timeout", "2.5", importer="pass", status=ExitCode.TIMED_OUT)
    assert error == reason
    assert hint.startswith("give --timeout more seconds; everything that was printed is in ")
    record, log = kept(tmp_path / "out")
    assert (record.timed_out, [one.kind for one in record.artefacts]) == (True, kinds)
    assert "# its time was up after " in log


def test_a_tool_that_hangs_is_not_run_again(tmp_path: Path) -> None:
    """With a GPU, where nothing was written, everything would be captured; not when the time was up already."""
    hangs = PRETENDED + "time.sleep(600)"
    bad(tmp_path, hangs, "--timeout", "2.5", facts=WITH_CUDA, status=ExitCode.TIMED_OUT)
    assert kept(tmp_path / "out")[1].count("# under the profiler") == 1


def test_a_tool_that_prints_very_much(tmp_path: Path) -> None:
    """10 MB, of which much is no UTF-8 and the last line matters."""
    floods = "import os; [os.write(n, bytes(range(256)) * 20_000) for n in (1, 2)]; "
    error, _ = bad(tmp_path, PRETENDED + floods + "print('\\nNo space left on device')")
    assert error.endswith("(the disk is full)")
    log = next((tmp_path / "out").glob("*.log"))
    assert 60_000 < log.stat().st_size < 600_000
    log.read_text(encoding="utf-8")


def test_a_tool_that_fails_though_the_capture_is_whole(tmp_path: Path) -> None:
    """Under some options nsys ends its command with a signal and exits with 143: what counts is the capture."""
    record, _ = good(tmp_path, REPORTS + "; sys.exit(143)")
    assert (record.ok, record.exit_status) == (True, 143)


BREAK = {
    "raises": "the runner raises failed: RuntimeError: the model could not be built and here is more",
    "calls_exit": "the runner calls_exit failed: SystemExit: 4",
    "exits": "the process ended in the runner exits: exit status 3",
    "crashes": "the process ended in the runner crashes: exit status 139 (SIGSEGV)",
    "is_killed": "the process ended in the runner is_killed: exit status 137 (SIGKILL); the kernel does this when",
}


@pytest.mark.parametrize("runner", few(["crashes"], BREAK, "profilers"))
def test_a_runner_that_breaks_leaves_the_others_capture(runner: str, tmp_path: Path) -> None:
    """With the real process in it, which the fake waits for as nsys does: its status is that of a shell."""
    waits = "status = call.run(); call.report(); sys.exit(128 - status if status < 0 else status)"
    error, hint = bad(tmp_path, waits, *PLANTED_RUN, runners=("sound", runner))
    assert error.startswith(BREAK[runner])
    assert ("use --separate to capture the other runners" in hint) == ("the process ended" in error)
    record, log = kept(tmp_path / "out")
    assert checks_of(record) == {**dict.fromkeys(CHECKS, True), "runners": False}
    ranges = next(one for one in record.checks if one.id == "ranges")
    assert ranges.found == "4 ranges", "those of the runner that went well"
    assert runner != "raises" or "Traceback" in log


def test_with_a_gpu_there_are_kernels(tmp_path: Path) -> None:
    assert checks_of(good(tmp_path, facts=WITH_CUDA)[0])["kernels"]
    error, _ = bad(tmp_path, PRETENDED + "call.report(kernels=0)", facts=WITH_CUDA, out="none")
    assert error == "there is no valid capture: kernels: expected at least one, found 0 kernels, 0 graphs"


def test_a_profile_of_nvprof(tmp_path: Path) -> None:
    tool = fake_tools.nvprof(tmp_path / "nvprof", profile=PRETENDED + "call.profile()")
    done = profile(tool, tmp_path / "out", facts=WITH_CUDA)
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == ["nvprof_profile", "nvprof_gpu_summary", "nvprof_gpu_trace"]
    assert "Profiling result" in done.stdout
    tool = fake_tools.nvprof(tmp_path / "nvprof", profile=PRETENDED + "call.profile(ranges=[])")
    error, _ = told(profile(tool, tmp_path / "no ranges", facts=WITH_CUDA), 1)
    assert "ranges: expected 4 ranges, found 0 ranges" in error


@pytest.mark.skipif(
    shutil.which("nvprof") is None, reason="nvprof is not installed; scripts/install-profilers does that"
)
def test_the_real_nvprof_is_content_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It exits with 0 and leaves nothing, which is why it is refused before; here it is not."""
    prepared = prepared_for(tools.choose("nvprof"))
    place = capture_run.Place(folder=tmp_path, baseline=False)
    with pytest.raises(capture_run.CaptureError, match="there is no valid capture: written:") as raised:
        capture_run.capture(prepared, place)
    assert find_exit_code(raised.value) == ExitCode.FAILED
    assert ".nvvp: expected a file with content, found no file" in raised.value.message
    record, log = kept(tmp_path)
    assert (record.exit_status, record.artefacts, record.ok) == (0, [], False)
    assert record == raised.value.capture
    assert "cudnn: 2 iterations" in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_capture_says_what_there_is(number: signal.Signals, tmp_path: Path, mark: str) -> None:
    """From a tool that first writes its report when it is told to end, and has deaf children."""
    ready = tmp_path / "ready"
    statements = f"""
import signal, subprocess
subprocess.Popen([sys.executable, '-c', 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)'])
def end(*_):
    call.report('.qdstrm')
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
Path({str(ready)!r}).touch()
time.sleep(600)
"""
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=statements)
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
    with subprocess.Popen(
        argv(*asked),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FASTRNNS_TEST_MARK": mark},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            deadline = time.monotonic() + 30
            while not ready.exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(number)
            out, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == ExitCode.INTERRUPTED
    assert not left_of(mark, 1)
    left = next((tmp_path / "out").glob("*.qdstrm"))
    assert said.rstrip().splitlines()[-1] == f"files of the incomplete capture: {left}"
    assert (out, "Traceback" in said) == ("", False)
    record, log = kept(tmp_path / "out")
    assert [one.path for one in record.artefacts] == [str(left)]
    assert "# KeyboardInterrupt" in log


@pytest.mark.parametrize(
    ("count", "folder", "redact"), [(1, "out", False), (9, "out", False), (9, "traces", False), (9, "traces", True)]
)
def test_an_interrupted_capture_of_torch_names_its_traces(
    count: int, folder: str, redact: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process lists the files of a runner after its last cycle."""

    def interrupt(attempt: Attempt, *_: object, **_named: object) -> None:
        other = tmp_path / folder if attempt.private is None else attempt.private.traces
        traces = attempt.raw_stem.parent if folder == "out" else other
        traces.mkdir(exist_ok=True)
        for index in range(count):
            path = traces / f"{attempt.raw_stem.name}.cudnn.{index}.json.gz"
            path.write_bytes(gzip.compress(b"{}"))
        raise KeyboardInterrupt

    monkeypatch.setattr(Attempt, "run_and_listen", interrupt)
    notes: list[str] = []
    # A redacted manifest names its files relative to itself.
    monkeypatch.setattr(Silent, "note", lambda _, text: notes.append(text.replace("/out/..", "")))
    prepared = prepared_for(tools.choose("torch"))
    handler = None if folder == "out" else f"chrome:{tmp_path / folder}"
    request = replace(prepared.request, torch=replace(prepared.request.torch, on_trace_ready=handler))
    place = capture_run.Place(folder=tmp_path / "out", baseline=False, redact=redact)
    with pytest.raises(KeyboardInterrupt):
        capture_run.capture(replace(prepared, request=request), place)
    made = sorted(map(str, (tmp_path / folder).glob("*.json.gz")))
    named = made[0] if count == 1 else f"9 in {tmp_path / folder}"
    assert (len(made), notes) == (count, [f"files of the incomplete capture: {named}"])
    record = Capture.load(next((tmp_path / "out").glob("*.json")))
    assert [(Path(one.path).name, one.kind) for one in record.artefacts] == [(Path(one).name, "kineto") for one in made]


KILLED = """
import os, sys
from pathlib import Path
import torch
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.worker.profile.torch_session import TorchSession

def is_killed(_profiler, path):
    Path(path).write_text("{")
    os.kill(os.getpid(), 9)

torch.profiler.profile.export_chrome_trace = is_killed
stem, traces = Path(sys.argv[1]), sys.argv[2]
options = TorchOptions(on_trace_ready=traces or None)
session = TorchSession(options, "cpu", stem.parent, stem.name)
with session.profile("cudnn") as run:
    for _ in range(options.schedule.needed):
        with run.phase("forward"):
            pass
        run.step()
"""


@pytest.mark.parametrize("traces", ["", "traces"])
def test_a_process_that_is_killed_leaves_no_part_of_a_trace(
    traces: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torch writes a trace without leaving time for a signal's handler."""
    handler = f"chrome:{tmp_path / traces}" if traces else None

    def child(_request: object, _plan: object, stem: Path, _answer: str | None) -> list[str]:
        return [sys.executable, "-c", KILLED, str(stem), handler or ""]

    monkeypatch.setattr(capture_run, "child_command", child)
    prepared = prepared_for(tools.choose("torch"))
    request = replace(prepared.request, torch=replace(prepared.request.torch, on_trace_ready=handler))
    with pytest.raises(capture_run.CaptureError, match="SIGKILL"):
        capture_run.capture(
            replace(prepared, request=request), capture_run.Place(folder=tmp_path / "out", baseline=False)
        )
    assert {one.suffix for one in (tmp_path / "out").iterdir()} == {".json", ".log"}
    assert not traces or list((tmp_path / traces).iterdir()) == []


def test_the_worker_under_torchs_profiler_that_breaks(tmp_path: Path) -> None:
    quick = ["--quick", "--no-unprofiled", "--nloops", "5", "--warmup", "0"]
    asked = ["--torch", "--output-dir", tmp_path / "out", *PLANTED_RUN, "--rnns", "sound", "is_killed", *quick]
    error, _ = told(profile_cli(*asked, "--sleep-between-seconds", "0"), 1)
    assert error.startswith(
        "the process ended in the runner is_killed: it was killed by signal 9 (SIGKILL); the kernel"
    )
    record, _ = kept(tmp_path / "out")
    assert sorted(one.kind for one in record.artefacts) == ["kineto", "torch_table"]
    assert not record.ok


def test_a_folder_of_traces_that_cannot_be_read_is_no_error_of_the_search_for_parts_of_them(tmp_path: Path) -> None:
    """The worker says what is wrong with it."""
    remove_folders(tmp_path / ("a" * 300), "capture")
    remove_folders(tmp_path / "missing", "capture")
