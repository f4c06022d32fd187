"""Comparison of files and runs, and the derivation of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare import explanation, margins
from fastrnns_rs.verbs.compare.run_comparison import assemble, judge_sides
from fastrnns_rs.verbs.compare.run_files import read_both, read_side
from fastrnns_rs.verbs.compare.verdicts import check_causes, check_statistic
from fastrnns_rs.verbs.report import file_kinds
from fastrnns_rs.verbs.report.capture_summary import Summary

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Statistic
    from fastrnns_rs.verbs.compare.run_files import Source
    from fastrnns_rs.verbs.compare.session_spread import Past

    AnySource = Source | Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A comparison and the function that explains its rows.

    Attributes:
        comparison: Document of the comparison.
        explain: Function that derives the rows of a name, for a terminal of a width (80 by default). It raises
            `UsageError` if no row has the name.
        names: Function that returns the names of these rows, which warnings contain.
        explain_wide: Function as `explain`, which adds the statistics that are not judged and, with `histograms`,
            histograms of the samples; None for captures.
    """

    comparison: Comparison
    explain: Callable[..., str]
    names: Callable[[str], Collection[str]] = field(default=lambda name: {name})
    explain_wide: Callable[..., str] | None = None


def compare_sources(
    baseline: Sequence[AnySource],
    candidate: Sequence[AnySource],
    *,
    margin: float | str | None = None,
    force: bool = False,
    fail_on: Collection[str] = (),
    iteration_range: str | None = None,
    nsys_path: str | None = None,
    past: Past | None = None,
    statistic: Statistic = "median",
) -> Outcome:
    """Compares runs or captures.

    Args:
        baseline: Paths of files, runs, or summaries of captures: at least one.
        candidate: Paths of files, runs, or summaries; empty if the baseline is one run of `ab`, which has both sides.
        margin: Equivalence margin as a share (0.01 is 1 %), as a text such as `1%`, or `noise-floor`; None for 1 %.
        force: Compare and label rows that conflict, instead of raising an error.
        fail_on: `regression`, `inconclusive` or both: causes of an exit code other than 0.
        iteration_range: Name of the NVTX ranges that mark iterations; for captures only.
        nsys_path: Path of the nsys that exports reports; for captures only.
        past: Earlier sessions, which show the variance between sessions; for runs only.
        statistic: Statistic of each process that is judged: `median`, `mean` or `p95`; for runs only.

    Raises:
        UsageError: If a file does not exist or cannot be understood, the sides conflict, captures have another
            statistic, or runs have an option of captures.
        FastrnnsError: If a file looks like a capture but is not a capture.
        MissingError: If the noise floor of this machine was never measured, or a report needs nsys to be exported and
            nsys is missing.
    """
    check_causes(fail_on)
    check_statistic(statistic)
    margins.check(margin, statistic)
    if are_captures(baseline, candidate):
        from fastrnns_rs.verbs.compare.captures import kernel_explanation
        from fastrnns_rs.verbs.compare.captures.capture_comparison import compare_captures

        if statistic != "median":
            raise UsageError(f"statistic needs runs: {statistic!r}", "Leave out statistic.", where="statistic")
        first, second = ([one for one in side if not isinstance(one, Run)] for side in (baseline, candidate))
        if not second:
            reason = f"{_name(first[0])!r} is a baseline only"
            raise UsageError("missing candidate", "Use 2 captures: baseline and candidate.", reason=reason)
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
    for name, value in (("iteration_range", iteration_range), ("nsys_path", nsys_path)):
        if value is not None:
            raise UsageError(f"`{name}` needs captures", f"Leave out `{name}`.")
    runs, others = ([one for one in side if not isinstance(one, Summary)] for side in (baseline, candidate))
    if others:
        sides = read_side(runs), read_side(others)
    elif len(runs) == 1:
        sides = read_both(runs[0])
    else:
        raise UsageError("missing candidate", "Use 2 files, or one run of ab.")
    share, source, warnings = margins.resolve_margin(margin, sides)
    judged = judge_sides(*sides, margin=share, force=force, intended=not candidate, past=past, statistic=statistic)
    comparison = assemble(
        *sides,
        judged,
        margin=share,
        margin_source=source,
        fail_on=fail_on,
        warnings=warnings,
        statistic=statistic,
        intended=not candidate,
    )
    return Outcome(
        comparison=comparison,
        explain=partial(explanation.explain, judged),
        names=partial(explanation.names_explained, judged),
        explain_wide=partial(explanation.explain, judged, wide=True),
    )


def can_compare(baseline: Run, candidate: Run) -> bool:
    """Returns True if two runs of `bench` have common rows without conflicts."""
    try:
        sides = read_side([baseline]), read_side([candidate])
        judge_sides(*sides, margin=margins.DEFAULT_MARGIN)
    except UsageError:
        return False
    return True


def are_captures(baseline: Sequence[AnySource], candidate: Sequence[AnySource]) -> bool:
    """Returns True if all files are captures, and False if no file is a capture.

    Raises:
        UsageError: If captures and other files are mixed; the message names one of each.
    """
    sources = [*baseline, *candidate]
    for one in sources:
        if isinstance(one, str | os.PathLike) and not os.path.exists(one):  # noqa: PTH110  # the name may be too long
            raise file_not_found(one, "Use the path of a run or a capture.")
    # A run of the history is named as it was typed.
    found = {str(one): file_kinds.kind(one) for one in sources if isinstance(one, str | os.PathLike)}
    captures = [name for name, kind in found.items() if kind == "capture"]
    others = [name for name, kind in found.items() if kind == "measurement"]
    captures += [_name(one) for one in sources if isinstance(one, Summary)]
    others += [f"run {one.run_id}" for one in sources if isinstance(one, Run)]
    if captures and others:
        message = f"captures and runs do not compare: {captures[0]!r} is a capture, and {others[0]!r} is not a capture"
        raise UsageError(message, "Use 2 captures or 2 runs.")
    # Folders contain captures. If a folder is next to a run file, the reader of the folder reports the error.
    return bool(captures) or (bool(found) and not others and {*found.values()} == {"folder"})


def _name(source: str | os.PathLike[str] | Summary) -> str:
    return source.paths[0] if isinstance(source, Summary) else os.fspath(source)
