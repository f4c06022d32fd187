"""JUnit's XML, as build servers read it: a row or a kernel is a test case, and a slower one has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.views.comparison import columns, words
from fastrnns_rs.views.text import xml
from fastrnns_rs.views.units import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.documents.comparison import Change, Comparison, Kernel, Row
    from fastrnns_rs.views.comparison.words import NamedRow

    #: Names and values, escaped when they are written; None is left out.
    Properties = dict[str, str | None]

_NS_PER_S = 1e9
#: The element of each verdict; a case without one has passed.
_ELEMENTS = {"slower": "failure", "inconclusive": "skipped", None: "skipped"}


class Case:
    """A test case.

    Args:
        found: The row or the change that it stands for.
        names: The class and the name.
        time_ns: Time of the candidate; None if it has none.
        notes: What follows the ratio in the message.
        properties: Every digit, for programs.
        broke: Whether it has no verdict because a side broke.
    """

    def __init__(
        self,
        found: Row | Change,
        names: tuple[str, str],
        time_ns: float | None,
        properties: Properties,
        *,
        notes: Iterable[str] = (),
        broke: bool = False,
    ) -> None:
        self._names = names
        self._seconds = None if time_ns is None else plain(time_ns / _NS_PER_S)
        self._properties = properties
        self.element = "error" if broke else _ELEMENTS.get(found.verdict)
        self._verdict = found.verdict or "no verdict"
        self._reason = found.reason
        ratio = [] if found.ratio is None else [f"{self._verdict}: {words.ratio_with_interval(found)}"]
        self._message = "; ".join([*ratio, *notes]) or self._verdict

    def lines(self) -> list[str]:
        """The element as lines."""
        start = _start("testcase", classname=self._names[0], name=self._names[1], time=self._seconds)
        return [
            f"    {start}>",
            *_properties("      ", self._properties.items()),
            *([] if self.element is None else [f"      {self._outcome(self.element)}"]),
            "    </testcase>",
        ]

    def _outcome(self, element: str) -> str:
        kind = {"skipped": None, "error": "failed"}.get(element, self._verdict)
        start = _start(element, message=self._message, type=kind)
        return f"{start}>{xml(self._reason)}</{element}>" if self._reason else f"{start}/>"


def junit(comparison: Comparison) -> str:
    """Writes a comparison as one test suite."""
    found = _cases(comparison)
    elements = [one.element for one in found]
    forced = f"{words.FORCED}: " if comparison.method.forced else ""
    suite = _start(
        "testsuite",
        name=f"{forced}{comparison.baseline.label} → {comparison.candidate.label}",
        tests=str(len(found)),
        failures=str(elements.count("failure")),
        errors=str(elements.count("error")),
        skipped=str(elements.count("skipped")),
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f"  {suite}>",
        *_properties("    ", _about(comparison)),
        *(line for one in found for line in one.lines()),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "".join(line + "\n" for line in lines)


def _cases(comparison: Comparison) -> list[Case]:
    kernels = [_kernel(one, comparison) for one in comparison.kernels]
    whole = [] if comparison.device_time is None else [comparison.device_time]
    rows = [_row(one, comparison) for one in words.named_rows(comparison)]
    return [*rows, *kernels, *(_change(one, "captures", comparison, {}) for one in whole)]


def _row(named: NamedRow, comparison: Comparison) -> Case:
    row = named.row
    sides = {"baseline": row.baseline, "candidate": row.candidate}
    properties = {
        "verdict": row.verdict,
        "label": row.label,
        **_figures(row, comparison),
        "cliffs_delta": _number(row.cliffs_delta),
        "p_value_adjusted": _number(row.p_value_adjusted),
        **{f"{name}.estimate_ns": _number(side.estimate_ns) for name, side in sides.items() if side is not None},
        **{f"{name}.n_processes": str(side.n_processes) for name, side in sides.items() if side is not None},
    }
    names = (row.runner if row.group is None else row.group, named.name)
    time_ns = None if row.candidate is None else row.candidate.estimate_ns
    return Case(row, names, time_ns, properties, notes=[note for note, _ in named.notes()], broke=named.broke)


def _kernel(kernel: Kernel, comparison: Comparison) -> Case:
    matched = {"matched_by": kernel.matched_by, "baseline_name": columns.former_name(kernel)}
    return _change(kernel, kernel.category, comparison, matched)


def _change(change: Change, classname: str, comparison: Comparison, more: Properties) -> Case:
    sides = {"baseline": change.baseline, "candidate": change.candidate}
    properties = {
        "verdict": change.verdict,
        **_figures(change, comparison),
        "p_value_adjusted": _number(change.p_value_adjusted),
        "delta_ns": str(change.delta_ns),
        "contribution": _number(change.contribution),
        **{f"{name}.total_ns": str(side.total_ns) for name, side in sides.items() if side is not None},
        **{f"{name}.n_repeats": str(side.n_repeats) for name, side in sides.items() if side is not None},
        **more,
    }
    time_ns = None if change.candidate is None else change.candidate.total_ns
    return Case(change, (classname, change.name), time_ns, properties)


def _figures(found: Row | Change, comparison: Comparison) -> Properties:
    keys = ("ratio", "ratio_ci_low", "ratio_ci_high")
    return {**{key: _number(getattr(found, key)) for key in keys}, "margin": _number(comparison.method.margin)}


def _about(comparison: Comparison) -> list[tuple[str, str | None]]:
    method, mean = comparison.method, comparison.geometric_mean
    known: Properties = {
        "forced": str(method.forced).lower(),
        "baseline": comparison.baseline.label,
        "candidate": comparison.candidate.label,
        "method": method.name,
        "confidence_level": _number(method.confidence_level),
        "margin": _number(method.margin),
        "margin_source": words.SOURCES[method.margin_source],
        "false_discovery_rate": _number(method.false_discovery_rate),
        "geometric_mean": _number(mean and mean.ratio),
        "geometric_mean_ci_low": _number(mean and mean.ratio_ci_low),
        "geometric_mean_ci_high": _number(mean and mean.ratio_ci_high),
    }
    differences = [
        (f"environment.{one.key}", f"{words.value(one.baseline)} → {words.value(one.candidate)}")
        for one in comparison.environment_differences
    ]
    warnings = [(f"warning.{one.code}", one.message) for one in comparison.warnings]
    return [*known.items(), *differences, *warnings]


def _number(value: float | None) -> str | None:
    """Every digit, as Python writes them."""
    return None if value is None else repr(float(value))


def _properties(indent: str, pairs: Iterable[tuple[str, str | None]]) -> list[str]:
    known = [_start("property", name=name, value=value) for name, value in pairs if value is not None]
    return [f"{indent}<properties>", *(f"{indent}  {one}/>" for one in known), f"{indent}</properties>"]


def _start(element: str, **attributes: str | None) -> str:
    """An element up to where it is closed."""
    known = {key: value for key, value in attributes.items() if value is not None}
    return f"<{element}" + "".join(f' {key}="{xml(value)}"' for key, value in known.items())
