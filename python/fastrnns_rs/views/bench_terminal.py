"""Progress of `bench` and `ab`: the table so far above a bar."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.processes import phases
from fastrnns_rs.views.figures import span
from fastrnns_rs.views.progress import Progress, TimeLeft
from fastrnns_rs.views.run import run_head, run_table
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.text import width

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrnns_rs.documents.run_file import Process, Result, Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, BenchTask
    from fastrnns_rs.views.progress import Audience

PHASES = {
    phases.IMPORT: "importing torch",
    phases.BUILD: "building the model",
    phases.COMPILE: "compiling",
    phases.COMPILE_AGAIN: "compiling with a filled cache",
    phases.WARM_UP: "warm-up",
    phases.MEASURE: "measuring",
    phases.WAIT: "waiting for the other ranks",
}


class BenchTerminal:
    """Observer of a run that shows its progress.

    Args:
        verb: `bench` or `ab`.
        shown: False shows nothing.
        width: Function that returns the width of the terminal.
        ascii_only: True uses ASCII characters only.
        audience: Notebook or function that gets the progress; None for a stream.
        clock: Function that returns seconds.
    """

    def __init__(
        self,
        verb: str,
        *,
        shown: bool,
        width: Callable[[], int],
        ascii_only: bool = False,
        audience: Audience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._verb = verb
        self._shown = shown
        self._width = width
        self._ascii = ascii_only
        self._audience = audience
        self._clock = clock
        self.progress: Progress | None = None
        self._run: Run | None = None
        self._tasks: list[BenchTask] = []
        self._results: dict[str, Result] = {}
        self._changed: dict[str, None] = {}
        self._device: str | None = None
        self._planned: int | None = None
        self._ranks = 1
        self._left = TimeLeft()
        self._label = ""
        self._begin = self._clock()

    def expects(self, run: Run, plan: BenchPlan, device: str | None = None) -> None:
        """Shows the rows before torch is probed.

        Args:
            run: Run as expected.
            plan: Plan as expected.
            device: Text in place of the device, if the device is unknown; otherwise None.
        """
        self._device = device
        self._show(run, plan, f"{plan.measured[0].label if plan.measured else self._verb}: {PHASES[phases.IMPORT]}")

    def begins(self, run: Run, plan: BenchPlan) -> None:
        """Shows the rows of the plan, with the results of a resumed run."""
        self._device = None
        self._results = {run_table.name(one): one for one in run.results}
        self._show(run, plan)
        if self.progress is not None:
            self.progress.done = sum(map(_ended, run.results))

    def session_waits(self, number: int, seconds: float) -> None:
        """Shows when the next session begins."""
        if self.progress is not None:
            text = f"session {number} begins in {span(seconds)}"
            self.progress.step(text)
            self.progress.note(text)

    def process_begins(self, task: BenchTask, index: int) -> None:  # noqa: ARG002
        """Shows the runner that begins."""
        self._label, self._begin = task.label, self._clock()
        self.phase(phases.IMPORT)

    def phase(self, name: str) -> None:
        """Shows the phase that the worker reports."""
        if self.progress is not None:
            # A runner can write to the worker's pipe and report phases of its own.
            text = PHASES.get(name, name)
            longest = max((width(task.label) for task in self._tasks), default=0)
            self.progress.step(f"{self._label}: {text}", longest + 2 + width(text))

    def process_ends(self, process: Process, printed: str) -> None:
        """Counts a process; with `FASTRNNS_DEBUG` set, shows the output of a failed one."""
        self._left.add(self._label, self._clock() - self._begin)
        if self.progress is None:
            return
        if process.status in {"failed", "timed_out"} and printed and os.environ.get("FASTRNNS_DEBUG"):
            for line in printed.rstrip().splitlines():
                self.progress.write(line)
        self.progress.advance()

    def row_changes(self, result: Result) -> None:
        """Shows the row as measured so far."""
        key = run_table.name(result)
        self._results[key] = result
        # Removing the key first makes it the one that changed last.
        self._changed.pop(key, None)
        self._changed[key] = None

    runner_ends = row_changes

    def ends(self, run: Run) -> None:  # noqa: ARG002
        """Removes the progress."""
        self.close()

    def close(self) -> None:
        """Removes the progress."""
        if self.progress is not None:
            self.progress.close()

    def lines(self, height: int) -> list[Line]:
        """Returns the context and the rows that fit.

        Of many rows, those that changed last are kept.
        """
        if self._run is None:
            return []
        limit = self._width()
        families = {task.runner.name: task.runner.family for task in self._tasks}
        head = [*run_head.lines(self._run, families, limit, self._device), Line("")]
        # The headings of the table are two lines.
        room = max(height - len(head) - 2, 1)
        keys = [task.label for task in self._tasks]
        recent = [*reversed(self._changed), *(key for key in keys if key not in self._changed)][:room]
        shown = [self._row(key) for key in keys if key in recent]
        return [*head, *run_table.lines(shown, limit)][:height]

    def _row(self, key: str) -> run_table.Row:
        result = self._results.get(key)
        if result is None:
            return run_table.Row(key, None, "" if self._planned is None else f"0 of {self._planned}")
        return run_table.row(result, self._planned)

    def _show(self, run: Run, plan: BenchPlan, step: str = "") -> None:
        self._run, self._tasks = run, list(plan.tasks)
        self._ranks = max(1, len(run.ranks))
        # The precision rule does not fix the number of processes.
        by_precision = plan.rule is not None and plan.rule.rule == "precision"
        self._planned = None if by_precision else plan.processes
        self._left = TimeLeft(plan.start_s + 1.5 * plan.loop.seconds if plan.start_s and plan.loop.seconds else None)
        total = None if by_precision else len(plan.measured) * plan.processes * self._ranks
        if self.progress is None:
            runners = len({task.name for task in plan.tasks})
            least = "" if total is not None else "at least "
            count = len(plan.measured) * plan.processes * self._ranks
            self.progress = Progress(
                self._verb,
                f"{counted(runners, 'runner')}, {least}{counted(count, 'process', 'processes')}",
                above=self.lines,
                shown=self._shown,
                total=total,
                ascii_only=self._ascii,
                audience=self._audience,
            )
            self.progress.step(step)
            self.progress.time_left(self._time_left)
            # This draws the first frame.
            self.progress.__enter__()
        self.progress.total = total

    def _time_left(self) -> float | None:
        if self._planned is None or self._device is not None:
            return None
        remaining = {}
        for task in self._tasks:
            result = self._results.get(task.label)
            done = 0 if result is None else _ended(result)
            over = task.refusal is not None or (result is not None and result.status != "ok")
            remaining[task.label] = 0 if over else max(self._planned * self._ranks - done, 0)
        return self._left.estimate(remaining, self._clock() - self._begin)


def _ended(result: Result) -> int:
    """Returns the number of processes that need not run again."""
    return sum(one.status != "interrupted" for one in result.processes)
