"""Budgets of GPU time in the brief report.

One GPU is shown in two halves, several GPUs in a row each.
"""

from __future__ import annotations

from collections import Counter

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import table
from fastrnns_rs.views.scale import Scale
from fastrnns_rs.views.table import fit
from fastrnns_rs.views.text import pad, width

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Row = dict[str, Any]
    #: Label, and time in ns.
    Part = tuple[str, int]
    #: Name, time and share.
    Cells = tuple[str, str, str]

COMMUNICATION = "communication"
#: Causes of idle time in words.
CAUSES = {"data_loader": "data loader", "graph_gap": "CUDA graph gap"}
#: Widths of a label with its time, of a share, and of the gap between the halves.
_LABEL, _SHARE, _BETWEEN = 26, 10, 5
_WHOLE = 2 * (_LABEL + _SHARE) + _BETWEEN
_CATEGORIES, _IDLE_CAUSES = 4, 5
_NEARLY = 99.9
#: From this share of a span on, time counted twice is mentioned.
_OVERLAP = 0.01
#: With more GPUs or ranks, only the slowest, the median and the fastest are shown.
MOST = 8


def share(time: float, span: float) -> str:
    """Formats a time in percent of the span; only the whole span is 100 %."""
    if not span:
        return "-"
    percent = 100 * time / span
    return f">{_NEARLY} %" if _NEARLY + 0.05 <= percent < 100 else f"{percent:.1f} %"  # noqa: PLR2004


def halves(device: Row, top: int | None, limit: int) -> tuple[list[str], Scale]:
    """Formats busy and idle time of a GPU side by side, and returns their scale.

    Each half adds up to its first row; both halves add up to the span.

    Args:
        device: Device row with its budget.
        top: Maximum number of categories and of causes. None shows 4 categories and 5 causes.
        limit: Width of the terminal. In a narrow terminal the second half is below the first.
    """
    busy, idle, scale = half_cells(device, top)

    def drawn(rows: Sequence[Cells]) -> list[str]:
        return [
            f"{pad(fit(name, _LABEL - len(time) - 2), _LABEL - len(time))}{time}{part:>{_SHARE}}"
            for name, time, part in rows
        ]

    left, right = drawn(busy), drawn(idle)
    if limit < _WHOLE:
        return [*left, *right], scale
    blank = " " * (_LABEL + _SHARE)
    left += [blank] * (len(right) - len(left))
    right += [""] * (len(left) - len(right))
    return [f"{one}{' ' * _BETWEEN}{other}".rstrip() for one, other in zip(left, right, strict=True)], scale


def half_cells(device: Row, top: int | None) -> tuple[list[Cells], list[Cells], Scale]:
    """Returns the rows of both halves, each with its headings first, and their scale.

    Args:
        device: Device row with its budget.
        top: Maximum number of categories and of causes. None shows 4 categories and 5 causes.
    """
    budget, span = device["budget"], device["span_ns"]
    busy = _folded(budget["kernels"], _CATEGORIES if top is None else top, "other kernels", str)
    copies = sum(row["total_ns"] for row in budget["copies"])
    busy += [("copies and sets", copies)] if copies else []
    busy += [("counted twice", -budget["counted_twice_ns"])] if budget["counted_twice_ns"] else []
    most = _IDLE_CAUSES if top is None else top
    idle = _folded(budget["idle"], most, "other", lambda cause: CAUSES.get(cause, cause))
    scale = Scale([device["busy_ns"], device["idle_ns"], *(time for _, time in busy + idle)])

    def cells(label: str, total: int, parts: Sequence[Part]) -> list[Cells]:
        rows = [("", scale.unit, "of span")]
        rows += [(name, scale.text(time), share(time, span)) for name, time in [(label, total)]]
        return [*rows, *((f"  {visible(name)}", scale.text(time), share(time, span)) for name, time in parts)]

    return cells("GPU busy", device["busy_ns"], busy), cells("GPU idle", device["idle_ns"], idle), scale


def _folded(rows: Sequence[Row], count: int, rest: str, named: Callable[[str], str]) -> list[Part]:
    """Sums all rows but the longest."""
    shown, others = table.folded(rows, count)
    parts = [(named(row["name"]), row["total_ns"]) for row in shown]
    return [*parts, *([(rest, sum(row["total_ns"] for row in others))] if others else [])]


def gpus(devices: Sequence[Row], limit: int) -> tuple[list[str], Scale]:
    """Formats a row for each GPU.

    Of more than 8 GPUs, the slowest, the median and the fastest are shown.
    """
    cells, rows, scale = gpu_cells(devices)
    columns = [table.Column(name, right=0 < place < len(cells[0]) - 1) for place, name in enumerate(cells[0])]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    gap = "   " if table.total_width(widths, "   ") <= limit else table.GAP
    widths[-1] = min(widths[-1], limit - table.total_width([*widths[:-1], 0], gap))
    if widths[-1] < len("idle cause"):
        columns, widths = columns[:-1], widths[:-1]
    elif widths[-1] < len(cells[0][-1]):
        cells[0][-1] = "idle cause"
    lines = [table.line(columns, row[: len(columns)], widths, gap) for row in cells]
    if any(device["budget"]["counted_twice_ns"] >= _OVERLAP * device["span_ns"] for _, device in rows):
        lines.append("Kernels and copies overlap: shares exceed the busy time.")
    return lines, scale


def gpu_cells(devices: Sequence[Row]) -> tuple[list[list[str]], list[tuple[str, Row]], Scale]:
    """Returns the headings and the cells of each GPU, the shown GPUs, and the scale."""
    heading, names = labels(devices)
    rows = chosen([*zip(names, devices, strict=True)])
    scale = Scale([device["span_ns"] for device in devices])
    cells = [[heading, f"span {scale.unit}", "busy", "kernels", "NCCL", "copies", "idle", "largest idle cause"]]
    cells += [[label, scale.text(device["span_ns"]), *_shares(device)] for label, device in rows]
    return cells, rows, scale


def chosen(rows: Sequence[tuple[str, Row]], most: int = MOST) -> list[tuple[str, Row]]:
    """Returns at most `most` rows.

    Of more rows, the slowest, the median and the fastest by busy time without communication are returned.

    Args:
        rows: GPUs or ranks, each with its label.
        most: Number of rows, at least 3.
    """
    if len(rows) <= most:
        return [*rows]
    ordered = sorted(rows, key=lambda row: -_work(row[1]))
    three = (ordered[0], ordered[len(ordered) // 2], ordered[-1])
    return [
        (f"{label} ({word})", row) for (label, row), word in zip(three, ("slowest", "median", "fastest"), strict=True)
    ]


def _work(row: Row) -> int:
    """Returns the busy time of a GPU or rank without communication, in ns.

    A fast rank waits in a collective for a slow rank, and is busy as long. Older documents have only the busy time.
    """
    work: int | None = row.get("work_ns")
    return row["busy_ns"] - (row.get("exposed_communication_ns") or 0) if work is None else work


def _shares(device: Row) -> Iterable[str]:
    budget, span = device["budget"], device["span_ns"]
    kernels = sum(row["total_ns"] for row in budget["kernels"])
    nccl = sum(row["total_ns"] for row in budget["kernels"] if row["name"] == COMMUNICATION)
    copies = sum(row["total_ns"] for row in budget["copies"])
    for time in (device["busy_ns"], kernels - nccl, nccl, copies, device["idle_ns"]):
        yield share(time, span)
    cause = budget["idle"][0]["name"] if budget["idle"] else "-"
    # The name comes from a document.
    yield CAUSES.get(cause) or visible(cause)


def gpu_count(document: Row, key: str = "span_ns") -> int:
    """Returns the number of GPUs.

    A GPU that several processes used has a row for each of them. GPUs of several ranks or clocks may have the same
    number: their rows differ in the rank, or in the clock of their files. Rows without a file do not name a clock, but
    a stream is listed once for each clock.

    Args:
        document: Summary as plain dictionaries and lists.
        key: Value that is not 0 in the counted rows, such as `kernel_count`.
    """
    # Streams have no span.
    streams = [row for row in document["streams"] if row.get(key, 1)]
    alone = {row.get("device") for row in streams}
    repeats = Counter((row["device_id"], row["stream_id"]) for row in streams if row.get("device") is None)
    count = 0
    shared: dict[int | None, list[Row]] = {}
    for place, device in enumerate(document["devices"]):
        if place in alone:
            count += 1
        elif device[key]:
            shared.setdefault(device["device_id"], []).append(device)
    clocks = {capture["path"]: _clock(capture) for capture in document["captures"]}
    for number, rows in shared.items():
        ranks = {row["rank"] for row in rows}
        known = {clocks[path] for row in rows if (path := row.get("path")) in clocks}
        count += max([len(ranks), len(known), *(listed for (of, _), listed in repeats.items() if of == number)])
    return count


def _clock(capture: Row) -> tuple[str | None, int | None]:
    """Returns the path of a file that has its own clock, or a host and a rank."""
    host = (capture.get("environment") or {}).get("host_name")
    # Only the traces of torch.profiler share a clock with other files.
    return (host, capture.get("rank")) if host and capture["format"] == "kineto" else (capture["path"], None)


def labels(devices: Sequence[Row]) -> tuple[str, list[str]]:
    """Returns a heading and labels that differ.

    The candidates are the rank, the number, the number with the process, and the number with the position.
    """

    def text(value: object) -> str:
        return "-" if value is None else str(value)

    choices = (
        ("rank", [text(device["rank"]) for device in devices]),
        ("GPU", [text(device["device_id"]) for device in devices]),
        ("GPU of rank", [f"{text(device['device_id'])} of {text(device['rank'])}" for device in devices]),
        ("GPU, process", [f"{text(device['device_id'])}, {text(device['process_id'])}" for device in devices]),
    )
    for heading, names in choices:
        if len(set(names)) == len(names) and not (heading != "GPU" and any("-" in name for name in names)):
            return heading, names
    return "GPU, #", [f"{text(device['device_id'])}, #{place}" for place, device in enumerate(devices)]
