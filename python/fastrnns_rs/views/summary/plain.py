"""Summary as plain dictionaries, for plots and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.escaping import visible

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import SummaryDocument

    Document = dict[str, Any]

#: Launches of a document without this key.
_NO_LAUNCHES = {
    "matched_count": 0,
    "unmatched_kernel_count": 0,
    **dict.fromkeys(f"{name}_{key}" for name in ("latency", "queue") for key in ("median_ns", "p95_ns", "histogram")),
}
#: Lists and values of devices that earlier versions did not have.
_LISTS = ("cpu_operators", "ranges", "nested_ranges", "iterations", "iteration_statistics", "idle_causes")
_MORE_LISTS = ("cudnn_rnn", "ranks", "metrics")
_DEVICE = {"budget": None, "rank": None, "activity": None}


class PlainSummary:
    """Summary of captures as plain dictionaries; large ones never become dataclasses.

    Attributes:
        plain: Document. Keys that its version does not have are added.
        selected: True for a summary of a part of the captures.
        command: Command of the report; empty if unknown.
    """

    __slots__ = ("command", "plain", "selected")

    def __init__(self, plain: Document, *, selected: bool = False, command: str = "") -> None:
        devices = [{**_DEVICE, **one} for one in plain["devices"]]
        launches = {**_NO_LAUNCHES, **(plain.get("launches") or {})}
        lists = {key: plain.get(key) or [] for key in (*_LISTS, *_MORE_LISTS)}
        self.plain: Document = {**plain, **lists, "devices": devices, "launches": launches}
        self.selected = selected
        self.command = command


def make_plain(document: PlainSummary | SummaryDocument) -> Document:
    """Returns a summary as plain dictionaries and lists."""
    if isinstance(document, PlainSummary):
        return document.plain
    # The extension escapes the texts of captures, but anybody may have written a document.
    return PlainSummary(_escaped(known(document))).plain


def known(document: SummaryDocument) -> Document:
    """Returns a summary without unknown keys: rows of other kinds may know them."""
    return cast("Document", to_plain(document))


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list) else value
