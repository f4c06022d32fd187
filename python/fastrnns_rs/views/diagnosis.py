"""Screen of `doctor`: checks, profilers, noise floor and configured options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views import fitted_table, noise
from fastrnns_rs.views.fitted_table import FittedColumn, FittedRow
from fastrnns_rs.views.screen import Line, wrapped_lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import Check, Diagnosis
    from fastrnns_rs.documents.noise_floor import NoiseFloor

_BLANK = Line("")
_NONE = "-"
_GIB = 1 << 30
_NAME = 12
_STATUSES = ("ok", "warn", "fail", "skipped")
_CHECKS = (
    FittedColumn("status"),
    FittedColumn("check", least=_NAME),
    FittedColumn("value", least=_NAME, rank=1),
    FittedColumn("result", is_sentence=True),
)
_PROFILERS = (
    FittedColumn("profiler"),
    FittedColumn("status"),
    FittedColumn("version", least=_NAME, rank=1),
    FittedColumn("path", least=_NAME, rank=2),
    FittedColumn("records", is_sentence=True),
)
_OPTIONS = (
    FittedColumn("option", least=_NAME),
    FittedColumn("source"),
    FittedColumn("value", is_sentence=True),
)


def lines(found: Diagnosis, limit: int) -> list[Line]:
    """Returns checks, profilers, noise floor and configured options.

    The last line has the number of checks with each status.

    Args:
        found: Diagnosis.
        limit: Width of the terminal.
    """
    shown = [one for one in found.checks if one.status != "skipped"]
    rows = [
        FittedRow((one.status, one.id, _value(one), one.message), [f"hint: {one.hint}"] if one.hint else [])
        for one in shown
    ]
    parts = [[*fitted_table.lines(_CHECKS, rows, limit), *_skipped(found, limit)]] if found.checks else []
    if found.profilers:
        entries = [
            FittedRow(
                (
                    one.name,
                    one.status,
                    one.version or _NONE,
                    one.path or _NONE,
                    one.reason or " ".join(one.capabilities),
                )
            )
            for one in found.profilers
        ]
        parts.append(fitted_table.lines(_PROFILERS, entries, limit))
    parts.append([*_noise(found.noise_floor, limit)])
    if given := [one for one in found.config if one.source != "default"]:
        options = [FittedRow((one.key, one.source, _NONE if one.value is None else one.value)) for one in given]
        parts.append(fitted_table.lines(_OPTIONS, options, limit))
    return [*(line for part in parts for line in (*part, _BLANK)), Line(summary(found), "bold")]


def summary(found: Diagnosis) -> str:
    """Returns the number of checks with each status, as `7 ok, 1 warn, 6 skipped`."""
    counts = {status: sum(one.status == status for one in found.checks) for status in _STATUSES}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def _value(one: Check) -> str:
    if one.unit == "bytes" and isinstance(one.value, (int, float)):
        return f"{one.value / _GIB:,.1f} GiB"
    return " ".join(str(part) for part in (one.value, one.unit) if part is not None)


def _skipped(found: Diagnosis, limit: int) -> Iterator[Line]:
    """Yields the skipped checks, those with one reason together."""
    by_reason: dict[str, list[str]] = {}
    for one in found.checks:
        if one.status == "skipped":
            by_reason.setdefault(one.message, []).append(one.id)
    for reason, names in by_reason.items():
        yield from wrapped_lines([f"skipped: {', '.join(names)} ({visible(reason)})"], limit, breaks=True)


def _noise(floor: NoiseFloor | None, limit: int) -> Iterator[Line]:
    if floor is None:
        yield Line("noise floor: not measured")
        return
    rows = [
        ("device", f"{floor.device}, {floor.device_name or 'unknown'}"),
        ("measured", f"{floor.measured_utc}, torch {floor.torch_version}"),
        ("processes", f"{floor.n_processes} of {floor.runner}, {floor.phase}"),
        ("80 % power finds", f"{noise.within_session(floor)}; {noise.between_sessions(floor)}"),
        ("random relabelling", noise.false_alarms(floor)),
        *(("last check", text) for text in filter(None, [noise.answer(floor)])),
    ]
    columns = (FittedColumn("noise floor"), FittedColumn("", is_sentence=True))
    yield from fitted_table.lines(columns, [FittedRow(row) for row in rows], limit)
