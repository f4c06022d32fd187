"""Brief comparison of captures.

The text contains both sides, the overall change, categories and functions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.comparison.sides import align_sides, difference_line
from fastrnns_rs.views.figures import change_with_unit
from fastrnns_rs.views.prose import wrapped
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.screen import Line, joined
from fastrnns_rs.views.table import fit, folded
from fastrnns_rs.views.text import pad, width
from fastrnns_rs.views.units import significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fastrnns_rs.documents.comparison import Change, Compared, Comparison, Kernel, Verdict

_CATEGORIES, _FUNCTIONS = 4, 3
#: Widths of the number columns, and of all columns of a line except the name.
_TIME, _CHANGE, _LAUNCHES = (10, 11), 9, 15
_BEYOND = 53
_LEAST_NAME = 12
_LONGEST_DEVICES = 30
#: Columns of the sides that are left out on a narrow terminal: the GPUs first.
_OPTIONAL = (2, 3)
#: A side with fewer captures has no verdict.
_LEAST_CAPTURES = 3
_PER = {"per_iteration": " per iteration", "per_capture": " per capture"}
_COPIES = "copies and sets"
_HEADINGS = ("", "baseline", "candidate", "change", "")


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


def lines(comparison: Comparison, limit: int) -> list[Line]:
    """Returns the brief comparison of captures, without its warnings.

    Args:
        comparison: Comparison of captures.
        limit: Width of the terminal.
    """
    return joined([head(comparison, limit), answer(comparison, limit), *tables(comparison, limit)])


def head(comparison: Comparison, limit: int) -> list[Line]:
    """Returns a line for each side, and a line with other differences.

    The line of a side has its files, GPUs, and numbers of captures and iterations.
    """
    others = [one for one in comparison.environment_differences if one.key != "devices"]
    return [*(Line(text, "dim") for text in _sides(comparison, limit)), *difference_line(others, limit)]


def tables(comparison: Comparison, limit: int) -> Iterator[list[Line]]:
    """Yields the largest changes of categories, then of functions."""
    categories, functions, scale = _parts(comparison)
    yield _table("category", categories, _CATEGORIES, scale, limit, heading=True)
    yield _table("kernel or copy", functions, _FUNCTIONS, scale, limit, heading=False)


def _parts(comparison: Comparison) -> tuple[list[Sum], list[Sum], Scale]:
    """Returns the changes of categories and of functions, and their scale."""
    categories = _sums(comparison.categories, lambda one: _COPIES if one.name == "memory" else one.name)
    functions = _sums(comparison.kernels, _function)
    return categories, functions, Scale([time for one in categories[:_CATEGORIES] for time in one.times if time])


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
    def side_cells(side: Compared) -> list[str]:
        known = (("capture", side.captures), ("iteration", side.iterations))
        counts = ", ".join(counted(number, name) for name, number in known if number is not None)
        return [visible(side.label), fit(", ".join(map(visible, side.devices or [])), _LONGEST_DEVICES), counts]

    rows = [["baseline", *side_cells(comparison.baseline)], ["candidate", *side_cells(comparison.candidate)]]
    return align_sides(rows, limit, _OPTIONAL)


def format_device_time_change(comparison: Comparison) -> str:
    """Returns `GPU time per iteration: 83.6 ms → 151.2 ms, +67.6 ms (+81 %)`.

    The text is empty if there is nothing to compare.
    """
    whole = comparison.device_time
    if whole is None:
        return ""
    before, after = (side.total_ns if side else 0 for side in (whole.baseline, whole.candidate))
    scale = Scale([max(before, after)])
    unit = scale.unit
    times = f"{scale.text(before)} {unit} → {scale.text(after)} {unit}, {_signed(after - before, scale)} {unit}"
    return f"GPU time{_PER.get(comparison.basis or '', '')}: {times} ({relative_change(whole)})"


def relative_change(whole: Change) -> str:
    """Returns `+81 %`, with its interval if there is one."""
    if whole.ratio is None:
        return words.UNKNOWN
    return change_with_unit(whole.ratio, whole.ratio_ci_low, whole.ratio_ci_high)


def answer(comparison: Comparison, limit: int) -> list[Line]:
    """Returns the overall change, then its verdict or the reason for no verdict."""
    whole = comparison.device_time
    if whole is None:
        return [Line("nothing to compare")]
    captures = [side.captures or 0 for side in (comparison.baseline, comparison.candidate)]
    if whole.verdict is not None:
        second = f"{words.VERDICTS[whole.verdict]}; kernels and copies: {words.counts(comparison)}"
    elif min(captures) < _LEAST_CAPTURES:
        count = "one capture per side" if max(captures) == 1 else f"{captures[0]} and {captures[1]} captures"
        second = (
            f"No verdict: {count}. A verdict needs {_LEAST_CAPTURES} captures per side, of {_LEAST_CAPTURES} processes."
        )
    else:
        second = f"No verdict: {whole.reason.removesuffix(': no verdict')}."
    first = wrapped(format_device_time_change(comparison), limit)
    return [*(Line(text, "bold") for text in first), *map(Line, wrapped(second, limit))]


def _table(name: str, found: Sequence[Sum], count: int, scale: Scale, limit: int, *, heading: bool) -> list[Line]:
    """Formats the largest changes, and a row for all others."""
    if not found:
        return []
    rows = _folded(found, count)
    room = max(limit - _BEYOND, _LEAST_NAME)
    names = kernel_names.shortened([(one.name, one.name) for one in rows], room + 2, middle=False)
    found_lines = [Line(_line(room, *_HEADINGS), "bold")] if heading else []
    found_lines.append(Line(_line(room, name, scale.unit, scale.unit, scale.unit, "launches"), "bold"))
    return [
        *found_lines,
        *(Line(_line(room, *_cells(one, short, scale))) for short, one in zip(names, rows, strict=True)),
    ]


def grids(comparison: Comparison) -> Iterator[tuple[list[list[str]], list[list[str]]]]:
    """Yields two lines of headings and the rows of each table, with whole names."""
    categories, functions, scale = _parts(comparison)
    for name, found, count in (("category", categories, _CATEGORIES), ("kernel or copy", functions, _FUNCTIONS)):
        if found:
            headings = [[*_HEADINGS, ""], [name, scale.unit, scale.unit, scale.unit, "launches", ""]]
            yield headings, [[*_cells(one, one.name, scale)] for one in _folded(found, count)]


def _folded(found: Sequence[Sum], count: int) -> list[Sum]:
    """Returns the first rows, and the sum of all others."""
    shown, rest = folded(found, count)
    if not rest:
        return [*shown]
    others = Sum(f"{len(rest):,} others")
    others.times = [sum(one.times[place] or 0 for one in rest) for place in (0, 1)]
    others.launches = [math.fsum(one.launches[place] for one in rest) for place in (0, 1)]
    return [*shown, others]


def _cells(one: Sum, name: str, scale: Scale) -> tuple[str, str, str, str, str, str]:
    first, second = ("-" if time is None else scale.text(time) for time in one.times)
    mark = f"  {words.VERDICTS[one.verdict][0]}" if one.verdict else ""
    return name, first, second, _signed(one.change, scale), _launches(one.launches), mark


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
