"""Ranges of numbers in documents, with errors that name the path."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from math import inf, nextafter
from typing import Any, NamedTuple, get_args, get_type_hints

from fastrnns_rs.documents.codec import added_keys, join, place, shown
from fastrnns_rs.errors import UsageError

#: Exclusive limit of times: 2⁶² nanoseconds are 146 years.
TIME_END = 1 << 62
#: Range of integers that JSON readers of other languages support.
_START, _END = -(1 << 63), 1 << 64
#: Exclusive limit of sums of times, as of the spans of several GPUs.
SUM_END = _END
#: Sizes in problems, and in the names of axes.
_SIZES = {"seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size", "proj_size"}
#: Counts whose names do not show that they are counts.
_COUNTS = {
    *("count", "n", "launches", "events_read", "events_skipped", "iterations", "processes", "processes_per_side"),
    *("comparisons", "invocations", "times", "repeat", "captures", "index", "order", "rank", "local_rank"),
    *("node", "world_size", "graph_breaks", "recompilations", "registers", "registers_per_thread", "spills"),
    *("num_threads", "threads", "additional_processes", "faster", "slower", "equivalent", "inconclusive", "none"),
    *("voluntary_switches", "involuntary_switches", "sessions", "history_sessions", "process_sessions"),
}
#: Times that are lengths; of the other keys with this ending, some are differences.
_DURATIONS = {
    *("first_call_ns", "cold_ns", "warm_ns", "timed_loop_ns", "timer_resolution_ns"),
    *("busy_ns", "overlap_ns", "exposed_communication_ns", "counted_twice_ns", "kernel_total_ns"),
    *("host_total_ns", "gpu_inclusive_ns", "gpu_exclusive_ns", "gpu_other_threads_ns", "gpu_busy_ns", "gpu_time_ns"),
    *("forward_ns", "backward_ns", "host_median_ns", "gpu_median_ns", "gpu_busy_median_ns", "gpu_time_median_ns"),
}
_SHARES = {"margin", "false_discovery_rate", "level", "p_value", "p_value_adjusted"}
_DEEPEST = 100


class Bounds(NamedTuple):
    """Range of numbers for a key: from `least`, below `end`."""

    least: float
    end: float
    name: str


_TIME = Bounds(-TIME_END + 1, TIME_END, "a time of less than 2⁶² ns")
_SAMPLE = Bounds(0, TIME_END, "a time from 0 to 2⁶² ns")
_SUM = Bounds(0, SUM_END, "a sum of times from 0 to 2⁶⁴ ns")
_MILLISECONDS = _SAMPLE._replace(end=TIME_END / 1e6)
_SIZE = Bounds(1, _END, "a size above 0")
_COUNT = Bounds(0, _END, "a count")
_SHARE = Bounds(0, nextafter(1, inf), "a share from 0 to 1")
_NUMBER = Bounds(-inf, inf, "a number of at most 64 bits")

#: Relative widths and deviations, which are far above 1 for few processes that differ much.
_WIDTH = Bounds(0, 1e200, "a number from 0 to 1e200")
_NAMED = {
    # Other numbers are divided by these two.
    "runs": Bounds(1, _END, "a count above 0"),
    "device": Bounds(0, _END, "a place in devices"),
    "wall_time_ns": Bounds(1e-6, TIME_END, "a time above 0 and of less than 2⁶² ns"),
    **dict.fromkeys(("span_ns", "idle_ns", "in_stream_ns", "total_ns"), _SUM),
    "confidence_level": Bounds(nextafter(0, 1), 1, "a level between 0 and 1"),
    "precision": _WIDTH,
    "session_stddev": _WIDTH,
    "session_stderr": _WIDTH,
}


class _UnsoundError(Exception):
    """Value that no build writes; `keys` lead to it, the innermost first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.keys: list[str | int] = []

    def usage_error(self) -> UsageError:
        """Returns the error for the user."""
        path = ""
        for key in reversed(self.keys):
            path = f"{path}[{key}]" if isinstance(key, int) else join(path, key)
        return UsageError(f"{place(path)} is {self}")


def check_numbers(document: object) -> None:
    """Rejects numbers that no build writes.

    Examples are times of centuries, negative counts, sizes of 0, and intervals with one end.

    Raises:
        UsageError: If there is such a number; the message names its path.
    """
    try:
        _object(document)
    except _UnsoundError as error:
        raise error.usage_error() from None


def check_unknown(objects: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Rejects unknown keys that are nested too deeply to be written again.

    Args:
        objects: Path of each object that has unknown keys, and these keys.

    Raises:
        UsageError: If there is such a key; the message names it.
    """
    for path, unknown in objects:
        for key, value in unknown.items():
            level, depth = [value], 0
            while level:
                level = [one for outer in level if isinstance(outer, (dict, list)) for one in _inside(outer)]
                depth += 1
                if depth > _DEEPEST:
                    raise UsageError(f"nested too deeply: {place(join(path, key))}")


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _object(value: Any) -> None:
    _check_ends(value)
    key = ""
    try:
        for key, bounds in _numeric_keys(value.__class__).items():
            _value(getattr(value, key), bounds)
    except _UnsoundError as error:
        error.keys.append(key)
        raise


def _check_ends(value: Any) -> None:
    for key, other in _ends(value.__class__):
        if getattr(value, key) is None and getattr(value, other) is not None:
            error = _UnsoundError(f"null, and {other} is not")
            error.keys.append(key)
            raise error


@cache
def _numeric_keys(kind: type) -> dict[str, Bounds]:
    """Returns the keys of a class of objects whose values contain numbers."""
    hints = get_type_hints(kind)
    return {key: _bounds(key) for key in added_keys(kind) if _has_numbers(hints[key])}


@cache
def _ends(kind: type) -> list[tuple[str, str]]:
    """Returns the keys of ends of intervals, each with that of the other end."""
    others = {key: key.replace("ci_low", "ci_high") for key in _numeric_keys(kind) if "ci_low" in key}
    return [*others.items(), *((other, key) for key, other in others.items())]


def _has_numbers(hint: Any) -> bool:
    return hint in {int, float} or is_dataclass(hint) or any(map(_has_numbers, get_args(hint)))


def _bounds(key: str) -> Bounds:
    if key in _NAMED:
        return _NAMED[key]
    if key.endswith("_ns"):
        return _SAMPLE if key in _DURATIONS else _TIME
    if key.endswith("_ms"):
        return _MILLISECONDS
    if key.endswith(("_bytes", "_count")) or key.startswith("n_") or key in _COUNTS:
        return _COUNT
    if key in _SHARES:
        return _SHARE
    return _SIZE if key.replace("-", "_") in _SIZES else _NUMBER


def _value(value: Any, bounds: Bounds) -> None:
    if isinstance(value, float) or type(value) is int:
        # A NaN fails every comparison, and so is never within the range.
        if not bounds.least <= value < bounds.end or not (isinstance(value, float) or _START <= value < _END):
            raise _UnsoundError(f"{shown(value)}, not {bounds.name}")
    elif isinstance(value, list):
        if bounds is _TIME:
            bounds = _SAMPLE
        if bounds is not _SAMPLE or not _are_samples(value):
            _entries(enumerate(value), lambda _: bounds)
    elif isinstance(value, dict):
        # An entry of a point has the name of the option that it is a value of.
        _entries(value.items(), _bounds)
    elif is_dataclass(value):
        _object(value)


def _entries(entries: Iterable[tuple[Any, Any]], bounds: Callable[[Any], Bounds]) -> None:
    key: Any = None
    try:
        for key, value in entries:
            _value(value, bounds(key))
    except _UnsoundError as error:
        error.keys.append(key)
        raise


def _are_samples(values: list[Any]) -> bool:
    """Returns True for a list of samples.

    A run has a million samples, so loops of the interpreter check them.
    """
    try:
        # `array` rejects numbers below 0 and values that are not integers.
        packed = array("Q", values)
    except (OverflowError, TypeError):
        return False
    total: int = sum(values)
    return total < TIME_END or max(packed) < TIME_END
