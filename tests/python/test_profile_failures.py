"""What goes wrong around a capture: tools that crash, hang, lie or are missing, runners that break, full disks.

Most tools are fakes. Where nothing else is said, the fake only pretends to have run the runners.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import fake_tools
import jsonschema
import pytest
from conftest import FACTS, PLANTED, ROOT, Done, run_cli
from processes import survivors
from real_nsys import check_captured, nsys_is_here, tried
from real_nsys import profile as really_profile

from fastrnns_rs._core import Profiler
from fastrnns_rs.environment import Facts
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.planning import Options
from fastrnns_rs.profiling import attempt, capturing, keeping, naming, preparing, tools
from fastrnns_rs.profiling.record import Capture
from fastrnns_rs.profiling.request import ProfileRequest, choice

WITH_CUDA = replace(FACTS, device="cuda", cuda_device_count=1, gpus=[{"name": "T4", "compute_capability": "7.5"}])
#: The command, but that it does not ask torch what is here.
DRIVER = """
import os, sys
from fastrnns_rs import cli, environment
environment.probe = lambda *_: environment.Facts(**FACTS)
cli.main(sys.argv[1:])
"""
QUICK = ["--quick", "--no-baseline", "--nloops", "2", "--warmup", "0", "--sleep-between-seconds", "0"]
PLANTED_RUN = ["--runner-file", str(PLANTED)]
PRETENDED = "call.pretend(); "
CHECKS = ["runners", "written", "opens", "ranges", "event_loss"]


def argv(*arguments: str | Path, facts: Facts = FACTS) -> list[str]:
    return [sys.executable, "-c", DRIVER.replace("FACTS", repr(asdict(facts))), "profile", *map(str, arguments)]


def run(command: list[str], **variables: str) -> Done:
    done = subprocess.run(command, capture_output=True, env={**os.environ, **variables}, timeout=120, check=False)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def profile(
    tool: Path, out: Path, *more: str | Path, runners: tuple[str, ...] = ("py",), facts: Facts = FACTS, **variables: str
) -> Done:
    """A capture with a fake."""
    asked = [f"--{tool.name}", f"--{tool.name}-path", tool, "--output-dir", out, "--rnns", *runners, *QUICK, *more]
    return run(argv(*asked, facts=facts), **variables)


def told(done: Done, status: int) -> tuple[str, str]:
    """The one line of an error and its hint, of a command that ended with this status."""
    assert done.status == status, (done.status, done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    assert "fault of fastrnns-rs" not in done.stderr
    errors = [index for index, line in enumerate(lines) if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    error, *hints = lines[errors[0] :]
    assert len(hints) <= 1
    assert all(line.startswith("hint: ") for line in hints)
    assert len(error) < 700
    return error.removeprefix("error: "), "".join(hints).removeprefix("hint: ")


def kept(out: Path) -> tuple[Capture, str]:
    """The record and the log of the one capture in a folder, which holds nothing that the record is without."""
    records = [*out.glob("*.json")]
    assert len(records) == 1, [*out.iterdir()]
    record = Capture.load(records[0])
    log = records[0].with_suffix(".log")
    listed = {Path(one.path) for one in record.artefacts}
    assert {*out.iterdir()} == {*listed, records[0], log}
    for one in record.artefacts:
        assert Path(one.path).stat().st_size == one.size_bytes
    text = log.read_text()
    assert "# under the profiler\n$ " in text
    return record, text


def prepared_for(tool: Profiler, timeout: float = 60.0) -> preparing.Prepared:
    """A request that has passed all checks of what is here, whatever is here."""
    options = Options(choice=choice(rnns=["cudnn"]), quick=True, nloops=2, warmup=0, timeout=timeout, device="cpu")
    request = ProfileRequest(options=options, tool=tool.name, sleep_between_seconds=0)
    plan = preparing.make_plan(options, FACTS)
    return preparing.Prepared(request=request, plan=plan, tool=tool, skipped={}, chosen=False)


def checks_of(record: Capture) -> dict[str, bool]:
    return {one.id.partition(":")[0]: one.ok for one in record.checks}


def test_the_fake_makes_a_valid_capture(tmp_path: Path) -> None:
    """Else nothing below would mean anything: once with the real runners in it, once without."""
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys")
    done = profile(tool, tmp_path / "real", runners=("cudnn", "py"))
    assert done.status == 0, done.stderr
    record, log = kept(tmp_path / "real")
    assert record.ok
    assert checks_of(record) == dict.fromkeys(CHECKS, True)
    assert (record.runners, record.phases, record.exit_status) == (["cudnn", "py"], ["forward", "backward"], 0)
    assert "cudnn: 2 iterations" in log
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=PRETENDED + "call.report()")
    done = profile(tool, tmp_path / "pretended", runners=("cudnn", "py"))
    assert done.status == 0, done.stderr
    assert "a table of nsys" in done.stdout
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
    error, hint = told(profile(fake_tools.nsys(tmp_path / "nsys", profile=statements), tmp_path / "out"), 1)
    assert error.startswith(f"nsys ended without having run anything: {reason}")
    record, _ = kept(tmp_path / "out")
    assert hint == f"everything that was printed is in {next((tmp_path / 'out').glob('*.log'))}"
    assert (record.artefacts, checks_of(record)) == ([], {"runners": False})


SAID = {
    "the disk is full": (
        "No space left on device",
        "make room, or give --output-dir on another disk; nsys also writes to the folder that TMPDIR names",
    ),
    "the profiler has no permission": (
        "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters",
        "fastrnns-rs doctor says what is missing",
    ),
    "the profiler does not know an option": ("unrecognised option '--cuda-graph-trace=node'", "everything"),
    "another profiler is at work in the same process": ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "take the"),
    "nsys cannot start its agent": ("Agent launcher failed.", "remove /dev/shm/NSys-*"),
    "the profiler found no GPU that it can use": ("CUDA device error 100: no CUDA-capable device", "doctor"),
}


@pytest.mark.parametrize("meaning", SAID)
@pytest.mark.parametrize("ran", [True, False])
def test_what_a_tool_complains_of_is_explained(meaning: str, tmp_path: Path, *, ran: bool) -> None:
    """Also where it exits with 0, as nsys does."""
    text, advice = SAID[meaning]
    statements = f"{PRETENDED if ran else ''}print({text!r}, file=sys.std{'err' if ran else 'out'})"
    error, hint = told(profile(fake_tools.nsys(tmp_path / "nsys", profile=statements), tmp_path / "out"), 1)
    if ran:
        assert error.startswith("there is no valid capture: written:prof_py_")
        assert error.endswith(f"found no file ({meaning})")
    else:
        assert error == meaning
    assert advice in hint
    assert hint.endswith(".log")
    assert text in kept(tmp_path / "out")[1]


def test_a_tool_that_writes_nothing(tmp_path: Path) -> None:
    """Measured: nsys exits with 0 when its range was never entered."""
    error, _ = told(profile(fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED), tmp_path / "out"), 1)
    assert error.endswith(".sqlite: expected a file with content, found no file")
    record, _ = kept(tmp_path / "out")
    assert (record.artefacts, checks_of(record)) == ([], {"runners": True, "written": False})


def test_a_report_that_could_not_be_brought_to_its_place_is_named(tmp_path: Path) -> None:
    """Measured: nsys exits with 0 and says only on stdout where it left it."""
    left = tmp_path / "nsys-report-1.qdstrm"
    statements = f"{PRETENDED}Path({str(left)!r}).touch(); print('Generated:\\n    {left}')"
    _, hint = told(profile(fake_tools.nsys(tmp_path / "bin" / "nsys", profile=statements), tmp_path / "out"), 1)
    assert f"nsys left its report in {left}; everything that" in hint


def without_tools(command: list[str]) -> list[str]:
    """The same, where nothing is in the folders that installers of profilers use."""
    usual = [Path("/usr/lib/nsight-systems"), Path("/opt/nvidia"), *Path("/usr/local").glob("cuda*")]
    folders = {str(path.resolve()) for path in usual if path.is_dir()}
    if not folders:
        return command
    can_mount("to hide what is installed here")
    hide = " && ".join(f"mount -t tmpfs none {folder}" for folder in folders)
    return ["unshare", "--mount", "sh", "-c", f'{hide} && exec "$@"', "sh", *command]


def can_mount(purpose: str) -> None:
    try:
        subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"needs root and mount namespaces {purpose}")


def test_a_raw_capture_without_an_importer(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "call.report('.qdstrm')")
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
    error, hint = told(run(without_tools(argv(*asked))), 1)
    left = next((tmp_path / "out").glob("*.qdstrm"))
    assert error == f"nsys left {left}, and the QdstrmImporter that makes a report of it is not here"
    assert hint == f"install the whole of Nsight Systems, or elsewhere: QdstrmImporter --input-file {left}"
    record, _ = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == ["nsys_stream"]
    # Elsewhere it can be read.
    tool = fake_tools.nsys(tmp_path / "elsewhere" / "bin" / "nsys", importer="call.to_report()")
    opened = tools.choose("nsys", str(tool))
    stem = left.with_name(left.name.removesuffix(".qdstrm"))
    while (step := opened.finish(stem)) is not None:
        subprocess.run(step, check=True)
    assert left.with_suffix(".sqlite").is_file()


IMPORTERS = {
    "works": ("call.to_report()", None),
    "fails": ("sys.exit('cannot import')", "found no file"),
    "writes an empty file": ("Path(call.option('--output-file')).touch()", "found no file"),
    "is content and does nothing": ("pass", "found no file"),
    "refuses a newer report": ("sys.exit('Version number is invalid: 2024@5@1')", "newer nsys than the one that reads"),
}


@pytest.mark.parametrize("case", IMPORTERS)
def test_an_importer(case: str, tmp_path: Path) -> None:
    statements, reason = IMPORTERS[case]
    raw = PRETENDED + "call.report('.qdstrm')"
    done = profile(fake_tools.nsys(tmp_path / "bin" / "nsys", importer=statements, profile=raw), tmp_path / "out")
    if reason is None:
        assert done.status == 0, done.stderr
        kinds = ["nsys_sqlite", "nsys_report"]
    else:
        assert reason in told(done, 1)[0]
        # The only thing of worth stays, without --keep.
        kinds = ["nsys_report", "nsys_stream"] if "empty" in case else ["nsys_stream"]
    record, log = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == kinds
    assert log.count("QdstrmImporter --input-file") == 1, "it is not run again"


def test_an_importer_that_cannot_be_started(tmp_path: Path) -> None:
    raw = PRETENDED + "call.report('.qdstrm')"
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", importer="pass", profile=raw)
    importer = tmp_path / "host-linux-x64" / "QdstrmImporter"
    importer.write_bytes(b"\x7fELF of another machine")
    error, _ = told(profile(tool, tmp_path / "out"), 1)
    assert error == f"{importer} cannot be started: Exec format error"
    record, _ = kept(tmp_path / "out")
    assert [one.kind for one in record.artefacts] == ["nsys_stream"]


EXPORTS = {
    "says ERROR and is content": ("print('ERROR: the export failed')", "found no file"),
    "fails": (
        "sys.exit('Version number is invalid: 2025')",
        "the report is of a newer nsys than the one that reads it",
    ),
    "writes an empty file": ("Path(call.option('--output')).touch()", "found an empty file"),
    "writes half of it": (
        "call.export(); path = Path(call.option('--output')); path.write_bytes(path.read_bytes()[:9000])",
        "opens: expected a SQLite file, found it cannot be read: ",
    ),
    "writes two tables": (
        "call.export(more='DROP TABLE NVTX_EVENTS')",
        "ranges: expected 4 ranges, found 0 ranges, 4 missing: py/forward/0, py/forward/1, py/backward/0, …",
    ),
    "writes something else": (
        "Path(call.option('--output')).write_text('SQLite')",
        "opens: expected a SQLite file, found it cannot be read: file is not a database",
    ),
    "loses a range": ("call.export(ranges=call.ranges()[1:] if 0 else ['py/forward/0'])", "1 ranges, 3 missing"),
    "loses events": (
        "call.export(diagnostics=['Not all NVTX events might have been collected.'])",
        "event_loss: expected none, found Not all NVTX events might have been collected.",
    ),
    "is killed": ("import os; os.kill(os.getpid(), 9)", "found no file"),
}


@pytest.mark.parametrize("case", EXPORTS)
def test_an_export_that_fails(case: str, tmp_path: Path) -> None:
    statements, reason = EXPORTS[case]
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "call.report()", export=statements)
    error, hint = told(profile(tool, tmp_path / "out"), 1)
    assert error.startswith("there is no valid capture: ")
    assert reason in error
    assert "everything that was printed is in " in hint
    record, log = kept(tmp_path / "out")
    assert "nsys_report" in [one.kind for one in record.artefacts]
    assert not record.ok
    assert log.count(" export --type=sqlite ") == 1


def test_an_export_that_fails_is_redacted_or_removed(tmp_path: Path) -> None:
    """What cannot be redacted must not stay."""
    half = "call.export(); path = Path(call.option('--output')); path.write_bytes(path.read_bytes()[:9000])"
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "call.report()", export=half)
    error, _ = told(profile(tool, tmp_path / "out", "--redact"), 1)
    assert "opens: expected a SQLite file" in error
    record, _ = kept(tmp_path / "out")
    assert (record.artefacts, record.ok) == ([], False)


def test_what_went_wrong_is_told_though_the_log_is_redacted(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile="print('error: hush-hush'); sys.exit(2)")
    error, _ = told(profile(tool, tmp_path / "out", "--redact"), 1)
    assert error == "nsys ended without having run anything: hush-hush"
    assert "hush-hush" not in kept(tmp_path / "out")[1]


def test_a_redaction_that_fails_removes_the_file(tmp_path: Path) -> None:
    """A file that can be read and not be rewritten: a view stands in the way."""
    tool = fake_tools.nsys(
        tmp_path / "nsys",
        profile=PRETENDED + "call.report()",
        export="call.export(more='CREATE TABLE META_DATA_CAPTURE (other)')",
    )
    done = profile(tool, tmp_path / "plain")
    assert done.status == 0, done.stderr
    error, hint = told(profile(tool, tmp_path / "out", "--redact"), 1)
    assert ".sqlite cannot be redacted: no such column: " in error
    assert error.endswith("; it was removed")
    assert hint == "capture again without --redact"
    assert not kept(tmp_path / "out")[0].artefacts


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
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", profile=statements, importer="pass")
    started = time.monotonic()
    error, hint = told(profile(tool, tmp_path / "out", "--timeout", "2.5"), ExitCode.TIMED_OUT)
    assert time.monotonic() - started < 20
    assert error == reason
    assert hint.startswith("give --timeout more seconds; everything that was printed is in ")
    record, log = kept(tmp_path / "out")
    assert record.timed_out
    assert [one.kind for one in record.artefacts] == kinds
    assert "# its time was up after " in log


def test_a_tool_that_hangs_is_not_run_again(tmp_path: Path) -> None:
    """With a GPU, where nothing was written, everything would be captured; not when the time was up already."""
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "time.sleep(600)")
    told(profile(tool, tmp_path / "out", "--timeout", "2.5", facts=WITH_CUDA), ExitCode.TIMED_OUT)
    assert kept(tmp_path / "out")[1].count("# under the profiler") == 1


def test_an_export_that_hangs(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "call.report()", export="time.sleep(600)")
    error, _ = told(profile(tool, tmp_path / "out", "--timeout", "2.5"), ExitCode.TIMED_OUT)
    assert error.startswith("nsys was not done in time")
    assert [one.kind for one in kept(tmp_path / "out")[0].artefacts] == ["nsys_report"]


def test_a_tool_that_prints_very_much(tmp_path: Path) -> None:
    """10 MB, of which much is no UTF-8 and the last line matters."""
    statements = (
        "import os; [os.write(n, bytes(range(256)) * 20_000) for n in (1, 2)]; print('\\nNo space left on device')"
    )
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + statements)
    error, _ = told(profile(tool, tmp_path / "out"), 1)
    assert error.endswith("(the disk is full)")
    log = next((tmp_path / "out").glob("*.log"))
    assert 60_000 < log.stat().st_size < 600_000
    log.read_text(encoding="utf-8")


def test_a_tool_that_fails_though_the_capture_is_whole(tmp_path: Path) -> None:
    """Under some options nsys ends its command with a signal and exits with 143: what counts is the capture."""
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "call.report(); sys.exit(143)")
    done = profile(tool, tmp_path / "out")
    assert done.status == 0, done.stderr
    record, _ = kept(tmp_path / "out")
    assert (record.ok, record.exit_status) == (True, 143)


BREAK = {
    "raises": "the runner raises failed: RuntimeError: the model could not be built and here is more",
    "calls_exit": "the runner calls_exit failed: SystemExit: 4",
    "exits": "the process ended in the runner exits: exit status 3",
    "crashes": "the process ended in the runner crashes: exit status 139 (SIGSEGV)",
    "is_killed": "the process ended in the runner is_killed: exit status 137 (SIGKILL); the kernel does this when",
}


@pytest.mark.parametrize("runner", BREAK)
def test_a_runner_that_breaks_leaves_the_others_capture(runner: str, tmp_path: Path) -> None:
    """With the real process in it, which the fake waits for as nsys does: its status is that of a shell."""
    waits = "status = call.run(); call.report(); sys.exit(128 - status if status < 0 else status)"
    tool = fake_tools.nsys(tmp_path / "nsys", profile=waits)
    error, hint = told(profile(tool, tmp_path / "out", *PLANTED_RUN, runners=("sound", runner)), 1)
    assert error.startswith(BREAK[runner])
    assert hint.startswith("everything that was printed is in ")
    record, log = kept(tmp_path / "out")
    assert checks_of(record) == {**dict.fromkeys(CHECKS, True), "runners": False}
    ranges = next(one for one in record.checks if one.id == "ranges")
    assert ranges.found == "4 ranges", "those of the runner that went well"
    if runner == "raises":
        assert "Traceback" in log


def test_a_runner_that_dies_before_the_capture_is_named(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile="sys.exit(call.run())")
    more = [*PLANTED_RUN, "--warmup", "1"]
    error, _ = told(profile(tool, tmp_path / "out", *more, runners=("sound", "exits")), 1)
    assert error == "the process ended in the runner exits: exit status 3"


def test_when_every_runner_fails_without_the_profiler_it_is_not_started(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile=f"Path({str(tmp_path / 'started')!r}).touch()")
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", *PLANTED_RUN, "--rnns", "raises"]
    quick = [word for word in QUICK if word != "--no-baseline"]
    done = run(argv(*asked, *quick))
    assert told(done, 1)[0] == "the runner raises failed: RuntimeError: the model could not be built and here is more"
    assert "running under nsys" not in done.stderr
    assert not (tmp_path / "started").exists()
    assert Capture.load(next((tmp_path / "out").glob("*.json"))).command == []


def test_a_range_that_yields_nothing_is_taken_away(tmp_path: Path) -> None:
    """With a GPU only the iterations are captured; where that yields no file, everything is."""
    statements = PRETENDED + "'--capture-range=cudaProfilerApi' in call.words or call.report()"
    tool = fake_tools.nsys(tmp_path / "nsys", profile=statements)
    done = profile(tool, tmp_path / "out", facts=WITH_CUDA)
    assert done.status == 0, done.stderr
    assert "warning: nsys saw none of the iterations in the range that it was given: everything" in done.stderr
    record, log = kept(tmp_path / "out")
    assert [one.code for one in record.warnings] == ["range_yielded_nothing"]
    assert log.count("# under the profiler") == 2
    assert checks_of(record)["kernels"]
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + "call.report(kernels=0)")
    error, _ = told(profile(tool, tmp_path / "no kernels", facts=WITH_CUDA), 1)
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
    place = capturing.Place(folder=tmp_path, baseline=False)
    with pytest.raises(capturing.CaptureError, match="there is no valid capture: written:") as raised:
        capturing.capture(prepared, place)
    assert raised.value.exit_code == ExitCode.FAILED
    assert ".nvvp: expected a file with content, found no file" in raised.value.message
    record, log = kept(tmp_path)
    assert (record.exit_status, record.artefacts, record.ok) == (0, [], False)
    assert record == raised.value.capture
    assert "cudnn: 2 iterations" in log


REFUSED = {
    "nvprof without a GPU": (
        ["--nvprof"],
        5,
        "nvprof cannot profile here: no NVIDIA GPU was found",
        "--nsys or --torch",
    ),
    "no such nsys": (
        ["--nsys", "--nsys-path", "/nonexistent"],
        5,
        "nsys does not work: /nonexistent: No such file",
        "--nsys-path",
    ),
    "two profilers": (["--nsys", "--torch"], 2, "--nsys and --torch are profilers; give one", "--help"),
    "three profilers": (
        ["--nvprof", "--nsys", "--torch"],
        2,
        "--nsys and --nvprof and --torch are profilers",
        "--help",
    ),
    "cuda on a CPU": (["--torch", "--activities", "cuda"], 2, "cuda", ""),
    "a schedule too long": (
        ["--torch", "--schedule", "active=9"],
        2,
        "the schedule wait=1,warmup=1,active=9,repeat=1,skip-first=0 needs 11 iterations, and 5 are run",
        "--nloops 11",
    ),
    "a schedule of nonsense": (["--torch", "--schedule", "activ=9"], 2, "a schedule has no 'activ'", "active"),
    "torch's options for nsys": (["--nsys", "--with-stack"], 2, "options of torch's profiler were given", "--torch"),
    "a runner that is not there": (
        ["--torch", "--rnns", "cudn"],
        2,
        "no runner is called 'cudn'",
        "did you mean cudnn?",
    ),
    "a group that is not there": (["--torch", "--group", "rns"], 2, "no group is called 'rns'", "rnns"),
    "no group": (["--torch", "--group"], 2, "--group needs the name", ""),
    "several records as one": (["--torch", "--separate", "--json"], 2, "--json is one capture record", "--output-dir"),
    "two formats": (["--torch", "--json", "--format", "table"], 2, "--format and --json both say", ""),
    "nothing that it can do": (
        ["--torch", "--rnns", "cudnn_dropout", "--num-layers", "1"],
        2,
        "cudnn_dropout",
        "change",
    ),
    "no time": (["--torch", "--timeout", "0"], 2, "timeout", ""),
    "no iteration": (["--torch", "--nloops", "0"], 2, "nloops", ""),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_before_anything_runs(case: str, tmp_path: Path) -> None:
    arguments, status, message, advice = REFUSED[case]
    error, hint = told(run(argv(*arguments, "--output-dir", tmp_path / "out")), status)
    assert message in error
    assert advice in hint
    assert not (tmp_path / "out").exists()


def test_nothing_to_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of which every runner lacks a package."""
    from fastrnns_rs import environment, runners

    monkeypatch.setattr(environment, "probe", lambda *_: FACTS)
    monkeypatch.setattr(runners.importlib.util, "find_spec", lambda _name: None)
    request = ProfileRequest(options=Options(choice=choice(groups=["cnns"]), nloops=5, timeout=9.0), tool="torch")
    with pytest.raises(UsageError, match="nothing is left to profile: resnet18 cannot do this: it needs the package"):
        preparing.prepare(request, {})


def test_a_profiler_that_is_nowhere_is_5(tmp_path: Path) -> None:
    asked = argv("--nsys", "--output-dir", tmp_path / "out")
    done = run(without_tools(["env", f"PATH={tmp_path}", *asked]))
    assert told(done, 5) == ("nsys is not installed", "install NVIDIA Nsight Systems, or name it with --nsys-path")


def test_a_profiler_of_a_variable_that_is_wrong_is_5(tmp_path: Path) -> None:
    done = run(argv("--nsys", "--output-dir", tmp_path / "out"), FASTRNNS_PROFILE_NSYS_PATH=str(tmp_path))
    assert told(done, 5)[0] == f"nsys does not work: {tmp_path}: Permission denied"


def pretender(tmp_path: Path) -> Path:
    return fake_tools.nsys(tmp_path / "bin" / "nsys", profile=PRETENDED + "call.report()")


@pytest.mark.parametrize(
    "name", ["with space", "qu'o\"te", "ünïcode 日本", "$HOME;`id`", "a.b.c.", "x" * 200, "new\nline", "100%"]
)
def test_captures_go_where_they_are_told(name: str, tmp_path: Path) -> None:
    out = tmp_path / name / "deeper"
    done = profile(pretender(tmp_path), out)
    assert done.status == 0, done.stderr
    assert kept(out)[0].ok


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    out = tmp_path / os.fsdecode(b"\xff\xfe")
    command = argv("--nsys", "--nsys-path", pretender(tmp_path), "--output-dir", out, "--rnns", "py", *QUICK)
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert os.fsencode(out) in done.stdout
    assert Capture.load(next(out.glob("*.json"))).ok


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    places = {
        file: "File exists",
        file / "below": "Not a directory",
        Path("/proc/nothing"): "No such file or directory",
    }
    places[tmp_path / ("x" * 300)] = "File name too long"
    if os.geteuid():
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        places[locked] = "Permission denied"
    for out, reason in places.items():
        error, hint = told(profile(pretender(tmp_path), out), 2)
        assert error == f"{out} cannot be written to: {reason}"
        assert hint == "choose another folder with --output-dir"


def run_where_little_fits(folder: Path, kilobytes: int, command: list[str], **variables: str) -> tuple[Done, list[str]]:
    """Runs a command where a folder has only so much room: how it ended, and what it left in there."""
    can_mount("to have a disk that is full")
    folder.mkdir()
    listing = folder.with_name("listing")
    mount = f"mount -t tmpfs -o size={kilobytes}k none {folder}"
    script = f'{mount} && "$@"; status=$?; ls -A {folder} >{listing}; exit $status'
    done = run(["unshare", "--mount", "sh", "-c", script, "sh", *command], **variables)
    return done, listing.read_text().split()


@pytest.mark.parametrize(("kilobytes", "bytes_of_report"), [(64, 200_000), (4, 200_000), (4, 10)])
def test_a_disk_that_is_full(kilobytes: int, bytes_of_report: int, tmp_path: Path) -> None:
    """Whatever does not fit: the report, the log, or the record."""
    noise = "print('n' * 30_000); " if bytes_of_report < 100 else ""
    writes = f"{PRETENDED}{noise}call.file('.nsys-rep').write_bytes(b'x' * {bytes_of_report})"
    tool = fake_tools.nsys(tmp_path / "nsys", profile=writes, export="pass")
    asked = ["--nsys", "--nsys-path", tool, "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
    done, left = run_where_little_fits(tmp_path / "out", kilobytes, argv(*asked))
    error, hint = told(done, 1)
    assert "disk is full" in error or "No space left on device" in error
    assert "make room" in hint
    assert any(name.endswith(".log") for name in left)
    assert not any(name.endswith(".answer.json") for name in left)


@nsys_is_here
def test_a_disk_that_is_full_and_the_real_nsys(tmp_path: Path) -> None:
    def attempt(place: Path) -> tuple[Done, list[str]]:
        asked = ["--nsys", "--output-dir", place / "out", "--rnns", "cudnn", *QUICK]
        done, left = run_where_little_fits(place / "out", 100, argv(*asked), TMPDIR=str(tmp_path))
        if "disk is full" not in done.stderr:
            check_captured(done, place / "out")
        return done, left

    done, left = tried(attempt, tmp_path)
    error, hint = told(done, 1)
    assert error.endswith("(the disk is full)")
    assert "make room, or give --output-dir on another disk" in hint
    # nsys writes elsewhere first.
    assert "nsys left its report in " in hint
    assert sorted(Path(name).suffix for name in left) == [".json", ".log"]


def test_a_profile_that_is_delivered_to_a_full_device(tmp_path: Path) -> None:
    with open("/dev/full", "w") as nowhere:
        asked = ["--nsys", "--nsys-path", pretender(tmp_path), "--output-dir", tmp_path / "out", "--rnns", "py", *QUICK]
        done = subprocess.run(argv(*asked), stdout=nowhere, stderr=subprocess.PIPE, text=True, check=False)
    assert told(Done(done.returncode, "", done.stderr), 1)[0].startswith("writing failed: ")
    assert kept(tmp_path / "out")[0].ok


def test_names_are_never_taken_twice(tmp_path: Path) -> None:
    plan = preparing.make_plan(Options(choice=choice(rnns=["py"]), quick=True), FACTS)
    problem = plan.tasks[0].problem
    with ThreadPoolExecutor(16) as pool:
        stems = [*pool.map(lambda _: naming.reserve(tmp_path, ["py"], problem), range(200))]
    assert len({*stems}) == 200
    assert {one.stat().st_size for one in tmp_path.iterdir()} == {0}


def test_two_captures_at_once_are_two(tmp_path: Path) -> None:
    tool = pretender(tmp_path)
    with ThreadPoolExecutor() as pool:
        both = [*pool.map(lambda _: profile(tool, tmp_path / "out", "--no-report"), range(3))]
    assert [one.status for one in both] == [0, 0, 0], both
    records = [Capture.load(path) for path in (tmp_path / "out").glob("*.json")]
    assert len(records) == len({one.artefacts[0].path for one in records}) == 3


def test_very_many_runners_have_a_short_name(tmp_path: Path) -> None:
    asked = ["--nsys", "--nsys-path", pretender(tmp_path), "--output-dir", tmp_path / "out", "--group", "all", "--json"]
    done = run(argv(*asked, *[word for word in QUICK if word != "--quick"]))
    assert done.status == 0, done.stderr
    record = done.json()
    assert len(record["runners"]) > 12
    stem = Path(record["artefacts"][0]["path"]).name
    # Sessions of nsys have at most 127 letters.
    assert f"-and-{len(record['runners']) - 1}-more_" in stem
    assert len(stem) < 127


@pytest.mark.parametrize("runner", ["x" * 400, "日本" * 100, "a/../../b", "new\nline", "-", "ä ö", "."])
def test_a_runner_with_an_odd_name(runner: str, tmp_path: Path) -> None:
    problem = preparing.make_plan(Options(choice=choice(rnns=["py"]), quick=True), FACTS).tasks[0].problem
    stem = naming.reserve(tmp_path, [runner], problem)
    assert stem.parent == tmp_path
    assert len(stem.name.encode()) < 127
    assert stem.name.isprintable()
    assert "more" not in stem.name


def test_tables_of_runners_with_like_names_are_two(tmp_path: Path) -> None:
    names = ["a.b", "a_b", "a/b", "x" * 300, "x" * 301]
    cycles = [{"runner": name, "index": 0, "table": f"of {name}", "files": []} for name in names]
    one = attempt.Attempt(tmp_path / "prof_x", 1.0, answer={"cycles": cycles})
    keeping.save_tables(one)
    paths = [Path(cycle["files"][0][0]) for cycle in one.cycles]
    assert [path.read_text() for path in paths] == [f"of {name}" for name in names]


def test_a_redacted_log_is_without_output(tmp_path: Path) -> None:
    """Also where that looks like the log's own lines."""
    prints = PRETENDED + "print('# hush-hush'); print('hush-hush', file=sys.stderr); call.report()"
    done = profile(fake_tools.nsys(tmp_path / "nsys", profile=prints), tmp_path / "out", "--redact")
    assert done.status == 0, done.stderr
    record, log = kept(tmp_path / "out")
    assert "hush-hush" not in log
    assert "# exit status 0 after" in log
    assert [one.kind for one in record.artefacts] == ["nsys_sqlite"]


def test_separate_captures_and_one_that_fails(tmp_path: Path) -> None:
    breaks = "'py' in call.names and sys.exit(9); call.pretend(); call.report()"
    tool = fake_tools.nsys(tmp_path / "nsys", profile=breaks)
    done = profile(tool, tmp_path / "good", "--separate", runners=("aten", "cudnn"))
    assert done.status == 0, done.stderr
    assert sorted(Capture.load(path).runners for path in (tmp_path / "good").glob("*.json")) == [["aten"], ["cudnn"]]
    assert done.stdout.count("6 of 6 checks passed") == 2
    done = profile(tool, tmp_path / "bad", "--separate", runners=("aten", "py", "cudnn"))
    assert "nsys ended without having run anything: exit status 9" in told(done, 1)[0]
    assert len([*(tmp_path / "bad").glob("*.json")]) >= 2


@pytest.mark.parametrize("ok", [True, False])
def test_json_is_one_document_that_keeps_to_its_schema(tmp_path: Path, *, ok: bool) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile=PRETENDED + ("call.report()" if ok else "print('noise')"))
    done = profile(tool, tmp_path / "out", "--json", runners=("py", "cudnn"))
    assert done.status == (0 if ok else 1)
    schema = json.loads((ROOT / "docs" / "schemas" / "capture.schema.json").read_text())
    document = done.json()
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert kept(tmp_path / "out")[0].to_dict() == document
    assert done.stdout.endswith("}\n")


def test_a_record_can_go_to_a_file(tmp_path: Path) -> None:
    done = profile(pretender(tmp_path), tmp_path / "out", "--json", "--output", tmp_path / "record.json")
    assert (done.status, done.stdout) == (0, "")
    assert Capture.load(tmp_path / "record.json") == kept(tmp_path / "out")[0]


@pytest.mark.parametrize("facts", [FACTS, WITH_CUDA], ids=["cpu", "cuda"])
def test_a_dry_run_shows_a_command_that_a_shell_takes(facts: Facts, tmp_path: Path) -> None:
    out = tmp_path / "o u't"
    tool = fake_tools.nsys(tmp_path / "b i n" / "nsys", profile="Path('ran').write_text(repr(call.words))")
    done = profile(tool, out, "--dry-run", "--redact", runners=("py", "cudnn"), facts=facts)
    assert (done.status, done.stderr) == (0, "")
    assert not out.exists()
    words = shlex.split(done.stdout)
    assert done.stdout == shlex.join(words) + "\n"
    subprocess.run(["/bin/sh", "-c", done.stdout], check=True, cwd=tmp_path)
    assert (tmp_path / "ran").read_text() == repr(words[1:])
    assert words[0] == str(tool)
    assert "--internal-run" in words
    assert "--answer" not in words
    assert ("--capture-range=cudaProfilerApi" in words) is (facts is WITH_CUDA)
    done = profile(tool, out, "--dry-run", "--separate", runners=("py", "cudnn"), facts=facts)
    assert [line.count("--internal-run") for line in done.stdout.splitlines()] == [1, 1]


def test_what_a_dry_run_shows_runs(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "nsys", profile="sys.exit(call.run())")
    done = profile(tool, tmp_path / "out", "--dry-run", runners=("cudnn",))
    shown = subprocess.run(["/bin/sh", "-c", done.stdout], capture_output=True, text=True, check=False)
    assert (shown.returncode, "cudnn: 2 iterations" in shown.stderr) == (0, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_capture_says_what_there_is(number: signal.Signals, tmp_path: Path) -> None:
    """From a tool that first writes its report when it is told to end, and has deaf children."""
    mark = uuid.uuid4().hex
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
            asked_at = time.monotonic()
            out, said = process.communicate(timeout=20)
        finally:
            process.kill()
    assert time.monotonic() - asked_at < 8
    assert process.returncode == ExitCode.INTERRUPTED
    assert not survivors(f"FASTRNNS_TEST_MARK={mark}", 1)
    left = next((tmp_path / "out").glob("*.qdstrm"))
    assert said.rstrip().splitlines()[-1] == f"what there is of the capture: {left}"
    assert (out, "Traceback" in said) == ("", False)
    record, log = kept(tmp_path / "out")
    assert [one.path for one in record.artefacts] == [str(left)]
    assert "# KeyboardInterrupt" in log


def test_a_killed_capture_keeps_its_name(tmp_path: Path) -> None:
    """After SIGKILL there is an empty log, and the next capture of the same second takes another name."""
    plan = preparing.make_plan(Options(choice=choice(rnns=["py"]), quick=True), FACTS)
    first, second = (naming.reserve(tmp_path, ["py"], plan.tasks[0].problem) for _ in range(2))
    assert first != second


def test_the_worker_under_torchs_profiler_that_breaks(tmp_path: Path) -> None:
    quick = ["--quick", "--no-baseline", "--nloops", "5", "--warmup", "0"]
    asked = ["--torch", "--output-dir", tmp_path / "out", *PLANTED_RUN, "--rnns", "sound", "is_killed", *quick]
    error, _ = told(run(argv(*asked, "--sleep-between-seconds", "0")), 1)
    assert error.startswith(
        "the process ended in the runner is_killed: it was killed by signal 9 (SIGKILL); the kernel"
    )
    record, _ = kept(tmp_path / "out")
    assert sorted(one.kind for one in record.artefacts) == ["kineto", "torch_table"]
    assert not record.ok


def test_a_runner_that_is_not_there_is_refused_by_the_real_command(tmp_path: Path) -> None:
    done = run_cli("profile", "--nsys", "--rnns", "cudn", "--output-dir", tmp_path / "out")
    assert told(done, 2) == ("no runner is called 'cudn'", "did you mean cudnn?")


@nsys_is_here
def test_the_real_nsys_writes_to_an_odd_folder(tmp_path: Path) -> None:
    _, out = really_profile(tmp_path / "o u'\"t ü日 100% %h", "--nsys", "--rnns", "cudnn", *QUICK, "--json")
    record, _ = kept(out)
    assert record.ok
    with closing(sqlite3.connect(next(out.glob("*.sqlite")))) as database:
        assert database.execute("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60").fetchone() == (4,)
