"""Sentences of a report, each with a label."""

from __future__ import annotations

from fastrnns_rs.views.summary.column_units import differences
from fastrnns_rs.views.units import milliseconds

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    #: Label, and text that is not yet escaped.
    Note = tuple[str, str]
    Row = dict[str, Any]


def warnings(document: Row) -> list[Note]:
    """Returns each warning, with its evidence and hint if present."""
    parts = (("warning", "message"), ("seen", "evidence"), ("hint", "hint"))
    return [
        (_label(label, warning["code"]), warning[key])
        for warning in document["warnings"]
        for label, key in parts
        if label == "warning" or warning[key]
    ]


def _label(label: str, code: str) -> str:
    """Returns a label, for a warning with the code for `fastrnns-rs explain`."""
    return f"{label}[{code}]" if label == "warning" and code.isascii() and code.isidentifier() else label


def launches(found: Row) -> list[Note]:
    """Returns a line on the delay from launches to kernels; empty without kernels."""
    kernels = found["matched_count"] + found["unmatched_kernel_count"]
    if not kernels:
        return []
    text = f"{found['matched_count']} of {kernels} kernels matched with their launch"
    for words, key in (("; from the launch to the kernel", "latency"), (", in the queue", "queue")):
        median, p95 = found[f"{key}_median_ns"], found[f"{key}_p95_ns"]
        if median is not None and p95 is not None:
            text += f"{words} {milliseconds(median)} ms (median; p95 {milliseconds(p95)})"
    return [("launches", text)]


def cudnn_rnn(document: Row, top: int | None = None) -> list[Note]:
    """Returns cuDNN's execution path for at most `top` runners and phases."""
    return [("cuDNN", row["sentence"]) for row in document["cudnn_rnn"][:top]]


def outliers(document: Row, top: int | None = None) -> list[Note]:
    """Returns the number of outliers and the differences of the farthest outlier.

    At most `top` runners and phases are included.
    """
    some = [group for group in document["iteration_statistics"] if group["outlier_count"] > 0]
    return [("outliers", _outliers(group, document["iterations"])) for group in some[:top]]


def _outliers(group: Row, rows: Sequence[Row]) -> str:
    who = (group["runner"], group["phase"])
    names = [name for name in who if name is not None]
    some = f"{group['outlier_count']} of {group['count']} iterations{' of ' if names else ''}{'/'.join(names)}"
    # Early versions have no `host_ns`, which is the duration.
    measure = "duration_ns" if group["measure"] == "host_ns" else group["measure"]
    found = [
        row for row in rows if row["outlier"] and (row["runner"], row["phase"]) == who and row[measure] is not None
    ]
    if not found:
        return some
    # Of two equally far iterations, the later is chosen.
    worst = max(reversed(found), key=lambda row: abs(row[measure] - group["median_ns"]))
    took, median = milliseconds(worst[measure]), milliseconds(group["median_ns"])
    unlike = differences(worst["differences"])
    text = f"{some}; the farthest, iteration {worst['index']}, took {took} ms, the median {median} ms"
    return f"{text}: {unlike}" if unlike else text
