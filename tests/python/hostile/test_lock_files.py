"""Lock files that other programs plant, link, overwrite or remove."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import run_files
from commands import run_cli, run_pretended
from waiting_bench import BENCH

from fastrnns_rs import Run
from fastrnns_rs.documents import writer_lock
from fastrnns_rs.documents.writer_lock import WriterLocks
from fastrnns_rs.errors import UsageError


def test_a_lock_that_was_removed_meanwhile_is_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and locking the lock file the process before ends, and another one begins and ends."""
    path, lock = tmp_path / "run.json", tmp_path / ".run.json.lock"
    flock, seen = fcntl.flock, []

    def late(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_UN:
            return flock(descriptor, operation)
        seen.append(descriptor)
        if len(seen) == 1:
            lock.unlink()
        elif len(seen) == 2:
            lock.unlink()
            lock.write_text(f"0 {os.uname().nodename}\n")
        return flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with WriterLocks() as locks, WriterLocks() as others:
        assert locks.hold(path) is None
        assert len(seen) == 3
        assert lock.read_text().split()[0] == str(os.getpid())
        with pytest.raises(ValueError, match=f"process {os.getpid()} writes the file"):
            others.hold(path)
    assert not [*tmp_path.iterdir()]


def test_the_lock_of_another_process_is_not_removed(tmp_path: Path) -> None:
    path, lock = tmp_path / "run.json", tmp_path / ".run.json.lock"
    with WriterLocks() as others:
        with WriterLocks() as locks:
            locks.hold(path)
            # Somebody has tidied up.
            lock.unlink()
            assert others.hold(path) is None
        assert lock.exists()


@pytest.mark.parametrize("planted", ["link", "hard link", "pipe", "folder"])
def test_what_is_planted_in_place_of_a_lock_is_left_alone(tmp_path: Path, planted: str) -> None:
    path, lock, victim = tmp_path / "run.json", tmp_path / ".run.json.lock", tmp_path / "victim"
    victim.write_text("precious")
    make = {
        "link": lambda: lock.symlink_to(victim),
        "hard link": lambda: lock.hardlink_to(victim),
        "pipe": lambda: os.mkfifo(lock),
        "folder": lock.mkdir,
    }
    make[planted]()
    done = run_pretended(*BENCH, "--output", path)
    assert done.status == 0
    assert f"warning: nothing keeps a second run from writing {path}: " in done.stderr
    assert victim.read_text() == "precious"
    assert os.path.lexists(lock)
    assert Run.load(path).status == "complete"


def test_a_lock_with_a_second_name_is_held_all_the_same(tmp_path: Path) -> None:
    """A snapshot of the folder by hard links turned the lock off."""
    path, lock = tmp_path / "run.json", tmp_path / ".run.json.lock"
    with WriterLocks() as locks, WriterLocks() as others:
        assert locks.hold(path) is None
        (tmp_path / "snapshot").hardlink_to(lock)
        with pytest.raises(UsageError, match=f": process {os.getpid()} writes the file"):
            others.hold(path)


@pytest.mark.parametrize("text", ["my notes\n", "\0", "7 elsewhere\nand more", "{}"])
def test_a_file_with_the_name_of_a_lock_is_not_one(tmp_path: Path, text: str) -> None:
    """It was emptied and removed, even if it was an input of the command."""
    path, lock = tmp_path / "run.json", tmp_path / ".run.json.lock"
    lock.write_text(text)
    with WriterLocks() as locks:
        assert locks.hold(path) == "its lock file is another file"
        assert lock.read_text() == text
    assert lock.read_text() == text


def test_an_input_with_the_name_of_a_lock_is_kept(tmp_path: Path) -> None:
    lock = tmp_path / ".shown.json.lock"
    run_files.run([run_files.result()]).save(lock)
    kept = lock.read_bytes()
    assert run_cli("show", lock, "--json", "--output", tmp_path / "shown.json").status == 0
    assert lock.read_bytes() == kept


def test_the_holder_is_what_the_lock_says_or_unknown(tmp_path: Path) -> None:
    path, lock = tmp_path / "run.json", tmp_path / ".run.json.lock"
    with WriterLocks() as locks, WriterLocks() as others:
        locks.hold(path)
        for text, shown in (("7 elsewhere\n", "process 7 of elsewhere"), ("\0" * 999, "another process")):
            lock.write_text(text)
            with pytest.raises(ValueError, match=f"{shown} writes the file"):
                others.hold(path)


def test_locks_that_were_released_lock_again(tmp_path: Path) -> None:
    """A second `with` block left a claimed file unlocked."""
    path, lock, locks = tmp_path / "run.json", tmp_path / ".run.json.lock", WriterLocks()
    path.write_text("a run")
    for _ in range(2):
        with locks:
            locks.claim(path, lambda: None)
            assert lock.exists()
        assert not lock.exists()


def test_a_thread_waits_for_others_and_not_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress function that saved a document to the file of its run waited for the run."""
    path, run = tmp_path / "run.json", run_files.run([run_files.result()])
    waiting, sleep = threading.Event(), time.sleep
    monkeypatch.setattr("time.sleep", lambda seconds: (waiting.set(), sleep(seconds)))
    monkeypatch.setattr(writer_lock, "_PATIENCE_S", 20.0)
    with ThreadPoolExecutor() as threads:
        with WriterLocks() as locks:
            locks.hold(path)
            with pytest.raises(UsageError, match=f": process {os.getpid()} writes the file in this thread"):
                run.save(path)
            assert not waiting.is_set()
            saved = threads.submit(run.save, path)
            assert waiting.wait(20)
        assert saved.result() is None
    assert Run.load(path) == run
    # An object that has the lock does not wait for it.
    with WriterLocks() as locks:
        locks.wait(path)
        locks.wait(path)
    run.save(path)
    assert [*tmp_path.iterdir()] == [path]
