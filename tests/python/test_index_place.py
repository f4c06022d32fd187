"""The folder of the indexes of histories."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from run_files import exactly, run

from fastrnns_rs.verbs.history import index_waiting, indexed_files
from fastrnns_rs.verbs.history.index_place import index_path
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.run_index import RunIndex


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keep_one(history: RunHistory, number: int = 1) -> int:
    history.keep(run([exactly([1000])], run_id=f"{number:032x}"))
    return history.listed()[1]


def numbers(index: RunIndex) -> list[int]:
    return sorted(int(row[2], 16) for row in index.runs()[0])


def test_each_history_has_one_index(tmp_path: Path, cache: Path) -> None:
    histories = [RunHistory(tmp_path / name) for name in ("a", "b")]
    assert [keep_one(one) for one in histories] == [1, 1]
    (tmp_path / "link").symlink_to("a")
    paths = [index_path(tmp_path / name / "runs") for name in ("a", "link", "b")]
    assert (paths[0], len({*paths})) == (paths[1], 2)
    place = cache / "fastrnns-rs" / "history"
    assert {*place.iterdir()} == {*paths}
    assert place.stat().st_mode & 0o777 == 0o700
    assert sorted(os.listdir(tmp_path / "a")) == ["runs"]


def test_ctrl_c_ends_waiting_for_a_locked_index(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = RunHistory(tmp_path / "history")
    keep_one(history)
    [place] = (cache / "fastrnns-rs" / "history").iterdir()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            begin = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(KeyboardInterrupt):
                history.listed()
            assert time.monotonic() - begin < 10
            # No command waits for ever.
            monkeypatch.setattr(index_waiting, "_PATIENCE_S", 0.2)
            assert history.listed()[1] == 1
            # The time is that of a command, which opens the index more than once.
            monkeypatch.setattr(index_waiting, "_PATIENCE_S", math.inf)
            assert history.listed()[1] == 1
    finally:
        signal.signal(signal.SIGALRM, before)


def test_without_runs_nothing_is_written(tmp_path: Path, cache: Path) -> None:
    assert RunHistory(tmp_path / "none").listed()[1] == 0
    assert not cache.exists()


@pytest.mark.parametrize("parent", [False, True])
def test_no_index_where_others_may_write(tmp_path: Path, cache: Path, parent: bool) -> None:
    place = cache / "fastrnns-rs" / "history"
    place.mkdir(parents=True)
    (place.parent if parent else place).chmod(0o777)
    assert keep_one(RunHistory(tmp_path / "history")) == 1
    assert [*place.iterdir()] == []


def test_a_umask_lets_nobody_write_to_new_folders(tmp_path: Path, cache: Path) -> None:
    before = os.umask(0)
    try:
        assert keep_one(RunHistory(tmp_path / "history")) == 1
    finally:
        os.umask(before)
    assert {one.stat().st_mode & 0o777 for one in (cache, cache / "fastrnns-rs", cache / "fastrnns-rs/history")} == {
        0o700
    }
    assert len(os.listdir(cache / "fastrnns-rs" / "history")) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_makes_no_folder_in_that_of_another_user(tmp_path: Path, cache: Path) -> None:
    cache.mkdir()
    os.chown(cache, 1000, 1000)
    assert keep_one(RunHistory(tmp_path / "history")) == 1
    assert os.listdir(cache) == []


def test_two_histories_of_one_path_at_the_same_time(tmp_path: Path, cache: Path) -> None:
    """Two containers, or two machines, with one home folder."""
    histories = [RunHistory(tmp_path / name) for name in ("a", "b")]
    for number, history in enumerate(histories):
        keep_one(history, number)
    cache.mkdir(exist_ok=True)
    path = cache / "index.sqlite"
    with RunIndex(path, histories[0].runs_folder) as first, RunIndex(path, histories[1].runs_folder) as second:
        for _ in range(3):
            assert (numbers(first), numbers(second)) == ([0], [1])


def test_an_index_that_another_command_has_brought_up_to_date(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del cache
    history = RunHistory(tmp_path / "history")
    history.keep(run([exactly([1000])], run_id=f"{1:032x}"))
    read_file = indexed_files.read_file

    def slow(folder: Path, stamp: indexed_files.Stamp) -> Iterable[Any]:
        found = [*read_file(folder, stamp)]
        with monkeypatch.context() as other:
            other.setattr(indexed_files, "read_file", read_file)
            history.find_place(run([], run_id=f"{1:032x}")).unlink()
            history.keep(run([exactly([1000])], run_id=f"{2:032x}"))
            assert history.listed()[1] == 1
        return found

    monkeypatch.setattr(indexed_files, "read_file", slow)
    with history.index() as index:
        assert numbers(index) == [2]


@pytest.mark.parametrize("target", [None, "cache", "nowhere"])
def test_a_user_without_a_cache_folder(tmp_path: Path, cache: Path, target: str | None) -> None:
    if target is None:
        cache.write_text("a file")
    else:
        cache.symlink_to(target)
    assert keep_one(RunHistory(tmp_path / "history")) == 1


def test_old_indexes_are_removed(tmp_path: Path, cache: Path) -> None:
    place = cache / "fastrnns-rs" / "history"
    place.mkdir(parents=True)
    for name, age_days in (("old.sqlite", 100), ("old.sqlite-journal", 100), ("new.sqlite", 10)):
        (place / name).write_text("")
        then = time.time() - 86400 * age_days
        os.utime(place / name, (then, then))
    assert keep_one(RunHistory(tmp_path / "history")) == 1
    assert "new.sqlite" in os.listdir(place)
    assert len(os.listdir(place)) == 2
