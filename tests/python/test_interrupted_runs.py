"""Interrupted runs without a history and a run file: no measured process is lost."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pretended_workers
import pytest
from commands import Done, run_cli, run_pretended
from conftest import PLANTED, TINY

from fastrnns_rs.cli import shared
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.views.run import run_screen

SMALL = ["--runner-file", PLANTED, "--device", "cpu", "--nloops", "12", "--warmup", "2", "--no-history", *TINY]
AB = ["ab", "sound", "prints", "--processes", "3", *SMALL]
BENCH = ["bench", "sound", "--processes", "3", *SMALL]


def interrupted(words: Sequence[object], folder: Path, *, after: int = 2) -> Done:
    left = [*range(after)]

    def stops(job: dict[str, Any]) -> Answer:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return pretended_workers.rising(job)

    done = run_cli(*words, cwd=folder, TMPDIR=folder, executor=pretended_workers.each(stops))
    assert done.status == 130
    return done


def check_kept(done: Done, folder: Path, n_processes: int) -> None:
    [place] = folder.glob("fastrnns-rs-run-*.json")
    run = Run.load(place)
    assert sum(len(one.processes) for one in run.results) == n_processes
    assert done.stderr.strip().splitlines()[-2:] == [f"note: the run is in {place}", f"hint: fastrnns-rs show {place}"]
    assert run_cli(*shlex.split(done.stderr.rpartition("hint: fastrnns-rs ")[2])).status == 0


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.parametrize(
    "flags",
    [
        ["--format", "markdown"],
        ["--format", "table", "--output", "T.txt"],
        ["--format", "markdown", "--output", "T.md"],
        ["--json", "--output", "T.json"],
    ],
)
def test_an_interrupted_comparison_keeps_its_run(flags: list[str], quiet: list[str], tmp_path: Path) -> None:
    done = interrupted([*AB, *flags, *quiet], tmp_path)
    assert done.stdout == ""
    assert not [*tmp_path.glob("T.*")]
    check_kept(done, tmp_path, 2)


def test_an_interrupted_comparison_as_json_is_its_run(tmp_path: Path) -> None:
    done = interrupted([*AB, "--json"], tmp_path)
    run = Run.from_dict(done.json())
    assert (run.status, sum(len(one.processes) for one in run.results)) == ("interrupted", 2)
    assert "note: the run is on stdout, in place of the comparison" in done.stderr.splitlines()
    assert not [*tmp_path.iterdir()]


@pytest.fixture
def discarded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Descriptors that are dropped, as stdout, whose reader has left."""
    echo = click.echo

    def refuses(message: Any = None, **more: Any) -> None:
        if isinstance(message, bytes):
            raise BrokenPipeError
        echo(message, **more)

    found: list[int] = []
    monkeypatch.setattr(click, "echo", refuses)
    monkeypatch.setattr(shared, "discard", found.append)
    return found


@pytest.mark.parametrize("words", [AB, BENCH])
def test_a_reader_that_ctrl_c_ended_too_does_not_cost_the_run(
    words: list[object], tmp_path: Path, discarded: list[int]
) -> None:
    check_kept(interrupted([*words, "--json"], tmp_path), tmp_path, 2)
    assert discarded == [shared.STDOUT]


def test_a_reader_that_left_does_not_cost_a_complete_run(tmp_path: Path, discarded: list[int]) -> None:
    done = run_pretended(*BENCH, "--json", cwd=tmp_path, TMPDIR=tmp_path)
    assert done.status == 0
    check_kept(done, tmp_path, 3)
    assert discarded == [shared.STDOUT]


@pytest.mark.parametrize("flags", [["--json"], ["--format", "markdown"]])
def test_a_run_that_a_file_has_is_in_no_other_place(flags: list[str], tmp_path: Path) -> None:
    done = interrupted([*AB, *flags, "--run-file", "ab.json"], tmp_path)
    assert (done.stdout, [one.name for one in tmp_path.iterdir()]) == ("", ["ab.json"])


def test_a_run_that_a_document_has_is_in_no_other_place(tmp_path: Path) -> None:
    done = run_pretended(*BENCH, "--json", "--output", "run.json", cwd=tmp_path, TMPDIR=tmp_path)
    assert (done.status, done.stdout, [one.name for one in tmp_path.iterdir()]) == (0, "", ["run.json"])


def test_nothing_is_kept_before_the_first_process(tmp_path: Path) -> None:
    done = interrupted([*AB, "--format", "markdown"], tmp_path, after=0)
    assert (done.stdout, [*tmp_path.iterdir()]) == ("", [])
    assert "the run is in" not in done.stderr


@pytest.mark.parametrize("words", [BENCH, AB])
def test_ctrl_c_while_a_run_is_formatted_does_not_cost_the_run(
    words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupts(*_: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_screen, "end", interrupts)
    done = run_pretended(*words, cwd=tmp_path, TMPDIR=tmp_path)
    assert done.status == 130
    check_kept(done, tmp_path, 3 if words[0] == "bench" else 6)


def test_a_time_limit_on_the_tests_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command in their process took the signal for Ctrl-C: one test failed, and the others ran on."""
    handled: list[int] = []
    monkeypatch.setattr(signal, "signal", lambda number, _handler: handled.append(number))
    assert run_cli("list").status == 0
    assert signal.SIGTERM not in handled
