"""Screens of verbs other than `bench` and `compare`: golden texts, widths, ASCII, and their progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import verb_documents as made
from screens import screen

from fastrnns_rs.views import capture_screen, diagnosis, history, inductor_report, listing, verification
from fastrnns_rs.views import screen as screen_lines
from fastrnns_rs.views.inductor_terminal import InductorTerminal
from fastrnns_rs.views.profile_terminal import ProfileTerminal
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.step_progress import StepProgress
from fastrnns_rs.views.verify_terminal import VerifyTerminal

STEM = Path("/data/captures/prof_cudnn-py_s64-l1-i256-h256-b16_20261122T091400Z")

#: Screens by name, each as a function of the width of the terminal.
SCREENS: dict[str, Callable[[int], list[Line]]] = {
    "verify": lambda limit: verification.lines(made.verification(), limit),
    "verify: every check": lambda limit: verification.lines(made.verification(), limit, verbose=True),
    "list": lambda limit: listing.lines(made.catalogue(), limit),
    "history": lambda limit: history.lines(made.history(), 3, limit),
    "history: wide": lambda limit: history.lines(made.history(), 0, limit, wide=True),
    "profile": lambda limit: capture_screen.lines(made.capture(), STEM, limit),
    "inductor": lambda limit: inductor_report.lines(made.inductor_report(), limit),
    "inductor: kernels": lambda limit: inductor_report.lines(made.inductor_report(kernels=True), limit),
    "inductor: profile": lambda limit: inductor_report.lines(
        made.inductor_report(profile=True), limit, whole_text=False
    ),
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
        assert len(text) <= limit or is_path(text), text


def is_path(line: str) -> bool:
    """A path to copy, which is alone in its line and never broken."""
    return line.startswith("  /") and " " not in line.strip()


@pytest.mark.parametrize("limit", SIZES)
@pytest.mark.parametrize("name", SCREENS)
def test_symbols_become_ascii(name: str, limit: int) -> None:
    text = screen_lines.drawn(SCREENS[name](limit), ascii_only=True, limit=limit)
    assert text.isascii()
    assert max(len(line) for line in text.splitlines() if not is_path(line)) <= limit


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


def reporting(*steps: tuple[str, str], finished: bool = False) -> dict[str, Any]:
    """The report of a profiled process: the status and the step of each runner."""
    names = ("cudnn", "py")
    runners = [
        {"name": name, "status": status, "step": step} for name, (status, step) in zip(names, steps, strict=True)
    ]
    return {"runners": runners, "finished": finished}


def test_the_progress_of_a_capture_follows_the_report_of_the_process() -> None:
    clock = [0.0]
    progress = StepProgress("profile", "2 runners", noun="steps", shown=False, clock=lambda: clock[0])
    terminal = ProfileTerminal(progress, [["cudnn", "py"]], baseline=True)

    def frame(seconds: float) -> str:
        clock[0] += seconds
        return progress.progress.frame(80, 24)

    assert "0 of 12  importing torch" in frame(4.0)
    terminal.plans([["cudnn", "py"]])
    terminal.capture_begins(0)
    report: dict[str, Any] = {}
    terminal.process_begins(None, lambda: report)
    assert "1 of 12  importing torch, without the profiler" in frame(1.0)
    report = reporting(("running", "building the model"), ("pending", ""))
    assert "2 of 12  cudnn: building the model, without the prof" in frame(3.0)
    report = reporting(("pending", "warm-up"), ("running", "warm-up"))
    assert "3 of 12  py: warm-up, without the profiler" in frame(2.0)
    report = reporting(("ok", "capturing"), ("running", "capturing"))
    assert "5 of 12  py: running, without the profiler" in frame(4.0)
    report = reporting(("ok", "capturing"), ("ok", "capturing"), finished=True)
    frame(2.0)
    report = {}
    terminal.process_begins("nsys", lambda: report)
    assert "6 of 12  importing torch, under nsys" in frame(1.0)
    report = reporting(("running", "capturing"), ("pending", "warm-up"))
    # The export is as long as a typical step, and both runs as long as without the profiler.
    assert frame(0.0) == screen("profile: running")
    terminal.reads("nsys")
    assert "11 of 12  running nsys" in frame(1.0)
    terminal.reads(None)
    assert "checking the capture" in frame(0.0)


@pytest.mark.parametrize("garbage", [{"runners": 3}, {"runners": [3]}, {"runners": [{"status": "running"}]}, {"a": 1}])
def test_garbage_in_a_report_is_no_error(garbage: dict[str, Any]) -> None:
    progress = StepProgress("profile", "", noun="steps", shown=False)
    terminal = ProfileTerminal(progress, [["cudnn"]], baseline=False)
    terminal.capture_begins(0)
    terminal.process_begins("torch", lambda: garbage)
    assert "of" in progress.progress.frame(80, 24)


def test_an_estimate_needs_a_step_other_than_an_import() -> None:
    clock = [0.0]
    progress = stepped(clock, ["import", "prepare a", "run a"])
    clock[0] = 9.0
    progress.reach(1, "a")
    assert "left" not in progress.progress.frame(80, 24)
    clock[0] = 10.0
    progress.reach(2, "a")
    assert "0:01 left" in progress.progress.frame(80, 24)


def test_the_progress_of_inductor_counts_compilations_and_steps() -> None:
    clock = [0.0]
    progress = StepProgress("inductor", "1 runner", noun="steps", shown=False, clock=lambda: clock[0])
    terminal = InductorTerminal(progress, runners=["cell"], modules=2, processes=2, extras=["kernels"])

    def frame(seconds: float) -> str:
        clock[0] += seconds
        return progress.progress.frame(80, 24)

    # An import, a compilation, and for each module two loads, two timings, the kernels and the report.
    assert "0 of 14  importing torch" in frame(4.0)
    terminal.compiles("cell", 0, 1)
    terminal.phase("compile")
    assert "1 of 14  cell: compiling" in frame(20.0)
    terminal.finds(1)
    assert "2 of 8" in frame(0.0)
    terminal.step("module", "import", 0)
    terminal.step("module", "load", 0)
    assert "left" not in frame(1.0), "a compilation says nothing about a module"
    terminal.step("module", "time", 0)
    terminal.step("module", "kernels", 0)
    terminal.step("module", "kernels: 3 done", 0)
    assert frame(3.0) == screen("inductor: running")
    for step in ("load", "time", "report"):
        terminal.step("module", step, 0)
    assert "7 of 8  module: reading the results" in frame(0.0)
