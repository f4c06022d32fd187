"""Two runs with known process medians, which the golden screens show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from run_files import ENVIRONMENT, process, run

from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import PlannedRunner, PlanRecord, Result, Run, Session
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.verbs.bench.phase_summary import summary

PROBLEM = Problem(seq_length=64, num_layers=1, input_size=256, hidden_size=256, mini_batch=16)
PEAK_MIB = {"cudnn": 621, "jit": 691, "py": 612}
#: Process medians in ms of each runner, forward and backward.
BASELINE = {
    "cudnn": ((6.021, 6.048, 6.055, 6.067, 6.102), (11.16, 11.19, 11.22, 11.25, 11.31)),
    "jit": ((13.68, 13.71, 13.77, 13.82, 13.91), (19.02, 19.11, 19.19, 19.30, 19.41)),
    "py": ((19.18, 19.22, 19.27, 19.30, 19.38), (27.4, 27.9, 28.3, 30.6, 31.2)),
}
CANDIDATE = {
    "cudnn": ((5.834, 5.851, 5.868, 5.879, 5.912), (11.13, 11.18, 11.21, 11.23, 11.30)),
    "jit": ((14.23, 14.29, 14.35, 14.41, 14.49), (19.11, 19.27, 19.38, 19.46, 19.61)),
    "py": ((19.17, 19.24, 19.28, 19.33, 19.39), (26.8, 27.3, 27.7, 28.9, 30.9)),
}
#: The candidate after 8 of its 15 processes.
PARTIAL = {
    "cudnn": ((5.834, 5.868, 5.912), (11.13, 11.21, 11.30)),
    "jit": ((14.29, 14.35, 14.49), (19.27, 19.38, 19.61)),
    "py": ((19.24, 19.33), (27.3, 28.9)),
}
SEVERAL_MODES = RunWarning(
    code="several_modes",
    message="the backward median of py may jump between two levels",
    evidence="27.4 ms (71 % of samples) and 33.9 ms (29 %) in 3 of 5 processes",
    hint="Show all figures: fastrnns-rs show @last --wide",
    rows=["py/backward"],
)
_SAMPLES = 20


def row(runner: str, medians: tuple[Sequence[float], Sequence[float]], session: str) -> Result:
    """A result whose processes have these medians, in ms."""
    forward, backward = ([round(1e6 * one) for one in phase] for phase in medians)
    processes = [
        replace(process(index, [first] * _SAMPLES, [second] * _SAMPLES), session=session)
        for index, (first, second) in enumerate(zip(forward, backward, strict=True))
    ]
    return Result(
        runner=runner,
        group="lstm",
        mode="train",
        timing_mode="cpu_wall",
        timer_resolution_ns=1,
        problem=PROBLEM,
        status="ok",
        processes=processes,
        warmup_class="warmup",
        forward=summary([[[one] * _SAMPLES] for one in forward]),
        backward=summary([[[one] * _SAMPLES] for one in backward]),
        peak_memory_bytes=PEAK_MIB[runner] << 20,
    )


def made(medians: dict[str, tuple[Sequence[float], Sequence[float]]], day: str, **changes: Any) -> Run:
    """A run of the runners, in a session of its own."""
    found = run([])
    session = Session(session_id=f"session-{day}", started_utc=day, machine_id="a machine", boot_id="a boot")
    results = [row(runner, each, session.session_id) for runner, each in medians.items()]
    plan: PlanRecord = replace(
        found.plan,
        processes=5,
        runners=[PlannedRunner(runner=one, side=None, source="builtin", problem=PROBLEM) for one in BASELINE],
    )
    return replace(found, created_utc=day, results=results, plan=plan, sessions=[session], **changes)


def baseline() -> Run:
    """The run before."""
    return made(BASELINE, "2026-11-21T16:02:00Z")


def candidate() -> Run:
    """The last run, with another wait policy and one warning."""
    environment = replace(ENVIRONMENT, variables={"OMP_WAIT_POLICY": "ACTIVE"})
    return made(CANDIDATE, "2026-11-22T09:14:00Z", environment=environment, warnings=[SEVERAL_MODES])


def partial() -> Run:
    """The last run after 8 of its 15 processes."""
    return made(PARTIAL, "2026-11-22T09:14:00Z", status="interrupted")
