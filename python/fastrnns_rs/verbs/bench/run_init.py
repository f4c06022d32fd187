"""Initial run file: machine, plan, and warnings known before anything runs."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from fastrnns_rs._core import BUILD_PROFILE, __version__
from fastrnns_rs.documents.run_file import Jit, PlannedRunner, PlanRecord, Run, Stop, Tool, Warmup
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.machine.session import new_session
from fastrnns_rs.runners import registry

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Environment, RunSide
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan


def new_run(plan: BenchPlan, environment: Environment, command: Sequence[str], sides: Sequence[RunSide] = ()) -> Run:
    """Returns a run without results, in its first session."""
    session = new_session()
    return Run(
        run_id=uuid.uuid4().hex,
        created_utc=session.started_utc,
        # The file keeps this status if the process ends without writing it again.
        status="interrupted",
        command=list(command),
        warnings=find_warnings(plan),
        tool=Tool(name="fastrnns-rs", version=__version__, build_profile=BUILD_PROFILE),
        environment=environment,
        sides=list(sides),
        plan=record(plan),
        sessions=[session],
    )


def record(plan: BenchPlan) -> PlanRecord:
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
    )


def _stop(plan: BenchPlan) -> Stop:
    loop, rule = plan.loop, plan.rule
    each = {"process_seconds": loop.seconds, "least_iterations": loop.least, "most_iterations": loop.most}
    if loop.nloops is not None:
        each = {"nloops": loop.nloops}
    if rule is not None and rule.rule == "precision":
        return Stop(rule="precision", parameters={"half_width": rule.value, "limit_seconds": rule.limit_s, **each})
    if rule is not None and rule.rule == "time":
        return Stop(rule="time", parameters={"seconds": rule.value, **each})
    return Stop(rule="time" if loop.nloops is None else "count", parameters=each)


def find_warnings(plan: BenchPlan) -> list[Notice]:
    """Returns the warnings about the plan and the available runners."""
    found = registry.plugin_warnings()
    scripted = sorted({task.runner.name for task in plan.measured if task.runner.torchscript})
    if scripted:
        found.append(make_warning("torchscript_deprecated", evidence=", ".join(scripted)))
    if BUILD_PROFILE != "release":
        found.append(make_warning("debug_build", evidence=f"build profile {BUILD_PROFILE}"))
    return found
