"""Outputs, history and captures on file systems that fail as those of networks do."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import run_files
from commands import Done, finished, run_cli, run_pretended
from faulty_files import Mounted, two_clients, why_not
from history_runs import made
from parts import few
from waiting_bench import BENCH, WaitingBench, command

from fastrnns_rs import Run
from fastrnns_rs.documents import writing
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.history.run_history import RunHistory

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

MEASURED = 6
#: No command here may take longer, on a busy machine too.
LONGEST_S = 60.0


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Mounted]:
    (tmp_path / "temporary").mkdir()
    with Mounted(tmp_path) as mounted:
        yield mounted


@pytest.fixture
def run_file(files: Mounted) -> Path:
    """A run file with something in it, as the machine sees it."""
    path = files.folder / "run.json"
    path.write_text("old")
    path.chmod(0o640)
    return path


def measured(path: Path) -> int:
    run = Run.load(path)
    assert run.status == "complete"
    return sum(len(one.processes) for one in run.results)


def bench(path: Path, *words: str, temporary: Path) -> Done:
    done = run_pretended(*BENCH, "--run-file", path, *words, TMPDIR=temporary)
    assert "Traceback" not in done.stderr
    assert "fault of fastrnns-rs" not in done.stderr
    return done


def temporary(files: Mounted) -> Path:
    return files.server.with_name("temporary")


@pytest.mark.parametrize("name", few(["ENOSYS", "EACCES"], ["ENOSYS", "ENOLCK", "EOPNOTSUPP", "EACCES"], "kills"))
def test_a_file_system_without_locks(files: Mounted, run_file: Path, name: str) -> None:
    files.fail(flock=name)
    done = bench(run_file, temporary=temporary(files))
    reason = os.strerror(getattr(errno, name))
    assert f"warning: nothing keeps a second run from writing {run_file}: {reason}" in done.stderr.splitlines()
    assert (done.status, measured(run_file), files.names()) == (0, MEASURED, ["run.json"])


@pytest.mark.parametrize("name", ["EAGAIN", "EACCES"])
def test_a_lock_that_another_machine_holds(tmp_path: Path, name: str) -> None:
    """SMB says EACCES for it, also to one who reads the lock file."""
    with two_clients(tmp_path) as (one, other), WriterLocks() as first, WriterLocks() as second:
        assert first.hold(one.folder / "run.json") is None
        other.fail(flock=name, read="EACCES")
        with pytest.raises(UsageError, match="another process writes the file"):
            second.hold(other.folder / "run.json")
        assert one.names() == [".run.json.lock"]


@pytest.mark.long("kills")
def test_two_machines_that_write_one_file(tmp_path: Path) -> None:
    with two_clients(tmp_path) as (one, other), WaitingBench(*BENCH, "--run-file", one.folder / "run.json") as first:
        first.measure(1)
        done = run_pretended(*BENCH, "--run-file", other.folder / "run.json")
        assert (done.status, f": process {first.process.pid} writes the file" in done.stderr) == (2, True)
        assert first.end().status == 0
        # The lock ends with the process, and not some time after it.
        assert run_pretended(*BENCH, "--run-file", other.folder / "run.json").status == 0
        assert one.names() == ["run.json"]


def test_inode_numbers_that_change(files: Mounted, run_file: Path) -> None:
    files.fail(new_inodes=True)
    done = bench(run_file, temporary=temporary(files))
    assert "its lock file does not keep its inode number" in done.stderr
    assert (done.status, measured(run_file), files.names()) == (0, MEASURED, ["run.json"])
    done = run_cli("show", run_file, "--json", "--output", run_file)
    assert (done.status, "the command reads this file" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", few(["EPERM"], ["EXDEV", "EPERM", "ENOSYS"], "kills"))
def test_files_that_cannot_be_replaced(files: Mounted, run_file: Path, name: str) -> None:
    """It is seen before anything is measured."""
    files.fail(rename_over=name)
    done = bench(run_file, temporary=temporary(files))
    error, hint = done.stderr.splitlines()[-2:]
    reason = f"the file system does not replace files: {os.strerror(getattr(errno, name))}"
    assert (done.status, error) == (2, f"error: cannot write file: '{run_file}' (--run-file): {reason}")
    assert "another file system" in hint
    assert (files.names(), run_file.read_text()) == (["run.json"], "old")


@pytest.mark.parametrize(
    ("faults", "hint"),
    [
        ({"fsync": "EIO"}, "damaged or missing"),
        ({"fsync": "ENOSPC"}, "full disk"),
        ({"close": "EDQUOT", "skips": 6}, "your quota"),
        ({"write": "ESTALE"}, "does not answer"),
        ({"write": "ETIMEDOUT"}, "does not answer"),
    ],
)
def test_results_that_the_server_does_not_take(
    files: Mounted, run_file: Path, faults: dict[str, Any], hint: str
) -> None:
    files.fail(only=".fastrnns-rs-", **faults)
    done = bench(run_file, temporary=temporary(files))
    lines = done.stderr.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("error: cannot write file: "))
    assert f"'{run_file}'" in lines[at]
    assert hint in lines[at + 1]
    (kept,) = temporary(files).iterdir()
    assert (done.status, lines[-2]) == (1, f"error: the last results are not in {run_file}, but in {kept}")
    assert measured(kept) == MEASURED
    # What is in place is whole.
    assert run_file.read_text() == "old" or Run.load(run_file)
    assert files.names() == ["run.json"]


@pytest.mark.parametrize("name", few(["EOPNOTSUPP"], ["EPERM", "EOPNOTSUPP", "ENOSYS"], "kills"))
def test_a_file_system_without_modes(files: Mounted, run_file: Path, name: str) -> None:
    """The new file has no more rights than the old one."""
    files.fail(chmod=name, chown=name, setxattr=name, fsync="EINVAL", link=name, symlink=name)
    assert (bench(run_file, temporary=temporary(files)).status, measured(run_file)) == (0, MEASURED)
    assert stat.S_IMODE(run_file.stat().st_mode) == 0o600


def test_an_access_list_that_cannot_be_kept(run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rights of the group were those of everyone in the list."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no lists")

    monkeypatch.setattr(os, "getxattr", lambda *_: b"list")
    monkeypatch.setattr(os, "setxattr", refuse)
    writing.write(run_file, [b"new"])
    assert (run_file.read_text(), stat.S_IMODE(run_file.stat().st_mode)) == ("new", 0o600)


@pytest.mark.long("kills")
def test_names_that_differ_in_case_are_one_file(files: Mounted, run_file: Path) -> None:
    files.fail(case=True)
    with WriterLocks() as one, WriterLocks() as other:
        assert one.hold(run_file) is None
        with pytest.raises(UsageError, match=f"process {os.getpid()} writes the file"):
            other.hold(run_file.with_name("Run.JSON"))
    run_files.run([run_files.result()]).save(run_file)
    done = run_cli("show", run_file, "--json", "--output", run_file.with_name("RUN.json"))
    assert (done.status, "the command reads this file" in done.stderr) == (2, True)


def test_a_server_that_ends_during_a_run(files: Mounted, run_file: Path) -> None:
    variables = {"TMPDIR": str(temporary(files))}
    with WaitingBench(*BENCH, "--run-file", run_file, variables=variables) as process:
        process.measure(2)
        files.stop()
        done = process.end()
    assert f"error: cannot write file: '{run_file}': {os.strerror(errno.ENOTCONN)}" in done.stderr.splitlines()
    (kept,) = temporary(files).iterdir()
    assert (done.status, measured(kept)) == (1, MEASURED)


@pytest.mark.long("kills")
def test_a_file_system_that_is_taken_away_during_a_run(files: Mounted, run_file: Path) -> None:
    """The folder below the mount is there then, and empty: the results of the run are whole in it."""
    with WaitingBench(*BENCH, "--run-file", run_file) as process:
        process.measure(2)
        files.unmount()
        done = process.end()
    assert (done.status, measured(run_file)) == (0, MEASURED)


@pytest.mark.long("kills")
def test_a_server_that_hangs_for_some_time(files: Mounted, run_file: Path) -> None:
    files.fail(hang_in="rename", hang_s=0.3)
    assert (bench(run_file, temporary=temporary(files)).status, measured(run_file)) == (0, MEASURED)


@pytest.fixture
def kept(files: Mounted, monkeypatch: pytest.MonkeyPatch) -> RunHistory:
    """A history of two runs without an index, of which no file has changed for a while."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(files.folder / "cache"))
    history = RunHistory(files.folder / "history")
    for number in (1, 2):
        history.keep(made(number))
    # The change time of the folder cannot be set: the server's clock is behind ours.
    files.fail(ahead_s=-100)
    return history


@pytest.mark.parametrize("name", few(["ENOLCK"], ["ENOLCK", "ENOSYS", "EAGAIN"], "kills"))
def test_the_history_without_locks(files: Mounted, kept: RunHistory, name: str) -> None:
    """SQLite takes some errors for the lock of another program, for which it would wait half a minute."""
    files.fail(lock=name, flock=None if name == "EAGAIN" else name)
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.append(len(kept.document().runs)), daemon=True)
    reader.start()
    reader.join(20)
    assert found == [2]
    # Runs are added and deleted too.
    kept.keep(made(3))
    gone, errors = kept.remove(kept.document().runs[:1])
    assert (len(gone), errors) == (1, [])
    assert len(kept.document().runs) == 2
    assert not [one for one in files.names() if "/runs/." in one or ".fastrnns-rs-" in one]


@pytest.mark.parametrize(
    "faults",
    few([{"read": "EIO"}], [{"read": "EIO"}, {"write": "ENOSPC"}, {"open": "ESTALE"}, {"fsync": "EIO"}], "kills"),
)
def test_the_index_on_a_file_system_that_fails(tmp_path: Path, faults: dict[str, str]) -> None:
    """In a process of its own: an index that is mapped into memory would end it."""
    with Mounted(tmp_path) as files:
        history = RunHistory(files.folder / "history")
        history.keep(made(1))
        words, cache = ["history", "--json", "--history", history.folder], str(files.folder / "cache")
        for one in ({}, faults):
            files.fail(only=".sqlite", **one)
            done = finished([*command(*words)], FASTRNNS_NO_HISTORY="", XDG_CACHE_HOME=cache, timeout_s=LONGEST_S)
            assert (done.status, len(done.json()["runs"])) == (0, 1)
            assert any(name.endswith(".sqlite") for name in files.names())


def test_an_index_where_no_file_can_be_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Mounted(tmp_path, direct=True) as files:
        monkeypatch.setenv("XDG_CACHE_HOME", str(files.folder / "cache"))
        history = RunHistory(files.folder / "history")
        history.keep(made(1))
        assert len(history.document().runs) == 1
        assert any(one.endswith(".sqlite") for one in files.names())
        # The index itself is used.
        files.fail(read="EIO", only="runs/")
        assert len(history.document().runs) == 1


def test_times_of_folders_that_stay(tmp_path: Path) -> None:
    """As s3fs has them by default."""
    with Mounted(tmp_path, folders_s=1_700_000_000) as files:
        history = RunHistory(files.folder / "history")
        for number in range(3):
            history.keep(made(number))
            assert len(history.document().runs) == number + 1


@pytest.mark.parametrize("operation", ["getattr", "read"])
def test_runs_that_cannot_be_read_now(files: Mounted, kept: RunHistory, operation: str) -> None:
    """They are named, and listed again as soon as they can be read."""
    files.fail(ahead_s=-100, only=".json", **{operation: "ESTALE"})
    document = kept.document()
    assert not document.runs
    assert "2 files: " in document.warnings[0].evidence
    assert os.strerror(errno.ESTALE) in document.warnings[0].evidence
    files.fail(ahead_s=-100)
    assert len(kept.document().runs) == 2


def test_a_history_that_cannot_be_listed_after_a_run(
    files: Mounted, run_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is shown and kept all the same."""
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    files.fail(readdir="EIO")
    done = bench(run_file, "--history", str(files.folder / "history"), temporary=temporary(files))
    assert (done.status, measured(run_file)) == (0, MEASURED)
    assert done.stderr.count("warning: cannot read history: ") == 1
    files.fail()
    assert len(RunHistory(files.folder / "history").document().runs) == 1


def test_a_noise_floor_that_cannot_be_stored(files: Mounted) -> None:
    """The answer is shown all the same: the run took minutes."""
    files.fail(fsync="ESTALE")
    words = ("ab", "--same", "cudnn", "--device", "cpu", "--nloops", "3", "--processes", "20")
    done = run_pretended(*words, XDG_STATE_HOME=files.folder)
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert (done.status, error.endswith(f".json': {os.strerror(errno.ESTALE)}")) == (1, True)
    assert str(files.folder) in error
    assert "cudnn" in done.stdout
    assert files.names() == []


def trace(events: int) -> str:
    rows = [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10 * one, "dur": 5, "args": {"stream": 7}}
        for one in range(events)
    ]
    return json.dumps({"schemaVersion": 1, "traceEvents": rows})


def test_a_capture_whose_end_cannot_be_read(files: Mounted) -> None:
    path = files.folder / "trace.json"
    path.write_text(trace(20_000))
    files.fail(read="ESTALE", read_from=1 << 20)
    done = run_cli("report", path, "--json")
    reason = os.strerror(errno.ESTALE)
    (warning,) = [one for one in done.json()["warnings"] if one["code"] == "capture_incomplete"]
    assert (done.status, str(path) in warning["evidence"], reason in warning["evidence"]) == (0, True, True)
    assert run_cli("report", path, "--strict").status == 1


@pytest.mark.parametrize("operation", ["getattr", "open", "read"])
def test_inputs_that_the_server_does_not_find(files: Mounted, operation: str) -> None:
    capture, run = files.folder / "trace.json", files.folder / "run.json"
    capture.write_text(trace(2))
    run_files.run([run_files.result()]).save(run)
    for words in (["report", capture], ["show", run], ["compare", run, run], ["bench", "--resume", run]):
        files.fail(only=".json", **{operation: "ESTALE"})
        done = run_cli(*words)
        error = done.stderr.splitlines()[0]
        assert done.status in {1, 2}
        assert error.startswith("error: cannot read ")
        assert f"'{words[-1]}'" in error
        assert os.strerror(errno.ESTALE) in error


@pytest.mark.long("kills")
def test_writers_on_machines_with_locks_of_their_own(tmp_path: Path) -> None:
    """On sshfs each machine has a lock of its own: the second writer is warned, and files stay whole."""
    with two_clients(tmp_path, locks=False) as (one, other):
        with WaitingBench(*BENCH, "--run-file", one.folder / "run.json") as first:
            first.measure(1)
            done = run_pretended(*BENCH, "--run-file", other.folder / "run.json")
            reason = f"locks may not be shared, and process {first.process.pid} has locked the file too or was killed"
            warning = f"warning: nothing keeps a second run from writing {other.folder / 'run.json'}: {reason}"
            assert (done.status, warning in done.stderr.splitlines()) == (0, True)
            assert measured(one.folder / "run.json") == MEASURED
            assert first.end().status == 0
        assert measured(other.folder / "run.json") == MEASURED


def test_a_lock_file_that_names_another_machine(tmp_path: Path) -> None:
    """Its process may be alive where locks are not shared; one of this machine that has ended is not."""
    with WriterLocks() as locks:
        (tmp_path / ".one.json.lock").write_text("12 elsewhere\n")
        reason = locks.hold(tmp_path / "one.json")
        assert reason == "locks may not be shared, and process 12 of elsewhere has locked the file too or was killed"
        (tmp_path / ".two.json.lock").write_text(f"999999999 {os.uname().nodename}\n")
        assert locks.hold(tmp_path / "two.json") is None
    assert not [*tmp_path.iterdir()]


@pytest.mark.long("kills")
@pytest.mark.parametrize("settings", [{}, {"new_inodes": True}, {"tick_s": 2, "ahead_s": 3600}, {"flock": "ENOLCK"}])
def test_a_killed_run_is_resumed(files: Mounted, run_file: Path, settings: dict[str, Any]) -> None:
    files.fail(**settings)
    with WaitingBench(*BENCH, "--run-file", run_file) as first:
        first.measure(2)
        first.process.kill()
        first.process.wait()
    assert run_pretended("bench", "--resume", run_file).status == 0
    assert (measured(run_file), files.names()) == (MEASURED, ["run.json"])


def test_the_locks_of_the_test_are_those_of_the_server(tmp_path: Path) -> None:
    """Otherwise nothing here would prove anything."""
    with two_clients(tmp_path) as (one, other):
        (one.folder / "x").touch()
        with (one.folder / "x").open("a") as first, (other.folder / "x").open("a") as second:
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with pytest.raises(BlockingIOError):
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
