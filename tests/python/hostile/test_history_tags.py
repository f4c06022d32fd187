"""Tags of a history that cannot be reached, or are used by several commands: no run that has one is deleted."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands import run_cli
from faulty_files import Mounted, why_not
from kept_runs import ids, keep_three

from fastrnns_rs import FastrnnsError, UsageError
from fastrnns_rs.documents import writer_lock
from fastrnns_rs.verbs.history import run_history
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.tag_files import file_name
from fastrnns_rs.verbs.history.tag_lock import locked_tags


@pytest.fixture
def three(history: RunHistory) -> RunHistory:
    return keep_three(history)


def close(monkeypatch: pytest.MonkeyPatch, refused: Path) -> None:
    """Refuses to read a path, as for another user's: the tests' own user may be root, who may read all files."""

    def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(path: Any, *given: Any, **more: Any) -> Any:
            if not isinstance(path, int) and os.fspath(path) == str(refused):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return function(path, *given, **more)

        return called

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(os, "listdir", refusing(os.listdir))
    monkeypatch.setattr("builtins.open", refusing(open))


@pytest.mark.parametrize("place", ["tags", "tags/a", "tags/a/file"])
def test_a_tag_of_another_user_hides_no_run_and_deletes_none(
    three: RunHistory, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    runs = three.document().runs
    three.tag(runs, "a")
    three.tag(runs[:1], "b")
    path = three.tags_folder / "a" / runs[0].run_id if place == "tags/a/file" else three.folder / place
    close(monkeypatch, path)
    listed = run_cli("history", "--json")
    tags = {"tags": [[], [], []], "tags/a": [["b"], [], []], "tags/a/file": [["a", "b"], ["a"], ["a"]]}[place]
    assert (listed.status, [one["tags"] for one in listed.json()["runs"]]) == (0, tags)
    assert run_cli("show", "@last").status == 0
    named = run_cli("history", "@tag:a")
    hidden = "only another user may read this tag" in named.stderr
    assert (named.status, hidden) == {"tags": (2, False), "tags/a": (2, True), "tags/a/file": (0, False)}[place]
    for more in ([], ["--dry-run"]):
        done = run_cli("history", "--prune", "--keep", "1B", *more)
        assert (done.status, "Permission denied" in done.stderr) == (1, True)
    with pytest.raises(FastrnnsError, match="Permission denied"):
        three.remove(runs)
    monkeypatch.undo()
    assert len(os.listdir(three.runs_folder)) == 3


def test_a_tag_in_a_folder_of_another_user_hides_no_other_tag(
    three: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.tag(three.document().runs, "good")
    linked = three.tags_folder / "linked"
    linked.symlink_to("of_another_user")
    real = os.stat

    def refusing(path: Any, *given: Any, **more: Any) -> Any:
        if path == linked and more.get("follow_symlinks", True):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *given, **more)

    monkeypatch.setattr(os, "stat", refusing)
    assert [one["tags"] for one in run_cli("history", "--json").json()["runs"]] == [["good"]] * 3
    done = run_cli("history", "--prune", "--keep", "1B")
    assert (done.status, "Permission denied" in done.stderr) == (1, True)


@pytest.mark.parametrize("place", ["tags", "tags/a"])
@pytest.mark.parametrize("becomes", ["link", "loop", "file"])
def test_a_run_whose_tags_are_elsewhere_is_not_deleted(three: RunHistory, place: str, becomes: str) -> None:
    """The disk that a link leads to may not be mounted."""
    three.tag(three.document().runs, "a")
    path = three.folder / place
    path.rename(three.folder / "gone")
    make = {
        "link": lambda: path.symlink_to(three.folder / "unmounted"),
        "loop": lambda: path.symlink_to(path.name),
        "file": lambda: path.write_text(""),
    }
    make[becomes]()
    done = run_cli("history", "--prune", "--keep", "1B")
    # A file among the tags is nobody's tag.
    deleted = (place, becomes) == ("tags/a", "file")
    assert (done.status == 0, len(os.listdir(three.runs_folder))) == ((True, 0) if deleted else (False, 3))
    assert ("error: " in done.stderr) is not deleted
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("damage", ["empty", "other", "pipe", "link", "folder"])
def test_a_run_whose_tag_is_damaged_is_not_deleted(three: RunHistory, damage: str) -> None:
    first, *_ = three.document().runs
    three.tag([first], "a")
    [path] = (three.tags_folder / "a").iterdir()
    path.unlink()
    make: dict[str, Callable[[], object]] = {
        "empty": path.touch,
        "other": lambda: path.write_bytes(b"\0\xff"),
        "pipe": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(three.folder / "unmounted"),
        "folder": path.mkdir,
    }
    make[damage]()
    assert run_cli("history", "--prune", "--keep", "1B").status == 0
    assert [(one.run_id, one.tags) for one in three.document().runs] == [(first.run_id, ["a"])]
    if damage != "folder":
        three.untag(three.document().runs, "a")
        assert three.document().runs[0].tags == []


def test_tags_behind_a_link_and_with_a_line_end_are_tags(three: RunHistory) -> None:
    three.tag(three.document().runs, "a")
    moved = three.tags_folder.rename(three.folder / "elsewhere")
    three.tags_folder.symlink_to(moved)
    for file in (moved / "a").iterdir():
        file.write_text(file.read_text() + "\r\n")
    assert run_cli("history", "--prune", "--keep", "1B").status == 0
    assert [one.tags for one in three.document().runs] == [["a"]] * 3


def test_tags_that_cannot_be_read_are_an_error_of_one_line(three: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those of a disk that fails."""
    three.tag(three.document().runs, "a")
    scandir = os.scandir

    def refused(path: Any) -> Any:
        if Path(path).name == "a":
            raise OSError(errno.EIO, "Input/output error", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(FastrnnsError, match="Input/output error"):
        three.document()
    assert run_cli("show", "@last").status == 1


def test_a_run_that_cannot_be_deleted_does_not_keep_the_others(
    three: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = three.document().runs
    unlink = Path.unlink

    def refused(path: Path, **more: Any) -> None:
        if str(path) == runs[1].path:
            raise PermissionError(errno.EPERM, "Operation not permitted", str(path))
        unlink(path, **more)

    monkeypatch.setattr(Path, "unlink", refused)
    done = run_cli("history", "--prune", "--keep", "1B")
    assert done.status != 0
    assert done.stderr.count(" of 2026-01-01T") == 2
    assert "2 of 3 runs were deleted" in done.stderr
    assert "Operation not permitted" in done.stderr
    assert ids(three) == [1]


def test_a_run_that_was_tagged_meanwhile_is_not_deleted(three: RunHistory) -> None:
    runs = three.document().runs
    three.tag(runs[1:2], "keepme")
    assert three.remove(runs) == ([runs[0], runs[2]], [])
    assert ids(three) == [1]
    with pytest.raises(UsageError, match=f"run not found: run {'0' * 12} was deleted"):
        three.tag([runs[1], runs[0]], "late")
    assert [one.tags for one in three.document().runs] == [["keepme"]]


def test_tags_and_deletions_wait_for_each_other(three: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = three.document().runs
    with ThreadPoolExecutor() as threads:
        with locked_tags(three.tags_folder):
            waiting = [threads.submit(three.tag, runs[:1], "a"), threads.submit(three.remove, runs[1:])]
            time.sleep(0.2)
            assert not any(one.done() for one in waiting)
        assert [one.result() for one in waiting] == [None, (runs[1:], [])]
    assert os.listdir(three.folder / "tags") == ["a"]
    monkeypatch.setattr(writer_lock, "_PATIENCE_S", 0.0)
    locked = f"cannot lock tags: .*: process {os.getpid()} "
    with locked_tags(three.tags_folder):
        for act in (lambda: three.tag(runs[:1], "b"), lambda: three.remove(runs[:1])):
            with pytest.raises(UsageError, match=locked):
                act()
    assert [one.tags for one in three.document().runs] == [["a"]]


def test_all_files_of_a_run_lose_its_tag(three: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = three.document().runs
    three.tag([first, second, third], "a")
    place = three.tags_folder / "a"
    (place / "copy").write_text(f"{first.run_id}\n")
    (place / second.run_id).write_text("damaged")
    named: list[str] = []
    monkeypatch.setattr(run_history, "file_name", lambda run_id: (named.append(run_id), file_name(run_id))[1])
    three.untag(three.document().runs[:2], "a")
    assert os.listdir(place) == [third.run_id]
    # Once for each run, and not for each pair of a run and a file.
    assert named == [first.run_id, second.run_id]


def test_a_tag_is_not_written_through_a_link(three: RunHistory) -> None:
    mine = three.folder.parent / "mine"
    mine.write_text("mine")
    last = three.document().runs[-1]
    (three.tags_folder / "a").mkdir(parents=True)
    (three.tags_folder / "a" / last.run_id).symlink_to(mine)
    three.tag([last], "a")
    assert mine.read_text() == "mine"
    assert three.document().runs[-1].tags == ["a"]


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_a_tag_that_differs_only_in_case_is_refused_where_case_is_ignored(tmp_path: Path) -> None:
    """Both would be one folder, and the second tag could not be removed."""
    with Mounted(tmp_path, case=True) as files:
        three = keep_three(RunHistory(files.folder))
        runs = three.document().runs
        three.tag(runs[:1], "Base")
        with pytest.raises(UsageError, match="cannot add tag: 'base'.* ignores case, and the tag 'Base' exists"):
            three.tag(runs[1:], "base")
        three.tag(runs[1:2], "Base")
        assert [one.tags for one in three.document().runs] == [["Base"], ["Base"], []]
        files.fail()
        three.tag(runs[1:], "base")
        assert [one.tags for one in three.document().runs] == [["Base"], ["Base", "base"], ["base"]]
