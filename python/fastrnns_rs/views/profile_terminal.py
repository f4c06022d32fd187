"""Progress of `profile`: the running process, its runner and its phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.step_progress import IMPORT

if TYPE_CHECKING:
    from fastrnns_rs.views.step_progress import StepProgress

_IMPORT = "importing torch"


class ProfileTerminal:
    """Observer of captures that shows their progress.

    The steps of a process are: torch is imported, each runner is built and warmed up, and each runs. The first step of
    all is the import of torch by the probe.

    Args:
        progress: Progress to show.
        captures: Runners of each capture.
        baseline: True if each capture also runs without the profiler.
    """

    def __init__(self, progress: StepProgress, captures: Sequence[Sequence[str]], *, baseline: bool) -> None:
        self._progress = progress
        self._profiler = ""
        self._report: Callable[[], dict[str, Any]] | None = None
        self._runners: Sequence[str] = ()
        #: Steps before the current capture, and before its current process.
        self._before = self._begin = 1
        self._baseline = baseline
        self._plan(captures)
        progress.watch(self.refresh)
        progress.label(_IMPORT)

    def _plan(self, captures: Sequence[Sequence[str]], done: int = 0) -> None:
        self._captures = captures
        self._progress.plan([IMPORT, *(kind for runners in captures for kind in self._kinds(runners))], done)

    def _kinds(self, runners: Sequence[str]) -> Iterator[str]:
        for under in ["without", "under"] if self._baseline else ["under"]:
            yield IMPORT
            yield from (f"prepare {name}" for name in runners)
            yield from (f"run {name} {under}" for name in runners)
        yield "read"

    def plans(self, captures: Sequence[Sequence[str]]) -> None:
        """Shows the number of steps, once the runners are known."""
        # The import of torch by the probe shows how long the others take.
        self._progress.reach(1, _IMPORT)
        self._plan(captures, done=1)

    def capture_begins(self, index: int) -> None:
        """Shows the capture with a number from 0."""
        self._runners = self._captures[index]
        self._before = 1 + sum(len([*self._kinds(one)]) for one in self._captures[:index])

    def process_begins(self, profiler: str | None, report: Callable[[], dict[str, Any]]) -> None:
        """Shows that a process imports torch."""
        second = profiler is not None and self._baseline
        self._begin = self._before + (1 + 2 * len(self._runners) if second else 0)
        self._profiler = "without the profiler" if profiler is None else f"under {profiler}"
        self._progress.reach(self._begin, f"{_IMPORT}, {self._profiler}")
        self._report = report

    def reads(self, program: str | None) -> None:
        """Shows that the capture is converted or checked."""
        self._report = None
        last = self._before + len([*self._kinds(self._runners)]) - 1
        self._progress.reach(last, "checking the capture" if program is None else f"running {program}")

    def note(self, text: str) -> None:
        """Writes a line about an unusual event."""
        self._progress.note(text)

    def refresh(self) -> None:
        """Shows the runner and the phase that the process reports."""
        # A runner can write anything to the report of its process.
        with suppress(AttributeError, TypeError, ValueError, KeyError):
            self._refresh()

    def _refresh(self) -> None:
        report = None if self._report is None else self._report()
        if not report:
            return
        entries = report.get("runners", [])
        names = [one.get("name") for one in entries]
        running = next((one for one in entries if one.get("status") == "running"), None)
        if report.get("finished"):
            self._show(1 + 2 * len(names), f"ending, {self._profiler}")
        elif running is not None:
            place, step = names.index(running.get("name")), str(running.get("step") or "running")
            captured = step == "capturing"
            # Without a profiler, the same iterations are not captured.
            text = "running" if captured and self._profiler.startswith("without") else step
            done = 1 + place + (len(names) if captured else 0)
            self._show(done, f"{running.get('name')}: {text}, {self._profiler}")

    def _show(self, done: int, label: str) -> None:
        done += self._begin
        if done == self._progress.progress.done:
            self._progress.label(label)
        else:
            self._progress.reach(done, label)
