"""Histories that someone else made: databases, tags, links, pipes and ids that reach for other files."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import struct
import time
import tracemalloc
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import run_cli, run_pretended, run_process, run_with_facts
from conftest import TINY
from kept_runs import ids, keep_three, made
from run_files import SESSION, process, restated, summarised

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.history import indexed_files, run_index
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.transfer import import_runs


@pytest.fixture
def three(history: RunHistory) -> RunHistory:
    return keep_three(history)


def test_no_database_of_a_history_is_opened(three: RunHistory, tmp_path: Path) -> None:
    named = tmp_path / "thesis.txt"
    named.write_text("years of work")
    database, magic, name = three.folder / "index.sqlite", bytes.fromhex("d9d505f920a163d7"), os.fsencode(named)
    with closing(sqlite3.connect(database)) as made_by_others:
        made_by_others.executescript("CREATE TABLE files (a); INSERT INTO files VALUES (42)")
    # A journal of several databases: SQLite deletes the file that it names when no other journal belongs to that.
    head = magic + struct.pack(">IIIII", 0, 0, database.stat().st_size // 4096, 512, 4096)
    names = struct.pack(">I", (1 << 30) // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    journal = three.folder / "index.sqlite-journal"
    journal.write_bytes(head.ljust(512, b"\0") + names)
    content = [one.read_bytes() for one in (database, journal)]
    assert ids(three) == [0, 1, 2]
    assert [one.read_bytes() for one in (database, journal)] == content
    assert named.read_text() == "years of work"
    # SQLite would have deleted it.
    with closing(sqlite3.connect(database)) as opened:
        opened.execute("SELECT * FROM files")
    assert not named.exists()


def test_a_file_of_equal_size_and_time_is_read_again(three: RunHistory) -> None:
    assert ids(three) == [0, 1, 2]
    file = Path(three.document().runs[0].path)
    status, content = file.stat(), file.read_text()
    file.write_text(content.replace(made(0).run_id, made(7).run_id))
    # As unpacking does.
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size
    assert ids(three) == [1, 2, 7]


def test_odd_files_in_the_history_are_left_out(three: RunHistory) -> None:
    three.tag(three.document().runs[:1], "a")
    runs, tag = three.runs_folder, three.tags_folder / "a"
    (runs / "loop.json").symlink_to("loop.json")
    (runs / "below.json").symlink_to("/etc/passwd/below")
    os.mkfifo(tag / "pipe")
    (tag / "zero").symlink_to("/dev/zero")
    (tag / "loop").symlink_to("loop")
    (tag / "huge").write_bytes(b"")
    os.truncate(tag / "huge", 10 << 30)
    (tag / "folder").mkdir()
    (tag / ".incomplete").write_text(three.document().runs[1].run_id)
    document = three.document()
    assert ([one.tags for one in document.runs], document.warnings) == ([["a"], [], []], [])


def test_texts_that_are_no_ids_of_runs_do_not_fill_the_memory(three: RunHistory) -> None:
    three.tag(three.document().runs[:1], "a")
    for number in range(64):
        path = three.tags_folder / "a" / f"{number}"
        path.write_text(f"{number}")
        # The rest is a hole, which takes no space on the disk.
        os.truncate(path, 1 << 20)
    tracemalloc.start()
    try:
        runs = three.document().runs
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert [one.tags for one in runs] == [["a"], [], []]


def test_a_run_that_was_resumed_meanwhile_is_not_deleted(three: RunHistory) -> None:
    runs = three.document().runs
    with open(runs[0].path, "a", encoding="utf-8") as file:
        file.write(" ")
    assert three.remove(runs) == (runs[1:], [])
    assert ids(three) == [0]


def test_incomplete_files_of_killed_processes_are_deleted(three: RunHistory, anywhere: Path) -> None:
    def temporary(name: str, age_s: float) -> Path:
        path = three.runs_folder / name
        path.write_text("{")
        os.utime(path, (time.time() - age_s,) * 2)
        return path

    old, new = temporary(f".fastrnns-rs-{'0a' * 6}", 90_000), temporary(f".fastrnns-rs-{'0b' * 6}", 80_000)
    other = temporary(".fastrnns-rs-notes", 90_000)
    assert run_cli("history", "--prune", "--keep", "1GiB", "--dry-run").status == 0
    assert old.exists()
    done = run_cli("history", "--prune", "--keep", "1GiB")
    assert "0 of 3 runs were deleted\n1 incomplete file of killed processes was deleted" in done.stderr
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_a_history_that_cannot_be_read_is_named(three: RunHistory, anywhere: Path) -> None:
    (anywhere / "file").write_text("")
    files = [one.path for one in three.document().runs[:2]]
    for words in (["show", "@last"], ["history"]):
        refused = run_cli(*words, "--history", "file/below")
        assert refused.status == 2
        assert "'file/below/runs': Not a directory" in refused.stderr
    assert run_cli("compare", *files, "--history", "file/below").status == 0


@pytest.mark.parametrize("time_s", [99_999_999_999, 2**60, -(2**60)])
def test_times_of_files_may_be_any(three: RunHistory, monkeypatch: pytest.MonkeyPatch, time_s: int) -> None:
    files = run_index._files
    late = [(name, size, time_s * 10**9, ctime) for name, size, _, ctime in files(three.runs_folder)]
    assert all(abs(run_index._storable(one[2])) < 2**63 for one in late)
    stored = [(name, size, run_index._storable(mtime), ctime) for name, size, mtime, ctime in late]
    monkeypatch.setattr(run_index, "_files", lambda _: stored)
    assert ids(three) == [0, 1, 2]


def test_text_of_a_run_is_stored_as_it_can_be(history: RunHistory) -> None:
    odd = replace(made(1), sessions=[replace(SESSION, session_id="\ud800")])
    plain = {**odd.to_dict(), "sessions": [{**odd.to_dict()["sessions"][0], "session_id": "\ud800"}]}
    for row in plain["results"]:
        for one in row["processes"]:
            one["session"] = "\ud800"
    history.make()
    (history.runs_folder / "odd.json").write_text(json.dumps(plain))
    (history.runs_folder / "long.json").write_text(json.dumps({**made(2).to_dict(), "run_id": "x" * (20 << 20)}))
    document = history.document()
    assert [one.run_id for one in document.runs] == [made(1).run_id]
    assert "text of more than" in (document.warnings[0].evidence or "")


def test_a_file_that_could_not_be_read_is_read_again(three: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("none", "1"):
        large = three.runs_folder / "large.json"
        large.write_text(json.dumps(made(4).to_dict()) + " " * (2 << 20))
        monkeypatch.setenv("FASTRNNS_MAX_DOCUMENT_MIB", value)
        assert len(three.document().warnings) == 1
        monkeypatch.delenv("FASTRNNS_MAX_DOCUMENT_MIB")
        assert (ids(three), three.document().warnings) == ([0, 1, 2, 4], [])
        large.unlink()


def test_an_interrupted_command_continues_the_index(three: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a large history takes minutes."""
    monkeypatch.setattr(run_index, "_PART", 2)
    read, files = indexed_files.read_file, list[str]()

    def interrupted(folder: Path, stamp: indexed_files.Stamp) -> Iterable[indexed_files.Record]:
        files.append(stamp[0])
        if len(files) == 3:
            raise KeyboardInterrupt
        return read(folder, stamp)

    monkeypatch.setattr(indexed_files, "read_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        three.document()
    assert ids(three) == [0, 1, 2]
    assert len(files) == 4


def test_a_file_that_another_build_refused_is_read_again(three: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        for module in (run_index, indexed_files):
            earlier.setattr(module, "__version__", "0.0.1")
        earlier.setattr(indexed_files, "_LONGEST_TEXT", 3)
        three.keep(made(3))
        assert len(three.document().warnings) == 1
    assert ids(three) == [0, 1, 2, 3]
    assert three.document().warnings == []


def test_a_run_is_not_kept_through_a_link(history: RunHistory, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    history.make()
    history.find_place(made(1)).symlink_to(tmp_path / "mine")
    history.keep(made(1))
    assert (tmp_path / "mine").read_text() == "mine"
    assert ids(history) == [1]


def test_the_list_replaces_no_run(three: RunHistory) -> None:
    for path in (three.document().runs[0].path, three.runs_folder / "new.json"):
        refused = run_cli("history", "--json", "--output", path)
        assert (refused.status, f"'{path}' (--output)" in refused.stderr) == (2, True)
    assert ids(three) == [0, 1, 2]


def test_an_import_replaces_no_other_run(history: RunHistory, tmp_path: Path) -> None:
    history.keep(made(1))
    before = history.find_place(made(1)).read_bytes()
    other = replace(made(1), run_id="deadbeef" + made(1).run_id[8:])
    other.save(tmp_path / "other.json")
    assert "new in the history: 1 run\n" in run_cli("history", "--import", tmp_path / "other.json").stderr
    assert history.find_place(made(1)).read_bytes() == before
    assert len(history.document().runs) == 2
    history.find_place(made(2)).write_text("something else")
    made(2).save(tmp_path / "other.json")
    left_out = run_cli("history", "--import", tmp_path / "other.json").stderr
    assert f": '{history.find_place(made(2)).name}'" in left_out
    assert history.find_place(made(2)).read_text() == "something else"


def test_a_large_file_in_the_place_of_a_run_ends_no_import(
    history: RunHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        made(number).save(tmp_path / f"{number}.json")
    history.make()
    place = history.find_place(made(1))
    place.touch()
    os.truncate(place, 2 << 20)
    monkeypatch.setenv("FASTRNNS_MAX_DOCUMENT_MIB", "1")
    kept, [note] = import_runs(history, [tmp_path / "1.json", tmp_path / "2.json"])
    assert note.startswith(f"skipped: cannot read '{place.name}' in the history (2097152 bytes are more than 1 MiB, ")
    assert kept == [history.find_place(made(2))]


def test_an_import_waits_for_no_pipe(history: RunHistory, anywhere: Path) -> None:
    (anywhere / "in").mkdir()
    os.mkfifo(anywhere / "in" / "pipe.json")
    made(1).save(anywhere / "in" / "run.json")
    began = time.monotonic()
    done = run_process("history", "--import", "in")
    assert done.status == 0
    assert done.stderr.startswith("new in the history: 1 run\n")
    assert time.monotonic() - began < 60
    assert ids(history) == [1]


def test_what_is_not_imported_is_no_missing_file(history: RunHistory, anywhere: Path) -> None:
    os.mkfifo(anywhere / "pipe.json")
    done = run_cli("history", "--import", "pipe.json")
    assert (done.status, done.stderr.splitlines()[0]) == (2, "error: not a file or folder: 'pipe.json' (--import)")


def test_a_folder_that_cannot_be_listed_is_not_empty(
    history: RunHistory, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Path.glob` finds nothing in it."""
    list_folder = Path.iterdir

    def refuse(folder: Path) -> Any:
        if folder == anywhere:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return list_folder(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FastrnnsError, match="Permission denied"):
        import_runs(history, [anywhere])


def test_an_export_writes_through_no_link(three: RunHistory, anywhere: Path) -> None:
    name = three.find_place(made(2)).name
    (anywhere / "out").mkdir()
    (anywhere / "out" / name).symlink_to(anywhere / "elsewhere")
    refused = run_cli("history", "@last", "--export", "out")
    assert (refused.status, f"out/{name}'" in refused.stderr) == (2, True), refused.stderr
    assert not (anywhere / "elsewhere").exists()
    (anywhere / "out" / name).unlink()
    os.mkfifo(anywhere / "out" / name)
    assert f"out/{name}'" in run_process("history", "@last", "--export", "out").stderr


def test_a_name_of_names_is_refused(three: RunHistory) -> None:
    del three
    refused = run_cli("history", f"@{'like:' * 3000}last")
    assert (refused.status, "@like:like:" in refused.stderr) == (2, True)


def test_an_old_copy_of_a_run_replaces_no_newer_one(history: RunHistory) -> None:
    from fastrnns_rs.errors import UsageError

    old = made(1)
    [row] = old.results
    later = replace(process(1, [1000], None), session="another session")
    sessions = [SESSION, replace(SESSION, session_id="another session")]
    more = replace(row, processes=[*row.processes, later], forward=None, backward=None)
    newer = replace(old, results=[summarised(more)], sessions=sessions)
    history.check_no_more(old)
    history.keep(newer)
    history.check_no_more(newer)
    with pytest.raises(UsageError, match=old.run_id[:12]):
        history.check_no_more(old)
    # Of the same session, too.
    history.keep(old)
    with pytest.raises(UsageError):
        history.check_no_more(replace(old, results=[replace(row, processes=[])]))


def test_resuming_an_old_copy_keeps_the_newer_run(history: RunHistory, anywhere: Path) -> None:
    words = ["bench", "--group", "rnns", "--rnns", "cudnn", "--processes", "2", *TINY]
    assert run_pretended(*words).status == 0
    last = Path(history.document().runs[-1].path)
    plain = json.loads(last.read_text())
    [row] = plain["results"]
    plain["results"] = [restated({**row, "processes": row["processes"][:1]})]
    (anywhere / "old.json").write_text(json.dumps({**plain, "status": "interrupted"}))
    content = last.read_bytes()
    resumed = run_with_facts("bench", "--resume", "old.json", "--output", "new.json")
    assert resumed.status == 0, resumed.stderr
    assert "warning: the run is not kept in the history: " in resumed.stderr
    assert last.read_bytes() == content
    assert Run.load("new.json").status == "complete"
