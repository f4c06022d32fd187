"""Tables of the brief report: kernels, copies, or CPU activities without a GPU."""

from __future__ import annotations

from fastrnns_rs.views.kernel_names import shortened
from fastrnns_rs.views.scale import Scale, decimals
from fastrnns_rs.views.summary.budget import share
from fastrnns_rs.views.table import Column, folded, line

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Row = dict[str, Any]

#: Heading of shares of the time between the first and the last activity.
_OF_SPAN = "of span"
#: Smaller shares are printed as 0.
_LEAST_SHARE = 0.0005
#: Widths of the number columns: total, share, count, mean.
_WIDTHS = (10, 10, 10, 10)
_WIDTHS_PER_GPU = (12, 10, 10, 8)
_LEAST_NAME = 20
_CATEGORIES = 4


class Sum:
    """Sum of the activities of one name.

    `full` and `short` are names, `total` is in ns. `in_span` is False if a capture contains only totals, without times.
    """

    __slots__ = ("count", "full", "in_span", "short", "size", "total")

    def __init__(self, full: str, short: str = "") -> None:
        self.full = full
        self.short = short or full
        self.count = 0
        self.total = 0
        self.size: int | None = 0
        self.in_span = True

    def add(self, row: Row) -> None:
        """Adds a row of the document."""
        self.count += row["count"]
        self.total += row["total_ns"]
        self.in_span &= row.get("median_ns", 0) is not None
        size = row.get("total_bytes")
        self.size = None if size is None or self.size is None else self.size + size


def sums(rows: Iterable[Row], key: str = "name") -> list[Sum]:
    """Sums the rows of all devices by name, the longest total first."""
    found: dict[tuple[str, str | None], Sum] = {}
    for row in rows:
        name = (row[key], row.get("mangled_name"))
        if name not in found:
            found[name] = Sum(row[key], row.get("short_name", ""))
        found[name].add(row)
    return sorted(found.values(), key=lambda one: -one.total)


class Whole:
    """Reference time of shares, and number of GPUs over which times are averaged.

    `like` is the scale of a preceding table, `scale` the common scale of all tables.
    """

    __slots__ = ("gpus", "heading", "like", "scale", "span")

    def __init__(
        self,
        span: float,
        heading: str = _OF_SPAN,
        gpus: int = 1,
        like: Scale | None = None,
        scale: Scale | None = None,
    ) -> None:
        self.span = span
        self.heading = heading
        self.gpus = gpus
        self.like = like
        self.scale = scale


def kernels(found: Sequence[Sum], whole: Whole, count: int, limit: int) -> list[str]:
    """Formats the longest kernels, and a row for all others."""
    shown = _folded(found, count, "kernels")
    heading = f"kernel, {whole.gpus} GPUs" if whole.gpus > 1 else "kernel"
    return _table(heading, shown, whole, ("total", "launches"), limit)


def categories(found: Sequence[Sum], whole: Whole, limit: int) -> list[str]:
    """Formats the longest categories of kernels."""
    heading = f"category, {whole.gpus} GPUs" if whole.gpus > 1 else "category"
    return _table(heading, _folded(found, _CATEGORIES, "categories"), whole, ("total", "launches"), limit)


def cpu(heading: str, found: Sequence[Sum], count: int, limit: int, total: str = "total") -> list[str]:
    """Formats the longest CPU activities: operators, NVTX ranges or calls."""
    whole = Whole(sum(one.total for one in found), "of all")
    return _table(heading, _folded(found, count, f"{heading}s"), whole, (total, "calls"), limit)


def copies(found: Sequence[Sum], whole: Whole, limit: int) -> list[str]:
    """Formats each kind of copies with its bandwidth.

    Kinds with a negligible time share one row.
    """
    large = [one for one in found if one.total >= _LEAST_SHARE * whole.span * whole.gpus] or [*found[:1]]
    small = found[len(large) :]
    for one in found:
        one.full = one.short = "sets" if one.full == "memset" else one.full.removeprefix("memcpy ")
    speeds = [one.size / one.total if one.size and one.total else None for one in large]
    places = decimals([speed for speed in speeds if speed is not None])
    last = ["-" if speed is None else f"{speed:.{places}f}" for speed in speeds]
    if small:
        names = ", ".join(one.full for one in small)
        large, last = [*large, _together(small, names)], [*last, "-"]
    known = ("GB/s", last) if any(one != "-" for one in last) else None
    return _table("copies and sets", large, whole, ("total", "calls"), limit, known)


def _folded(found: Sequence[Sum], count: int, what: str) -> list[Sum]:
    """Sums all but the longest rows."""
    shown, rest = folded(found, count)
    return [*shown, *([_together(rest, f"{len(rest):,} other {what}")] if rest else [])]


def _together(rows: Sequence[Sum], name: str) -> Sum:
    both = Sum(name)
    both.count, both.total = sum(one.count for one in rows), sum(one.total for one in rows)
    both.in_span = all(one.in_span for one in rows)
    return both


def _table(
    heading: str,
    rows: Sequence[Sum],
    whole: Whole,
    names: tuple[str, str],
    limit: int,
    last: tuple[str, list[str]] | None = None,
) -> list[str]:
    """Formats name, time, share, count and mean time, or another last column."""
    scale = whole.scale or Scale([one.total / whole.gpus for one in rows], whole.like)
    shares = [
        share(one.total / whole.gpus, whole.span) if one.in_span or whole.heading != _OF_SPAN else "-" for one in rows
    ]
    means = [one.total / one.count if one.count else 0.0 for one in rows]
    mean_scale = Scale(means)
    final = last or (f"mean {mean_scale.unit}", [mean_scale.text(mean) for mean in means])
    columns = [
        [f"{scale.unit} per GPU" if whole.gpus > 1 else f"{names[0]} {scale.unit}"]
        + [scale.text(one.total / whole.gpus) for one in rows],
        [whole.heading, *shares],
        [names[1], *(f"{one.count:,}" for one in rows)],
        [final[0], *final[1]],
    ]
    usual = _WIDTHS_PER_GPU if whole.gpus > 1 else _WIDTHS
    widths = [
        max(usual[place], max(map(len, column)) + (1 if place == len(usual) - 1 else 2))
        for place, column in enumerate(columns)
    ]
    room = max(limit - sum(widths), _LEAST_NAME)
    first = [heading, *shortened([(one.full, one.short) for one in rows], room)]
    aligned = [Column(heading), *(Column(column[0], right=True) for column in columns)]
    return [line(aligned, row, [room, *widths], gap="") for row in zip(first, *columns, strict=True)]
