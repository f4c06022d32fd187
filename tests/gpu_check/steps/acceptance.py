"""The acceptance table: every runner, few iterations. Runners that compile come last, since they take longest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError, Status

if TYPE_CHECKING:
    from gpu_check.session import Session

#: Of the runners that compile, and of all others: the tests that follow need half of the time.
_LIMIT_S = 150.0
#: Of a runner: a compiled one that takes longer is a failure of its own.
_COMPILE_LIMIT_S = 100
_WARMUP = 3
_PHASE_KEYS = {"estimate_ns": "ns", "host_ns": "host ns", "launch_bound": "launch-bound"}


def run(session: Session) -> Iterator[Item]:
    """Yields an item for each runner."""
    chosen = _chosen(session)
    for compiles in (False, True):
        names = [one["name"] for one in chosen if one["compiles"] is compiles]
        if names:
            yield from _measured(session, "compiled" if compiles else "eager", names)


def _chosen(session: Session) -> list[dict[str, Any]]:
    """Returns the runners that run on CUDA, as `fastrnns-rs list` describes them."""
    ended = session.fastrnns("list", "list", "--json", limit_s=60)
    runners: list[dict[str, Any]] = json.loads(ended.log.read_text())["runners"]
    names = session.options.runners
    return [one for one in runners if (one["name"] in names if names else "cuda" in one.get("devices", ["cuda"]))]


def _measured(session: Session, kind: str, names: Sequence[str]) -> Iterator[Item]:
    """Yields the rows of one bench. A bench that is interrupted keeps the rows that it has."""
    output = session.path("acceptance", f"{kind}.json")
    effort = ("--processes", "1", "--warmup", str(_WARMUP), "--nloops", str(session.options.nloops))
    words = ("bench", "--rnns", *names, "--group", "rnns", "--device", "cuda", *effort, "--output", str(output))
    limits = ("--compile-timeout", str(_COMPILE_LIMIT_S))
    quick = ("--quick",) if session.options.quick else ()
    try:
        ended = session.fastrnns(f"acceptance-{kind}", *words, *limits, *quick, limit_s=_LIMIT_S)
    except NotRunError as error:
        yield from (Item(name=name, status=NOT_RUN, reason=str(error)) for name in names)
        return
    rows = _rows(output)
    if ended.status not in {0, None} and not rows:
        reason = f"bench: {ended.reason}"
        yield Item(name=f"{kind} runners", status=FAILED, reason=reason, seconds=ended.seconds, log=ended.excerpt)
        return
    for name in names:
        row = rows.get(name)
        if row is not None and not (ended.status is None and row["reason"] == "interrupted"):
            yield _item(name, row)
        else:
            reason = f"not measured when bench ended ({ended.reason})"
            yield Item(name=name, status=NOT_RUN, reason=reason)


def _rows(output: Path) -> dict[str, dict[str, Any]]:
    if not output.exists():
        return {}
    return {one["runner"]: one for one in json.loads(output.read_text(encoding="utf-8"))["results"]}


def _item(name: str, row: Mapping[str, Any]) -> Item:
    figures: dict[str, Any] = {}
    for phase in ("forward", "backward"):
        described = row.get(phase) or {}
        figures |= {f"{phase} {unit}": described[key] for key, unit in _PHASE_KEYS.items() if key in described}
    kept = ("timing_mode", "timer_resolution_ns", "peak_memory_bytes")
    figures |= {key: row[key] for key in kept if row.get(key) is not None}
    status: Status = OK if row["status"] == "ok" else FAILED
    return Item(name=name, status=status, reason=row.get("reason"), figures=figures)
