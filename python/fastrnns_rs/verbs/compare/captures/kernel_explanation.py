"""Derivation of a verdict on a kernel, a category or the device time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.errors import unknown
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare import sorted_numbers
from fastrnns_rs.verbs.compare.verdict_steps import format_change, numbered, verdict_steps
from fastrnns_rs.views.prose import WIDTH, wrapped
from fastrnns_rs.views.scale import Scale

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Change, Comparison
    from fastrnns_rs.verbs.compare.captures.capture_comparison import CaptureComparison
    from fastrnns_rs.verbs.compare.captures.kernel_rows import JudgedChange, JudgedKernel

#: Maximum number of explained rows: part of a name may match any number.
_MOST = 20
_BASES = {"total": "capture", "per_iteration": "iteration", "per_capture": "capture"}


def explain(compared: CaptureComparison, name: str, limit: int = WIDTH) -> str:
    """Returns the derivation of the rows of a name.

    Args:
        compared: Comparison of captures.
        name: Full or short name of a kernel, a category, `device time`, or part of a kernel's name.
        limit: Width of the terminal.

    Raises:
        UsageError: If no row has the name; the hint has the nearest match.
    """
    judged = compared.judged
    every: list[tuple[set[str | None], JudgedKernel | JudgedChange]] = [
        ({one.row.name, one.row.baseline_name, one.pair.either.short_name}, one) for one in judged.kernels
    ]
    every += [({one.row.name}, one) for one in (judged.device_time, *judged.categories)]
    found = [one for names, one in every if name in names]
    found = found or [one for names, one in every if any(called and name in called for called in names)]
    if not name or not found:
        known = sorted({one for names, _ in every for one in names if one})
        raise unknown("unknown row", name, known, where="explain", hint="Use the name of a row of the table.")
    texts = ["\n".join(_lines(compared, one, limit)) for one in found[:_MOST]]
    if len(found) > _MOST:
        texts.append(f"{len(found) - _MOST:,} more rows match. Use a longer name.")
    return "\n\n".join(texts) + "\n"


def _lines(compared: CaptureComparison, one: JudgedKernel | JudgedChange, limit: int) -> Iterator[str]:
    row, finding, comparison = one.row, one.finding, compared.comparison
    yield from wrapped(f"{visible(row.name)}: {_answer(row)}", limit)
    for fact in _facts(comparison, row):
        yield from wrapped(fact, limit)
    if finding.found is None:
        return
    values = finding.values
    scale = Scale([value for side in values for value in side])
    yield ""
    what = "Captures, time per iteration" if comparison.basis == "per_iteration" else "Captures"
    yield from sorted_numbers.lines(what, values, scale, limit)
    yield ""
    steps = [*verdict_steps(finding.found, finding.step, finding.p_value_adjusted, scale)]
    if finding.is_outside:
        answer = "no, inconclusive" if finding.is_contradicted else "by another amount"
        steps.append([f"Does the mean time agree? It changed × {finding.ratio:.4f}: {answer}."])
    yield from numbered(steps, limit)


def _answer(row: Change) -> str:
    change = format_change(row.ratio, row.ratio_ci_low, row.ratio_ci_high)
    if row.verdict is None:
        return f"no verdict{f', {change}' if change else ''}: {visible(row.reason).removesuffix(': no verdict')}"
    return f"{row.verdict}{' by ' if row.verdict in {'faster', 'slower'} else ', '}{change}"


def _facts(comparison: Comparison, row: Change) -> Iterator[str]:
    """Yields the category, the former name, both times and the difference."""
    yield ""
    if category := getattr(row, "category", None):
        yield f"category: {visible(category)}"
    if getattr(row, "matched_by", None) == "shape":
        former = visible(getattr(row, "baseline_name", None) or "")
        yield f"renamed: {former} in the baseline; category, launch shape and number of launches agree"
    basis = _BASES[comparison.basis or "total"]
    for side, figures in (("baseline", row.baseline), ("candidate", row.candidate)):
        took = figures and f"{figures.total_ns:,} ns in {figures.launches:,.6g} launches per {basis}"
        yield f"{side}: {took or 'missing'}"
    whole = comparison.device_time.delta_ns if comparison.device_time else 0
    part = "" if row.contribution is None else f", {row.contribution:.1%} of the whole change ({whole:+,d} ns)"
    yield f"difference: {row.delta_ns:+,d} ns{part}"
