"""The history under several writers, sudden deaths, damaged indexes, foreign files and full disks."""

from __future__ import annotations

import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from commands import run_pretended
from conftest import TINY
from run_files import exactly, run

from fastrnns_rs.documents import writing
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.writer_lock import locked
from fastrnns_rs.verbs.history import indexed_files, run_index
from fastrnns_rs.verbs.history.index_place import index_path
from fastrnns_rs.verbs.history.run_history import RunHistory
from fastrnns_rs.verbs.history.transfer import export_runs, import_runs

TESTS = Path(__file__).resolve().parents[1]
#: Keeps runs, and reads the history in between; says the number of each when it is kept.
WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from run_files import exactly, run
from fastrnns_rs.verbs.history.run_history import RunHistory
history, name, count = RunHistory(Path(sys.argv[2])), sys.argv[3], int(sys.argv[4])
for number in range(count):
    history.keep(run([exactly([1000 + number])], run_id=f"{name}{number:08x}"))
    print(number, flush=True)
    if number % 10 == 0:
        history.document()
"""
#: Holds the lock of a run file until its input ends.
HOLDER = """
import sys
from pathlib import Path
from fastrnns_rs.documents.writer_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
SMALL_KILLS, KILLS = 10, 200
SMALL_COUNT, COUNT = 30, 500


def writer(history: RunHistory, name: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, str(TESTS), str(history.folder), name, str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def made(number: int) -> Run:
    return run([exactly([1000 + number])], run_id=f"{number:032x}")


def index_of(history: RunHistory) -> Path:
    path = index_path(history.runs_folder)
    assert path is not None
    return path


def ids(history: RunHistory) -> list[str]:
    return [one.run_id for one in history.document().runs]


def check_two_writers(history: RunHistory, count: int) -> None:
    writers = [writer(history, name, count) for name in "ab"]
    for one in writers:
        assert len(one.communicate()[0].split()) == count
    expected = sorted(f"{name}{number:08x}" for name in "ab" for number in range(count))
    assert sorted(ids(history)) == expected


def check_kills(history: RunHistory, kills: int) -> None:
    generator = random.Random(8)
    said: set[str] = set()
    for kill in range(kills):
        # Two of them: one that is killed leaves nothing that stops the other.
        each = [writer(history, f"{kill:x}{name}", 100_000) for name in "xy"]
        assert each[0].stdout is not None
        said.add(f"{kill:x}x{int(each[0].stdout.readline()):08x}")
        time.sleep(generator.random() / 5)
        for one in each:
            one.send_signal(signal.SIGKILL)
        said |= {
            f"{kill:x}{name}{int(line):08x}"
            for name, one in zip("xy", each, strict=True)
            for line in (one.communicate()[0] or "").split()
        }
    found = ids(history)
    assert len(found) == len(set(found))
    assert said <= set(found)
    assert history.document().warnings == []
    with history.index() as index:
        assert index.runs()[0]
    with closing(sqlite3.connect(index_of(history))) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    # What was being written when its writer died stays hidden.
    assert all(Run.load(one.path).run_id == one.run_id for one in history.document().runs)


def test_two_writers_lose_nothing(history: RunHistory) -> None:
    check_two_writers(history, SMALL_COUNT)


def test_sudden_death_loses_nothing(history: RunHistory) -> None:
    check_kills(history, SMALL_KILLS)


@pytest.mark.long("kills")
def test_two_writers_of_many_runs_lose_nothing(history: RunHistory) -> None:
    check_two_writers(history, COUNT)


@pytest.mark.long("kills")
def test_many_sudden_deaths_lose_nothing(history: RunHistory) -> None:
    check_kills(history, KILLS)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def scrambled(path: Path) -> None:
    """The first page stays, so that it opens well."""
    content = bytearray(path.read_bytes())
    content[4096:] = random.Random(3).randbytes(len(content) - 4096)
    path.write_bytes(content)


def of_another_shape(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript("DROP TABLE files; CREATE TABLE files (x); PRAGMA user_version = 77")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [cut, emptied, scrambled, of_another_shape, a_folder])
def test_a_damaged_index_is_made_anew(history: RunHistory, damage: Callable[[Path], None]) -> None:
    for number in range(30):
        history.keep(made(number))
    before = history.document()
    with history.index() as index:
        kinds = {row[0] for row in index._fetch("SELECT kind FROM sessions")}
        assert len(index.equal(kinds)) == len(kinds)  # all of one session
    damage(index_of(history))
    for _ in range(2):
        assert history.document() == before
        with history.index() as index:
            assert len(index.equal(kinds)) == len(kinds)
    assert len(list(history.runs_folder.iterdir())) == 30


def test_listing_a_folder_that_is_no_history_writes_nothing(history: RunHistory) -> None:
    history.folder.mkdir()
    assert history.document().runs == []
    assert os.listdir(history.folder) == []


def test_a_run_that_a_fault_of_ours_cannot_read_costs_itself_alone(
    history: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.keep(made(1))
    history.keep(made(2))
    whole = indexed_files._columns

    def columns(run: Run) -> list[Any]:
        if run.run_id.endswith("1"):
            raise ValueError("planted")
        return whole(run)

    monkeypatch.setattr(indexed_files, "_columns", columns)
    document = history.document()
    assert [one.run_id[-1] for one in document.runs] == ["2"]
    assert "a fault of fastrnns-rs, ValueError: planted" in str(document.warnings[0].evidence)


def test_an_index_that_cannot_be_written_is_no_obstacle(history: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    history.keep(made(1))
    opened = sqlite3.connect

    def refuse(place: str, **settings: object) -> sqlite3.Connection:
        if place != ":memory:":
            raise sqlite3.OperationalError("unable to open database file")
        return opened(place, **settings)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(run_index.sqlite3, "connect", refuse)
    assert len(ids(history)) == 1
    assert not index_of(history).exists()


def test_foreign_files_are_named_and_left_alone(history: RunHistory, tmp_path: Path) -> None:
    history.keep(made(1))
    folder = history.runs_folder
    (folder / "notes.json").write_text('{"a": 1}')
    (folder / "\x1b[2J\udcff.json").write_text("[")
    (folder / "binary.json").write_bytes(b"\0\xff" * 100)
    (folder / "readme.txt").write_text("not looked at")
    (folder / "folder.json").mkdir()
    (folder / "gone.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe.json")
    # A second copy of a run is not a second run.
    copy = folder / "copy.json"
    copy.write_bytes(Path(history.document().runs[0].path).read_bytes())
    document = history.document()
    assert len(document.runs) == 1
    [warning] = document.warnings
    assert (warning.code, str(warning.evidence).split(": ")[0]) == ("foreign_files", "3 files")
    assert (folder / "notes.json").read_text() == '{"a": 1}'
    document.to_json().encode()


def test_other_files_of_a_run_are_named(history: RunHistory) -> None:
    """With one that is listed, nothing tells which of them is the run."""
    history.keep(made(1))
    history.keep(made(2))
    kept = history.document().runs
    other = history.runs_folder / "other.json"
    other.write_text(Path(kept[0].path).read_text() + " ")
    document = history.document()
    [warning] = document.warnings
    [unlisted] = {one.name for one in history.runs_folder.glob("*.json")} - {
        Path(one.path).name for one in document.runs
    }
    assert len(document.runs) == 2
    assert warning.evidence == f"1 file: {unlisted}: run {kept[0].run_id[:12]} has another file, which is listed"


@pytest.mark.parametrize("run_id", ["", "..", "../../x", "a/b", "x" * 5000, "\x1b[2J", "~"])
def test_the_id_of_a_run_names_no_other_file(history: RunHistory, tmp_path: Path, run_id: str) -> None:
    made(1).save(tmp_path / "elsewhere.json")
    foreign = tmp_path / "foreign.json"
    run([exactly([1000])], run_id=run_id, created_utc="../../../y").save(foreign)
    kept, refused = import_runs(history, [foreign])
    assert (len(kept), refused) == (1, [])
    history.tag(history.document().runs, "tag")
    assert [one.tags for one in history.document().runs] == [["tag"]]
    history.untag(history.document().runs, "tag")
    assert [one.tags for one in history.document().runs] == [[]]
    assert [one.parent for one in kept] == [history.runs_folder]
    assert sorted(os.listdir(tmp_path)) == ["elsewhere.json", "foreign.json", "history"]


def test_changed_and_removed_files_are_noticed(history: RunHistory) -> None:
    paths = [history.keep(made(number)) for number in range(3)]
    assert len(ids(history)) == 3
    paths[0].unlink()
    assert len(ids(history)) == 2
    history.keep(made(1))
    assert len(ids(history)) == 2
    # A copy over a file changes no time of its folder, which earlier builds trusted from an age of 2 s.
    time.sleep(2.1)
    assert len(ids(history)) == 2
    text = paths[1].read_bytes()
    paths[1].write_bytes(b"")
    assert len(ids(history)) == 1
    paths[1].write_bytes(text)
    assert len(ids(history)) == 2


def test_imports_and_exports_at_the_same_time_wait_for_each_other(history: RunHistory, tmp_path: Path) -> None:
    paths = [history.keep(made(number)) for number in range(3)]
    other = RunHistory(tmp_path / "other")
    other.make()
    with ThreadPoolExecutor() as threads:
        with ExitStack() as locks:
            for path in (other.find_place(made(1)), tmp_path / "out" / paths[1].name):
                path.parent.mkdir(exist_ok=True)
                locks.enter_context(locked(path))
            imported = threads.submit(import_runs, other, [history.runs_folder])
            exported = threads.submit(export_runs, history.document().runs, tmp_path / "out")
            time.sleep(0.2)
            assert not imported.done()
            assert not exported.done()
        assert (len(imported.result()[0]), len(exported.result())) == (3, 3)
    assert len(ids(other)) == 3


def full(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Has the disk of a folder take no more files."""
    replace = os.replace

    def refuse(one: str, other: str) -> None:
        if str(other).startswith(str(folder)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(one, other)

    monkeypatch.setattr(writing.os, "replace", refuse)


def test_a_history_that_cannot_be_made_is_named_with_an_option(anywhere: Path) -> None:
    """A warning had the arguments of Python: "Use another `history` or `history=False`."."""
    (anywhere / "file").write_text("")
    words = ["bench", "--group", "rnns", "--rnns", "cudnn", "--processes", "3", *TINY, "--output", "run.json"]
    done = run_pretended(*words, "--history", str(anywhere / "file" / "history"))
    assert done.status == 0
    assert "warning: the run is not kept in the history: cannot write history: " in done.stderr
    assert "hint: Use another --history or --no-history." in done.stderr


@pytest.mark.parametrize("output", [[], ["--output", "run.json"]])
def test_a_full_disk_loses_no_run(
    history: RunHistory, anywhere: Path, monkeypatch: pytest.MonkeyPatch, output: list[str]
) -> None:
    history.keep(made(1))
    (anywhere / "temporary").mkdir()
    full(monkeypatch, history.folder)
    words = ["bench", "--group", "rnns", "--rnns", "cudnn", "--processes", "3", *TINY]
    done = run_pretended(*words, *output, TMPDIR=anywhere / "temporary")
    assert done.status == 0
    assert done.stderr.count("warning: the run is not kept in the history") == 1
    assert "Saved as" not in done.stderr
    [found] = [*(anywhere / "temporary").glob("*.json")] or [anywhere / "run.json"]
    assert Run.load(found).status == "complete"
    assert ("fastrnns-rs history --import" in done.stderr) is not bool(output)
    assert ids(history) == [made(1).run_id]
    monkeypatch.undo()
    kept, refused = import_runs(history, [found])
    assert (len(kept), refused) == (1, [])


def test_a_folder_that_cannot_be_made_costs_no_run(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    (anywhere / "file").write_text("")
    words = ["bench", "--group", "rnns", "--rnns", "cudnn", "--processes", "3", *TINY]
    done = run_pretended(*words, "--output", "run.json", "--history", "file/below")
    assert (done.status, done.stderr.count("is not kept in the history")) == (0, 1)
    assert Run.load(anywhere / "run.json").status == "complete"


def test_a_run_that_goes_on_is_not_pruned(history: RunHistory) -> None:
    from fastrnns_rs.documents.writer_lock import locked

    history.keep(made(1))
    runs = history.document().runs
    words = [
        sys.executable,
        "-c",
        HOLDER,
        runs[0].path,
    ]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert history.remove(runs) == ([], [])
        holder.communicate()
    with locked(Path(runs[0].path)):
        pass
    assert history.remove(runs) == (runs, [])
    assert ids(history) == []
