"""Screen of a new capture: files, checks and overhead of the profiler."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import figures, fitted_table
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow
from fastrnns_rs.views.prose import labelled
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.capture_manifest import Capture

_MIB = 1 << 20
#: Files of less than this have a size of 0.00 MiB.
_LEAST_MIB = 0.01
_COLUMNS = (
    FittedColumn("file", least=20),
    FittedColumn("content", rank=1),
    FittedColumn("MiB", right=True, points=True, rank=2),
)


def lines(capture: Capture, stem: Path, limit: int) -> list[Line]:
    """Returns the files, the number of passed checks, and the overhead.

    An overhead is shown if its interval excludes 1.

    Args:
        capture: Capture manifest.
        stem: Path of the capture's files without suffixes.
        limit: Width of the terminal.
    """
    # All names begin with the name of the capture.
    rows = [
        FittedRow((Path(one.path).name.removeprefix(stem.name), one.kind.replace("_", " "), _size(one.size_bytes)))
        for one in capture.artefacts
    ]
    rows.append(FittedRow((".json", "capture manifest", "")))
    passed = sum(check.ok for check in capture.checks)
    texts = [f"{passed} of {len(capture.checks)} checks passed"]
    ratio, bounds = capture.profiled_over_unprofiled, capture.profiled_over_unprofiled_ci
    if ratio is not None and bounds is not None and not bounds[0] <= 1.0 <= bounds[1]:
        change = figures.change_with_unit(ratio, *bounds)
        texts.append(f"time of an iteration under the profiler: {change}, against the same run without it")
    return [
        *(Line(text, "dim") for text in labelled("capture", visible(str(stem)), limit)),
        Line(""),
        *fitted_table.lines(_COLUMNS, rows, limit),
        Line(""),
        *wrapped_lines(texts, limit, "bold"),
    ]


def _size(size_bytes: int) -> str:
    mebibytes = size_bytes / _MIB
    return "<0.01" if mebibytes < _LEAST_MIB else f"{mebibytes:,.2f}"
