"""Sessions of a run after the first: their start, and checks of the machine."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fastrnns_rs.documents.replicates import counted
from fastrnns_rs.machine import warnings

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan

#: After so many seconds, the load average has lost 95 % of the load of the session before.
_LEAST_WAIT_S = 180.0


def is_begun(part: int, plan: BenchPlan, run: Run) -> bool:
    """Returns True if a run has complete processes of a part of its plan."""
    before = part * plan.processes // plan.sessions
    return any(len(counted(row.processes)) > before for row in run.results)


def seconds_since_session(run: Run) -> float:
    """Returns the age of the last session with complete processes.

    The age is infinite if the run does not have such a session, or another program wrote its time.
    """
    done = [process for row in run.results for one in counted(row.processes) for process in one]
    last = max(done, key=lambda one: one.order).session if done else None
    for one in run.sessions:
        if one.session_id == last:
            try:
                return (datetime.now(UTC) - datetime.fromisoformat(one.started_utc)).total_seconds()
            except (ValueError, TypeError):
                break
    return math.inf


def check_later(part: int, plan: BenchPlan, run: Run, *, waited_s: float) -> list[RunWarning]:
    """Returns the warnings about the machine before a later session.

    Args:
        part: Part of the processes that the session measures.
        plan: Plan.
        run: Run, with the environment before its first session, and its warnings so far, which are not repeated.
        waited_s: Waiting time since the session before. Shortly after that session, the load average is its own.
    """
    load = os.getloadavg()[0] if waited_s >= _LEAST_WAIT_S else None
    devices = dict.fromkeys(task.problem.device for task in plan.measured)
    found = warnings.check_devices(replace(run.environment, load_average_1m=load), devices)
    return [replace(one, evidence=f"session {part + 1}: {one.evidence}") for one in found if one not in run.warnings]
