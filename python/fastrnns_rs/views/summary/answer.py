"""What was read, and where the time went: the two lines with which a report begins."""

from __future__ import annotations

from fastrnns_rs.views.units import milliseconds, size

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Document = dict[str, Any]
    Rows = Iterable[dict[str, Any]]

#: Idle time and communication are the answer from this share of the span on.
_MUCH = 0.2
_COMMUNICATION = "communication"
#: What programs call a format, by the name in documents.
_FORMATS = {
    "kineto": "torch.profiler trace",
    "nsys-sqlite": "nsys export",
    "nvprof-sqlite": "nvprof profile",
    "nvprof-csv": "nvprof table",
}
#: Causes of idle time in a sentence.
_CAUSES = {"data_loader": "data loader", "graph_gap": "gaps within CUDA graphs"}


class Shares:
    """Where the spans of all devices together went, in nanoseconds.

    Attributes:
        count: Number of devices.
        span: Sum of their spans.
        kernels: Kernel time.
        copies: Time of copies and sets.
        communication: Time of kernels that communicate.
        idle: Idle time.
        category: Largest category of kernels, and its time.
        cause: Largest cause of idle time, and its time.
        copy: Largest kind of copies, and its bandwidth in GB/s where it is known.
    """

    __slots__ = ("category", "cause", "communication", "copies", "copy", "count", "idle", "kernels", "span")

    def __init__(self, document: Document) -> None:
        budgets = [device["budget"] for device in document["devices"]]
        kernels, copies, causes = (_sums(budgets, key) for key in ("kernels", "copies", "idle"))
        self.count = len(budgets)
        self.span = sum(device["span_ns"] for device in document["devices"])
        self.kernels, self.copies, self.idle = (sum(times.values()) for times in (kernels, copies, causes))
        self.communication = kernels.get(_COMMUNICATION, 0)
        self.category, self.cause = _largest(kernels), _largest(causes)
        kind = _largest(copies)[0]
        speeds = [row["bandwidth_gb_per_s"] for row in document["memory_operations"] if row["kind"] == kind]
        self.copy = (kind, speeds[0] if speeds else None)

    def of(self, time: float) -> str:
        """A time as a share of the span."""
        return f"{100 * time / self.span:.1f} %"

    def whole(self) -> str:
        """The span of a device, the mean of several."""
        return f"{milliseconds(self.span / self.count)} ms"


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
    text = f"Copies took {shares.of(shares.copies)} of {shares.whole()}, kernels {shares.of(shares.kernels)}."
    each = " per GPU" if shares.count > 1 else ""
    return text if speed is None else f"{text} {kind.removeprefix('memcpy ')}: {speed:.3g} GB/s{each}."


def _idle(shares: Shares) -> str:
    cause, time = shares.cause
    largest = f"largest cause: {_CAUSES.get(cause, cause)}, {shares.of(time)}"
    return f"GPU idle for {shares.of(shares.idle)} of {shares.whole()}; {largest}."


def _kernels(shares: Shares) -> str:
    category, time = shares.category
    return f"Kernels of category {category} took {shares.of(time)} of {shares.whole()}."


#: The first rule that holds gives the answer.
_RULES: tuple[tuple[Callable[[Shares], bool], Callable[[Shares], str]], ...] = (
    (lambda shares: shares.copies > shares.kernels, _copies),
    (lambda shares: shares.idle >= _MUCH * shares.span, _idle),
    (
        lambda shares: shares.communication >= _MUCH * shares.span,
        lambda shares: f"Communication took {shares.of(shares.communication)} of {shares.whole()}.",
    ),
    (lambda _: True, _kernels),
)


def answer(document: Document) -> str:
    """Where the time went, in a sentence."""
    if any(device["span_ns"] for device in document["devices"]):
        shares = Shares(document)
        return next(sentence(shares) for holds, sentence in _RULES if holds(shares))
    if document["kernels"] or document["memory_operations"]:
        total = milliseconds(sum(row["total_ns"] for row in document["kernels"]))
        return f"No timeline: {len(document['kernels']):,} kernels took {total} ms in all."
    if document["metrics"]:
        return f"No timeline: {len(document['metrics']):,} metrics of kernels."
    events = sum(capture["events_read"] for capture in document["captures"])
    return f"No GPU activity: {events:,} event{'' if events == 1 else 's'} of a CPU capture."


def context(document: Document) -> str:
    """The capture, or how many there are, and the devices."""
    captures = document["captures"]
    if len(captures) != 1:
        formats = ", ".join(dict.fromkeys(capture["format"] for capture in captures))
        return f"{len(captures):,} captures, {formats}, {size(sum(one['size_bytes'] for one in captures))}"
    (capture,) = captures
    kind = _FORMATS.get(capture["format"], capture["format"])
    if capture["format"] == "nsys-sqlite" and capture["tool_version"]:
        kind = f"nsys {'.'.join(capture['tool_version'].split('.')[:2])} export"
    path = capture["path"].rpartition("/")[2]
    return ", ".join(filter(None, (f"{path}: {kind}", f"{capture['events_read']:,} events", _devices(document))))


def _devices(document: Document) -> str:
    # A device that several processes used has a row for each.
    numbers = {device["device_id"]: device["name"] for device in document["devices"]}
    names = {name for name in numbers.values() if name is not None}
    count = f"{len(numbers)} GPUs" if len(numbers) > 1 else ""
    if not names:
        return f"{count or '1 GPU'} (model not recorded)" if numbers else ""
    return f"{count}: {', '.join(sorted(names))}" if count else names.pop()
