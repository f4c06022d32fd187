"""Results that cannot be written any more while they are measured."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pretended_workers
import pytest
import run_files
from commands import finished, run_cli, run_pretended, run_with_facts
from profile_commands import can_mount
from waiting_bench import BENCH, command

from fastrnns_rs import Run
from fastrnns_rs.documents import writing
from fastrnns_rs.verbs.profile import assessment

HINTS = {
    errno.ENOSPC: "the full disk of {}, or",
    errno.EDQUOT: "your quota on the disk of {}, or",
    errno.EIO: "the disk of {} is damaged",
    errno.EROFS: "folder that is writable",
}
MEASURED = 6


def fail(monkeypatch: pytest.MonkeyPatch, code: int, times: int = 1000) -> None:
    """Has the system refuse to put a file in the place of another, so many times."""
    replace, left = os.replace, [times]

    def refuse(one: str, other: str) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError(code, os.strerror(code))
        replace(one, other)

    monkeypatch.setattr(writing.os, "replace", refuse)


def measured(run: Run) -> int:
    return sum(len(one.processes) for one in run.results)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A run file with something in it, in a folder of its own."""
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "run.json").write_text("old")
    return folder / "run.json"


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


@pytest.mark.parametrize("code", HINTS)
def test_what_cannot_be_written_is_in_the_temporary_folder(
    place: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    fail(monkeypatch, code)
    done = run_pretended(*BENCH, "--run-file", place, "--json", TMPDIR=temporary)
    assert done.status == 1
    lines = done.stderr.splitlines()
    error = f"error: cannot write file: '{place}': {os.strerror(code)}"
    # Once, though it was tried after each process.
    at = lines.index(error)
    assert lines.count(error) == 1
    assert lines[at + 1].startswith("hint: ")
    assert HINTS[code].format(place.parent) in lines[at + 1]
    (kept,) = temporary.iterdir()
    assert lines[-2:] == [
        f"error: the last results are not in {place}, but in {kept}",
        f"hint: Move that file to {place} when that path can be written.",
    ]
    run = Run.load(kept)
    assert (run.status, measured(run)) == ("complete", MEASURED)
    assert kept.name.startswith(f"fastrnns-rs-run-{run.run_id}-")
    assert kept.suffix == ".json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert done.stdout == kept.read_text()
    assert place.read_text() == "old"
    assert [*place.parent.iterdir()] == [place]


def test_a_disk_that_has_room_again(place: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, errno.ENOSPC, times=3)
    done = run_pretended(*BENCH, "--run-file", place, TMPDIR=temporary)
    assert done.status == 0
    assert done.stderr.count("error: ") == 1
    assert f"note: {place} could be written again, and has all results" in done.stderr.splitlines()
    assert measured(Run.load(place)) == MEASURED
    assert not [*temporary.iterdir()]


def test_a_quiet_command_names_the_place_of_a_run_that_is_not_in_the_history(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, errno.ENOSPC)
    history = {"FASTRNNS_HISTORY": temporary.parent / "history", "FASTRNNS_NO_HISTORY": "0"}
    done = run_pretended(*BENCH, "--quiet", TMPDIR=temporary, **history)
    (kept,) = temporary.iterdir()
    assert done.stderr.splitlines() == [
        f"warning: the run is not in the history, but in {kept}",
        f"hint: fastrnns-rs history --import {kept}",
    ]
    assert measured(Run.load(kept)) == MEASURED


def test_the_hint_imports_into_the_history_that_was_named(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, errno.ENOSPC)
    folder = temporary.parent / "a history"
    done = run_pretended(*BENCH, "--quiet", "--history", folder, TMPDIR=temporary, FASTRNNS_NO_HISTORY="0")
    (kept,) = temporary.iterdir()
    assert done.stderr.splitlines()[-1] == f"hint: fastrnns-rs history --import {kept} --history '{folder}'"


@pytest.mark.parametrize("options", [["--json"], []])
def test_without_a_temporary_folder_results_go_to_stdout(
    place: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    fail(monkeypatch, errno.ENOSPC)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "nothing fits")

    monkeypatch.setattr(writing, "write_new", refuse)
    done = run_pretended(*BENCH, "--run-file", place, *options)
    assert done.status == 1
    error = f"error: the last results are not in {place}, but on stdout: no temporary file can be written: nothing fits"
    assert done.stderr.splitlines()[-1] == error
    assert measured(Run.from_dict(done.json())) == MEASURED


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([*BENCH, "--quiet"], ["run"]),
        ([*BENCH, "--json"], ["run"]),
        (["ab", "cudnn", "py", "--json"], ["comparison", "run"]),
    ],
)
def test_a_run_that_no_file_takes_is_on_stdout_and_a_failure(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], names: list[str]
) -> None:
    fail(monkeypatch, errno.ENOSPC)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "nothing fits")

    monkeypatch.setattr(writing, "write_new", refuse)
    history = {"FASTRNNS_HISTORY": temporary.parent / "history", "FASTRNNS_NO_HISTORY": "0"}
    done = run_pretended(*words, TMPDIR=temporary, **history)
    error = "error: the run is on stdout: no temporary file can be written: nothing fits"
    assert (done.status, done.stderr.splitlines()[-1]) == (1, error)
    text = done.stdout[done.stdout.index("{") :]
    documents = []
    while text:
        document, end = json.JSONDecoder().raw_decode(text)
        documents.append(document)
        text = text[end:].strip()
    assert [one["schema"].removeprefix("fastrnns-rs/") for one in documents] == names
    assert Run.from_dict(documents[-1]).status == "complete"


@pytest.mark.parametrize("words", [("ab", "cudnn", "py"), ("bench", "--rnns", "cudnn", "--format", "csv")])
def test_an_interrupted_run_is_kept_too(
    place: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    fail(monkeypatch, errno.ENOSPC)
    counted = []

    def interrupted(job: dict[str, object]) -> pretended_workers.Answer:
        counted.append(job)
        if len(counted) == 3:
            raise KeyboardInterrupt
        return pretended_workers.rising(job)

    executor = pretended_workers.each(interrupted)
    done = run_cli(*words, "--processes", "3", "--run-file", place, executor=executor, TMPDIR=temporary)
    assert done.status == 130
    (kept,) = temporary.iterdir()
    run = Run.load(kept)
    assert (run.status, measured(run)) == ("interrupted", 2)


def test_the_report_of_a_capture_is_kept_too(place: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, errno.ENOSPC)
    words = ("profile", "--torch", "--rnns", "py", "--quick", "--dry-run", "--json", "--output")
    done = run_with_facts(*words, place, TMPDIR=temporary)
    assert done.status == 1
    (kept,) = temporary.iterdir()
    assert json.loads(kept.read_text())["schema"] == "fastrnns-rs/dry-run"
    assert place.read_text() == "old"


def test_other_commands_fail_in_one_line(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = place.with_name("another.json")
    run_files.run([run_files.result()]).save(run)
    fail(monkeypatch, errno.ENOSPC)
    done = run_cli("show", run, "--json", "--output", place)
    error, hint = done.stderr.splitlines()
    assert (done.status, error) == (1, f"error: cannot write file: '{place}' (--output): No space left on device")
    assert HINTS[errno.ENOSPC].format(place.parent) in hint


def test_a_disk_that_is_really_full(tmp_path: Path, temporary: Path) -> None:
    """A few pages hold the lock and no more; standard error is a file on the same disk."""
    can_mount("to have a disk that is full")
    folder, listing = tmp_path / "full", tmp_path / "listing"
    folder.mkdir()
    script = (
        f"mount -t tmpfs -o size=16k none {folder} && echo old >{folder}/run.json && "
        f"head -c 8192 /dev/zero >{folder}/rest; "
        f'"$@" 2>{folder}/log </dev/null; status=$?; cat {folder}/run.json >{listing}; ls -A {folder} >>{listing}; '
        "exit $status"
    )
    words = command(*BENCH, "--run-file", folder / "run.json")
    done = finished(["unshare", "--mount", "sh", "-c", script, "sh", *words], TMPDIR=temporary)
    assert done.status == 1
    assert listing.read_text().split() == ["old", "log", "rest", "run.json"]
    (kept,) = temporary.iterdir()
    assert measured(Run.load(kept)) == MEASURED


def limited(kilobytes: int) -> Callable[[], None]:
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024,) * 2)


def test_files_that_may_not_be_large(place: Path, temporary: Path) -> None:
    """Neither the run file nor a temporary one may have more than a kilobyte; a pipe may."""
    done = subprocess.run(
        command(*BENCH, "--run-file", place),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(temporary)},
        preexec_fn=limited(1),
    )
    assert done.returncode == 1
    assert done.stderr.count(f"error: cannot write file: '{place}': File too large\n") == 1
    assert "(ulimit -f)" in done.stderr
    assert measured(Run.from_dict(json.loads(done.stdout))) == MEASURED
    assert place.read_text() == "old"
    assert not [*temporary.iterdir()]
    assert [*place.parent.iterdir()] == [place]


@pytest.mark.parametrize("run_id", ["../../x", "x" * 300, "a\0b", "\ud800"])
def test_the_number_of_a_run_names_no_other_folder(
    place: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, run_id: str
) -> None:
    """It is read from the file of a run that goes on."""
    from fastrnns_rs.cli.results_file import ResultsFile
    from fastrnns_rs.cli.run_saving import RunSaver

    fail(monkeypatch, errno.ENOSPC)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with ResultsFile(place) as results, RunSaver(results, None) as keeping:
        results.reserve()
        keeping.save(run_files.run([run_files.result()], run_id=run_id))
    (kept,) = temporary.iterdir()
    assert kept.read_text()


@pytest.mark.parametrize(("free", "hint"), [(0, "the temporary folder is full: use another `TMPDIR`"), (1 << 20, "")])
def test_a_capture_whose_texts_are_hidden_tells_of_a_full_temporary_folder(
    free: int, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=free))
    attempt: Any = SimpleNamespace(private=SimpleNamespace(path=tmp_path))
    assert assessment._full_disk_hint(attempt) == hint
