"""Who is told how a run goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process, Result, Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, BenchTask


class Observer(Protocol):
    """Who is told how a run goes."""

    def begins(self, run: Run, plan: BenchPlan) -> None:
        """Nothing new has run yet; of a run that is resumed `run` has the results so far."""

    def process_begins(self, task: BenchTask, index: int) -> None:
        """A worker is started, the runner's `index`-th."""

    def phase(self, name: str) -> None:
        """The worker has reached `import`, `build`, `compile`, `compile again` or `measure`."""

    def process_ends(self, process: Process, printed: str) -> None:
        """The worker has ended; `printed` is the end of what it wrote."""

    def row_changes(self, result: Result) -> None:
        """A row has another process, and is not complete."""

    def runner_ends(self, result: Result) -> None:
        """A row is complete."""

    def ends(self, run: Run) -> None:
        """Everything has run, or the run was interrupted."""


class Silent:
    """An observer that shows nothing."""

    def _nothing(self, *_given: object) -> None:
        """Shows nothing."""

    begins = process_begins = phase = process_ends = row_changes = runner_ends = ends = _nothing
