"""Screens of verbs other than `bench` and `compare`: golden texts, widths, ASCII, and their progress."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import verb_documents as made
from screens import screen

from fastrnns_rs.views import diagnosis, history, listing, verification
from fastrnns_rs.views import screen as screen_lines
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.step_progress import StepProgress
from fastrnns_rs.views.verify_terminal import VerifyTerminal

#: Screens by name, each as a function of the width of the terminal.
SCREENS: dict[str, Callable[[int], list[Line]]] = {
    "verify": lambda limit: verification.lines(made.verification(), limit),
    "verify: every check": lambda limit: verification.lines(made.verification(), limit, verbose=True),
    "list": lambda limit: listing.lines(made.catalogue(), limit),
    "history": lambda limit: history.lines(made.history(), 3, limit),
    "history: wide": lambda limit: history.lines(made.history(), 0, limit, wide=True),
    "doctor": lambda limit: diagnosis.lines(made.diagnosis(), limit),
}
SIZES = (40, 60, 79, 80, 100, 200)


@pytest.mark.parametrize("name", SCREENS)
def test_screens_are_as_written(name: str) -> None:
    assert screen_lines.plain(SCREENS[name](80)) == screen(name)


@pytest.mark.parametrize("limit", SIZES)
@pytest.mark.parametrize("name", SCREENS)
def test_nothing_is_wider_than_the_terminal(name: str, limit: int) -> None:
    for text in (one.text for one in SCREENS[name](limit)):
        assert len(text) <= limit, text


@pytest.mark.parametrize("limit", SIZES)
@pytest.mark.parametrize("name", SCREENS)
def test_symbols_become_ascii(name: str, limit: int) -> None:
    text = screen_lines.drawn(SCREENS[name](limit), ascii_only=True, limit=limit)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= limit


def stepped(clock: list[float], kinds: list[str]) -> StepProgress:
    progress = StepProgress("verify", "3 runners", noun="runners", shown=False, clock=lambda: clock[0])
    progress.plan(kinds)
    return progress


def test_progress_has_runner_step_and_time_left() -> None:
    clock = [0.0]
    progress = StepProgress("verify", "3 runners", noun="runners", shown=False, clock=lambda: clock[0])
    terminal = VerifyTerminal(progress, ["cudnn", "py", "cudagraph"])
    terminal.imports()
    assert progress.progress.frame(80, 24) == screen("verify: first frame")
    clock[0] = 9.0
    terminal.plans(["cudnn", "py", "cudagraph"], 1)
    clock[0] = 13.0
    # The import is no part of the time of a runner.
    terminal.runner_begins("cudnn", 1)
    terminal.step_begins("build")
    clock[0] = 15.0
    terminal.runner_begins("py", 2)
    terminal.step_begins("call 3")
    clock[0] = 15.5
    assert progress.progress.frame(80, 24) == screen("verify: running")


def test_a_slow_step_does_not_shorten_the_others() -> None:
    clock = [0.0]
    progress = stepped(clock, ["a", "b", "a", "a"])
    progress.reach(0, "a")
    clock[0] = 4.0
    progress.reach(1, "b")
    clock[0] = 10.0
    assert "0:08 left" in progress.progress.frame(80, 24)
    progress.reach(2, "a")
    assert "0:08 left" in progress.progress.frame(80, 24)


def test_steps_that_are_skipped_share_the_time() -> None:
    clock = [0.0]
    progress = stepped(clock, ["load", "time", "load", "time"])
    clock[0] = 6.0
    progress.reach(2, "load")
    assert "0:06 left" in progress.progress.frame(80, 24)


@pytest.mark.parametrize("limit", [40, 60, 80])
def test_the_progress_fits(limit: int) -> None:
    progress = stepped([0.0], ["a"] * 1000)
    progress.reach(1, "a_very_long_runner_name_that_does_not_fit: compiling with a filled cache")
    assert len(progress.progress.frame(limit, 24).rstrip("\n")) <= limit
