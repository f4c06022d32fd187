"""Numbers of both sides of a row, sorted, and a plot of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import dot_plot
from fastrnns_rs.views.prose import wrapped

if TYPE_CHECKING:
    from fastrnns_rs.views.scale import Scale

#: More numbers of a side do not help a reader.
_MOST_NUMBERS = 100
_INDENT = 13
_SIDES = ("baseline", "candidate")


def lines(
    what: str,
    sides: Sequence[Sequence[float]],
    scale: Scale,
    limit: int,
    reasons: Sequence[str] = ("missing", "missing"),
) -> Iterator[str]:
    """Yields a heading, the numbers of each side, and a plot of both sides.

    Args:
        what: Plural noun for the numbers.
        sides: Numbers of the baseline and of the candidate, in ns.
        scale: Scale of the numbers.
        limit: Width of the terminal.
        reasons: Reason why each side has no numbers.
    """
    counts = [len(side) for side in sides]
    count = f"{counts[0]:,}" if counts[0] == counts[1] else f"{counts[0]:,} and {counts[1]:,}"
    yield f"{what}, {scale.unit} ({count} per side, sorted)"
    for name, side, reason in zip(_SIDES, sides, reasons, strict=True):
        start = f"  {name:{_INDENT - 2}}"
        if side:
            yield from _rows(start, _texts(sorted(side), scale), limit)
        else:
            yield from wrapped(f"{start}{visible(reason)}", limit)
    if all(sides):
        scaled = [[value / scale.ns for value in side] for side in sides]
        plot = dot_plot.lines([*zip(_SIDES, scaled, strict=True)], scale.unit, limit)
        yield from ["", *plot] if plot else []


def _texts(values: Sequence[float], scale: Scale) -> Iterator[str]:
    yield from (scale.text(value) for value in values[:_MOST_NUMBERS])
    if len(values) > _MOST_NUMBERS:
        yield f"… {len(values) - _MOST_NUMBERS:,} more"


def _rows(start: str, texts: Iterable[str], limit: int) -> Iterator[str]:
    """Yields lines of texts, each as long as the terminal permits."""
    line, empty = start, True
    for text in texts:
        if not empty and len(line) + 2 + len(text) > limit:
            yield line
            line, empty = " " * len(start), True
        line, empty = f"{line}{'' if empty else '  '}{text}", False
    yield line
