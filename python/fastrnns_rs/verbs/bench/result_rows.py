"""Conversion of worker answers to the processes and the row of a runner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.replicates import by_index, common_class, counted, level
from fastrnns_rs.documents.run_file import PhaseSummary, Process, Result, ResultStatus
from fastrnns_rs.documents.run_soundness import check_result
from fastrnns_rs.documents.session_soundness import is_before
from fastrnns_rs.documents.soundness import check_numbers
from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.source_hash import find_change, source_sha256
from fastrnns_rs.stats import precision_reached
from fastrnns_rs.verbs.bench.host_time import with_host_time
from fastrnns_rs.verbs.bench.phase_summary import half_width, summary
from fastrnns_rs.verbs.bench.warmup_cut import set_common_cut
from fastrnns_rs.verbs.bench.worker_answer import make_damaged, make_process

Phase = Literal["forward", "backward"]

if TYPE_CHECKING:
    from fastrnns_rs.processes.listener import Answer
    from fastrnns_rs.verbs.bench.bench_plan import BenchTask


class Row:
    """Results of a runner so far.

    Args:
        task: Task of the runner.
        earlier: Earlier result, in a resumed run; otherwise None.
        detects_warmup: True if the plan does not set the number of iterations before the timed ones, or of those.
        torch_version: Version of torch that the run records; None accepts any.
        turns: Largest number of turns of a process; None for processes without turns.
    """

    def __init__(
        self,
        task: BenchTask,
        earlier: Result | None = None,
        *,
        detects_warmup: bool = False,
        torch_version: str | None = None,
        turns: int | None = None,
    ) -> None:
        self.task = task
        self._turns = turns
        self._torch_version = torch_version
        self._torchvision_version: str | None = None
        self._detects_warmup = detects_warmup
        self.processes: list[Process] = [*earlier.processes] if earlier else []
        self._timing_mode = earlier.timing_mode if earlier else None
        self._resolution = earlier.timer_resolution_ns if earlier else None
        self._result: Result | None = None
        self._source_sha256 = source_sha256(task.runner.source, task.setting.known_path())
        self._note = earlier.note if earlier else None

    @property
    def replicates(self) -> list[list[Process]]:
        """Complete replicates: one process each, or the ranks of one index."""
        return counted(self.processes)

    @property
    def counted(self) -> list[Process]:
        """Processes of complete replicates."""
        return [process for one in self.replicates for process in one]

    @property
    def _sessions(self) -> list[str | None]:
        """Session of each complete replicate."""
        return [ranks[0].session for ranks in self.replicates]

    @property
    def next_index(self) -> int:
        """Index of the next process."""
        return len(by_index(self.processes))

    @property
    def failure(self) -> Process | None:
        """First failed process, or None: a runner that failed is not started again."""
        return next((one for one in self.processes if one.status in {"failed", "timed_out"}), None)

    def add(
        self,
        answer: Answer,
        order: int,
        *,
        index: int | None = None,
        rank: int | None = None,
        session: str | None = None,
        started_utc: str | None = None,
    ) -> Process:
        """Adds the answer of a worker to the row.

        Args:
            answer: Answer of the worker.
            order: Index among the processes of the run.
            index: Index among the processes of the row; None for the next. Ranks share an index.
            rank: Rank of the worker; None without ranks.
            session: ID of the session.
            started_utc: Start time of the worker.
        """
        number = self.next_index if index is None else index
        process, facts = make_process(answer, index=number, order=order, rank=rank, turns=self._turns)
        process = replace(process, session=session, started_utc=started_utc)
        self._note = self._note or facts.note
        self._timing_mode = self._timing_mode or facts.timing_mode
        self._resolution = self._resolution or facts.timer_resolution_ns
        reason = self._change(process, answer) if process.status == "ok" else None
        if reason is not None:
            process = replace(process, status="failed", reason=reason)
        earlier = self.processes
        self._keep([*earlier, process])
        try:
            self._check()
        except UsageError as error:
            place = {"index": number, "order": order, "rank": rank, "session": session, "started_utc": started_utc}
            self._keep([*earlier, make_damaged(error, **place)])
        return self.processes[-1]

    def forget_starts(self, time: str | None) -> None:
        """Forgets starts that are after a time: the clock was wrong."""
        known = self.processes
        self._keep([replace(one, started_utc=None) if is_before(time, one.started_utc) else one for one in known])

    def _keep(self, processes: list[Process]) -> None:
        self.processes = set_common_cut(processes) if self._detects_warmup else processes
        self._result = None

    def _check(self) -> None:
        """Rejects a row that no reader of the run would accept.

        Samples of a process may be sound, and the statistics of the row too large.
        """
        result = self.result()
        # The numbers of each process are checked before.
        check_numbers(replace(result, processes=[]))
        check_result("", result)

    @property
    def _phases(self) -> list[Phase]:
        """Phases that all complete replicates measured."""
        backward = all(one.backward_ns is not None for one in self.counted)
        return ["forward", "backward"] if backward else ["forward"]

    def _times(self, phase: str) -> list[float]:
        """Returns the time of each complete replicate in a phase, in nanoseconds."""
        return [level([one.median_ns(phase) or 0.0 for one in ranks]) for ranks in self.replicates]

    def _summary(self, phase: Phase) -> PhaseSummary:
        timed = [[one.samples_ns(phase, timed=True) for one in ranks] for ranks in self.replicates]
        return with_host_time(summary(timed, self._sessions, self._times(phase)), phase, self.counted)

    def precision(self) -> float | None:
        """Returns the larger relative half width of the intervals of the phases.

        Returns:
            None with fewer than three processes.
        """
        widths = [half_width(self._times(phase), self._sessions) for phase in self._phases if self.counted]
        known = [width for width in widths if width is not None]
        return max(known) if len(known) == len(widths) and known else None

    def has_precision(self, target: float, least: int) -> bool:
        """Returns True if each phase has reached a relative half width of `target`.

        At least `least` processes are required. A resumed run may have three sessions, whose interval more processes
        may not narrow.
        """
        return bool(self.counted) and all(
            (width := half_width(times, self._sessions)) is not None
            and width <= target
            and precision_reached(times, target=target, minimum=least).reached
            for times in map(self._times, self._phases)
        )

    def result(self) -> Result:
        """Returns the row of the run file, which is cached until the next process."""
        self._result = self._result or self._described()
        return self._result

    def _described(self) -> Result:
        status, reason = self._outcome()
        # Samples of a failed runner are kept, but not summarised as a result.
        phases = [self._summary(phase) for phase in self._phases] if status == "ok" else []
        described: list[PhaseSummary | None] = [*phases, None, None]
        return Result(
            runner=self.task.runner.name,
            side=self.task.side,
            point=self.task.point,
            group=self.task.runner.family,
            mode=self.task.problem.mode,
            timing_mode=self._timing_mode,
            timer_resolution_ns=self._resolution,
            problem=self.task.problem,
            status=status,
            reason=reason,
            note=self._note,
            warmup_class=common_class(self.counted),
            forward=described[0],
            backward=described[1],
            peak_memory_bytes=self._most("peak_memory_bytes") if status == "ok" else None,
            peak_reserved_bytes=self._most("peak_reserved_bytes") if status == "ok" else None,
            processes=[*self.processes],
            label=self.task.name if self.task.on or self.task.point else None,
            source_sha256=self._source_sha256,
        )

    def _change(self, process: Process, answer: Answer) -> str | None:
        """Returns what differs from the processes before; None if nothing does."""
        first = next(iter(self.counted), process)
        if (process.backward_ns is None) != (first.backward_ns is None):
            return f"it has {'no' if process.backward_ns is None else 'a'} backward, unlike process {first.index + 1}"
        change = find_change(self.task.runner.source, self._source_sha256, self.task.setting.known_path())
        if change is not None:
            return change
        version, known = answer.content.get("torch_version"), self._torch_version
        if isinstance(version, str) and known is not None and version != known:
            return f"it has torch {version}, and the run began with {known}"
        vision = answer.content.get("torchvision_version")
        # Ranks may have software of their own.
        if isinstance(vision, str) and known is not None:
            self._torchvision_version = self._torchvision_version or vision
            if vision != self._torchvision_version:
                return f"it has torchvision {vision}, and the row began with {self._torchvision_version}"
        return None

    def _most(self, name: str) -> int | None:
        """Returns the largest known value among the complete processes."""
        known: list[int] = [value for one in self.counted if (value := getattr(one, name)) is not None]
        return max(known, default=None)

    def _outcome(self) -> tuple[ResultStatus, str | None]:
        if self.task.refusal is not None:
            return "skipped", self.task.refusal
        failure = self.failure
        if failure is not None:
            status: ResultStatus = "timed_out" if failure.status == "timed_out" else "failed"
            before = len(self.replicates)
            where = f"process {failure.index + 1}, after {before} that did not: " if before else ""
            where += "" if failure.rank is None else f"rank {failure.rank}: "
            return status, f"{where}{failure.reason}"
        if not self.processes:
            # Only a run of `ab` ends a runner before its first process.
            return "skipped", "the other side failed"
        if not self.counted:
            return "failed", self.processes[0].reason
        return "ok", None
