"""Parts of a page: captures, times, warnings, then lists and their notes."""

from __future__ import annotations

from collections import Counter

from fastrnns_rs.views.summary import columns, notes
from fastrnns_rs.views.summary.answer import answer, context
from fastrnns_rs.views.summary.budget import gpu_count, labels
from fastrnns_rs.views.summary.column_units import FRACTION, NANOSECONDS, TEXT
from fastrnns_rs.views.summary.lists import VIEWS, List

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from fastrnns_rs.views.summary.columns import Column
    from fastrnns_rs.views.summary.lists import Document, Row
    from fastrnns_rs.views.summary.notes import Note

    #: List, notes, or a sentence in place of an empty list.
    Part = List | list[Note] | str

#: Rows of each list of the overview, unless another number is requested.
_ROWS = 10
#: Keys of the columns that the overview shows of its longer lists.
_BRIEF = {
    "kernel": {"kernel_time_fraction", "total_ns", "count", "mean_ns", "median_ns", "name"},
    "memory": {"total_ns", "count", "total_bytes", "bandwidth_gb_per_s", "kind"},
    "range": {"gpu_inclusive_ns", "gpu_exclusive_ns", "kernel_count", "count", "host_total_ns", "name"},
}
#: Keys that tell the rows of one device apart.
_IDENTITY = ("name", "mangled_name", "kind", "stream_id", "cause", "grid", "block")
_MEDIANS = {"host_median_ns", "gpu_median_ns", "gpu_busy_median_ns", "gpu_time_median_ns"}
_BRIEF_ITERATIONS = {"count", "outlier_count", "phase", "runner"} | _MEDIANS


def page(document: Document, by: str, top: int | None, *, selected: bool = False) -> list[Part]:
    """Returns the parts of a page; no part is empty.

    Args:
        document: Summary as plain dictionaries, with the requested form of kernel names.
        by: Name of a view.
        top: Maximum rows of each list. None shows 10 in the overview, else all.
        selected: True for a summary of a part of the captures.
    """
    made = _overview(document, _ROWS if top is None else top) if by == "overview" else _view(document, by, top)
    parts = [part for part in made if part] or [VIEWS[by].nothing]
    if selected:
        parts = [one.replace("in the capture", "in the selection") if isinstance(one, str) else one for one in parts]
    for part in parts:
        if isinstance(part, List):
            part.columns = devices_apart(document, part)
    first = notes.warnings(document)
    begin: list[Part] = []
    if by == "overview" and document["captures"]:
        begin = [[("", ", ".join(context(document))), ("", answer(document, selected=selected))]]
    if by == "inductor" and document["inductor"]:
        first.append(("tabulate", document["inductor"]["tabulate_line"]))
    return [*begin, first, *parts] if first else [*begin, *parts]


def _on_screen(column: Column) -> bool:
    return column.place in {columns.EVERYWHERE, columns.SCREEN}


def _with_shapes(column: Column) -> bool:
    return column.place != columns.DATA


def _view(document: Document, by: str, top: int | None) -> list[Part]:
    """Returns the list of a view other than the overview, with related parts."""
    rows = VIEWS[by].list(document, _with_shapes if by == "launch-shape" else _on_screen, top)
    if by == "kernel":
        return [List(rows.title, _per_gpu(document, rows.columns), document["kernels"], top)]
    if by == "device" and len(document["devices"]) > 1:
        return [rows, VIEWS["kernel"].list(document, _on_screen, top)]
    if by == "idle":
        rows.columns = [_share_of_idle(document["idle_causes"]), *rows.columns]
    elif by == "iteration":
        statistics = List("Statistics of iterations", columns.ITERATION_STATISTICS, document["iteration_statistics"])
        return [statistics, notes.outliers(document), rows]
    elif by == "cudnn-rnn":
        return [rows, notes.cudnn_rnn(document, top)]
    elif by == "inductor" and document["inductor"]:
        figures = List("Inductor", columns.INDUCTOR, [document["inductor"]])
        categories = document["inductor"]["categories"]
        return [
            figures,
            rows,
            *(List(one["name"], columns.INDUCTOR_KERNELS, one["kernels"], top) for one in categories),
        ]
    return [rows]


def devices_apart(document: Document, part: List) -> Sequence[Column]:
    """Returns the columns of a list, with device labels that differ.

    The labels replace device numbers if several devices have the same number.
    """
    devices = document["devices"]
    if len({row["device_id"] for row in devices}) == len(devices) or not part.rows:
        return part.columns
    heading, names = labels(devices)
    names_by_place = dict(enumerate(names))
    names_by_row = {id(row): name for row, name in zip(devices, names, strict=True)}
    repeated = _repeated_numbers(part.rows)

    def label(row: Row) -> str:
        # A row of the device list is a device; a row without a place is a sum over devices of this number, or of
        # different numbers.
        if "device" not in row:
            return names_by_row[id(row)]
        number = "-" if row["device_id"] is None else str(row["device_id"])
        if row["device"] is not None:
            return names_by_place.get(row["device"], number)
        count = sum(one["device_id"] == row["device_id"] for one in devices)
        counted = "" if row["device_id"] in repeated else f" of {count:,}"
        return f"{number}, sum{counted}" if count else number

    device_column = columns.Column(heading, "", TEXT, columns.SCREEN, read=label)
    return [device_column if column.key == "device_id" else column for column in part.columns]


def _repeated_numbers(rows: Iterable[Row]) -> set[int | None]:
    """Returns the numbers of GPUs that have several sums over processes.

    They are listed once for each clock. Such rows do not say which of the GPUs with their number they are sums of.
    """
    sums = [row for row in rows if "device" in row and row["device"] is None]
    counts = Counter((row["device_id"], *map(str, map(row.get, _IDENTITY))) for row in sums)
    return {number for (number, *_), count in counts.items() if count > 1}


def _per_gpu(document: Document, shown: Sequence[Column]) -> Sequence[Column]:
    """Returns the kernel columns, with the time per GPU that ran kernels.

    The time is shown if several GPUs ran kernels and each kernel has a single row.
    """
    gpus, kernels = gpu_count(document, "kernel_count"), document["kernels"]
    if gpus <= 1 or len({(row["name"], row["mangled_name"]) for row in kernels}) < len(kernels):
        return shown
    each = columns.Column(
        "per GPU", "", NANOSECONDS, columns.SCREEN, summed=True, read=lambda row: row["total_ns"] / gpus
    )
    return [each if column.key == "total_ns" else column for column in shown]


def _overview(document: Document, top: int) -> list[Part]:
    """Returns the parts of the overview, in the order of the user's questions.

    The order is: devices, causes of idle time, parts of the program, kernels.
    """
    # With one device, this column would repeat the device list.
    several = len(document["devices"]) > 1

    def whole(by: str) -> List:
        return VIEWS[by].list(document, _on_screen, top)

    def brief(by: str) -> List:
        keys = _BRIEF[by] | ({"device_id"} if several else set())
        return VIEWS[by].list(document, lambda column: column.key in keys, top)

    devices = List("Where the time went", [one for one in columns.DEVICES if _on_screen(one)], document["devices"])
    idle = VIEWS["idle"].list(document, lambda one: _on_screen(one) and (several or one.key != "device_id"), top)
    idle.title = "Why it was idle"
    idle.columns = [_share_of_idle(document["idle_causes"]), *idle.columns]
    statistics = [one for one in columns.ITERATION_STATISTICS if one.key in _BRIEF_ITERATIONS]
    return [
        List("Captures", columns.CAPTURES, document["captures"]),
        devices or VIEWS["overview"].nothing,
        idle,
        notes.launches(document["launches"]),
        brief("range"),
        List("Iterations, medians", statistics, document["iteration_statistics"], top),
        notes.outliers(document, top),
        notes.cudnn_rnn(document, top),
        *(whole(by) for by in ("rank", "category")),
        brief("kernel"),
        brief("memory"),
        whole("metric"),
    ]


def _share_of_idle(rows: Sequence[Row]) -> Column:
    """Returns a column with each row's share of its device's idle time.

    A share of an idle time of 0 reads as None, as does one of an unknown whole.
    """
    sums: dict[Any, float] = {}
    repeated = _repeated_numbers(rows)

    def device(row: Row) -> Any:
        return row["device_id"], row["device"]

    for row in rows:
        sums[device(row)] = sums.get(device(row), 0.0) + row["total_ns"]

    def share(row: Row) -> float | None:
        whole = sums[device(row)]
        is_known = whole and not (row["device"] is None and row["device_id"] in repeated)
        return row["total_ns"] / whole if is_known else None

    return columns.Column("share", "", FRACTION, columns.SCREEN, read=share)
