"""Sentences of a report, each with the label in front of it."""

from __future__ import annotations

from fastrnns_rs.views.summary.column_units import differences
from fastrnns_rs.views.units import milliseconds

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    #: A label and a text as it came, to be escaped.
    Note = tuple[str, str]
    Row = dict[str, Any]


def warnings(document: Row) -> list[Note]:
    """Each warning, its evidence and its hint, as far as it has them."""
    parts = (("warning", "message"), ("seen", "evidence"), ("hint", "hint"))
    return [
        (label, warning[key])
        for warning in document["warnings"]
        for label, key in parts
        if label == "warning" or warning[key]
    ]


def launches(found: Row) -> list[Note]:
    """One line on how kernels follow their launches; none where there are no kernels."""
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
    """The way that cuDNN took, for at most `top` runners and phases."""
    return [("cuDNN", row["sentence"]) for row in document["cudnn_rnn"][:top]]


def outliers(document: Row, top: int | None = None) -> list[Note]:
    """How many iterations are outliers, and what the farthest did differently, for at most `top` runners and phases."""
    some = [group for group in document["iteration_statistics"] if group["outlier_count"] > 0]
    return [("outliers", _outliers(group, document["iterations"])) for group in some[:top]]


def _outliers(group: Row, rows: Sequence[Row]) -> str:
    who = (group["runner"], group["phase"])
    names = [name for name in who if name is not None]
    some = f"{group['outlier_count']} of {group['count']} iterations{' of ' if names else ''}{'/'.join(names)}"
    found = [row for row in rows if row["outlier"] and (row["runner"], row["phase"]) == who]
    if not found:
        return some
    # Of two that are as far the later one.
    measure = group["measure"]
    worst = max(reversed(found), key=lambda row: abs(row[measure] - group["median_ns"]))
    took, median = milliseconds(worst[measure]), milliseconds(group["median_ns"])
    unlike = differences(worst["differences"])
    text = f"{some}; the farthest, iteration {worst['index']}, took {took} ms, the median {median} ms"
    return f"{text}: {unlike}" if unlike else text
