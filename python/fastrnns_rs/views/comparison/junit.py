"""JUnit XML of a comparison, for build servers.

Each row or kernel is a test case; a regression is a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import is_regression
from fastrnns_rs.views.comparison import columns, words
from fastrnns_rs.views.text import xml
from fastrnns_rs.views.units import plain

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison, Figures, KernelFigures, Row
    from fastrnns_rs.views.comparison.words import NamedRow

_NS_PER_S = 1e9
_FIGURES = ("ratio", "ratio_ci_low", "ratio_ci_high", "margin", "cliffs_delta", "p_value_adjusted", "delta_ns")


def junit(comparison: Comparison) -> str:
    """Formats a comparison as one test suite."""
    cases = list(_cases(comparison))
    text = "".join(case for _, case in cases)
    forced = f"{words.FORCED}: " if comparison.method.forced else ""
    elements = [element for element, _ in cases]
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite = _start(
        "testsuite",
        name=f"{forced}{comparison.baseline.label} → {comparison.candidate.label}",
        tests=str(len(cases)),
        **{name: str(elements.count(element)) for name, element in counts.items()},
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  {suite}>\n{_properties("    ", _about(comparison))}'
        f"{text}  </testsuite>\n</testsuites>\n"
    )


def _cases(comparison: Comparison) -> Iterator[tuple[str | None, str]]:
    """Yields the outcome element and the XML text of each case."""
    margin = comparison.method.margin
    for named in words.named_rows(comparison):
        row = named.row
        classname = row.runner if row.group is None else row.group
        yield _case(
            row, classname, named.name, _list_properties(row, margin, ("estimate_ns", "n_processes")), margin, named
        )
    for kernel in comparison.kernels:
        former = [("matched_by", kernel.matched_by), ("baseline_name", columns.former_name(kernel))]
        yield _change(kernel, kernel.category, margin, former)
    if comparison.device_time is not None:
        yield _change(comparison.device_time, "captures", margin, [])


def _change(
    found: Change, classname: str, margin: float, former: Iterable[tuple[str, object]]
) -> tuple[str | None, str]:
    properties = _list_properties(found, margin, ("total_ns", "n_repeats"))
    return _case(found, classname, found.name, [*properties, *former], margin)


def _list_properties(found: Row | Change, margin: float, keys: tuple[str, str]) -> list[tuple[str, object]]:
    """Returns the properties of a row or change, with all digits, for programs.

    Properties that the row or change does not have are None.
    """
    known = {"margin": margin}
    shared = ("verdict", "conditional_verdict", "basis", "label", *_FIGURES, "contribution")
    sides = {"baseline": found.baseline, "candidate": found.candidate}
    return [
        *((key, known.get(key, getattr(found, key, None))) for key in shared),
        *((f"{name}.{key}", getattr(side, key, None)) for key in keys for name, side in sides.items()),
    ]


def _case(
    found: Row | Change,
    classname: str,
    name: str,
    properties: Iterable[tuple[str, object]],
    margin: float,
    named: NamedRow | None = None,
) -> tuple[str | None, str]:
    side: Figures | KernelFigures | None = found.candidate
    time_ns = getattr(side, "estimate_ns", None) if named else getattr(side, "total_ns", None)
    verdict = words.choose_verdict(found) or "no verdict"
    if found.verdict is None and verdict != "no verdict":
        verdict += " for these two sessions only"
    notes = [note for note, _ in named.notes()] if named else []
    ratio = [] if found.ratio is None else [f"{verdict}: {words.ratio_with_interval(found)}"]
    element = "error" if named and named.broke else _element(found, margin)
    seconds = None if time_ns is None else plain(time_ns / _NS_PER_S)
    text = (
        f"    {_start('testcase', classname=classname, name=name, time=seconds)}>\n{_properties('      ', properties)}"
    )
    if element is not None:
        kind = {"skipped": None, "error": "failed"}.get(element, verdict)
        start = _start(element, message="; ".join([*ratio, *notes]) or verdict, type=kind)
        text += f"      {start}>{xml(found.reason)}</{element}>\n" if found.reason else f"      {start}/>\n"
    return element, f"{text}    </testcase>\n"


def _element(found: Row | Change, margin: float) -> str | None:
    """Returns the element that reports the outcome of a case; None if it passed."""
    if found.verdict in {None, "inconclusive"}:
        return "skipped"
    return "failure" if is_regression(found, margin) else None


def _about(comparison: Comparison) -> Iterator[tuple[str, object]]:
    method, mean = comparison.method, comparison.geometric_mean
    yield "forced", str(method.forced).lower()
    yield "baseline", comparison.baseline.label
    yield "candidate", comparison.candidate.label
    yield "method", method.name
    yield "confidence_level", method.confidence_level
    yield "margin", method.margin
    yield "margin_source", words.SOURCES[method.margin_source]
    yield "false_discovery_rate", method.false_discovery_rate
    for key in ("ratio", "ratio_ci_low", "ratio_ci_high"):
        yield f"geometric_mean{key.removeprefix('ratio')}", getattr(mean, key, None)
    for one in comparison.environment_differences:
        yield f"environment.{one.key}", f"{words.value(one.baseline)} → {words.value(one.candidate)}"
    for warning in comparison.warnings:
        yield f"warning.{warning.code}", warning.message


def _properties(indent: str, pairs: Iterable[tuple[str, object]]) -> str:
    known = (_start("property", name=name, value=str(value)) for name, value in pairs if value is not None)
    lines = [f"{indent}<properties>", *(f"{indent}  {one}/>" for one in known), f"{indent}</properties>"]
    return "".join(line + "\n" for line in lines)


def _start(element: str, **attributes: str | None) -> str:
    """Returns an element without its closing bracket."""
    known = {key: value for key, value in attributes.items() if value is not None}
    return f"<{element}" + "".join(f' {key}="{xml(value)}"' for key, value in known.items())
