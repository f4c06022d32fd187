"""Argument `progress`: a bar on a terminal and in a notebook, nothing, or a function."""

from __future__ import annotations

import io
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import pytest

import fastrnns_rs
from fastrnns_rs import UsageError
from fastrnns_rs.api import measurement, progress
from fastrnns_rs.views import progress as view
from fastrnns_rs.views.progress import Audience, Progress
from fastrnns_rs.views.step_progress import StepProgress

Calls = list[tuple[int, int | None, str]]


class Notebook(io.StringIO):
    """The stderr of a notebook's process, which is no terminal."""

    def isatty(self) -> bool:
        return False


def last_line(written: str) -> str:
    """What a notebook shows: text after a carriage return replaces what is there."""
    shown = ""
    for part in written.rpartition("\n")[2].split("\r"):
        shown = part + shown[len(part) :]
    return shown.rstrip()


def test_a_function_gets_steps_and_not_the_stream(capsys: pytest.CaptureFixture[str]) -> None:
    calls: Calls = []
    listener = Audience(listener=lambda *one: calls.append(one))
    with Progress("bench", "2 runners", total=2, audience=listener) as shown:
        shown.step("cudnn: timing")
        shown.advance()
        shown.note("a pause")
        shown.write("a line")
    assert calls == [(0, 2, "cudnn: timing"), (1, 2, "cudnn: timing")]
    assert capsys.readouterr() == ("", "")


def test_steps_of_several_kinds_reach_a_function() -> None:
    calls: Calls = []
    listener = Audience(listener=lambda *one: calls.append(one))
    with StepProgress("verify", "2 runners", noun="runners", audience=listener) as steps:
        steps.plan(["cudnn", "jit"])
        steps.reach(0, "cudnn")
        steps.reach(1, "jit")
        steps.label("jit: building")
    assert calls == [(0, 2, "cudnn"), (1, 2, "jit"), (1, 2, "jit: building")]


def test_a_function_is_called_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    calls: Calls = []
    with Progress("bench", "", total=1, audience=Audience(listener=lambda *one: calls.append(one))) as shown:
        shown.advance()
    assert calls == [(1, 1, "")]


def test_an_error_of_the_function_ends_the_work() -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no more")

    with Progress("bench", "", audience=Audience(listener=broken)) as shown, pytest.raises(RuntimeError, match="more"):
        shown.step("x")


def test_a_notebook_draws_the_bar_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_DRAWN_EVERY_S", 1000.0)
    stream = Notebook()
    with Progress("bench", "2 runners", total=2, stream=stream, audience=Audience(is_notebook=True)) as shown:
        assert last_line(stream.getvalue()).endswith("0 of 2")
        shown.step("a long name of a step")
        shown._draw_bar()
        assert last_line(stream.getvalue()).endswith("0 of 2  a long name of a step")
        shown.step("short")
        shown.advance()
        shown._draw_bar()
        assert last_line(stream.getvalue()).endswith("1 of 2  short"), "nothing of the longer line is left"
        shown.write("a warning")
        assert last_line(stream.getvalue()) == ""
        assert "a warning\n" in stream.getvalue()
        shown._draw_bar()
    assert last_line(stream.getvalue()) == ""
    shown._draw_bar()
    assert last_line(stream.getvalue()) == "", "nothing is drawn after the end"
    assert stream.getvalue().count("\n") == 1


def test_a_closed_notebook_does_not_stop_the_work() -> None:
    stream = Notebook()
    with Progress("bench", "", total=2, stream=stream, audience=Audience(is_notebook=True)) as shown:
        stream.close()
        shown._draw_bar()
        shown.write("x")


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.parametrize("name", ["bench", "verify", "profile"])
def test_other_values_are_mistakes(name: str) -> None:
    function: Callable[..., Any] = getattr(fastrnns_rs, name)
    with pytest.raises(UsageError, match=r"invalid value: 'yes' \(progress\)"):
        function("py", progress="yes")


def test_bench_calls_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Calls = []

    def begin(*_: object, **__: object) -> None:
        raise UsageError("stopped here")

    monkeypatch.setattr("fastrnns_rs.api.measurement.start", begin)
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setattr(sys, "stderr", Notebook())
    with pytest.raises(UsageError, match="stopped here"):
        fastrnns_rs.bench(["cudnn", "jit"], device="cpu", progress=lambda *one: calls.append(one))
    assert calls == [(0, 10, "cudnn: importing torch")]
    assert sys.stderr.getvalue() == "", "the function shows it instead"


class Stream(io.StringIO):
    """A stream that may be a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


PLACES = ["terminal", "notebook", "script"]


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_bench_shows_its_progress_to_who_waits(place: str, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Stream(terminal=place == "terminal")
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if place == "notebook":
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))

    def start(*_: object, **__: object) -> None:
        time.sleep(0.1)
        raise UsageError("stopped here")

    # The rows are shown before torch is imported.
    monkeypatch.setattr(measurement, "start", start)
    with pytest.raises(UsageError, match="stopped here"):
        fastrnns_rs.bench(["cudnn", "jit"], device="cpu", progress=wanted)
    shown = stderr.getvalue()
    assert progress.is_watched() is (place != "script")
    if not wanted or place == "script":
        assert shown == ""
    elif place == "notebook":
        first, *_, blank, end = shown.split("\r")[1:]
        assert first.endswith("  0 of 10  cudnn: importing torch")
        assert (blank.strip(), end) == ("", ""), "the bar is erased"
        assert "\n" not in shown
    else:
        assert "0 of 10  cudnn: importing torch" in shown
        assert shown.endswith("\x1b[2K"), "the region is erased"


def test_a_python_without_stderr_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert not progress.is_watched()
