"""Exports that nsys makes of its reports for `report`: by fakes of it that fail, and by the one that is installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import fake_tools
import pytest
from commands import finished
from processes import forget_killed_nsys, left_of, marked
from profile_commands import without_tools
from real_nsys import NSYS, nsys_is_here, of_nsys, tried
from test_report_opening import KERNELS, state
from test_report_sources import EXPORT, NEW, OLD, STREAM, TRACE, failed, file, report, temporary

import fastrnns_rs
from fastrnns_rs.errors import FastrnnsError, MissingError

#: They remove what a killed nsys leaves for all others.
pytestmark = pytest.mark.alone

__all__ = ["temporary"]

UNKNOWN = "Version number is invalid: 2024@5@1@113"
#: What a report is, what nsys does, the reason that is told, and the beginning of the advice.
FAILURES = {
    "it is of a newer nsys": (
        *(NEW, f"print('Exportation error: {UNKNOWN}-245v0', file=sys.stderr); sys.exit(1)"),
        *(f"Exportation error: {UNKNOWN}-245v0", "Use nsys 2024.5.1.113 or newer"),
    ),
    "it is newer, and does not say of which": (
        *(OLD, f"print('{UNKNOWN}'); sys.exit(1)"),
        *(UNKNOWN, "Use a newer nsys"),
    ),
    "a part of the export is there": (
        *(NEW.replace(b"2024@5@1", b"2023@1@2"), EXPORT + "; print('Unknown error'); sys.exit(1)"),
        *("Unknown error", "Use nsys 2023.1.2.113 or newer"),
    ),
    "it says nothing": (OLD, "sys.exit(3)", "nsys ended with exit status 3 without an error message", ""),
    "it is killed": (
        *(OLD, EXPORT + "; import os; os.kill(os.getpid(), 9)"),
        *("nsys was killed by signal 9 without an error message", ""),
    ),
    "it does nothing": (OLD, "pass", "nsys ended with exit status 0 without an error message", ""),
    "the disk is full": (
        *(OLD, "sys.exit('No space left on device')"),
        *("No space left on device", "Free disk space, or set TMPDIR"),
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_an_export_that_fails_names_tool_and_file_and_what_to_do(case: str, tmp_path: Path) -> None:
    content, export, reason, advice = FAILURES[case]
    path = file(tmp_path / "alone" / "x.nsys-rep", content)
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", export=export)
    error, hint = failed(report(path, "--nsys-path", tool), 1)
    assert f"'{path}'" in error
    assert error.endswith(f": {reason}")
    assert fake_tools.NSYS_VERSIONS["2022.4"][0] in error
    assert hint.startswith(advice)
    assert [*path.parent.iterdir()] == [path]


def test_an_export_without_events_is_told_by_the_name_that_was_given(tmp_path: Path) -> None:
    """Measured: nsys leaves such files of reports that it half understands."""
    export = EXPORT + "; import sqlite3; d = sqlite3.connect(call.option('--output')); "
    export += "d.execute('DROP TABLE NVTX_EVENTS'); d.execute('DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL'); d.commit()"
    path = file(tmp_path / "x.nsys-rep")
    error, _ = failed(report(path, "--nsys-path", fake_tools.nsys(tmp_path / "bin" / "nsys", export=export)), 1)
    assert str(path) in error


def test_a_stream_of_another_version(tmp_path: Path) -> None:
    path = file(tmp_path / "x.qdstrm", STREAM.replace(b"2022.4.2.1", b"2021.3.1.54"))
    importer = "print('Qdstrm version 2021.3.1.54 is not supported.'); sys.exit(1)"
    error, hint = failed(report(path, "--nsys-path", fake_tools.nsys(tmp_path / "a" / "nsys", importer=importer)), 1)
    assert f"'{path}'" in error
    assert error.endswith(": Qdstrm version 2021.3.1.54 is not supported.")
    assert "2021.3.1.54" in hint
    assert "--nsys-path" in hint


def test_a_stream_that_the_importer_extends_is_left_as_it_is(tmp_path: Path) -> None:
    path = file(tmp_path / "x.qdstrm", STREAM)
    importer = "open(call.option('--input-file'), 'ab').write(b'more'); call.to_report()"
    done = report(path, "--nsys-path", fake_tools.nsys(tmp_path / "bin" / "nsys", importer=importer, export=EXPORT))
    assert done.status == 0, done.stderr
    assert path.read_bytes() == STREAM


def test_an_importer_that_cannot_be_started_or_is_not_there(tmp_path: Path) -> None:
    path = file(tmp_path / "x.qdstrm", STREAM)
    tool = fake_tools.nsys(tmp_path / "a" / "bin" / "nsys", importer="pass")
    importer = tmp_path / "a" / "host-linux-x64" / "QdstrmImporter"
    importer.write_bytes(b"\x7fELF of another machine")
    error, _ = failed(report(path, "--nsys-path", tool), 1)
    assert f"'{path}'" in error
    assert str(importer) in error
    assert error.endswith(": Exec format error")
    importer.unlink()
    command = [sys.executable, "-m", "fastrnns_rs", "report", str(path), "--nsys-path", str(tool)]
    error, hint = failed(finished(without_tools(command)), 5)
    assert f"'{path}'" in error
    assert "QdstrmImporter" in error
    assert "Nsight Systems" in hint


def test_without_nsys_it_is_5(tmp_path: Path) -> None:
    path = file(tmp_path / "x.nsys-rep", NEW)
    error, hint = failed(report(path, "--nsys-path", tmp_path / "nsys"), 5)
    assert f"'{path}'" in error
    assert "--nsys-path" in hint
    unset = [f"--unset={key}" for key in os.environ if key.startswith(("CUDA_", "FASTRNNS_"))]
    command = ["env", *unset, "PATH=/nowhere", sys.executable, "-m", "fastrnns_rs", "report", str(path)]
    error, _ = failed(finished(without_tools(command)), 5)
    assert f"'{path}'" in error
    assert "nsys" in error
    with pytest.raises(MissingError):
        fastrnns_rs.read(path, nsys_path=str(tmp_path / "nsys"))


def test_without_a_place_for_the_export(tmp_path: Path, temporary: Path) -> None:
    """What needs none is read nevertheless."""
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", export=EXPORT)
    path = file(tmp_path / "x.nsys-rep")
    blocked = file(tmp_path / "blocked", b"")
    script = f"import tempfile; tempfile.tempdir = {str(blocked)!r}; from fastrnns_rs import cli; cli.main()"
    command = [sys.executable, "-c", script, "report"]
    error, hint = failed(finished([*command, str(path), "--nsys-path", str(tool)]), 1)
    assert error == "cannot create temporary folder: Not a directory"
    assert "TMPDIR" in hint
    trace = file(tmp_path / "trace", json.dumps(TRACE).encode())
    assert finished([*command, str(trace)]).status == 0


def test_a_stream_larger_than_the_disk_is_not_copied(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with a hole is small, and its copy is not."""
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", importer="call.to_report()")
    path = file(tmp_path / "x.qdstrm", STREAM)
    os.truncate(path, 5_000_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4_999_999))
    error, hint = failed(report(path, "--nsys-path", tool), 1)
    reason = "its copy needs 5,000,000 bytes, and the temporary folder has 4,999,999"
    assert error == f"cannot export nsys report: '{path}' (FILE): {reason}"
    assert hint == "Set TMPDIR to a folder with free space."
    assert not [*temporary.iterdir()]


def interrupted(
    path: Path, tool: Path, ready: str, delay: float, number: signal.Signals = signal.SIGINT
) -> tuple[int, str] | None:
    """Presses Ctrl-C some time after a process is at work whose command line holds `ready`; None if it was not seen."""
    mark = uuid.uuid4().hex
    environment = {**os.environ, "FASTRNNS_TEST_MARK": mark}
    command = [sys.executable, "-m", "fastrnns_rs", "report", str(path), "--nsys-path", str(tool)]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            deadline = time.monotonic() + 30
            while not any(ready in line for line in marked(f"FASTRNNS_TEST_MARK={mark}").values()):
                assert time.monotonic() < deadline
                if process.poll() is not None:
                    return None
            time.sleep(delay)
            process.send_signal(number)
            said = process.stderr.read()
            status = process.wait(20)
        finally:
            process.kill()
    assert not left_of(f"FASTRNNS_TEST_MARK={mark}", 5)
    return status, said


@pytest.mark.parametrize(
    ("stage", "deaf", "number"),
    [(*one, signal.SIGINT) for one in product(("import", "export"), (False, True))]
    + [("export", False, signal.SIGTERM)],
)
def test_a_request_to_stop_while_it_is_exported_leaves_nothing(
    stage: str, number: signal.Signals, tmp_path: Path, *, deaf: bool
) -> None:
    """Neither a process, though it has a child and may not want to go, nor a folder, nor half a file."""
    hangs = "import signal; " + "signal.signal(signal.SIGTERM, signal.SIG_IGN); " * deaf
    hangs += "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True); time.sleep(600)"
    steps = (
        {"importer": hangs} if stage == "import" else {"importer": "call.to_report()", "export": EXPORT + "; " + hangs}
    )
    path = file(tmp_path / "alone" / "x.qdstrm", STREAM)
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", **steps)
    done = interrupted(path, tool, "sleep 600", 0.2, number)
    assert done is not None
    assert (done[0], "Traceback" in done[1]) == (130, False)
    assert [*path.parent.iterdir()] == [path]


@pytest.fixture(autouse=True)
def _a_clean_slate() -> Iterator[None]:
    forget_killed_nsys()
    yield
    forget_killed_nsys()


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What nsys leaves of a command that does nothing."""

    def attempt(place: Path) -> Path:
        stem = place / "capture"
        command = [str(NSYS), "profile", "--trace=nvtx", "--sample=none", "--cpuctxsw=none", f"--output={stem}", "true"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        found = [path for path in (stem.with_suffix(".qdstrm"), stem.with_suffix(".nsys-rep")) if path.is_file()]
        if not found:
            raise of_nsys(command, f"exit status {done.returncode} and no report", done.stdout, done.stderr)
        return found[0]

    forget_killed_nsys()
    return tried(attempt, tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def real(stream: Path) -> Path:
    """The report of it."""
    tool = fastrnns_rs._core.Profiler("nsys", NSYS)
    made = stream.with_suffix(".nsys-rep")
    if not made.is_file():
        command = tool.finish(stream.with_suffix(""))
        if command is None:
            pytest.skip("nsys is installed without its QdstrmImporter")
        done = fastrnns_rs.run_command(command)
        assert done.exit_status == 0, done.stdout_tail + done.stderr_tail
    return made


@nsys_is_here
def test_a_report_is_exported_whatever_it_is_called(real: Path, tmp_path: Path) -> None:
    for name in ("x.nsys-rep", "x.qdrep", "x.bin", "x.qdstrm", "ü 'n?%.json"):
        path = tmp_path / "alone" / name
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(real, path)
        before = state(path.parent)
        done = report(path, "--json")
        assert done.status == 0, done.stderr
        [entry] = done.json()["captures"]
        assert (entry["path"], entry["format"]) == (str(path), "nsys-sqlite")
        assert entry["events_read"] > 0
        assert state(path.parent) == before
        path.unlink()


@nsys_is_here
def test_a_stream_is_imported_first(stream: Path, real: Path, tmp_path: Path) -> None:
    if stream == real:
        pytest.skip("this nsys imports what it captures")
    path = tmp_path / "alone" / "x"
    path.parent.mkdir()
    shutil.copyfile(stream, path)
    [entry] = fastrnns_rs.read(path).captures
    assert (entry.path, entry.format, entry.events_skipped) == (str(path), "nsys-sqlite", 0)
    assert [*path.parent.iterdir()] == [path]


@nsys_is_here
def test_a_report_that_says_it_is_newer_is_refused_by_nsys_itself(real: Path, tmp_path: Path) -> None:
    content = real.read_bytes()
    version = content.partition(b"Report ")[2].partition(b".")[0]
    newer = file(tmp_path / "newer.nsys-rep", content.replace(b"Report " + version, b"Report 2099@5@1@113-245v0", 1))
    error, hint = failed(report(newer), 1)
    assert str(newer) in error
    assert error.startswith("nsys 20")
    assert "2099@5@1@113" in error
    assert "2099.5.1.113" in hint


@nsys_is_here
def test_one_that_is_cut_short_is_told(real: Path, tmp_path: Path) -> None:
    for size in (40, 5000):
        path = file(tmp_path / "short.nsys-rep", real.read_bytes()[:size])
        with pytest.raises(FastrnnsError, match="cannot export"):
            fastrnns_rs.read(path)


@nsys_is_here
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("ready", ["QdstrmImporter --input-file", "export --type=sqlite"])
def test_ctrl_c_leaves_no_process(ready: str, delay: float, stream: Path, real: Path, tmp_path: Path) -> None:
    if stream == real and "Importer" in ready:
        pytest.skip("this nsys imports what it captures")
    path = tmp_path / "alone" / "x"
    path.parent.mkdir()
    shutil.copyfile(stream, path)
    # The export takes a tenth of a second: it may be over before it is seen, or when the signal comes.
    done = next(filter(None, (interrupted(path, Path(str(NSYS)), ready, delay) for _ in range(20))), None)
    assert done is not None
    assert done[0] in {0, 130, -signal.SIGINT}
    assert "Traceback" not in done[1]
    assert [*path.parent.iterdir()] == [path]


def test_an_export_is_told_at_once_and_only_an_export(tmp_path: Path) -> None:
    tool = fake_tools.nsys(tmp_path / "bin" / "nsys", export=EXPORT)
    path = file(tmp_path / "x.nsys-rep")
    assert report(path, "--nsys-path", tool).stderr == "report: exporting 1 nsys report\n"
    assert report(path, "--nsys-path", tool, "--quiet").stderr == ""
    assert report(fake_tools.nsys_database(tmp_path / "y.sqlite", more=KERNELS)).stderr == ""
