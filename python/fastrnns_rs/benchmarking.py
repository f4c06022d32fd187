"""Runs a plan: one fresh worker process a runner, one row as each ends, and a run file that is never half written."""

from __future__ import annotations

import uuid
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fastrnns_rs._core import BUILD_PROFILE, __version__
from fastrnns_rs.documents import Notice
from fastrnns_rs.environment import Facts, describe
from fastrnns_rs.launching import Answer, launch
from fastrnns_rs.results import (
    SCHEMA_VERSION,
    Compile,
    FirstCall,
    Jit,
    PhaseSummary,
    PlanRecord,
    Process,
    Result,
    ResultStatus,
    Run,
    RunStatus,
    Stop,
    Tool,
    Warmup,
)
from fastrnns_rs.stats import summarize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrnns_rs.planning import Plan, Task


class Observer(Protocol):
    """Who is told how a run goes."""

    def begins(self, run: Run, plan: Plan) -> None:
        """Nothing has run yet; `run` has no results."""

    def runner_begins(self, name: str) -> None:
        """A worker is started."""

    def phase(self, name: str) -> None:
        """The worker has reached `import`, `build` or `measure`."""

    def runner_ends(self, result: Result, printed: str) -> None:
        """A row is complete; `printed` is the end of what its worker wrote."""


class Silent:
    """An observer that shows nothing."""

    def begins(self, run: Run, plan: Plan) -> None:
        """Shows nothing."""

    def runner_begins(self, name: str) -> None:
        """Shows nothing."""

    def phase(self, name: str) -> None:
        """Shows nothing."""

    def runner_ends(self, result: Result, printed: str) -> None:
        """Shows nothing."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Attributes:
        run: What was measured until then, `status` `interrupted`.
    """

    def __init__(self, run: Run) -> None:
        super().__init__("interrupted")
        self.run = run


def execute(
    plan: Plan,
    facts: Facts,
    *,
    command: Sequence[str],
    observer: Observer | None = None,
    save: Callable[[Run], None] = lambda _run: None,
) -> Run:
    """Runs a plan.

    Args:
        plan: What to run.
        facts: What is known of torch and the device.
        command: What the run file names as its command.
        observer: Who is told how it goes.
        save: Called with the run so far before the first process, after each, and at the end.

    Returns:
        The run. Runners that failed are rows of it.

    Raises:
        Interrupted: Ctrl-C; the exception carries the run.
    """
    observer = observer or Silent()
    run = _new_run(plan, facts, command)
    save(run)
    observer.begins(run, plan)
    results: list[Result] = []
    interrupted = False
    try:
        for order, task in enumerate(plan.tasks):
            observer.runner_begins(task.runner.name)
            answer = None if task.refusal else _measure(plan, task, observer)
            result = _result(plan, task, order, answer)
            results.append(result)
            observer.runner_ends(result, answer.printed if answer else "")
            if answer and answer.ended == "interrupted":
                interrupted = True
                break
            save(replace(run, results=list(results)))
    except KeyboardInterrupt:
        interrupted = True
    run = replace(run, results=results, status=_status(results, interrupted=interrupted))
    run = replace(run, plan=replace(run.plan, stopped_by="interrupt" if interrupted else "count"))
    save(run)
    if interrupted:
        raise Interrupted(run)
    return run


def _measure(plan: Plan, task: Task, observer: Observer) -> Answer:
    job = {
        "kind": "bench",
        "runner": task.runner.name,
        "source": asdict(task.runner.source),
        "problem": asdict(task.problem),
        "warmup": plan.warmup,
        "nloops": plan.nloops,
        "threads": plan.threads,
        "jit": asdict(plan.jit),
    }
    return launch(job, timeout=plan.timeout, threads=plan.threads, on_phase=observer.phase)


def _status(results: list[Result], *, interrupted: bool) -> RunStatus:
    if interrupted:
        return "interrupted"
    return "failed" if any(result.status in {"failed", "timed_out"} for result in results) else "complete"


def _result(plan: Plan, task: Task, order: int, answer: Answer | None) -> Result:
    content: dict[str, Any] = answer.content if answer else {}
    status = _result_status(answer)
    forward: list[int] = content.get("forward_ns") or []
    backward: list[int] | None = content.get("backward_ns")
    return Result(
        runner=task.runner.name,
        group=task.runner.family,
        mode="train",
        timing_mode=content.get("timing_mode"),
        timer_resolution_ns=content.get("timer_resolution_ns"),
        problem=task.problem,
        status=status,
        reason=answer.reason if answer else task.refusal,
        note=task.runner.note_on(task.problem),
        # Numbers of a runner that failed are kept as samples, not offered as a result.
        forward=_summary(forward[plan.warmup :]) if status == "ok" else None,
        backward=_summary(backward[plan.warmup :]) if status == "ok" and backward is not None else None,
        processes=[] if answer is None else [_process(plan, order, answer, forward, backward)],
    )


def _result_status(answer: Answer | None) -> ResultStatus:
    if answer is None:
        return "skipped"
    if answer.ended == "timed_out":
        return "timed_out"
    return "ok" if answer.ended == "answered" and answer.content.get("status") == "ok" else "failed"


def _process(plan: Plan, order: int, answer: Answer, forward: list[int], backward: list[int] | None) -> Process:
    status: ResultStatus | Literal["interrupted"] = (
        "interrupted" if answer.ended == "interrupted" else _result_status(answer)
    )
    first = FirstCall(forward_ns=forward[0], backward_ns=backward[0] if backward else None) if forward else None
    return Process(
        index=0,
        order=order,
        rank=None,
        status=status,
        reason=answer.reason,
        warmup_class=None,
        steady_from=plan.warmup,
        first_call=first,
        compile=Compile(cold_ns=None, warm_ns=None, graph_breaks=None, recompilations=None),
        peak_memory_bytes=answer.content.get("peak_memory_bytes"),
        peak_reserved_bytes=answer.content.get("peak_reserved_bytes"),
        timed_loop_ns=answer.content.get("timed_loop_ns"),
        forward_ns=forward,
        backward_ns=backward,
    )


def _summary(samples: list[int]) -> PhaseSummary:
    """The description of one process's timed samples; its estimate is their median."""
    found = summarize(samples)
    return PhaseSummary(
        n_processes=1,
        n_samples=found.count,
        n_effective=None,
        estimate_ns=found.median,
        ci_low_ns=found.ci_low,
        ci_high_ns=found.ci_high,
        confidence_level=found.confidence_level,
        ci_method=found.ci_method,
        mean_ns=found.mean,
        stddev_ns=found.stddev,
        min_ns=found.min,
        max_ns=found.max,
        median_ns=found.median,
        q1_ns=found.q1,
        q3_ns=found.q3,
        p95_ns=found.p95,
        p99_ns=found.p99,
        mad_ns=found.mad,
    )


def _new_run(plan: Plan, facts: Facts, command: Sequence[str]) -> Run:
    return Run(
        schema="fastrnns-rs/run",
        schema_version=SCHEMA_VERSION,
        run_id=uuid.uuid4().hex,
        created_utc=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        # What the file should say if nobody comes back to write it again.
        status="interrupted",
        command=list(command),
        warnings=_warnings(plan),
        tool=Tool(name="fastrnns-rs", version=__version__, build_profile=BUILD_PROFILE),
        environment=describe(facts, plan.threads),
        plan=PlanRecord(
            preset=plan.preset.name,
            processes=1,
            order_seed=None,
            warmup=Warmup(mode="fixed", iterations=plan.warmup),
            stop=Stop(rule="count", parameters={"nloops": plan.nloops}),
            stopped_by=None,
            precision=None,
            jit=Jit(**asdict(plan.jit)),
        ),
        results=[],
    )


def _warnings(plan: Plan) -> list[Notice]:
    found = []
    scripted = [task.runner.name for task in plan.tasks if task.runner.torchscript and not task.refusal]
    if scripted:
        found.append(
            Notice(
                code="torchscript_deprecated",
                message="PyTorch has deprecated TorchScript; runners that use it may stop working in a later version",
                evidence=", ".join(scripted),
                hint=None,
            )
        )
    if plan.warmup == 0:
        found.append(
            Notice(
                code="first_call_in_estimate",
                message="without a warm-up the first call, which compiles and allocates, counts as a sample",
                evidence="warmup 0",
                hint="give --warmup 1 or more",
            )
        )
    if BUILD_PROFILE != "release":
        found.append(
            Notice(
                code="debug_build",
                message="the extension was built without optimisation",
                evidence=f"build profile {BUILD_PROFILE}",
                hint="pip install . builds it with",
            )
        )
    return found
