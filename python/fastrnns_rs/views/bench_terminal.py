"""Live table of `bench` on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.processes import phases
from fastrnns_rs.views.bench_text import about, compiling, duration, first_calls, outcome, warnings
from fastrnns_rs.views.run import sweep_tables
from fastrnns_rs.views.run.run_table import RunTable, name

if TYPE_CHECKING:
    from rich.progress import TaskID

    from fastrnns_rs.documents.run_file import Process, Result, Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, BenchTask
    from fastrnns_rs.views.live_rows import LiveRows

PHASES = {
    phases.IMPORT: "importing torch",
    phases.BUILD: "building the model",
    phases.COMPILE: "compiling",
    phases.COMPILE_AGAIN: "compiling with what is in the cache",
    phases.MEASURE: "measuring",
    phases.WAIT: "waiting for the other ranks",
}


class Terminal:
    """Writer of bench progress to standard error.

    Each row is written when its runner ends. On a terminal, unfinished rows and a progress line are shown below.
    Elsewhere, one line for the first process of each runner replaces them.

    Args:
        separator: Text between two columns.
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._table = RunTable([], separator)
        self._progress: LiveRows | None = None
        self._task: TaskID | None = None
        self._runner = ""
        self._warned = 0
        self._noted: set[str] = set()
        self._first: set[str] = set()

    def begins(self, run: Run, plan: BenchPlan) -> None:
        """Writes the description of the run, its warnings and the headings."""
        self._table = RunTable([task.label for task in plan.tasks], self._separator)
        for line in (*about(run, plan), *warnings(run.warnings), self._table.header()):
            self._write(line)
        self._warned = len(run.warnings)
        if sys.stderr is not None and sys.stderr.isatty():
            done = sum(len(result.processes) for result in run.results)
            self._begin_progress(plan, done, max(1, len(run.ranks)))

    def session_waits(self, number: int, seconds: float) -> None:
        """Shows when the next session begins."""
        text = f"session {number} begins in {duration(seconds)}"
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=text)
        else:
            self._write(text)

    def process_begins(self, task: BenchTask, index: int) -> None:
        """Shows the runner and the process that begin."""
        self._runner = f"{task.label}, process {index + 1}"
        self.phase(phases.IMPORT)

    def phase(self, name: str) -> None:
        """Shows the phase that the worker reports."""
        if self._progress is not None and self._task is not None:
            # A runner can write to the worker's pipe and report phase names of its own.
            self._progress.update(self._task, description=visible(f"{self._runner}: {PHASES.get(name, name)}"))

    def process_ends(self, process: Process, printed: str) -> None:
        """Counts a process; with `FASTRNNS_DEBUG` set, shows the output of a failed one."""
        if process.status in {"failed", "timed_out"} and printed and os.environ.get("FASTRNNS_DEBUG"):
            self._write(printed.rstrip())
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)

    def row_changes(self, result: Result) -> None:
        """Shows the row as measured so far.

        Without a terminal, a line is written once, after the first process.
        """
        if self._progress is not None:
            # Removing the key first moves the row that changed last to the end.
            self._progress.rows.pop(name(result), None)
            self._progress.rows[name(result)] = self._table.row(result)
        elif name(result) not in self._first and result.forward is not None:
            self._first.add(name(result))
            times = {"forward": result.forward, "backward": result.backward}
            shown = [f"{phase} {one.estimate_ns / 1e6:.3g} ms" for phase, one in times.items() if one is not None]
            self._write(f"{visible(name(result))}, process 1: {', '.join(shown)}")

    def runner_ends(self, result: Result) -> None:
        """Writes the row, and its note below."""
        if self._progress is not None:
            self._progress.rows.pop(name(result), None)
        self._write(self._table.row(result))
        if result.note is not None and result.status == "ok":
            side = "" if result.side is None else f" ({result.side})"
            note = f"  note: {visible(result.runner)}{side}: {visible(result.note)}"
            # Points of a sweep mostly have the same note.
            if note not in self._noted:
                self._noted.add(note)
                self._write(note)

    def ends(self, run: Run) -> None:
        """Writes the sweep, the stop reason with the precision, and the warnings."""
        self.close()
        if run.sweep is not None:
            self._write("\n" + "\n".join(sweep_tables.lines(run.sweep)) + "\n")
        # Earlier warnings were written above the table.
        for line in (*first_calls(run), *compiling(run), outcome(run), *warnings(run.warnings[self._warned :])):
            self._write(line)

    def close(self) -> None:
        """Removes the progress line."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _begin_progress(self, plan: BenchPlan, done: int, ranks: int) -> None:
        from rich.console import Console

        from fastrnns_rs.views.live_rows import LiveRows

        self._progress = LiveRows(Console(stderr=True, markup=False, emoji=False, highlight=False))
        # The precision rule does not fix the number of processes.
        by_precision = plan.rule is not None and plan.rule.rule == "precision"
        total = None if by_precision else len(plan.measured) * plan.processes * ranks
        self._task = self._progress.add_task("", total=total, completed=done)
        self._progress.start()

    def _write(self, line: str) -> None:
        if sys.stderr is None:
            return
        # A closed standard error must not stop the measurement.
        with contextlib.suppress(OSError, ValueError):
            if self._progress is None:
                print(line, file=sys.stderr, flush=True)  # noqa: T201
            else:
                self._progress.console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)
