"""Brief comparison of captures.

The text contains both sides, the overall change, categories and functions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.prose import warning_lines, wrapped
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.table import fit, folded
from fastrnns_rs.views.text import pad, width
from fastrnns_rs.views.units import significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fastrnns_rs.documents.comparison import Change, Compared, Comparison, Kernel, Verdict

_CATEGORIES, _FUNCTIONS = 4, 3
#: Widths of the number columns, and of all columns of a line except the name.
_TIME, _CHANGE, _LAUNCHES = (10, 11), 9, 15
_BEYOND = 53
_LEAST_NAME = 12
_LONGEST_DEVICES = 30
#: A side with fewer captures has no verdict.
_LEAST_CAPTURES = 3
_PER = {"per_iteration": " per iteration", "per_capture": " per capture"}
_COPIES = "copies and sets"
_TIMES = "\N{MULTIPLICATION SIGN}"


class Sum:
    """Kernels of one function or category on both sides.

    Times are in ns; None on a side without such kernels.
    """

    __slots__ = ("launches", "name", "times", "verdict")

    def __init__(self, name: str) -> None:
        self.name = name
        self.times: list[int | None] = [None, None]
        self.launches = [0.0, 0.0]
        self.verdict: Verdict | None = None

    def add(self, change: Change) -> None:
        """Adds a row of the document."""
        for place, side in enumerate((change.baseline, change.candidate)):
            if side is not None:
                self.times[place] = (self.times[place] or 0) + side.total_ns
                self.launches[place] += side.launches

    @property
    def change(self) -> int:
        """Candidate minus baseline, in ns."""
        return (self.times[1] or 0) - (self.times[0] or 0)


def glance(comparison: Comparison, limit: int) -> str:
    """Formats the brief comparison of captures; the text ends with a newline."""
    categories = _sums(comparison.categories, lambda one: _COPIES if one.name == "memory" else one.name)
    functions = _sums(comparison.kernels, _function)
    shown = [time for one in categories[:_CATEGORIES] for time in one.times if time]
    scale = Scale(shown)
    blocks = [
        _sides(comparison, limit),
        _answer(comparison, limit),
        _table("category", categories, _CATEGORIES, scale, limit, heading=True),
        _table("kernel or copy", functions, _FUNCTIONS, scale, limit, heading=False),
        [
            line
            for one in comparison.warnings
            for line in warning_lines(one.code, one.message, one.evidence, one.hint, limit)
        ],
    ]
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def _function(kernel: Change) -> str:
    """Returns a kernel's function with namespaces, or the direction of a copy."""
    if kernel.name == "memset":
        return "sets"
    if kernel.name.startswith("memcpy "):
        return f"{kernel.name.removeprefix('memcpy ')} copies"
    return kernel_names.function(kernel.name, getattr(kernel, "short_name", None) or kernel.name)


def _sums(changes: Sequence[Change | Kernel], named: Callable[[Change], str]) -> list[Sum]:
    """Sums the rows of each name, the largest change first.

    Only a name with a single row has a verdict.
    """
    found: dict[str, Sum] = {}
    rows: dict[str, int] = {}
    for change in changes:
        name = named(change)
        one = found.setdefault(name, Sum(name))
        one.add(change)
        rows[name] = rows.get(name, 0) + 1
        one.verdict = change.verdict if rows[name] == 1 else None
    return sorted(found.values(), key=lambda one: (-abs(one.change), one.name))


def _sides(comparison: Comparison, limit: int) -> list[str]:
    """Returns a line for each side: files, GPUs, numbers of captures and iterations."""

    def side_cells(side: Compared) -> list[str]:
        counted = (("capture", side.captures), ("iteration", side.iterations))
        counts = ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counted if n is not None)
        return [visible(side.label), fit(", ".join(map(visible, side.devices or [])), _LONGEST_DEVICES), counts]

    rows = [["baseline", *side_cells(comparison.baseline)], ["candidate", *side_cells(comparison.candidate)]]
    rows = [[cell for cell, *both in zip(row, *rows, strict=True) if any(both)] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    # Only the path may be cut.
    widths[1] = max(min(widths[1], limit - sum(widths) + widths[1] - 2 * (len(widths) - 1)), 12)
    for row, label in zip(rows, kernel_names.shortened([(row[1], row[1]) for row in rows], widths[1]), strict=True):
        row[1] = label
    return ["  ".join(pad(cell, to) for cell, to in zip(row, widths, strict=True)).rstrip() for row in rows]


def _answer(comparison: Comparison, limit: int) -> list[str]:
    """Returns the overall change, then its verdict or the reason for no verdict."""
    whole = comparison.device_time
    if whole is None:
        return ["nothing to compare"]
    before, after = (side.total_ns if side else 0 for side in (whole.baseline, whole.candidate))
    scale = Scale([max(before, after)])
    unit = scale.unit
    times = f"{scale.text(before)} {unit} → {scale.text(after)} {unit}, {_signed(after - before, scale)} {unit}"
    text = f"GPU time{_PER.get(comparison.basis or '', '')}: {times} ({_relative(whole)})"
    captures = [side.captures or 0 for side in (comparison.baseline, comparison.candidate)]
    if whole.verdict is not None:
        counts = f"{words.VERDICTS[whole.verdict]}; kernels and copies: {words.counts(comparison)}"
        return [*wrapped(text, limit), *wrapped(counts, limit)]
    if min(captures) < _LEAST_CAPTURES:
        count = "one process per side" if max(captures) == 1 else f"{captures[0]} and {captures[1]} captures"
        why = f"No verdict: {count}. Capture each side {_LEAST_CAPTURES} times for a verdict."
    else:
        why = f"No verdict: {whole.reason.removesuffix(': no verdict')}."
    return [*wrapped(text, limit), *wrapped(why, limit)]


def _relative(whole: Change) -> str:
    """Formats the relative change as `+81 %`, with its interval if known.

    A change below -50 % or above +100 % is a factor.
    """
    if whole.ratio is None:
        return "-"
    low, high = whole.ratio_ci_low, whole.ratio_ci_high
    values = [whole.ratio] if low is None or high is None else [whole.ratio, low, high]
    if not 0.5 <= whole.ratio <= 2.0:  # noqa: PLR2004
        texts = [f"{_TIMES}{value:.2f}" for value in values]
        return texts[0] if len(texts) == 1 else f"{texts[0]} [{texts[1]}, {texts[2]}]"
    changes = [100 * (value - 1) for value in values]
    places = 1 if abs(changes[0]) < 10 else 0  # noqa: PLR2004
    # Adding 0 removes the sign of a change that rounds to 0.
    texts = [f"{round(change, places) + 0.0:+.{places}f}" for change in changes]
    return f"{texts[0]} %" if len(texts) == 1 else f"{texts[0]} [{texts[1]}, {texts[2]}] %"


def _table(name: str, found: Sequence[Sum], count: int, scale: Scale, limit: int, *, heading: bool) -> list[str]:
    """Formats the largest changes, and a row for all others."""
    if not found:
        return []
    shown, rest = folded(found, count)
    rows = [*shown]
    if rest:
        others = Sum(f"{len(rest):,} others")
        others.times = [sum(one.times[place] or 0 for one in rest) for place in (0, 1)]
        others.launches = [math.fsum(one.launches[place] for one in rest) for place in (0, 1)]
        rows.append(others)
    room = max(limit - _BEYOND, _LEAST_NAME)
    names = kernel_names.shortened([(one.name, one.name) for one in rows], room + 2, middle=False)
    lines = [_line(room, "", "baseline", "candidate", "change", "")] if heading else []
    lines.append(_line(room, name, scale.unit, scale.unit, scale.unit, "launches"))
    for short, one in zip(names, rows, strict=True):
        first, second = ("-" if time is None else scale.text(time) for time in one.times)
        change, launches = _signed(one.change, scale), _launches(one.launches)
        mark = f"  {words.VERDICTS[one.verdict][0]}" if one.verdict else ""
        lines.append(_line(room, short, first, second, change, launches, mark))
    return lines


def _line(room: int, name: str, first: str, second: str, change: str, launches: str, mark: str = "") -> str:
    left = pad(name, room + _TIME[0] - len(first) - 1)
    left = f"{left}{first:>{room + _TIME[0] - width(left)}}"
    last = f"{launches:>{max(_LAUNCHES, len(launches) + 2)}}"
    return f"{left}{second:>{_TIME[1]}}{change:>{_CHANGE}}{last}{mark}".rstrip()


def _signed(change: int, scale: Scale) -> str:
    """Formats a change with its sign; without a sign if it rounds to 0."""
    text = scale.text(abs(change))
    return text if not any(one in "123456789" for one in text) else f"{'-' if change < 0 else '+'}{text}"


def _launches(launches: Iterable[float]) -> str:
    before, after = (f"{one:,.0f}" if one % 1 == 0 or one >= 1000 else significant(one) for one in launches)  # noqa: PLR2004
    return before if before == after else f"{before} → {after}"
