"""From files and runs to their comparison, and to the derivation of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare import explanation, margins
from fastrnns_rs.verbs.compare.run_comparison import assemble, judge_sides
from fastrnns_rs.verbs.compare.run_files import read_both, read_side
from fastrnns_rs.verbs.compare.verdicts import check_causes
from fastrnns_rs.verbs.report import file_kinds

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.run_files import Source
    from fastrnns_rs.verbs.compare.session_spread import Past


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A comparison; `explain` derives the rows of a name, and raises `UsageError` where no row has it."""

    comparison: Comparison
    explain: Callable[[str], str]


def compare_sources(
    baseline: Sequence[Source],
    candidate: Sequence[Source],
    *,
    margin: float | str | None = None,
    force: bool = False,
    fail_on: Collection[str] = (),
    iteration_range: str | None = None,
    nsys_path: str | None = None,
    past: Past | None = None,
) -> Outcome:
    """Compares runs, or captures.

    Args:
        baseline: Paths of files, or runs: at least one.
        candidate: The same; empty where the baseline is one run of `ab`, which has both sides.
        margin: Equivalence margin as a share (0.01 is 1 %), as a text such as `1%`, or `noise-floor`; None for 1 %.
        force: Whether rows that do not belong together are compared all the same, and labelled.
        fail_on: `regression`, `inconclusive` or both: the causes of an exit code that is not 0.
        iteration_range: Of captures: the name of the ranges that mark iterations.
        nsys_path: Of captures: the nsys that exports reports.
        past: Of runs: earlier sessions, which show how much sessions differ.

    Raises:
        UsageError: A file cannot be understood, or the sides do not belong together.
        FastrnnsError: A file that looks like a capture is none.
        MissingError: A file is not there, or this machine's noise was never measured, or no nsys is there to export a
            report.
    """
    check_causes(fail_on)
    if are_captures(baseline, candidate):
        from fastrnns_rs.verbs.compare.captures import kernel_explanation
        from fastrnns_rs.verbs.compare.captures.capture_comparison import compare_captures

        first, second = ([one for one in side if isinstance(one, str | os.PathLike)] for side in (baseline, candidate))
        if not second:
            message = f"{first[0]} is a capture, one side of a comparison"
            raise UsageError(message, "give the other one too, as candidate")
        compared = compare_captures(
            first,
            second,
            margin=margin,
            force=force,
            fail_on=fail_on,
            iteration_range=iteration_range,
            nsys_path=nsys_path,
        )
        return Outcome(comparison=compared.comparison, explain=partial(kernel_explanation.explain, compared))
    if candidate:
        sides = read_side(baseline), read_side(candidate)
    elif len(baseline) == 1:
        sides = read_both(baseline[0])
    else:
        raise UsageError("no candidate is given", "give one, or one run of ab, which has both sides")
    share, source, warnings = margins.margin_of(margin, sides)
    judged = judge_sides(*sides, margin=share, force=force, intended=not candidate, past=past)
    comparison = assemble(*sides, judged, margin=share, margin_source=source, fail_on=fail_on, warnings=warnings)
    return Outcome(comparison=comparison, explain=partial(explanation.explain, judged))


def are_captures(baseline: Sequence[Source], candidate: Sequence[Source]) -> bool:
    """Whether all files are captures; False where none is one.

    Raises:
        UsageError: One is a capture and another is not; the message names both.
    """
    sources = [*baseline, *candidate]
    found = {os.fspath(one): file_kinds.kind(one) for one in sources if isinstance(one, str | os.PathLike)}
    captures = [name for name, kind in found.items() if kind == "capture"]
    others = [name for name, kind in found.items() if kind == "measurement"]
    others += [f"run {one.run_id}" for one in sources if not isinstance(one, str | os.PathLike)]
    if captures and others:
        message = f"{captures[0]} is a capture and {others[0]} is none: times of kernels and of runners do not compare"
        raise UsageError(message, "give captures on both sides, or run files on both")
    # Folders hold captures; of a folder beside a run file, whoever reads it says what is wrong.
    return bool(captures) or (bool(found) and not others and {*found.values()} == {"folder"})
