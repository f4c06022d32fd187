"""Derivation of a verdict on a kernel, a category or the device time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastrnns_rs.errors import unknown
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.explanation import derivation, sentence

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.captures.capture_comparison import CaptureComparison
    from fastrnns_rs.verbs.compare.captures.kernel_rows import JudgedChange, JudgedKernel

#: Maximum number of explained rows: part of a name may match any number.
_MOST = 20
_BASES = {"total": "whole capture", "per_iteration": "iteration", "per_capture": "capture"}


def explain(compared: CaptureComparison, name: str) -> str:
    """Returns the derivation of the rows of a name.

    Args:
        compared: Comparison of captures.
        name: Full or short name of a kernel, a category, `device time`, or part of a kernel's name.

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
    texts = ["\n".join(visible(line) for line in _lines(compared, one)) for one in found[:_MOST]]
    if len(found) > _MOST:
        texts.append(f"and {len(found) - _MOST} more rows: give more of the name")
    return "\n\n".join(texts) + "\n"


def _lines(compared: CaptureComparison, one: JudgedKernel | JudgedChange) -> Iterator[str]:
    row, finding, comparison = one.row, one.finding, compared.comparison
    yield f"{row.name}: {row.verdict or 'no verdict'}"
    baseline_name = getattr(row, "baseline_name", None)
    if getattr(row, "matched_by", None) == "shape":
        yield f"Renamed: it was {baseline_name}; category, launch shape and number of launches agree."
    if category := getattr(row, "category", None):
        yield f"Category: {category}"
    basis = _BASES[comparison.basis or "total"]
    for side, figures in (("Baseline", row.baseline), ("Candidate", row.candidate)):
        took = figures and f"{figures.total_ns} ns and {figures.launches:.6g} launches, of the {basis}"
        yield f"{side}: {took or 'not there'}"
    whole = comparison.device_time.delta_ns if comparison.device_time else 0
    part = "" if row.contribution is None else f", {row.contribution:.1%} of the change of everything ({whole:+d} ns)"
    yield f"Difference: {row.delta_ns:+d} ns{part}"
    if finding.found is not None:
        yield "1. One number per capture, in ns" + (" of an iteration" if comparison.basis == "per_iteration" else "")
        for side, values in zip(("baseline ", "candidate"), finding.values, strict=True):
            yield f"   {side}  n = {len(values)}: {' '.join(f'{value:.15g}' for value in values)}"
        yield from derivation(finding.found, finding.step, finding.p_value_adjusted, of="repeats")
    if row.ratio is not None:
        yield f"Ratio of the totals, candidate / baseline: {row.ratio:.9g}"
    yield f"So: {row.verdict or 'no verdict'}. {sentence(row.reason)}"
