"""Consistency checks of sessions, sides, pairs and the plan of a run file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.replicates import pair_results, ran_in_rounds
from fastrnns_rs.documents.run_soundness import check_turns, refuse_repeated
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run, RunSide

#: Stopping rules that end both sides after the same number of processes.
_PAIRED = {"count", "time", "decided"}
#: Most axes of a sweep, which has a law of growth for each of its results and axes. There are 15 options to sweep.
_MOST_AXES = 32


def check_sessions(run: Run) -> None:
    """Rejects duplicate sessions, and processes of sessions that are not listed.

    Raises:
        UsageError: If there is such a session or process; the message names the path.
    """
    refuse_repeated("sessions", ".session_id", (one.session_id for one in run.sessions))
    known = {one.session_id for one in run.sessions}
    # The list was added later, and is empty where it is missing: then comparisons have one session.
    for number, result in enumerate(run.results if known else []):
        for place, process in enumerate(result.processes):
            path = f"results[{number}].processes[{place}].session"
            # An older build, whose run is resumed, recorded no start and no load either.
            is_older = process.started_utc is None and process.load is None
            if process.session not in known and not (process.session is None and is_older):
                raise UsageError(f"{path} is {shown(process.session)}, which is not in sessions")


def check_plan(run: Run) -> None:
    """Rejects a plan that contradicts the run, or has too many axes.

    Sessions have processes, and only live processes have turns. Comparisons warn by the status, and judge live
    processes by their turns.

    Raises:
        UsageError: If the plan contradicts itself or the status, or has too many axes.
    """
    plan = run.plan
    if len(plan.axes) > _MOST_AXES:
        raise UsageError(f"plan.axes has length {len(plan.axes)}, and a sweep supports {_MOST_AXES} axes")
    if plan.stopped_by == "interrupt" and run.status != "interrupted":
        raise UsageError(f"status is {run.status}, and plan.stopped_by is interrupt")
    for number, result in enumerate(run.results):
        for place, process in enumerate(result.processes):
            check_turns(f"results[{number}].processes[{place}].", process, plan.turns)
    # The time of turns ends the loop, never a number of iterations.
    if plan.turns is not None and (not run.sides or plan.stop.rule == "count"):
        kind = "the run has no sides" if not run.sides else "plan.stop.rule is count"
        raise UsageError(f"plan.turns is {plan.turns}, and {kind}")
    if not 1 <= plan.sessions <= max(plan.processes, 1):
        raise UsageError(f"plan.sessions is {plan.sessions}, and plan.processes is {plan.processes}")


def check_sides(run: Run) -> None:
    """Rejects sides in another order, and results of other sides.

    Tables call the first side the baseline.

    Raises:
        UsageError: If the sides are not `a` and `b`, or the first of them, or a result has the runner or the
            problem of the other side.
    """
    names = [one.name for one in run.sides]
    if names != ["a", "b"][: len(names)]:
        raise UsageError(f"sides is {', '.join(names)}, not a, b")
    if len(names) > 1:
        _check_labels(*run.sides)
    for number, result in enumerate(run.results):
        # A run of several runners names them on both sides.
        other = [one for one in run.sides if one.runner == result.runner]
        if other and len(names) > 1 and result.side not in {None, *(one.name for one in other)}:
            sides = f"{shown(result.side)}, and {shown(result.runner)} is the runner of {shown(other[0].name)}"
            raise UsageError(f"results[{number}].side is {sides}")
    planned = {(one.runner, one.side, one.problem) for one in run.plan.runners}
    for number, result in enumerate(run.results):
        other_side = {"a": "b", "b": "a"}.get(result.side or "")
        key, exchanged = ((result.runner, one, result.problem) for one in (result.side, other_side))
        # The first files have no list of planned runners.
        if key not in planned and exchanged in planned:
            raise UsageError(
                f"results[{number}].side is {shown(result.side)}, and plan.runners has it on the other side"
            )


def _check_labels(*sides: RunSide) -> None:
    """Checks that no side has the label of the other, which is a heading."""
    labels = [_find_labels(one) for one in sides]
    for one, own, other in zip(sides, labels, reversed(labels), strict=True):
        if one.label in other - own:
            raise UsageError(f"side {one.name} has the label of the other side, {shown(one.label)}")


def _find_labels(side: RunSide) -> set[str]:
    """Returns the labels of a side with one runner, and with several."""
    python = [] if side.python is None else [f"python={side.python}"]
    words = [*side.options, *(f"{key}={value}" for key, value in side.variables.items()), *python]
    return {" ".join([name, *words]) for name in (side.runner, side.name)}


def check_pairs(run: Run) -> None:
    """Rejects processes of a complete `ab` that are no pairs.

    A process without a partner would be left out like that of an interrupted run, and pairs in another order would be
    compared as independent processes.

    Raises:
        UsageError: If the sides have different processes, or processes of one index did not run one after another.
    """
    if run.status != "complete":
        return
    numbers = {id(one): number for number, one in enumerate(run.results)}
    for first, second in (pair for pair in pair_results(run) if len(pair) > 1):
        number, other = numbers[id(first)], numbers[id(second)]
        processes = [*first.processes, *second.processes]
        if {first.status, second.status, *(one.status for one in processes)} != {"ok"}:
            continue
        path = f"results[{other}].processes"
        fewer, more = sorted(({one.index for one in side.processes} for side in (first, second)), key=len)
        # Of a side that is precise enough, further processes are not measured.
        if not fewer <= more or (run.plan.stop.rule in _PAIRED and fewer != more):
            raise UsageError(f"{path} has other values of index than results[{number}], and the run is complete")
        if not ran_in_rounds((first, second)):
            raise UsageError(f"{path} and those of results[{number}] have an index that contradicts their order")
