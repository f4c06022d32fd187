"""Execution of a plan in fresh workers; the run file is saved after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from fastrnns_rs.documents.session_soundness import is_before
from fastrnns_rs.documents.sweep_findings import summarize_sweep
from fastrnns_rs.errors import FastrnnsError, failure_text
from fastrnns_rs.machine import warnings
from fastrnns_rs.machine.session import new_session, utc_now
from fastrnns_rs.machine.warnings.gpu import Watch
from fastrnns_rs.processes.launcher import Executor, Start, launch_together
from fastrnns_rs.processes.listener import Answer, Terms
from fastrnns_rs.verbs.bench import session_parts
from fastrnns_rs.verbs.bench.bench_plan import TURN_S, group_tasks, rounds
from fastrnns_rs.verbs.bench.compile_limits import compiling
from fastrnns_rs.verbs.bench.result_rows import Row

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Environment, Process, Result, Run, RunStatus
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, BenchTask
    from fastrnns_rs.verbs.bench.rank_group import RankGroup


class Observer(Protocol):
    """Callbacks for the progress of a run."""

    def begins(self, run: Run, plan: BenchPlan) -> None:
        """Reports the start; a resumed `run` contains its earlier results."""

    def session_waits(self, number: int, seconds: float) -> None:
        """Reports that session `number` (from 1) begins after `seconds`."""

    def process_begins(self, task: BenchTask, index: int) -> None:
        """Reports the start of the runner's worker number `index`."""

    def phase(self, name: str) -> None:
        """Reports a phase: `import`, `build`, `compile`, `compile again` or `measure`."""

    def process_ends(self, process: Process, printed: str) -> None:
        """Reports the end of a worker; `printed` is the end of its output."""

    def row_changes(self, result: Result) -> None:
        """Reports that an incomplete row has another process."""

    def runner_ends(self, result: Result) -> None:
        """Reports that a row is complete."""

    def ends(self, run: Run) -> None:
        """Reports that the run is complete or was interrupted."""


class Silent:
    """No-op callbacks."""

    def _nothing(self, *_given: object) -> None:
        """Ignores its arguments."""

    begins = session_waits = process_begins = phase = process_ends = row_changes = runner_ends = ends = _nothing


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Attributes:
        run: Run with the results so far; its `status` is `interrupted`.
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
    rank_group: RankGroup | None = None,
    executor: Executor = launch_together,
    find_decided: Callable[[Run], Collection[str]] = lambda _run: (),
) -> Run:
    """Runs the remaining processes of a plan.

    Args:
        plan: Plan to run.
        run: New run, or an interrupted run whose results are kept.
        observer: Callbacks for the progress; None for no callbacks.
        save: Function called with the run so far before the first process, after each process, and at the end.
        rank_group: Ranks that `torchrun` started, which all execute the same plan; None without ranks.
        executor: Function that runs the worker processes.
        find_decided: Function that returns the pairs of tasks, by their name in a comparison, whose rows all have a
            verdict. It is called after each round of a plan that stops then.

    Returns:
        The run, which includes rows of runners that failed.

    Raises:
        Interrupted: If Ctrl-C was pressed; the exception contains the run.
    """
    execution = _Execution(plan, run, observer or Silent(), save, rank_group, executor, find_decided)
    interrupted = False
    try:
        with ExitStack() as stack:
            devices = dict.fromkeys(task.problem.device for task in plan.measured)
            watches = [stack.enter_context(Watch(run.environment, device)) for device in devices]
            try:
                execution.measure()
            except KeyboardInterrupt:
                interrupted = True
        execution.warnings += [warning for watch in watches for warning in watch.warnings()]
    except KeyboardInterrupt:
        interrupted = True
    try:
        done = execution.finish(interrupted=interrupted)
    except KeyboardInterrupt:
        # Ctrl-C was pressed again while the first was handled.
        raise Interrupted(execution.so_far()) from None
    if interrupted:
        raise Interrupted(done)
    return done


class _Execution:
    """State of a run."""

    def __init__(
        self,
        plan: BenchPlan,
        run: Run,
        observer: Observer,
        save: Callable[[Run], None],
        rank_group: RankGroup | None,
        executor: Executor,
        find_decided: Callable[[Run], Collection[str]],
    ) -> None:
        self._plan = plan
        self._run = run
        self._observer = observer
        self._save = save
        self._rank_group = rank_group
        self._executor = executor
        self._find_decided = find_decided
        # Ranks that used their own clocks would reach different decisions.
        self._clock = time.monotonic if rank_group is None else rank_group.clock
        self._turns = group_tasks(plan)
        earlier = {(one.runner, one.side, one.problem): one for one in run.results}
        detects = plan.loop.warmup is None and plan.loop.nloops is None
        environments: dict[str | None, Environment] = {side.name: side.environment for side in run.sides}
        self._rows = [
            Row(
                task,
                earlier.get((task.runner.name, task.side, task.problem)),
                detects_warmup=detects,
                # Ranks may have other versions, of which a warning tells.
                torch_version=None if rank_group else environments.get(task.side, run.environment).torch_version,
                turns=run.plan.turns,
            )
            for task in plan.tasks
        ]
        self._results: dict[int, Result] = {}
        for index, row in enumerate(self._rows):
            # Of a resumed run, whose clock was ahead, or is behind now.
            row.forget_starts(run.sessions[-1].started_utc if run.sessions else None)
            if row.processes or row.task.refusal is not None:
                self._results[index] = row.result()
        # A filtered file of an interrupted run lacks processes.
        self._order = 1 + max((one.order for row in self._rows for one in row.processes), default=-1)
        self._session = run.sessions[-1].session_id if run.sessions else None
        self._session_began = run.sessions[-1].started_utc if run.sessions else None
        # Part of the processes that the current session measures, and the time of its start.
        self._part: int | None = None
        self._part_began = self._clock()
        self._ended: set[int] = set()
        # Rows that have a verdict, and wait for those that have none.
        self._decided: set[int] = set()
        self._by_verdict = plan.rule is not None and plan.rule.rule == "decided"
        self._stopped_by: str | None = "time" if plan.loop.nloops is None else "count"
        if plan.rule is not None:
            # Until every row is decided, the number of pairs is all that can end the run.
            self._stopped_by = "count" if self._by_verdict else plan.rule.rule
        #: Warnings about the devices during the run.
        self.warnings: list[RunWarning] = []

    def measure(self) -> None:
        """Runs processes until every runner is complete.

        Raises:
            KeyboardInterrupt: If Ctrl-C was pressed.
        """
        self._save(self.so_far())
        self._observer.begins(self.so_far(), self._plan)
        for index in range(len(self._rows)):
            self._end_if_complete(index)
        for indices in self._coming():
            self._measure(indices)

    def _coming(self) -> Iterator[list[int]]:
        """Yields the rows whose next process runs: one row, or one row on each device."""
        plan, rule = self._plan, self._plan.rule
        by_precision = rule is not None and rule.rule == "precision"
        deadline = self._clock() + rule.limit_s if rule is not None and by_precision else float("inf")
        for turns, quota in rounds(len(self._turns), plan.order_seed, 1 if plan.turns else plan.compared):
            for turn in turns:
                most = quota if by_precision else min(quota, plan.processes)
                left = [index for index in self._turns[turn] if index not in self._ended | self._decided]
                done = min((len(self._rows[index].replicates) for index in left), default=most)
                late = done >= plan.processes and self._clock() > deadline
                if done < most and not late:
                    # A run by precision has more processes than its plan, in the same session.
                    self._enter_part(min((most - 1) * plan.sessions // plan.processes, plan.sessions - 1))
                    yield left
            if self._by_verdict:
                self._look_at_verdicts()
            if len(self._ended) == len(self._rows):
                return
            if self._clock() > deadline and quota >= plan.processes:
                self._stopped_by = "time"
                for index in {*range(len(self._rows))} - self._ended:
                    self._end(index)
                return

    def _enter_part(self, part: int) -> None:
        """Begins a new session, after its waiting time, if the current part is complete.

        Raises:
            KeyboardInterrupt: If Ctrl-C was pressed.
        """
        run = self.so_far()
        if self._part is None and part and not session_parts.is_begun(part, self._plan, run):
            # The run was interrupted between two sessions.
            self._part, self._part_began = part - 1, self._clock() - session_parts.seconds_since_session(run)
        if self._part is not None and part > self._part:
            # The clock of the machine may have been set back since the run was interrupted.
            left = min(self._part_began + self._plan.every_s - self._clock(), self._plan.every_s)
            if left > 0:
                self._observer.session_waits(part + 1, left)
                time.sleep(left)
            found = session_parts.check_later(part, self._plan, run, waited_s=left)
            session = new_session()
            for index, row in enumerate(self._rows):
                row.forget_starts(session.started_utc)
                if index in self._results:
                    self._results[index] = row.result()
            self._run = replace(run, sessions=[*run.sessions, session], warnings=[*run.warnings, *found])
            self._session, self._session_began = session.session_id, session.started_utc
            self._part_began = self._clock()
        self._part = part

    def _end_if_complete(self, index: int) -> None:
        """Ends a row that is complete or failed.

        If one side of a runner fails in `ab`, both its rows end, because one side alone shows nothing.
        """
        failed = self._rows[index].failure is not None
        over = self._compared_with(index) if failed else [index]
        # Concurrent devices continue until all are complete: a device that continued alone would have a different load.
        together = [row for turn in self._turns if index in turn for row in map(self._rows.__getitem__, turn)]
        enough = all(self._has_enough(row) for row in together if row.failure is None)
        for one in over:
            if one not in self._ended and (failed or enough):
                self._end(one)

    def _has_enough(self, row: Row) -> bool:
        rule = self._plan.rule
        if row.task.refusal is not None:
            return True
        if rule is not None and rule.rule == "precision":
            return row.has_precision(rule.value, self._plan.processes)
        return len(row.replicates) >= self._plan.processes

    def _end(self, index: int) -> None:
        self._ended.add(index)
        self._results[index] = self._rows[index].result()
        self._observer.runner_ends(self._results[index])

    def _measure(self, indices: list[int]) -> None:
        rows = [self._rows[index] for index in indices]
        for row in rows:
            self._observer.process_begins(row.task, row.next_index)
        # A clock that was ahead may have been set back since the session began.
        now = utc_now()
        started = None if is_before(now, self._session_began) else now
        answers = self._launch([row.task for row in rows])
        for index, row, by_rank in zip(indices, rows, answers, strict=True):
            number = row.next_index
            for rank, answer in by_rank.items():
                process = row.add(
                    answer, self._order, index=number, rank=rank, session=self._session, started_utc=started
                )
                self._order += 1
                self._observer.process_ends(process, answer.printed)
            self._results[index] = row.result()
        if any(answer.ended == "interrupted" for by_rank in answers for answer in by_rank.values()):
            raise KeyboardInterrupt
        for index in indices:
            self._end_if_complete(index)
            if index not in self._ended:
                self._observer.row_changes(self._results[index])
        self._save(self.so_far())

    def _look_at_verdicts(self) -> None:
        """Ends a run by verdicts if no row without one may have more processes.

        It is called after each round. The verdicts are those of the whole table: processes of one row may withdraw the
        verdict of another.
        """
        failed = {one for index, row in enumerate(self._rows) if row.failure for one in self._compared_with(index)}
        measured = {index for index, row in enumerate(self._rows) if row.counted} - failed
        names = {index: " / ".join(self._names(index)) for index in measured}
        decided = self._find_decided(self.so_far())
        self._decided = {index for index, name in names.items() if name in decided}
        if len(self._ended | self._decided) == len(self._rows):
            # Where every pair failed, neither verdicts nor the number of pairs ended the run.
            self._stopped_by = None if not measured else "decided" if self._decided == measured else "count"
            for index in sorted(self._decided - self._ended):
                self._end(index)

    def _names(self, index: int) -> Iterable[str]:
        """Returns the names of the rows that are compared with each other, each once."""
        return dict.fromkeys(self._rows[one].task.name for one in self._compared_with(index))

    def _compared_with(self, index: int) -> range:
        """Returns the rows that are compared with each other, one of which is given."""
        first = index - index % self._plan.compared
        return range(first, first + self._plan.compared)

    def _launch(self, tasks: list[BenchTask]) -> list[dict[int | None, Answer]]:
        """Returns the answers of each task's worker, by rank.

        A worker that cannot be started costs its own rows. Ranks end together, because the others wait for it.
        """
        try:
            with ExitStack() as stack:
                starts = [stack.enter_context(self._start(task)) for task in tasks]
                if self._rank_group is not None:
                    return [self._rank_group.measure(starts[0])]
                return [{None: answer} for answer in self._executor(starts)]
        except (FastrnnsError, OSError) as error:
            if self._rank_group is not None:
                raise
            return [{None: Answer({}, "died", failure_text(error), "")} for _ in tasks]

    @contextmanager
    def _start(self, task: BenchTask) -> Iterator[Start]:
        """Yields the worker of a task, and keeps its compiler cache while it runs."""
        job: dict[str, Any] = {
            "kind": "bench",
            **task.job(),
            "loop": asdict(self._plan.loop),
            "threads": task.setting.threads,
            "jit": asdict(task.jit),
            "slices": {"count": self._plan.turns, "seconds": TURN_S} if self._plan.turns else None,
        }
        with compiling(task, self._plan) as (setting, shared, limits):
            job |= {"shared_compile_cache": shared}
            terms = Terms(timeout=self._plan.timeout, limits=limits, on_phase=self._observer.phase)
            yield Start(job=job, terms=terms, setting=setting)

    def so_far(self) -> Run:
        """Returns the run with its results so far."""
        return replace(self._run, results=[self._results[index] for index in sorted(self._results)])

    def finish(self, *, interrupted: bool) -> Run:
        """Completes and saves the run."""
        for index, row in enumerate(self._rows):
            # An interrupt may have occurred between the process of a row and its report.
            if row.processes and index not in self._ended:
                self._end(index)
        run = self.so_far()
        widths = [row.precision() for row in self._rows if row.counted and row.failure is None]
        known = [width for width in widths if width is not None]
        run = replace(
            run,
            status=_status(run, interrupted=interrupted),
            warnings=[*run.warnings, *self.warnings, *warnings.check_samples(run)],
            plan=replace(
                run.plan,
                stopped_by="interrupt" if interrupted else self._stopped_by if widths else None,
                precision=max(known) if known and len(known) == len(widths) else None,
            ),
        )
        if run.plan.axes:
            run = replace(run, sweep=summarize_sweep(run.plan.axes, run.results))
        self._save(run)
        self._observer.ends(run)
        return run


def _status(run: Run, *, interrupted: bool) -> RunStatus:
    if interrupted:
        return "interrupted"
    return "failed" if any(result.status in {"failed", "timed_out"} for result in run.results) else "complete"
