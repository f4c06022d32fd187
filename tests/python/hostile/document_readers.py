"""Everything that reads a document, and what must hold of each whatever the document holds."""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from commands import Done, run_cli, run_pretended
from pretended_workers import each, rising
from run_files import result, run, write

from fastrnns_rs import compare
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.documents.document import Document
from fastrnns_rs.errors import DocumentWarning, FastrnnsError, UsageError
from fastrnns_rs.machine.noise import storage
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.compare.importers import read_foreign
from fastrnns_rs.verbs.compare.run_files import load
from fastrnns_rs.views import formats
from fastrnns_rs.views.foreign_results import table

#: Seconds of the processor that a reader may take for a document of some kilobytes.
MOST_SECONDS = 20.0
_CODES = {ExitCode.DONE, ExitCode.FAILED, ExitCode.USAGE, ExitCode.REGRESSION, ExitCode.INCONCLUSIVE, ExitCode.MISSING}
_FAULTS = ("Traceback", "this is a fault of fastrnns-rs", "PanicException", "panicked at")
_LINES = ("error: ", "hint: ", "warning: ", "warning[", "note: ", "  ")
#: Characters that move the cursor, colour or hide text.
ACTING = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066, 0x2028, 0x200B, 0xFEFF)} - {"\n"}


class TooLongError(BaseException):
    """A reader took more of the processor than any document of its size may cost."""


@contextmanager
def bounded(seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Ends what takes longer. Seconds of the processor: a busy machine changes nothing."""

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError(f"more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def hold(place: Place, made: bytes, reader: Callable[[Place], object]) -> None:
    """Fails where a reader does not end as every reader must, whatever the document holds."""
    place.mutant.write_bytes(made)
    with bounded(), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        reader(place)
    for one in heard:
        assert one.category is DocumentWarning, one
        assert not ACTING.intersection(str(one.message)), one
        assert len(str(one.message)) < 1000, one


class Place:
    """A folder with the files that readers need beside the mutant.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mutant = folder / "mutant.json"
        self.run = run([result(processes=3, count=4), result("jit", processes=3, count=4)])
        self.good = write(folder / "good.json", self.run)
        self.state = folder / "state"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(self.state))
            self.floor = storage._path("cpu", "a processor")
        self.floor.parent.mkdir(parents=True)

    def resumable(self) -> dict[str, Any]:
        """A run that Ctrl-C cut short on this machine, so that only what a mutation changed is unlike now."""
        left = 3

        def worker(job: dict[str, Any]) -> Answer:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return rising(job)

        words = ["--quick", "--device", "cpu", "--processes", "2", "--rnns", "cudnn", "py", "--nloops", "4"]
        path = self.folder / "resumable.json"
        done = run_cli("bench", *words, "--output", path, cwd=self.folder, executor=each(worker))
        assert done.status == ExitCode.INTERRUPTED, done.stderr
        found: dict[str, Any] = json.loads(path.read_text())
        return found


def checked(done: Done) -> None:
    """Fails where a command did not end as every command must."""
    assert done.status in _CODES, done
    assert not any(fault in done.stderr + done.stdout for fault in _FAULTS), done.stderr
    assert not ACTING.intersection(done.stdout), [*ACTING.intersection(done.stdout)]
    assert not ACTING.intersection(done.stderr), [*ACTING.intersection(done.stderr)]
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    if done.status in {ExitCode.USAGE, ExitCode.MISSING}:
        assert len(errors) == 1, done.stderr
        assert done.stdout == ""
        assert all(line.startswith(_LINES) for line in done.stderr.splitlines()), done.stderr
    assert len(done.stderr) < 100_000


def refused(place: Place, error: FastrnnsError) -> None:
    """Fails where an error does not name the file in a line."""
    assert str(place.mutant) in error.message, error
    assert len(error.message) < 1000, error


def show(name: str) -> Callable[[Place], object]:
    return lambda place: checked(run_cli("show", place.mutant, "--format", name, cwd=place.folder))


def compared(*words: str) -> Callable[[Place], object]:
    """`compare` of a mutant, which the word `mutant` stands for, and of a good run."""

    def command(place: Place) -> None:
        paths = {"mutant": place.mutant, "good": place.good}
        checked(run_cli("compare", *(paths.get(word, word) for word in words), cwd=place.folder))

    return command


def resume(place: Place) -> None:
    before = {*os.listdir(place.folder)}
    checked(run_pretended("bench", "--resume", place.mutant, cwd=place.folder))
    for name in {*os.listdir(place.folder)} - before:
        # A mutated command names another output.
        (place.folder / name).unlink()


def loaded(kind: type[Document], *renders: Callable[[Any], str]) -> Callable[[Place], object]:
    """`load` of a class, and what shows the document."""

    def read(place: Place) -> None:
        try:
            found = kind.load(place.mutant)
        except FastrnnsError as error:
            refused(place, error)
            return
        texts = [found.to_json(), *(render(found) for render in renders)]
        for text in texts:
            assert not ACTING.intersection(text), [*ACTING.intersection(text)]
        again = json.loads(texts[0])
        assert kind.from_dict(again).to_dict() == again

    return read


def without_pages(names: Iterable[str]) -> list[str]:
    """The formats but HTML."""
    return [one for one in names if one != "html"]


def compared_in_python(place: Place) -> None:
    for sides in ((place.mutant, place.run), (place.run, place.mutant), (place.mutant, place.mutant)):
        try:
            found = compare(*sides)
        except FastrnnsError as error:
            if error.message.startswith(str(place.mutant)):
                # On the other side it is the same.
                return
            continue
        for name in without_pages(formats.COMPARISON):
            assert not ACTING.intersection(found.render(name))


def noise_floor(place: Place) -> None:
    """The noise floor of a machine, which `compare` looks up."""
    place.floor.write_bytes(place.mutant.read_bytes())
    words = ["--margin", "noise-floor"]
    checked(run_cli("compare", place.good, place.good, *words, cwd=place.folder, XDG_STATE_HOME=place.state))


def report(*words: str) -> Callable[[Place], object]:
    """`report` of a capture manifest."""
    return lambda place: checked(run_cli("report", place.mutant, *words, cwd=place.folder))


def foreign(place: Place) -> None:
    try:
        found = read_foreign(str(place.mutant), load(place.mutant))
    except FastrnnsError as error:
        refused(place, error)
        return
    if found is not None:
        assert not ACTING.intersection(table(found))


def rendered(names: tuple[str, ...], **options: Any) -> list[Callable[[Any], str]]:
    """Options that show a document in each format except JSON."""
    return [partial(_render, name, options) for name in names if name != "json"]


def _render(name: str, options: dict[str, Any], document: Any) -> str:
    try:
        text: str = document.render(name, **options)
    except UsageError as error:
        # Summaries of an early version lack what a table shows.
        return error.message
    return text
