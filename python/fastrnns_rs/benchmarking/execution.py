"""Runs a plan: fresh worker processes in turn, and a run file that is written whole after each."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from fastrnns_rs import cautions
from fastrnns_rs.benchmarking.observer import Observer, Silent
from fastrnns_rs.benchmarking.order import rounds
from fastrnns_rs.benchmarking.rows import Row
from fastrnns_rs.cautions.gpu import Watch
from fastrnns_rs.launching import Answer, launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastrnns_rs.benchmarking.plan import BenchPlan, BenchTask
    from fastrnns_rs.results import Result, Run, RunStatus


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Attributes:
        run: What was measured until then, `status` `interrupted`.
    """

    def __init__(self, run: Run) -> None:
        super().__init__("interrupted")
        self.run = run


def execute(
    plan: BenchPlan,
    run: Run,
    *,
    observer: Observer | None = None,
    save: Callable[[Run], None] = lambda _run: None,
) -> Run:
    """Runs what is left of a plan.

    Args:
        plan: What to run.
        run: A new run, or one that was interrupted: what it has measured is not measured again.
        observer: Who is told how it goes.
        save: Called with the run so far before the first process, after each, and at the end.

    Returns:
        The run. Runners that failed are rows of it.

    Raises:
        Interrupted: Ctrl-C; the exception carries the run.
    """
    execution = _Execution(plan, run, observer or Silent(), save)
    interrupted = False
    try:
        with ExitStack() as stack:
            devices = dict.fromkeys(task.problem.device for task in plan.measured)
            watches = [stack.enter_context(Watch(run.environment, device)) for device in devices]
            try:
                execution.measure()
            except KeyboardInterrupt:
                interrupted = True
        execution.warnings += [notice for watch in watches for notice in watch.notices()]
    except KeyboardInterrupt:
        interrupted = True
    try:
        done = execution.finish(interrupted=interrupted)
    except KeyboardInterrupt:
        # Once more, while the first was heeded.
        raise Interrupted(execution.so_far()) from None
    if interrupted:
        raise Interrupted(done)
    return done


class _Execution:
    """The state of a run."""

    def __init__(self, plan: BenchPlan, run: Run, observer: Observer, save: Callable[[Run], None]) -> None:
        self._plan = plan
        self._run = run
        self._observer = observer
        self._save = save
        earlier = {(one.runner, one.side, one.problem): one for one in run.results}
        self._rows = [Row(task, earlier.get((task.runner.name, task.side, task.problem))) for task in plan.tasks]
        self._results: dict[int, Result] = {}
        for index, row in enumerate(self._rows):
            if row.processes or row.task.refusal is not None:
                self._results[index] = row.result()
        self._order = sum(len(row.processes) for row in self._rows)
        self._ended: set[int] = set()
        self._stopped_by = plan.rule.rule if plan.rule else "time" if plan.loop.nloops is None else "count"
        self.warnings = [*run.warnings]

    def measure(self) -> None:
        """Runs processes until every runner has had enough.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        self._save(self.so_far())
        self._observer.begins(self.so_far(), self._plan)
        for index in range(len(self._rows)):
            self._settle(index)
        for index in self._turns():
            self._measure(index)

    def _turns(self) -> Iterator[int]:
        """Which row's process comes next."""
        plan, rule = self._plan, self._plan.rule
        by_precision = rule is not None and rule.rule == "precision"
        deadline = time.monotonic() + rule.limit_s if rule is not None and by_precision else float("inf")
        for turns, quota in rounds(len(self._rows), plan.design, plan.order_seed):
            for index in turns:
                most = quota if by_precision else min(quota, plan.processes)
                done = len(self._rows[index].counted)
                late = done >= plan.processes and time.monotonic() > deadline
                if index not in self._ended and done < most and not late:
                    yield index
            if len(self._ended) == len(self._rows):
                return
            if time.monotonic() > deadline and quota >= plan.processes:
                self._stopped_by = "time"
                for index in {*range(len(self._rows))} - self._ended:
                    self._end(index)
                return

    def _settle(self, index: int) -> None:
        """Ends a row that has had enough, or cannot go on; one side of two tells nothing, so both end then."""
        failed = self._rows[index].failure is not None
        over = range(len(self._rows)) if failed and self._plan.design == "abba" else [index]
        for one in over:
            if one not in self._ended and (failed or self._has_enough(self._rows[one])):
                self._end(one)

    def _has_enough(self, row: Row) -> bool:
        rule = self._plan.rule
        if row.task.refusal is not None:
            return True
        if rule is not None and rule.rule == "precision":
            return row.has_precision(rule.value, self._plan.processes)
        return len(row.counted) >= self._plan.processes

    def _end(self, index: int) -> None:
        self._ended.add(index)
        self._results[index] = self._rows[index].result()
        self._observer.runner_ends(self._results[index])

    def _measure(self, index: int) -> None:
        row = self._rows[index]
        self._observer.process_begins(row.task, len(row.processes))
        answer = self._launch(row.task)
        process = row.add(answer, self._order)
        self._order += 1
        self._results[index] = row.result()
        self._observer.process_ends(process, answer.printed)
        if answer.ended == "interrupted":
            raise KeyboardInterrupt
        self._settle(index)
        self._save(self.so_far())

    def _launch(self, task: BenchTask) -> Answer:
        job = {
            "kind": "bench",
            "runner": task.runner.name,
            "source": asdict(task.runner.source),
            "problem": asdict(task.problem),
            "loop": asdict(self._plan.loop),
            "threads": task.setting.threads,
            "jit": asdict(task.jit),
        }
        return launch(job, timeout=self._plan.timeout, setting=task.setting, on_phase=self._observer.phase)

    def so_far(self) -> Run:
        """The run with what it has measured."""
        return replace(self._run, results=[self._results[index] for index in sorted(self._results)])

    def finish(self, *, interrupted: bool) -> Run:
        """The run at its end, saved."""
        for index, row in enumerate(self._rows):
            # A row may have been cut short between a process and what is told of it.
            if row.processes and index not in self._ended:
                self._end(index)
        run = self.so_far()
        widths = [row.precision() for row in self._rows if row.counted and row.failure is None]
        known = [width for width in widths if width is not None]
        run = replace(
            run,
            status=_status(run, interrupted=interrupted),
            warnings=[*self.warnings, *cautions.after(run)],
            plan=replace(
                run.plan,
                stopped_by="interrupt" if interrupted else self._stopped_by if widths else None,
                precision=max(known) if known and len(known) == len(widths) else None,
            ),
        )
        self._save(run)
        self._observer.ends(run)
        return run


def _status(run: Run, *, interrupted: bool) -> RunStatus:
    if interrupted:
        return "interrupted"
    return "failed" if any(result.status in {"failed", "timed_out"} for result in run.results) else "complete"
