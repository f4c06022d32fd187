"""Minimum detectable effect of a planned run, from earlier processes of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.noise_figures import minimum_detectable_change
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.bench.result_rows import Row
from fastrnns_rs.verbs.compare.conditions import hash_conditions, hash_setting

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, BenchTask
    from fastrnns_rs.verbs.compare.session_spread import PastSession
    from fastrnns_rs.verbs.history.run_history import RunHistory
    from fastrnns_rs.verbs.history.run_index import RunIndex

#: With fewer degrees of freedom, the standard deviation is hardly known. A default `bench` has four.
_LEAST_DEGREES = 4
#: Older sessions may show another state of the machine.
_MOST_SESSIONS = 8
#: Fewer processes per side give no verdict.
_LEAST_PROCESSES = 3
#: Above this standard deviation, every difference is hidden.
_MOST_SPREAD = 1.0
#: Two digits are shown.
_PRECISION = 0.02
_PHASES = ("forward", "backward")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEffect:
    """Minimum detectable effect of a planned run in its noisiest row, at 80 % power.

    Attributes:
        row: Runner and phase of the noisiest row.
        rows: Number of rows whose spread is known.
        processes: Number of earlier processes behind the row.
        effect: Relative difference: 0.02 for a candidate that takes 1.02 times as long.
    """

    row: str
    rows: int
    processes: int
    effect: float


@dataclass(frozen=True, slots=True)
class _Spread:
    """Variance of the log medians of processes within a session, and their number."""

    variance: float
    processes: int


def find_planned_effect(
    plan: BenchPlan, run: Run, history: RunHistory | None, *, margin: float = 0.01
) -> PlannedEffect | None:
    """Returns the minimum detectable effect of a plan, from the history.

    For `ab`, it is the effect of one row alone on pairs of processes, as if the two processes of a pair were
    independent. For `bench`, it is the effect between two such runs whose sessions do not differ.

    Args:
        plan: Plan of one session with a fixed number of processes.
        run: New run of the plan, without results.
        history: History; None without one.
        margin: Equivalence margin as a share.

    Returns:
        The effect; None if it is unknown, or the plan does not fix the number of processes of one session.
    """
    by_result = plan.rule is not None and plan.rule.rule in {"precision", "decided"}
    is_fixed = not by_result and plan.sessions == 1 and not run.results
    if not is_fixed or plan.processes < _LEAST_PROCESSES or history is None:
        return None
    rows = [*_rows(plan, run)]
    spreads: dict[str, _Spread] = {}
    # The history is read again at the end of the run, and its errors are reported there.
    with suppress(FastrnnsError):
        if not history.exists():
            return None
        with history.index() as index:
            spreads = _measure(index, {kind for _, sides in rows for side in sides for kind in side})
    known = [(name, found) for name, sides in rows if (found := _difference(sides, spreads)) is not None]
    if not known:
        return None
    name, worst = max(known, key=lambda one: one[1].variance)
    paired = plan.design == "pairs"
    # The variance is that of a difference. Two sides of equal variance share it.
    spread = math.sqrt(worst.variance if paired else worst.variance / 2)
    if spread > _MOST_SPREAD:
        return None
    effect = minimum_detectable_change(spread, plan.processes, margin=margin, paired=paired, precision=_PRECISION)
    return PlannedEffect(row=name, rows=len(known), processes=worst.processes, effect=effect)


def _rows(plan: BenchPlan, run: Run) -> Iterator[tuple[str, list[list[str]]]]:
    """Yields the name of each planned row, and the condition hashes of its two sides.

    The first known hash of a side counts. A side without earlier processes varies as the same runner on the other side.
    """
    settings = {side: hash_setting(run, side) for side in {task.side for task in plan.tasks}}
    for first in range(0, len(plan.tasks), plan.compared):
        tasks = plan.tasks[first : first + plan.compared]
        if any(task.refusal is not None for task in tasks):
            continue
        name = " / ".join(dict.fromkeys(task.name for task in tasks))
        for phase in _PHASES[: 2 if tasks[0].problem.training else 1]:
            kinds = [_kind(task, settings[task.side], phase, plan.loop.sync) for task in (tasks[0], tasks[-1])]
            is_same = tasks[0].runner is tasks[-1].runner
            yield f"{name}/{phase}", [kinds, kinds[::-1]] if is_same else [[kind] for kind in kinds]


def _kind(task: BenchTask, setting: str, phase: str, sync: str) -> str:
    events = "cuda_events" if sync == "iteration" else "cuda_events_by_phase"
    mode = events if task.problem.device.startswith("cuda") else "cpu_wall"
    return hash_conditions(setting, replace(Row(task).result(), timing_mode=mode), phase)[0]


def _measure(index: RunIndex, kinds: set[str]) -> dict[str, _Spread]:
    """Returns the spread of each kind that has enough processes in its last sessions."""
    sessions: dict[str, list[PastSession]] = {kind: [] for kind in kinds}
    for one in index.recent(kinds):
        if one.variance is not None and len(sessions[one.kind]) < _MOST_SESSIONS:
            sessions[one.kind].append(one)
    pooled = {kind: _pool(found) for kind, found in sessions.items()}
    return {kind: found for kind, found in pooled.items() if found is not None}


def _pool(sessions: Sequence[PastSession]) -> _Spread | None:
    degrees = sum(one.n_processes - 1 for one in sessions)
    if degrees < _LEAST_DEGREES:
        return None
    squares = math.fsum((one.variance or 0.0) * (one.n_processes - 1) for one in sessions)
    return _Spread(squares / degrees, sum(one.n_processes for one in sessions))


def _difference(sides: Sequence[Sequence[str]], spreads: dict[str, _Spread]) -> _Spread | None:
    """Returns the spread of a difference of processes; None if a side is unknown."""
    known = [next((spreads[kind] for kind in side if kind in spreads), None) for side in sides]
    found = [one for one in known if one is not None]
    if len(found) < len(known):
        return None
    return _Spread(math.fsum(one.variance for one in found), min(one.processes for one in found))
