"""Checks of statistics of a row: values with its count and sum can have them."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.tolerances import COMPUTED, is_between, is_near
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import MemoryRow

#: Statistics of a row, in the order of their values.
_ORDERED = ("min", "median", "p95", "max")
#: Statistics that need each value.
_OF_VALUES = {"median", "p95", "stddev"}
#: nvprof prints times with few digits, and in seconds to the microsecond.
_PRINTED, _PRINTED_NS = 1e-3, 1_000


def check_statistics(path: str, row: Any, unit: str, *, has_totals: bool) -> None:
    """Checks the mean, the order and the nulls of the statistics of a row.

    Rows of which a capture contains only totals have no median, and rounded times.
    """
    names = [name for name in (*_ORDERED, "stddev") if hasattr(row, f"{name}_{unit}")]
    found: dict[str, Any] = {name: getattr(row, f"{name}_{unit}") for name in names}
    mean = getattr(row, f"mean_{unit}")
    check_quotient(f"{path}.mean_{unit}", mean, getattr(row, f"total_{unit}"), row.count)
    is_total = found["median"] is None
    if is_total and (not has_totals or getattr(row, "device", None) is not None):
        raise UsageError(f"{path}.median_{unit} is null, and only totals of nvprof have none")
    for name, value in found.items():
        if (value is None) is not (name in _OF_VALUES if is_total else name == "stddev" and row.count == 1):
            values = f"the row has {row.count} values{' without a median' if is_total else ''}"
            raise UsageError(f"{path}.{name}_{unit} is {show_number(value)}, and {values}")
    for one, other in pairwise(name for name in names if name in _ORDERED and found[name] is not None):
        if found[one] > found[other] * (1 + COMPUTED):
            raise UsageError(f"{path}.{one}_{unit} is {found[one]:.9g}, above {other}_{unit}, {found[other]:.9g}")
    low, high = found["min"], found["max"]
    if not is_total:
        _check_values(path, row, unit, found)
    elif not low - _PRINTED_NS <= mean * (1 + _PRINTED) <= (high + _PRINTED_NS) * (1 + _PRINTED):
        raise UsageError(f"{path}.mean_{unit} is {mean:.9g}, and values are from {low} to {high}")


def _check_values(path: str, row: Any, unit: str, found: dict[str, Any]) -> None:
    """Checks that values with these statistics exist."""
    count, total = row.count, getattr(row, f"total_{unit}")
    low, middle, high, spread = (found[name] for name in ("min", "median", "max", "stddev"))
    least, most = high + (count - 1) * low, low + (count - 1) * high
    if not is_between(total, least, most, COMPUTED):
        raise UsageError(
            f"{path}.total_{unit} is {total}, and {count} values from {low} to {high} are {least} to {most}"
        )
    # As many values are above the median as below.
    few, some = (count - 1) // 2, count // 2
    least, most = few * low + some * middle + high, low + some * middle + few * high
    if not (is_between(total, least, most, COMPUTED) if few else is_near(total, count * middle)):
        raise UsageError(f"{path}.median_{unit} is {middle:.9g}, not that of {count} values of {total} {unit}")
    if spread is None:
        return
    # The mean's distances from both ends, times the number of values.
    above, below = max(count * high - total, 0), max(total - count * low, 0)
    # The other values are closest to the mean if they are equal.
    squares = above**2 + below**2 + (above - below) ** 2 / max(count - 2, 1)
    least, most = sqrt(squares / (count - 1)) / count, sqrt(above * below / (count * (count - 1)))
    if not least - COMPUTED * high <= spread <= most + COMPUTED * high:
        values = f"values from {low} to {high} with this mean have {least:.9g} to {most:.9g}"
        raise UsageError(f"{path}.stddev_{unit} is {spread:.9g}, and {count} {values}")


def check_sizes(path: str, copies: MemoryRow) -> None:
    """Checks the sizes of copies, which are null together."""
    names = [f"{name}_bytes" for name in ("total", "mean", "median", "min", "max")]
    nulls = [name for name in names if getattr(copies, name) is None]
    # Totals of nvprof have no sizes.
    if nulls and (len(nulls) < len(names) or (copies.stddev_bytes, copies.bandwidth_gb_per_s) != (None, None)):
        raise UsageError(f"{path}.{nulls[0]} is null, and other sizes or the bandwidth are not")
    if copies.total_bytes is None:
        return
    if copies.median_ns is None:
        raise UsageError(f"{path}.total_bytes is {copies.total_bytes}, and totals of nvprof have no sizes")
    check_statistics(path, copies, "bytes", has_totals=False)
    check_quotient(f"{path}.bandwidth_gb_per_s", copies.bandwidth_gb_per_s, copies.total_bytes, copies.total_ns)


def show_number(value: float | None) -> str:
    """Returns a number as messages write it."""
    return "null" if value is None else f"{value:.9g}"


def check_quotient(path: str, value: float | None, part: float, whole: float) -> None:
    """Checks a mean, a share or a rate; None without a whole."""
    expected = part / whole if whole else None
    is_same = value is expected if value is None or expected is None else is_near(value, expected)
    if not is_same:
        raise UsageError(f"{path} is {show_number(value)}, not {part:.9g} / {whole:.9g}")
