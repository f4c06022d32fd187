"""Several processes that would write one file: only the first does, however it ends."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import kineto_traces
import pytest
import run_files
from commands import Done, run_cli, run_pretended
from processes import children
from waiting_bench import BENCH, WaitingBench

import fastrnns_rs
from fastrnns_rs import Run
from fastrnns_rs._core import Process
from fastrnns_rs.api.run_saver import RunSaver
from fastrnns_rs.cli import run_saving as saving
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.documents import writer_lock
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.launcher import Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.temporary_folder import temporary_folder
from fastrnns_rs.verbs.history.run_history import RunHistory, chosen_history

VERBS = {
    "bench": BENCH,
    "ab": ("ab", "cudnn", "py"),
    "verify": ("verify", "--rnns", "py"),
    "inductor": ("inductor", "--runner", "compile_cell"),
    "profile": ("profile", "--torch", "--rnns", "py", "--quick", "--dry-run"),
}


def never(starts: Sequence[Start]) -> list[Answer]:
    raise AssertionError(f"{len(starts)} processes were started")


def check_refused(done: Done, path: Path, holder: int) -> None:
    assert (done.status, done.stdout) == (2, "")
    error = next(line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert f"'{path}'" in error
    assert error.endswith(f": process {holder} writes the file")


def test_a_second_process_is_refused_before_it_measures(tmp_path: Path) -> None:
    path, link, hard = tmp_path / "run.json", tmp_path / "link", tmp_path / "hard"
    path.write_text("old")
    hard.hardlink_to(path)
    (tmp_path / "other").symlink_to(path)
    link.symlink_to("other")
    with WaitingBench(*BENCH, "--output", "run.json", cwd=tmp_path) as first:
        first.measure(2)
        for words in VERBS.values():
            check_refused(run_cli(*words, "--output", path, executor=never), path, first.process.pid)
        check_refused(run_cli(*BENCH, "--output", link, executor=never), link, first.process.pid)
        check_refused(run_cli("bench", "--resume", path, executor=never), path, first.process.pid)
        check_refused(run_cli("bench", "--resume", link, "--output", tmp_path / "x"), link, first.process.pid)
        # Another name is another file, once the first one has been replaced.
        assert run_pretended(*BENCH, "--output", hard).status == 0
        assert Run.load(path).status == "interrupted"
        assert first.end().status == 0
    assert Run.load(path).status == Run.load(hard).status == "complete"
    assert {one.name for one in tmp_path.iterdir()} == {"run.json", "link", "other", "hard"}
    assert run_pretended(*BENCH, "--output", link).status == 0
    assert link.is_symlink()


@pytest.mark.parametrize("resumes", [False, True])
def test_a_process_that_was_killed_keeps_nobody_away(tmp_path: Path, resumes: bool) -> None:
    path = tmp_path / "run.json"
    with WaitingBench(*BENCH, "--output", path) as first:
        first.measure(2)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    assert (tmp_path / ".run.json.lock").exists()
    words = ["bench", "--resume"] if resumes else [*BENCH, "--output"]
    assert run_pretended(*words, path).status == 0
    run = Run.load(path)
    assert run.status == "complete"
    assert sum(len(one.processes) for one in run.results) == 6
    assert [*tmp_path.iterdir()] == [path]


def test_a_process_that_is_stopped_still_writes(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with WaitingBench(*BENCH, "--output", path) as first:
        first.process.send_signal(signal.SIGSTOP)
        check_refused(run_cli(*BENCH, "--output", path, executor=never), path, first.process.pid)
        first.process.send_signal(signal.SIGCONT)
        assert first.end().status == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_a_process_that_is_interrupted_leaves_no_lock(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "run.json"
    with WaitingBench(*BENCH, "--output", path) as first:
        first.measure(1)
        first.process.send_signal(number)
        assert first.end().status == 130
    assert [*tmp_path.iterdir()] == [path]


def test_a_long_name_has_a_lock_too(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    with WaitingBench(*BENCH, "--output", path) as first:
        check_refused(run_cli(*BENCH, "--output", path, executor=never), path, first.process.pid)
        assert first.end().status == 0
    assert [*tmp_path.iterdir()] == [path]


def test_two_calls_of_python_do_not_resume_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would replace what the other measured."""
    history = RunHistory(tmp_path)
    interrupted = run_files.run([run_files.result(processes=2)], status="interrupted")
    path = history.keep(interrupted)
    more = replace(interrupted, results=run_files.run([run_files.result(processes=3)]).results)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    refused = pytest.warns(UserWarning, match="the run is not in the history, but in ")
    with RunSaver(history) as first, refused, RunSaver(history) as second:
        assert first.load(path) == interrupted
        with pytest.raises(UsageError, match=r": process \d+ writes the file\."):
            second.load(path)
        first.save(more)
        with pytest.warns(UserWarning, match="not kept in the history: .* writes the file"):
            second.save(interrupted)
        assert Run.load(path) == more
    with RunSaver(history) as third:
        assert third.load(path) == more
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("is_command", [True, False])
def test_a_run_whose_lock_was_removed_does_not_replace_another(
    is_command: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cleanup of lock files let `--resume @last` begin, and both wrote one file of the history in turn."""
    history, temporary = RunHistory(tmp_path / "history"), tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    made = run_files.run([run_files.result(processes=2)], status="interrupted")
    ours, others = (
        replace(made, results=run_files.run([run_files.result(processes=count)]).results) for count in (3, 4)
    )
    with contextlib.ExitStack() as stack:
        if is_command:
            first = saving.RunSaver(stack.enter_context(ResultsFile(None)), history)
        else:
            stack.enter_context(pytest.warns(UserWarning, match="the run is not .*in the history"))
            first = RunSaver(history)
        saver = stack.enter_context(first)
        saver.save(made)
        (lock,) = (tmp_path / "history").rglob(".*.lock")
        lock.unlink()
        with RunSaver(history) as second:
            second.save(others)
            saver.save(ours)
        path = history.find_place(made)
        assert Run.load(path) == others
    assert Run.load(path) == others
    (kept,) = temporary.iterdir()
    assert Run.load(kept) == ours
    if is_command:
        errors = capsys.readouterr().err
        assert errors.startswith(
            f"warning: the run is not kept in the history: cannot write file: '{path}': its folder"
        )
        assert errors.endswith(f"hint: fastrnns-rs history --import {kept}\n")


@pytest.mark.parametrize("chosen", [True, False])
def test_the_hint_of_a_run_of_python_names_another_history(
    chosen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a file" / "history"
    folder.parent.touch()
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    monkeypatch.setenv("FASTRNNS_HISTORY", str(tmp_path / "other" if chosen else folder))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        pytest.warns(UserWarning, match="not (kept )?in the history") as told,
        RunSaver(chosen_history(folder if chosen else None)) as saver,
    ):
        saver.save(run_files.run([run_files.result()]))
    [kept] = tmp_path.glob("*.json")
    words = shlex.split(str(told[-1].message).partition(" Run: ")[2])
    assert words == ["fastrnns-rs", "history", "--import", str(kept), *(["--history", str(folder)] if chosen else [])]


def open_files(process: int) -> list[str]:
    # Others may end meanwhile.
    with contextlib.suppress(OSError):
        return [os.path.realpath(one) for one in Path(f"/proc/{process}/fd").iterdir()]
    return []


def test_no_child_holds_a_lock(tmp_path: Path, mark: str) -> None:
    with WriterLocks() as locks:
        assert locks.hold(tmp_path / "run.json") is None
        process = Process(["sleep", mark])
        try:
            (lock,) = tmp_path.iterdir()
            supervisors = children()
            held = {pid: open_files(pid) for one in supervisors for pid in (one, *children(one))}
        finally:
            process.end()
        assert len(held) > len(supervisors) > 0
        assert not [pid for pid, files in held.items() if str(lock) in files]


def test_a_fork_that_ends_leaves_the_locks_and_folders_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    child = 0
    with contextlib.suppress(KeyError), WriterLocks() as locks, temporary_folder("mine-") as folder:
        locks.hold(path)
        child = os.fork()
        if child == 0:
            raise KeyError
        assert os.waitpid(child, 0)[1] == 0
        assert os.path.isdir(folder)
        with WriterLocks() as others, pytest.raises(UsageError, match="writes the file"):
            others.hold(path)
    if child == 0:
        os._exit(0)
    assert not os.path.exists(folder)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_locks_there_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    path = tmp_path / "run.json"
    done = run_pretended(*BENCH, "--output", path)
    assert done.status == 0
    warning = f"warning: nothing keeps a second run from writing {path}: {os.strerror(code)}"
    assert done.stderr.splitlines().count(warning) == 1
    assert [*tmp_path.iterdir()] == [path]


def test_a_link_that_changes_during_a_run_does_not_change_its_file(tmp_path: Path) -> None:
    path, other, link = tmp_path / "run.json", tmp_path / "other.json", tmp_path / "link"
    path.write_text("old")
    other.write_text("precious")
    link.symlink_to(path)
    with WaitingBench(*BENCH, "--output", link) as first:
        link.unlink()
        link.symlink_to(other)
        first.measure(2)
        assert first.end().status == 0
    assert Run.load(path).status == "complete"
    assert other.read_text() == "precious"


@pytest.mark.parametrize("target", ["other", "out"])
def test_a_folder_that_is_replaced_during_a_run_costs_nothing(tmp_path: Path, target: str) -> None:
    folder, other, temporary = (tmp_path / name for name in ("out", "other", "tmp"))
    for one in (folder, other, temporary):
        one.mkdir()
    (other / "run.json").write_text("precious")
    with WaitingBench(*BENCH, "--run-file", folder / "run.json", variables={"TMPDIR": str(temporary)}) as first:
        first.measure(1)
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / target)
        done = first.end()
    assert (other / "run.json").read_text() == "precious"
    assert done.status == 1
    assert ("its folder was replaced" if target == "other" else "Too many levels") in done.stderr
    (kept,) = temporary.glob("fastrnns-rs-run-*.json")
    assert Run.load(kept).status == "complete"


def test_a_folder_that_was_removed_during_a_run_is_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with WaitingBench(*BENCH, "--run-file", folder / "run.json") as first:
        first.measure(1)
        shutil.rmtree(folder)
        first.measure(1)
        folder.mkdir()
        done = first.end()
    assert done.status == 0
    assert Run.load(folder / "run.json").status == "complete"
    assert os.listdir(folder) == ["run.json"]


def test_a_document_does_not_replace_the_file_or_the_lock_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock, shown = tmp_path / "run.json", tmp_path / ".run.json.lock", tmp_path / "shown.json"
    run_files.run([run_files.result()]).save(shown)
    trace = tmp_path / "trace.json"
    kineto_traces.write(trace, [kineto_traces.kernel()])
    with WaitingBench(*BENCH, "--output", path) as first:
        first.measure(1)
        for words in (
            ("show", shown, "--json", "--output"),
            ("compare", shown, shown, "--force", "--output"),
            ("report", trace, "--output"),
            ("report", trace, "--json", "--output"),
            ("report", trace, "--trace"),
        ):
            done = run_cli(*words, path)
            assert done.status == 2
            assert f"'{path}'" in done.stderr
            assert f": process {first.process.pid} writes the file\n" in done.stderr
            done = run_cli(*words, lock)
            assert (done.status, f"'{lock}'" in done.stderr.splitlines()[0], "lock file" in done.stderr) == (
                2,
                True,
                True,
            )
        monkeypatch.setattr(writer_lock, "_PATIENCE_S", 0.2)
        for document in (Run.load(shown), fastrnns_rs.read(trace)):
            with pytest.raises(UsageError, match=f": process {first.process.pid} writes the file"):
                document.save(path)
        assert lock.read_text().split()[0] == str(first.process.pid)
        assert first.end().status == 0
    assert Run.load(path).status == "complete"
    assert {one.name for one in tmp_path.iterdir()} == {"run.json", "shown.json", "trace.json"}
