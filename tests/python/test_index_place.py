"""The folder of the indexes of histories."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from run_files import exactly, run

from fastrnns_rs.verbs.history.index_place import index_path
from fastrnns_rs.verbs.history.run_history import RunHistory


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keep_one(history: RunHistory) -> int:
    history.keep(run([exactly([1000])], run_id=f"{1:032x}"))
    return history.n_runs()


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


def test_without_runs_nothing_is_written(tmp_path: Path, cache: Path) -> None:
    assert RunHistory(tmp_path / "none").n_runs() == 0
    assert not cache.exists()


@pytest.mark.parametrize("parent", [False, True])
def test_no_index_where_others_may_write(tmp_path: Path, cache: Path, parent: bool) -> None:
    place = cache / "fastrnns-rs" / "history"
    place.mkdir(parents=True)
    (place.parent if parent else place).chmod(0o777)
    assert keep_one(RunHistory(tmp_path / "history")) == 1
    assert [*place.iterdir()] == []


def test_a_user_without_a_cache_folder(tmp_path: Path, cache: Path) -> None:
    cache.write_text("a file")
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
