"""Initial run file: machine, plan, and warnings known before anything runs."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastrnns_rs._core import BUILD_PROFILE
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.machine.session import new_session
from fastrnns_rs.runners import registry
from fastrnns_rs.verbs.bench.plan_record import CURRENT_TOOL, record_plan

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
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
        tool=CURRENT_TOOL,
        environment=environment,
        sides=list(sides),
        plan=record_plan(plan),
        sessions=[session],
    )


def find_warnings(plan: BenchPlan) -> list[RunWarning]:
    """Returns the warnings about the plan and the available runners."""
    found = registry.plugin_warnings()
    scripted = sorted({task.runner.name for task in plan.measured if task.runner.torchscript})
    if scripted:
        found.append(make_warning("torchscript_deprecated", evidence=", ".join(scripted)))
    if BUILD_PROFILE != "release":
        found.append(make_warning("debug_build", evidence=f"build profile {BUILD_PROFILE}"))
    return found
