"""Derivation of a verdict, with all numbers to check the verdict by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import name_rows
from fastrnns_rs.documents.row_names import find_places
from fastrnns_rs.errors import unknown
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare import sorted_numbers
from fastrnns_rs.verbs.compare.verdict_steps import digits, format_change, numbered, verdict_steps
from fastrnns_rs.views.comparison import spark_histogram, words
from fastrnns_rs.views.prose import WIDTH, wrapped
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import StatisticChange
    from fastrnns_rs.verbs.compare.verdicts import Judged

#: Width of the names of statistics.
_NAME = 8


def explain(
    judged: Sequence[Judged], name: str, limit: int = WIDTH, *, wide: bool = False, histograms: bool = False
) -> str:
    """Returns the derivation of a row, or of all rows of a runner.

    Args:
        judged: All rows of the comparison.
        name: Name of the row, or `runner`, or `runner/phase` if several problems are compared.
        limit: Width of the terminal.
        wide: True adds the statistics that are not judged.
        histograms: True adds histograms of all timed samples, whose bars are no ASCII.

    Raises:
        UsageError: If no row has the name; the hint has the nearest match.
    """
    known = name_rows([one.row for one in judged])
    found = [judged[place] for place in find_places(name, known)]
    if not found:
        every = dict.fromkeys(one for called in known for one in called)
        raise unknown("unknown row", name, every, where="explain")
    return "\n\n".join("\n".join(_lines(one, limit, wide=wide, histograms=histograms)) for one in found) + "\n"


def names_explained(judged: Sequence[Judged], name: str) -> set[str]:
    """Returns the titles of the rows that a name stands for."""
    known = name_rows([one.row for one in judged])
    return {judged[place].pair.title for place in find_places(name, known)}


def _lines(one: Judged, limit: int, *, wide: bool, histograms: bool) -> Iterator[str]:
    yield from wrapped(f"{visible(one.pair.title)}: {_answer(one)}", limit)
    if notes := [*one.pair.conflicts, *one.pair.intended]:
        yield from wrapped(f"note: {visible('; '.join(notes))}", limit)
    yield ""
    scale = Scale([value for values in _numbers(one) for value in values])
    yield from _data(one, scale, limit)
    if histograms and (shown := [*_histograms(one, scale, limit)]):
        yield from ["", *shown]
    if one.found is not None:
        steps = [*verdict_steps(one.found, one.step, one.row.p_value_adjusted, scale, one.replication)]
        sessions = _sessions(one)
        yield ""
        yield from numbered([*steps, *([[sessions]] if sessions and one.found.p_value is not None else [])], limit)
    if wide and (others := words.other_statistics(one.row)):
        yield ""
        yield "Other statistics of each process, not judged"
        yield from _others(others, limit)
    needed = words.suggested_processes(one.row)
    if one.row.verdict == "inconclusive" and needed is not None:
        yield ""
        yield from wrapped(_suggestion(needed), limit)


def _others(found: Sequence[tuple[str, StatisticChange]], limit: int) -> Iterator[str]:
    for name, one in found:
        change = format_change(one.ratio, one.ratio_ci_low, one.ratio_ci_high)
        tests = (("p", one.p_value), ("adjusted p", one.p_value_adjusted))
        values = "".join(f", {label} = {digits(value)}" for label, value in tests if value is not None)
        yield from wrapped(f"  {name:{_NAME}}{change}{values}", limit)


def _suggestion(needed: str) -> str:
    if needed == words.NEVER:
        return f"This difference cannot be decided with {words.MOST_SUGGESTED} processes per side."
    return (
        f"A new comparison with about {needed} processes per side reaches a verdict with a probability of 90 %, if the "
        "difference and the spread stay the same."
    )


def _answer(one: Judged) -> str:
    row = one.row
    verdict = words.choose_verdict(row)
    change = format_change(row.ratio, row.ratio_ci_low, row.ratio_ci_high)
    if verdict is None:
        return f"no verdict{f', {change}' if change else ''}: {visible(row.reason).removesuffix(': no verdict')}"
    between = " by " if verdict in {"faster", "slower"} else ", "
    return f"{verdict}{between}{change}{', within these two sessions' if row.conditional_verdict else ''}"


def _numbers(one: Judged) -> tuple[Sequence[float], Sequence[float]]:
    """Returns the numbers of both sides: of sessions, processes or samples."""
    if one.row.basis == "sessions":
        return one.replication.baseline, one.replication.candidate
    baseline, candidate = ([] if side is None else side.levels for side in (one.pair.baseline, one.pair.candidate))
    return baseline, candidate


def _data(one: Judged, scale: Scale, limit: int) -> Iterator[str]:
    series = (one.pair.baseline, one.pair.candidate)
    lacks_processes = any(side.lack for side in series if side)
    plural = words.STATISTICS[one.pair.series.statistic][1]
    what = "Samples" if lacks_processes else "Session means" if one.row.basis == "sessions" else f"Process {plural}"
    reasons = ["missing" if side is None else side.reason or "no samples" for side in series]
    yield from sorted_numbers.lines(what, _numbers(one), scale, limit, reasons)


def _histograms(one: Judged, scale: Scale, limit: int) -> Iterator[str]:
    """Yields the histograms of all timed samples of both sides."""
    samples = [
        (name, [time / scale.ns for times in side.samples_ns for time in times])
        for name, side in (("baseline", one.pair.baseline), ("candidate", one.pair.candidate))
        if side is not None
    ]
    if len(samples) > 1:
        yield from spark_histogram.lines(samples, scale.unit, limit)


def _sessions(one: Judged) -> str:
    """Returns the sentence on sessions; empty for files of other tools."""
    row = one.row
    counts = [len({*side.sessions}) for side in (one.pair.baseline, one.pair.candidate) if side is not None]
    number = "one per side" if counts == [1, 1] else " and ".join(map(str, counts))
    if row.basis == "two_sessions":
        end = ": the verdict is conditional" if row.conditional_verdict else ""
        return f"Sessions: {number}, session variance unknown{end}."
    texts = {
        "interleaved": "Sessions: the same for both sides, with interleaved processes.",
        "sessions": f"Sessions: {number}. The sessions are compared, not their processes.",
        "history": f"Sessions: {number}; the error includes the variance between sessions.",
    }
    return texts.get(row.basis or "", "")
