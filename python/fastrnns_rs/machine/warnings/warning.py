"""A warning's code, and the notice that carries it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.codec import Notice

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import Check

#: Each has a row in docs/warnings.md.
Code = Literal[
    "more_threads_than_cores",
    "machine_busy",
    "governor",
    "turbo",
    "gpu_busy",
    "gpu_persistence",
    "gpu_throttled",
    "gpu_lost",
    "one_process",
    "two_processes",
    "warmup_not_over",
    "no_steady_state",
    "slowdown",
    "inconsistent_warmup",
    "several_modes",
    "process_modes",
    "drift",
    "coarse_clock",
    "launch_bound",
    "unjoined_work",
    "recompiled",
    "graph_breaks",
]

#: More would fill the screen, and the first few show what to look at.
_HANDFUL = 5


def caution(code: Code, message: str, *, evidence: str, hint: str) -> Notice:
    """A notice with one of our codes."""
    return Notice(code=code, message=message, evidence=evidence, hint=hint)


def of_found(code: Code, message: str, found: Sequence[str], hint: str) -> list[Notice]:
    """A notice whose evidence is what was found; none where nothing was."""
    return [caution(code, message, evidence=listed(found), hint=hint)] if found else []


def of_check(code: Code, message: str, check: Check) -> list[Notice]:
    """What a check of the machine warns of, if it does; its value is the evidence."""
    if check.status != "warn":
        return []
    value = f"{check.value:g}" if isinstance(check.value, float) else str(check.value)
    unit = "" if check.unit is None else f" {check.unit}"
    return [caution(code, message, evidence=f"{value}{unit}: {check.message}", hint=check.hint or "fastrnns-rs doctor")]


def listed(items: Sequence[str]) -> str:
    """A handful of items, and how many more there are."""
    more = len(items) - _HANDFUL
    return "; ".join([*items[:_HANDFUL], *([f"and {more} more"] if more > 0 else [])])


def duration(nanoseconds: float) -> str:
    """Three digits and a unit."""
    rounded = float(f"{nanoseconds:.3g}")
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if rounded >= size:
            return f"{rounded / size:g} {unit}"
    return f"{rounded:g} ns"
