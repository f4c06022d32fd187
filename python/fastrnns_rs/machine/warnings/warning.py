"""Warnings and their codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.codec import Notice

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import Check

#: Each code has a row in docs/warnings.md.
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

#: More items would fill the screen, and the first few show the problem.
_HANDFUL = 5


def caution(code: Code, message: str, *, evidence: str, hint: str) -> Notice:
    """Returns a warning with one of this package's codes."""
    return Notice(code=code, message=message, evidence=evidence, hint=hint)


def of_found(code: Code, message: str, found: Sequence[str], hint: str) -> list[Notice]:
    """Returns a warning with the findings as evidence; empty without findings."""
    return [caution(code, message, evidence=listed(found), hint=hint)] if found else []


def of_check(code: Code, message: str, check: Check) -> list[Notice]:
    """Returns the warning of a health check, with its value as the evidence.

    The result is empty if the check does not warn.
    """
    if check.status != "warn":
        return []
    value = f"{check.value:g}" if isinstance(check.value, float) else str(check.value)
    unit = "" if check.unit is None else f" {check.unit}"
    # Some messages consist of the value alone.
    evidence = check.message if check.message == value else f"{value}{unit}: {check.message}"
    return [caution(code, message, evidence=evidence, hint=check.hint or "fastrnns-rs doctor")]


def listed(items: Sequence[str]) -> str:
    """Joins the first items, and the number of further items."""
    more = len(items) - _HANDFUL
    return "; ".join([*items[:_HANDFUL], *([f"and {more} more"] if more > 0 else [])])


def duration(nanoseconds: float) -> str:
    """Formats nanoseconds with three digits and a unit."""
    rounded = float(f"{nanoseconds:.3g}")
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if rounded >= size:
            return f"{rounded / size:g} {unit}"
    return f"{rounded:g} ns"
