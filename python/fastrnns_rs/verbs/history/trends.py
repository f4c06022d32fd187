"""Times of each row over the runs of a history."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.history_trends import Trend, TrendPoint, TrendSegment
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine.level_changes import find_level_changes
from fastrnns_rs.verbs.compare.environment_keys import count_devices, plain
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.session_spread import PastSession, past_sessions, pool_spread
from fastrnns_rs.verbs.compare.side import Series, sizes

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History, KeptRun
    from fastrnns_rs.documents.run_file import PhaseSummary

#: Number of runs whose files are read.
MOST_RUNS = 200
#: A run of fewer processes has a range, or an interval within its process, which shows no other process.
_LEAST_FOR_INTERVAL = 3


@dataclass(frozen=True, slots=True)
class _Found:
    """Row of one run: what distinguishes rows, its point, and its sessions."""

    known: Mapping[str, Any]
    series: Series
    point: TrendPoint
    machine_id: str | None


def with_trends(history: History) -> History:
    """Returns the history with the times of each row over its newest runs.

    Runs of `ab` are left out, because their sides may differ in software and settings.
    """
    runs = [one for one in history.runs if one.verb == "bench"][-MOST_RUNS:]
    rows: dict[Hashable, list[_Found]] = {}
    for run in runs:
        # A run has a row once.
        for key, found in dict(reversed([*_rows(run)])).items():
            rows.setdefault(key, []).append(found)
    several = [found for found in rows.values() if len(found) > 1]
    trends = [_trend(found, name) for found, name in zip(several, _names(several), strict=True)]
    return replace(history, trends=sorted(trends, key=lambda one: one.name), n_trend_runs=len(runs))


def _rows(kept: KeptRun) -> Iterator[tuple[Hashable, _Found]]:
    """Yields the rows of a run; nothing for a file that is gone or damaged."""
    try:
        run = Run.load(kept.path)
        series = side_of_run(run, label="", file=kept.path).series
    except FastrnnsError:
        return
    machine = run.sessions[-1].machine_id if run.sessions else None
    shared = _shared(run, machine)
    gpus = {f"cuda:{card.index}": card.uuid or card.name for card in reversed(run.environment.gpus)}
    results = iter(run.results)
    result = None
    for one in series:
        # Each result has a series of its forward phase first.
        result = next(results) if one.phase == "forward" else result
        summary = None if result is None else getattr(result, str(one.phase))
        if summary is not None and one.problem is not None and one.medians_ns and summary.estimate_ns > 0:
            known = _known(one, shared, gpus)
            yield tuple(known.items()), _Found(known, one, _point(kept, summary), machine)


def _shared(run: Run, machine: str | None) -> dict[str, Any]:
    """Returns what the rows of a run share, in the order of names.

    It is made once, because the list of CPUs may be long.
    """
    environment = run.environment
    return {
        "threads": run.plan.threads or environment.num_threads,
        "affinity": plain(run.plan.affinity),
        **{name.replace("_", "-"): value for name, value in to_plain(run.plan.jit).items()},
        "ranks": len(run.ranks),
        "devices-at-once": count_devices(run.plan),
        # Each row has its own.
        "gpu": None,
        "machine": machine or f"{environment.cpu_model}, {environment.cpu_count} CPUs, {environment.os}",
    }


def _known(one: Series, shared: Mapping[str, Any], gpus: Mapping[str, str]) -> dict[str, Any]:
    """Returns what rows of one trend have in common.

    Args:
        one: Row.
        shared: What the rows of its run share.
        gpus: ID or name of each GPU by its device.
    """
    size = sizes(one)
    return {
        "runner": one.runner,
        "phase": one.phase,
        **{name.replace("_", "-"): value for name, value in size.items()},
        "mode": one.mode,
        "timing-mode": one.timing_mode,
        **shared,
        "gpu": gpus.get(size["device"]),
    }


def _point(kept: KeptRun, summary: PhaseSummary) -> TrendPoint:
    has_interval = summary.n_processes >= _LEAST_FOR_INTERVAL
    return TrendPoint(
        run_id=kept.run_id,
        started_utc=kept.last_started_utc,
        commit=kept.commit,
        dirty=kept.dirty,
        tags=kept.tags,
        torch_version=kept.torch_version,
        n_processes=summary.n_processes,
        estimate_ns=summary.estimate_ns,
        ci_low_ns=summary.ci_low_ns if has_interval else None,
        ci_high_ns=summary.ci_high_ns if has_interval else None,
    )


def _trend(found: Sequence[_Found], name: str) -> Trend:
    segments = _segments([one.point.estimate_ns for one in found])
    # The spread between sessions is that within segments: a change is no spread.
    sessions: dict[tuple[str, int], PastSession] = {}
    for number, segment in enumerate(segments):
        for one in found[segment.begin : segment.end]:
            for row in past_sessions(f"{number}", one.series):
                sessions.setdefault((row.session, number), row)
    spread = pool_spread([*sessions.values()])
    first = found[0]
    return Trend(
        name=name,
        runner=first.known["runner"],
        phase=first.known["phase"],
        device=first.known["device"],
        machine_id=first.machine_id,
        points=[one.point for one in found],
        segments=segments,
        session_stddev=None if spread is None else spread.stddev,
        n_sessions=len({session for session, _ in sessions}),
    )


def _segments(times: Sequence[float]) -> list[TrendSegment]:
    logs = [math.log(one) for one in times]
    places = [0, *find_level_changes(logs), len(logs)]
    return [
        TrendSegment(begin=begin, end=end, level_ns=math.exp(math.fsum(logs[begin:end]) / (end - begin)))
        for begin, end in pairwise(places)
    ]


def _names(rows: Sequence[Sequence[_Found]]) -> Iterator[str]:
    """Yields a unique name for each trend, which begins with runner and phase."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for one in rows:
        groups.setdefault(_short_name(one[0].known), []).append(one[0].known)
    # Once for each group: a sweep has thousands of rows of one name.
    differing = {
        name: [key for key in group[0] if len({known[key] for known in group}) > 1] for name, group in groups.items()
    }
    for one in rows:
        known, name = one[0].known, _short_name(one[0].known)
        values = ",".join(f"{key}={known[key]}" for key in differing[name])
        yield f"{name}, {values}" if values else name


def _short_name(known: Mapping[str, Any]) -> str:
    return f"{known['runner']}/{known['phase']}"
