"""Columns of a comparison, for terminals and for Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.comparison.words import UNKNOWN
from fastrnns_rs.views.table import Column
from fastrnns_rs.views.units import milliseconds, significant

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison, Figures, Kernel, KernelFigures

#: Tables for reading list at most this many kernels, the largest changes first.
_MOST_KERNELS = 20
_PRESENCE = {"appeared": "+ appeared", "vanished": "× vanished"}
_BASES = {"per_iteration": "those of an iteration", "per_capture": "those of a capture, on average"}


def _number(heading: str, text: Callable[..., str]) -> Column:
    return Column(heading, text, right=True)


def make_row_columns(comparison: Comparison, escape: Callable[[str], str]) -> list[Column]:
    """Returns the columns of `NamedRow`.

    Args:
        comparison: Comparison, for the level of its intervals.
        escape: Function that escapes texts of the document.
    """

    def estimate(side: Figures | None) -> str:
        return UNKNOWN if side is None else milliseconds(side.estimate_ns)

    def delta(value: float | None) -> str:
        return UNKNOWN if value is None else f"{value:.2f}"

    return [
        Column("runner", lambda one: escape(one.title)),
        Column("phase", lambda one: one.row.phase or UNKNOWN),
        _number("baseline, ms", lambda one: estimate(one.row.baseline)),
        _number("candidate, ms", lambda one: estimate(one.row.candidate)),
        _number("ratio", lambda one: words.ratio(one.row.ratio)),
        _number(words.interval_heading(comparison.method), lambda one: words.interval(one.row)),
        _number("change, %", lambda one: words.change(one.row.ratio)),
        _number("Cliff's delta", lambda one: delta(one.row.cliffs_delta)),
        _number("processes", lambda one: words.processes(one.row)),
        Column("verdict", lambda one: words.verdict(one.row)),
    ]


def make_change_columns(comparison: Comparison, name: str, escape: Callable[[str], str]) -> list[Column]:
    """Returns the columns of kernels and categories.

    The name is last, because it may be long.

    Args:
        comparison: Comparison, for the level of its intervals.
        name: Heading of the names.
        escape: Function that escapes a name.
    """
    return [
        _number("change, ms", _delta),
        _number("share, %", _contribution),
        _number("baseline, ms", lambda one: _time(one.baseline)),
        _number("candidate, ms", lambda one: _time(one.candidate)),
        _number("ratio", lambda one: words.ratio(one.ratio)),
        _number(words.interval_heading(comparison.method), words.interval),
        _number("launches", _launches),
        Column("verdict", lambda one: _PRESENCE.get(one.presence) or words.VERDICTS[one.verdict]),
        Column("category", lambda one: _category(getattr(one, "category", ""), escape)),
        Column(name, lambda one: escape(one.name)),
    ]


def kernels(comparison: Comparison) -> tuple[list[Kernel], str | None]:
    """Returns the kernels with the largest changes, and a line that counts the rest.

    There is no line (None) if all kernels are returned.
    """
    left = len(comparison.kernels) - _MOST_KERNELS
    more = f"… and {left} more, which changed less: --format json has all" if left > 0 else None
    return comparison.kernels[:_MOST_KERNELS], more


def former_name(kernel: Kernel) -> str | None:
    """Returns a kernel's name in the baseline if it differs, else None."""
    return kernel.baseline_name if kernel.matched_by == "shape" else None


def heading(comparison: Comparison) -> str:
    """Returns the numbers of captures and iterations of both sides, and the basis.

    An example is `2 captures, 40 iterations → 1 capture; times are those of a capture, on average`.
    """
    sides = []
    for side in (comparison.baseline, comparison.candidate):
        known = (("capture", side.captures), ("iteration", side.iterations))
        sides.append(", ".join(counted(n, one) for one, n in known if n is not None))
    return f"{' → '.join(sides)}; times are {_BASES.get(comparison.basis or '', 'those of the whole capture')}"


def iteration_medians(comparison: Comparison) -> list[str]:
    """Returns `medians of iterations: host 176.3 → 170.1 ms, …`.

    The list is empty unless both sides have iterations.
    """
    names = (("host", "host"), ("GPU span", "gpu"), ("GPU busy", "gpu_busy"), ("GPU time", "gpu_time"))
    sides = (comparison.baseline, comparison.candidate)
    pairs = [(name, [getattr(side, f"{key}_median_ns") for side in sides]) for name, key in names]
    known = [f"{name} {' → '.join(map(milliseconds, pair))} ms" for name, pair in pairs if None not in pair]
    return [f"medians of iterations: {', '.join(known)}"] if known else []


def _category(name: str, escape: Callable[[str], str]) -> str:
    """Returns a category, escaped unless it is a word.

    User-defined rules can use any text as a category.
    """
    return name if not name or name.isidentifier() else escape(name)


def _delta(found: Change) -> str:
    """Formats the change in ms with a sign."""
    sign = "-" if found.delta_ns < 0 else "+" if found.delta_ns else ""
    return sign + milliseconds(abs(found.delta_ns))


def _contribution(found: Change) -> str:
    """Formats the share of the total change, in percent."""
    if found.contribution is None:
        return UNKNOWN
    # Adding 0 removes the sign of a negative zero.
    return f"{words.rounded(found.contribution * 1e3) / 10.0 + 0.0:.1f}"


def _time(side: KernelFigures | None) -> str:
    return UNKNOWN if side is None else milliseconds(side.total_ns)


def _launches(found: Change) -> str:
    """Formats launches as `12`, or as `12 → 24` if the sides differ."""
    before, after = ("0" if side is None else _count(side.launches) for side in (found.baseline, found.candidate))
    return before if before == after else f"{before} → {after}"


def _count(launches: float) -> str:
    return f"{launches:.0f}" if launches % 1 == 0 else significant(launches)
