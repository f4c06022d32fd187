"""The acceptance table: every runner, few iterations. Runners that compile come last, one by one: they take longest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_check.items import FAILED, NOT_RUN, OK, Item, NotRunError, Status

if TYPE_CHECKING:
    from gpu_check.session import Session

#: Time that what follows needs: the runners that compile and the tests, and the tests alone.
_RESERVED_S = {"eager": 400.0, "compiled": 250.0}
#: Time that is used of what is reserved, so that the table is never empty.
_LEAST_S = {"eager": 150.0, "compiled": 0.0}
#: Time that a runner needs to be worth a start.
_WORTH_S = 60.0
#: Time limit of the first call of a runner; shorter than that of `bench`.
_COMPILE_LIMIT_S = 100
#: The runner that takes longest to compile.
_LAST = "compile_unrolled"
_WARMUP = 3
_PHASE_KEYS = {"estimate_ns": "ns", "host_ns": "host ns", "launch_bound": "launch-bound"}


def run(session: Session) -> Iterator[Item]:
    """Yields an item for each runner."""
    chosen = _chosen(session)
    eager, compiled = ([one["name"] for one in chosen if one["compiles"] is compiles] for compiles in (False, True))
    if eager:
        yield from _measured(session, "eager", "eager", eager)
    for name in sorted(compiled, key=lambda one: one == _LAST):
        yield from _measured(session, name, "compiled", [name])


def _chosen(session: Session) -> list[dict[str, Any]]:
    """Returns the runners that run on CUDA, as `fastrnns-rs list` describes them."""
    ended = session.fastrnns("list", "list", "--json", limit_s=60)
    runners: list[dict[str, Any]] = json.loads(ended.log.read_text())["runners"]
    names = session.options.runners
    return [one for one in runners if (one["name"] in names if names else "cuda" in one.get("devices", ["cuda"]))]


def _measured(session: Session, file: str, kind: str, names: Sequence[str]) -> Iterator[Item]:
    """Yields the rows of one bench. A bench that is interrupted keeps the rows that it has."""
    output = session.path("acceptance", f"{file}.json")
    effort = ("--processes", "1", "--warmup", str(_WARMUP), "--nloops", str(session.options.nloops))
    words = ("bench", "--rnns", *names, "--group", "rnns", "--device", "cuda", *effort, "--output", str(output))
    limits = ("--compile-timeout", str(_COMPILE_LIMIT_S))
    quick = ("--quick",) if session.options.quick else ()
    limit_s = max(_LEAST_S[kind], session.left_s - _RESERVED_S[kind])
    if limit_s < _WORTH_S:
        reason = "the time that is left is for the tests"
        yield from (Item(name=name, status=NOT_RUN, reason=reason) for name in names)
        return
    try:
        ended = session.fastrnns(f"acceptance-{file}", *words, *limits, *quick, limit_s=limit_s)
    except NotRunError as error:
        yield from (Item(name=name, status=NOT_RUN, reason=str(error)) for name in names)
        return
    rows = _rows(output)
    if ended.status not in {0, None} and not rows:
        reason = f"bench: {ended.reason}"
        yield Item(name=file, status=FAILED, reason=reason, seconds=ended.seconds, log=ended.excerpt)
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
    # The limit is that of this check, and no fault of the runner.
    statuses: dict[str, Status] = {"ok": OK, "timed_out": NOT_RUN}
    status = statuses.get(row["status"], FAILED)
    return Item(name=name, status=status, reason=row.get("reason"), figures=figures)
