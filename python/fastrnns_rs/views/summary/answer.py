"""Context and answer: the first lines of a report."""

from __future__ import annotations

from fastrnns_rs.counting import counted
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.views.scale import time
from fastrnns_rs.views.summary.budget import CAUSES, COMMUNICATION, gpu_count, share
from fastrnns_rs.views.units import brief_size

TYPE_CHECKING = False  # As in the package: `typing` is slow to load.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Document = dict[str, Any]
    Rows = Iterable[dict[str, Any]]

#: From this share of the span on, idle time or exposed communication is the answer.
_MUCH = 0.2
#: Iterations are mentioned from this multiple of the time of their GPU activities on.
_FAR = 5
#: Cause of idle time before a kernel without a known launch.
_UNKNOWN = "unmatched"
#: Names of formats in sentences, by their names in documents.
_FORMATS = {
    "kineto": "torch.profiler trace",
    "nsys-sqlite": "nsys export",
    "nvprof-sqlite": "nvprof profile",
    "nvprof-csv": "nvprof table",
}


class Shares:
    """Time budget of all devices together, in ns.

    Attributes:
        count: Number of devices as used by one process.
        gpus: Number of GPUs.
        launched: True if a kernel has its launch in the capture.
        span: Sum of the devices' spans.
        kernels: Kernel time.
        copies: Time of copies and sets.
        communication: Time of communication kernels.
        exposed: Time in which only communication ran; None in documents of earlier builds.
        idle: Idle time.
        category: Largest category of kernels, and its time.
        cause: Largest cause of idle time, and its time.
        copy: Largest kind of copies, and its bandwidth in GB/s; None if unknown.
    """

    __slots__ = (
        "category",
        "cause",
        "communication",
        "copies",
        "copy",
        "count",
        "exposed",
        "gpus",
        "idle",
        "kernels",
        "launched",
        "span",
    )

    def __init__(self, document: Document) -> None:
        budgets = [device["budget"] for device in document["devices"]]
        if None in budgets:
            hint = "Write it again with report --json, or choose the format html."
            raise UsageError("summary of an earlier version, without time budgets", hint)
        kernels, copies, causes = (_sums(budgets, key) for key in ("kernels", "copies", "idle"))
        self.count, self.gpus = len(budgets), gpu_count(document)
        self.launched = bool(document["launches"] and document["launches"]["matched_count"])
        self.span = sum(device["span_ns"] for device in document["devices"])
        self.kernels, self.copies, self.idle = (sum(times.values()) for times in (kernels, copies, causes))
        self.communication = kernels.get(COMMUNICATION, 0)
        exposed = [device["exposed_communication_ns"] for device in document["devices"]]
        self.exposed = None if None in exposed else sum(exposed)
        self.category, self.cause = _largest(kernels), _largest(causes)
        kind = _largest(copies)[0]
        rows = [row for row in document["memory_operations"] if row["kind"] == kind]
        time, sizes = sum(row["total_ns"] for row in rows), [row["total_bytes"] for row in rows]
        self.copy = (kind, sum(sizes) / time if time and None not in sizes else None)

    def of(self, part: float) -> str:
        """Formats a time as a share of the span."""
        return share(part, self.span)

    def whole(self) -> str:
        """Formats the span of a device; the mean of several devices."""
        return time(self.span / self.count)


def _sums(budgets: Iterable[dict[str, Rows]], key: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for budget in budgets:
        for row in budget[key]:
            sums[row["name"]] = sums.get(row["name"], 0) + row["total_ns"]
    return sums


def _largest(times: dict[str, int]) -> tuple[str, int]:
    return max(times.items(), key=lambda item: item[1], default=("", 0))


def _copies(shares: Shares) -> str:
    kind, speed = shares.copy
    verb = "took" if shares.copies <= shares.span else "on several streams add up to"
    text = f"Copies {verb} {shares.of(shares.copies)} of {shares.whole()}, kernels {shares.of(shares.kernels)}"
    if shares.idle >= _MUCH * shares.span:
        return f"{text}; idle {shares.of(shares.idle)}, {_cause(shares)}."
    each = " per GPU" if shares.gpus > 1 else ""
    return f"{text}." if speed is None else f"{text}. {kind.removeprefix('memcpy ')}: {speed:.3g} GB/s{each}."


def _idle(shares: Shares) -> str:
    text = f"GPU idle for {shares.of(shares.idle)} of {shares.whole()}; {_cause(shares)}"
    cause, part = shares.cause
    return f"{text}." if cause == _UNKNOWN else f"{text}, {shares.of(part)}."


def _cause(shares: Shares) -> str:
    cause = shares.cause[0]
    if cause == _UNKNOWN:
        return "cause unknown: launches are missing" if shares.launched else "cause unknown: no launches"
    return f"largest cause: {CAUSES.get(cause, cause)}"


def _kernels(shares: Shares) -> str:
    category, part = shares.category
    return (
        _communicated(shares)
        if category == COMMUNICATION
        else f"{_took(f'Kernels of category {category}', part, shares)}."
    )


def _communicated(shares: Shares) -> str:
    text = _took("Communication", shares.communication, shares)
    return f"{text}." if shares.exposed is None else f"{text}; {shares.of(shares.exposed)} exposed."


def _is_communication_long(shares: Shares) -> bool:
    part: int = shares.communication if shares.exposed is None else shares.exposed
    return bool(part >= _MUCH * shares.span)


def _took(what: str, part: float, shares: Shares) -> str:
    text = f"{shares.of(part)} of {shares.whole()}"
    return f"{what} took {text}" if part <= shares.span else f"{what}: {text}, added up over several streams"


#: The first rule that holds gives the answer. A rule has a condition, a sentence and the view with details.
_RULES: tuple[tuple[Callable[[Shares], bool], Callable[[Shares], str], str], ...] = (
    (lambda shares: shares.copies > max(shares.kernels, shares.idle), _copies, "memory"),
    (lambda shares: shares.idle >= _MUCH * shares.span, _idle, "idle"),
    (_is_communication_long, _communicated, "category"),
    (lambda _: True, _kernels, "kernel"),
)


def _rule(document: Document) -> tuple[Shares, Callable[[Shares], str], str] | None:
    """Returns the first rule that holds; None without a span."""
    if not any(device["span_ns"] for device in document["devices"]):
        return None
    shares = Shares(document)
    return next((shares, sentence, view) for holds, sentence, view in _RULES if holds(shares))


def answer(document: Document, *, selected: bool = False) -> str:
    """Returns the answer in one sentence.

    Args:
        document: Summary as plain dictionaries and lists.
        selected: True for a summary of a part of the captures.
    """
    rule = _rule(document)
    if rule is not None:
        shares, sentence, _ = rule
        # Kinds of copies have names of the capture, and causes and categories those of a document.
        return visible(f"{sentence(shares)}{_on_host(document)}")
    return _totals(document) or _nothing(document, selected=selected)


def _totals(document: Document) -> str:
    """Returns a sentence about data without a timeline; empty without GPU activity."""
    kernels, copies = (sum(row["total_ns"] for row in document[key]) for key in ("kernels", "memory_operations"))
    if document["kernels"] or document["memory_operations"]:
        more = f", copies {time(copies)}" if copies else ""
        return f"No timeline: {counted(len(document['kernels']), 'kernel')} took {time(kernels)}{more}."
    return f"No timeline: {len(document['metrics']):,} metrics of kernels." if document["metrics"] else ""


def _nothing(document: Document, *, selected: bool) -> str:
    """Returns a sentence about captures without GPU activity."""
    if selected:
        # A selection by time, stream or process leaves out totals.
        has_totals = any(warning["code"] == "summary_only" for warning in document["warnings"])
        known = " is known to match" if has_totals else " matches"
        return f"No GPU activity{known} the selection."
    if any(warning["code"] == "capture_incomplete" for warning in document["warnings"]):
        return "No GPU activity in what could be read: the capture is incomplete."
    if document["api_calls"]:
        count, total = (sum(row[key] for row in document["api_calls"]) for key in ("count", "total_ns"))
        return f"No GPU activity: {counted(count, 'CUDA call')} took {time(total)}."
    events = sum(capture["events_read"] for capture in document["captures"])
    formats = {capture["format"] for capture in document["captures"]}
    if events and formats == {"kineto"} and not any(document[key] for key, _ in _VIEWS):
        return f"No known activity in {counted(events, 'event')}: the trace may not be of torch."
    return f"No GPU activity: {counted(events, 'event')} of a CPU capture."


def _on_host(document: Document) -> str:
    """Returns the iteration time if it is far longer than its GPU span, else "".

    Of several runners and phases, the longest time is returned.
    """
    groups = document["iteration_statistics"]
    far = [
        group
        for group in groups
        if group["measure"] == "gpu_ns" and group["host_median_ns"] >= _FAR * group["gpu_median_ns"]
    ]
    if not far:
        return ""
    longest = max(far, key=lambda group: group["host_median_ns"])
    which = f" ({group_name(longest)})" if len(groups) > 1 else ""
    return f" An iteration{which} takes {time(longest['host_median_ns'])} on the host."


def group_name(group: dict[str, Any]) -> str:
    """Returns the runner and phase of iterations, or the name of their ranges."""
    words = (group["runner"] or group["name"],) if group["name"] else (group["runner"], group["phase"])
    return " ".join(filter(None, words))


#: Views of captures without a GPU timeline, by the list that they show.
_VIEWS = (
    *(("kernels", "kernel"), ("memory_operations", "memory"), ("metrics", "metric")),
    *(("cpu_operators", "operator"), ("ranges", "range"), ("api_calls", "api")),
)


def next_view(document: Document) -> str | None:
    """Returns the `--by` name of the view with details; None if no list has rows."""
    rule = _rule(document)
    if rule is not None:
        return rule[2]
    return next((view for key, view in _VIEWS if document[key]), None)


def context(document: Document) -> list[str]:
    """Returns the capture, or the number of captures, and the devices.

    A part is not split between lines.
    """
    captures = document["captures"]
    if len(captures) != 1:
        formats = ", ".join(dict.fromkeys(visible(capture["format"]) for capture in captures))
        return [f"{len(captures):,} captures, {formats}, {brief_size(sum(one['size_bytes'] for one in captures))}"]
    (capture,) = captures
    kind = _FORMATS.get(capture["format"], capture["format"])
    if capture["format"] == "nsys-sqlite" and capture["tool_version"]:
        kind = f"nsys {'.'.join(capture['tool_version'].split('.')[:2])} export"
    path = visible(capture["path"].rpartition("/")[2])
    events = f"{capture['events_read']:,} events"
    return [*filter(None, (f"{path}: {visible(kind)}", events, _devices(document)))]


def _devices(document: Document) -> str:
    number = gpu_count(document)
    names = {device["name"] for device in document["devices"]} - {None}
    count = f"{number:,} GPUs" if number > 1 else ""
    if not names:
        return f"{count or '1 GPU'} (model not recorded)" if number else ""
    shown = ", ".join(sorted(map(visible, names)))
    return f"{count}: {shown}" if count else shown
