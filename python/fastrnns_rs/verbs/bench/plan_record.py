"""Plan of a benchmark, as a run file records it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from fastrnns_rs._core import BUILD_PROFILE, __version__
from fastrnns_rs.documents.run_file import Jit, PlannedRunner, PlanRecord, Stop, Tool, Warmup

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan

CURRENT_TOOL = Tool(name="fastrnns-rs", version=__version__, build_profile=BUILD_PROFILE)


def record_plan(plan: BenchPlan) -> PlanRecord:
    """Returns the plan as recorded in the run file."""
    first = plan.tasks[0]
    return PlanRecord(
        preset=plan.preset[0],
        processes=plan.processes,
        order_seed=plan.order_seed,
        warmup=Warmup(mode="detect" if plan.loop.warmup is None else "fixed", iterations=plan.loop.warmup),
        stop=_stop(plan),
        jit=Jit(**asdict(first.jit)),
        threads=first.setting.threads,
        affinity=None if first.setting.affinity is None else [*first.setting.affinity],
        timeout_s=plan.timeout,
        compile_timeout_s=plan.compile_timeout,
        compile_cache=plan.compile_cache,
        runners=[
            PlannedRunner(runner=one.runner.name, side=one.side, source=str(one.runner.source), problem=one.problem)
            for one in plan.tasks
        ],
        devices=[*plan.devices],
        side_by_side=plan.side_by_side,
        axes=[*plan.axes],
        sync=plan.loop.sync,
        sessions=plan.sessions,
        session_interval_s=plan.every_s or None,
        turns=plan.turns or None,
    )


def _stop(plan: BenchPlan) -> Stop:
    loop, rule = plan.loop, plan.rule
    each = {"process_seconds": loop.seconds, "least_iterations": loop.least, "most_iterations": loop.most}
    if loop.nloops is not None:
        each = {"nloops": loop.nloops}
    if rule is not None and rule.rule == "precision":
        return Stop(rule="precision", parameters={"half_width": rule.value, "limit_seconds": rule.limit_s, **each})
    if rule is not None and rule.rule == "decided":
        return Stop(rule="decided", parameters={"most_pairs": rule.value, **each})
    if rule is not None and rule.rule == "time":
        return Stop(rule="time", parameters={"seconds": rule.value, **each})
    return Stop(rule="time" if loop.nloops is None else "count", parameters=each)
