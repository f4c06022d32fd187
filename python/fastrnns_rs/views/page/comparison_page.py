"""Page of a comparison: the answer, then rows or kernels, differences and method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import captures_glance, sides, words
from fastrnns_rs.views.comparison.repeating import repeat_words
from fastrnns_rs.views.page import captures_comparison_page, comparison_head, runs_comparison_page
from fastrnns_rs.views.page.parts import Article, Command, Remarks, Section, Table, Text, text_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrnns_rs.documents.comparison import Comparison, Value
    from fastrnns_rs.views.page.charts import Charts

#: Lines of the context are not wrapped.
_UNLIMITED = 10_000
_LONGEST_LABEL = 60
_READING = "The ratio is the candidate's time over the baseline's: above 1 is slower."


def article(comparison: Comparison, charts: Charts) -> Article:
    """Returns the page of a comparison."""
    both = [visible(one.label) for one in (comparison.baseline, comparison.candidate)]
    paths = sides.are_paths(comparison)
    files = [one.rpartition("/")[2] or one for one in both] if paths else both
    labels = sides.short_labels(files if files[0] != files[1] else both, _LONGEST_LABEL, paths=paths)
    if comparison.kind == "capture":
        context = captures_glance.head(comparison, _UNLIMITED)
        sections = captures_comparison_page.sections(comparison, charts)
    else:
        # The differences have a table.
        context = [*sides.lines(comparison, _UNLIMITED)[:2], *comparison_head.lines(comparison)]
        sections = runs_comparison_page.sections(comparison, charts)
    return Article(
        f"Comparison of {labels[0]} and {labels[1]}",
        [line.text for line in context],
        [
            sections[0],
            Section("Warnings", [*_warnings(comparison)]),
            *sections[1:],
            Section("Environment differences", [*_differences(comparison)]),
            Section("Machine", [*comparison_head.machine(comparison)]),
            Section("Method", [*_method(comparison)]),
        ],
    )


def _value(key: str, value: Value) -> str:
    return "unset" if value is None and key.startswith("variables.") else words.value(value)


def _differences(comparison: Comparison) -> Iterator[Any]:
    found = [
        (one.key, *(_value(one.key, value) for value in (one.baseline, one.candidate)))
        for one in comparison.environment_differences
    ]
    if found:
        yield Table("Differences", ("setting", "baseline", "candidate"), text_rows(found), frozenset({0, 1, 2}))
    else:
        yield Text("No recorded setting, version or variable differs.")


def _warnings(comparison: Comparison) -> Iterator[Any]:
    if comparison.warnings:
        yield Remarks(
            [
                (visible(one.code), visible(one.message), visible(one.evidence or ""), visible(one.hint or ""))
                for one in comparison.warnings
            ]
        )


def _method(comparison: Comparison) -> Iterator[Any]:
    statistic = f", statistic: {judged}" if (judged := words.judged_statistic(comparison)) else ""
    yield Text(f"{visible(comparison.method.name)}{statistic}, {words.method(comparison.method)}. {_READING}")
    command = repeat_words(comparison)
    if command is not None:
        yield Text("Command of this comparison:")
        yield Command(visible(command))
