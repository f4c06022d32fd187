"""Idle time of the GPUs of a side, by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastrnns_rs.documents.comparison import IdleTime
from fastrnns_rs.documents.soundness import SUM_END
from fastrnns_rs.verbs.compare.captures.rounded_shares import divide_and_round

#: Name of the busy time among the parts of a span.
_BUSY = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureIdle:
    """Idle time of one capture.

    Attributes:
        span_ns: Time from the first to the last GPU activity, of all GPUs together.
        causes_ns: Idle time by cause.
    """

    span_ns: int
    causes_ns: dict[str, int]


def read_idle(summary: dict[str, Any]) -> CaptureIdle | None:
    """Returns the idle time of a summarized capture; None if it has only totals."""
    devices = [one for one in summary["devices"] if one["span_ns"] and one["budget"] is not None]
    causes: Counter[str] = Counter()
    for device in devices:
        causes.update({one["name"]: one["total_ns"] for one in device["budget"]["idle"]})
    span = sum(one["span_ns"] for one in devices)
    return CaptureIdle(span_ns=span, causes_ns=dict(causes)) if devices else None


def average_idle(captures: Sequence[CaptureIdle | None]) -> dict[str, Any]:
    """Returns the mean span and idle time of captures, under their document keys.

    The result is empty unless all captures have idle times, and where no document can hold them: a GPU with an activity
    at time 0 among times of today is idle for decades.
    """
    known = [one for one in captures if one is not None]
    if not known or len(known) < len(captures):
        return {}
    sums: Counter[str] = Counter()
    for one in known:
        sums.update(one.causes_ns)
        sums[_BUSY] += one.span_ns - sum(one.causes_ns.values())
    means = divide_and_round(sums, len(known))
    span = sum(means.values())
    if span >= SUM_END:
        return {}
    del means[_BUSY]
    rows = sorted(means.items(), key=lambda one: (-one[1], one[0]))
    return {
        "span_ns": span,
        "idle_ns": sum(means.values()),
        "idle_times": [IdleTime(cause=cause, total_ns=time, span_fraction=time / span) for cause, time in rows],
    }
