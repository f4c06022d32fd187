"""The live table of a bench, on standard error."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING

from fastrnns_rs._core import RunTable
from fastrnns_rs.documents import to_plain

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from fastrnns_rs.planning import Plan
    from fastrnns_rs.results import Result, Run

PHASES = {"import": "importing torch", "build": "building the model", "measure": "measuring"}


class Terminal:
    """Writes a row as each runner ends and, on a terminal, shows below what goes on.

    Args:
        separator: What stands between two columns.
    """

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._table = RunTable([], separator)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._runner = ""

    def begins(self, run: Run, plan: Plan) -> None:
        """Says what is about to run, then the headings."""
        self._table = RunTable([task.runner.name for task in plan.tasks], self._separator)
        where = plan.tasks[0].problem
        number = int(where.device.partition(":")[2] or 0)
        gpu = f" ({run.environment.gpus[number].name})" if where.device.startswith("cuda") else ""
        self._write(
            f"{len(plan.tasks)} runners on {where.device}{gpu}, {where.dtype}, torch {run.environment.torch_version}, "
            f"{run.environment.num_threads} threads"
        )
        self._write(
            f"preset {plan.preset.name} for what was not given ({plan.preset.description}): "
            f"{plan.warmup} warm-up and {plan.nloops} timed iterations"
        )
        for family, sizes in _sizes(plan).items():
            self._write(f"{family}: {sizes}")
        for warning in run.warnings:
            evidence = f" ({warning.evidence})" if warning.evidence else ""
            self._write(f"warning: {warning.message}{evidence}")
        self._write(self._table.header())
        if sys.stderr is not None and sys.stderr.isatty():
            self._begin_progress(len(plan.tasks))

    def runner_begins(self, name: str) -> None:
        """Shows which runner is on."""
        self._runner = name
        self.phase("import")

    def phase(self, name: str) -> None:
        """Shows what its worker does."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=f"{self._runner}: {PHASES.get(name, name)}")

    def runner_ends(self, result: Result, printed: str) -> None:
        """Writes the row, and below it what one must know to read it."""
        self._write(self._table.row(json.dumps(to_plain(result))))
        if result.note is not None and result.status == "ok":
            self._write(f"  note: {result.runner}: {result.note}")
        if result.status in {"failed", "timed_out"} and printed and os.environ.get("FASTRNNS_DEBUG"):
            self._write(printed.rstrip())
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)

    def close(self) -> None:
        """Takes the progress line away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _begin_progress(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("", total=total)
        self._progress.start()

    def _write(self, line: str) -> None:
        if sys.stderr is None:
            return
        # Nobody may be there to look: that is no reason to stop measuring.
        with contextlib.suppress(OSError, ValueError):
            if self._progress is None:
                print(line, file=sys.stderr, flush=True)  # noqa: T201
            else:
                self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)


def _sizes(plan: Plan) -> dict[str, str]:
    """The sizes of each family, as the flags that would give them."""
    flags = {
        "seq_length": "seqLength",
        "num_layers": "numLayers",
        "input_size": "inputSize",
        "hidden_size": "hiddenSize",
        "mini_batch": "miniBatch",
        "image_size": "image-size",
    }
    found: dict[str, str] = {}
    for task in plan.tasks:
        given = {flag: getattr(task.problem, name) for name, flag in flags.items()}
        text = " ".join(f"{flag} {value}" for flag, value in given.items() if value is not None)
        found.setdefault(task.runner.family, text)
    return found
