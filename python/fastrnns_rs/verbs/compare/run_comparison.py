"""The whole comparison of two sides, and the exit code that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Compared, Comparison, Difference
from fastrnns_rs.errors import ExitCode
from fastrnns_rs.verbs.compare import run_warnings
from fastrnns_rs.verbs.compare.compatibility import refuse_conflicts, refuse_shared_runs
from fastrnns_rs.verbs.compare.conclusion import counts_of, exit_code, method_of
from fastrnns_rs.verbs.compare.environment_keys import differences
from fastrnns_rs.verbs.compare.overall_ratio import geometric_mean
from fastrnns_rs.verbs.compare.series_matching import match
from fastrnns_rs.verbs.compare.verdicts import METHOD, decide

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.comparison import MarginSource
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged


def judge_sides(
    baseline: Side, candidate: Side, *, margin: float, force: bool = False, intended: bool = False
) -> list[Judged]:
    """The rows of a comparison, each with what is behind it.

    Args:
        baseline: What is compared with.
        candidate: What is compared.
        margin: How small a difference does not matter, as a share: 0.01 is 1 %.
        force: Whether rows that do not belong together are compared all the same, and labelled.
        intended: Whether the sides were told to differ, as those of `ab` are: other runners, problems and modes are
            then labelled and not refused.

    Raises:
        UsageError: Two series do not belong together, or there is nothing to compare.
    """
    if not intended:
        refuse_shared_runs(baseline, candidate)
    pairs = match(baseline, candidate, intended=intended)
    if not force:
        refuse_conflicts(pairs)
    return decide(pairs, margin)


def assemble(
    baseline: Side,
    candidate: Side,
    judged: Sequence[Judged],
    *,
    margin: float,
    margin_source: MarginSource,
    fail_on: Collection[str] = (),
    warnings: Sequence[Notice] = (),
) -> Comparison:
    """The document of rows that were judged."""
    rows = [one.row for one in judged]
    changed = [*differences(baseline.environment, candidate.environment), *_seeds(judged)]
    return Comparison(
        kind="run",
        warnings=[*warnings, *run_warnings.of(baseline, candidate, judged, changed)],
        exit_code=_exit_code(judged, fail_on),
        baseline=Compared(label=baseline.label, files=baseline.files),
        candidate=Compared(label=candidate.label, files=candidate.files),
        method=method_of(METHOD, margin, margin_source, forced=any(one.pair.conflicts for one in judged)),
        environment_differences=changed,
        rows=rows,
        kernels=[],
        geometric_mean=geometric_mean(judged),
        counts=counts_of(row.verdict for row in rows),
    )


def _exit_code(judged: Sequence[Judged], fail_on: Collection[str]) -> int:
    if any(one.pair.candidate is not None and one.pair.candidate.failed for one in judged):
        return ExitCode.FAILED
    return exit_code({one.row.verdict for one in judged}, fail_on)


def _seeds(judged: Sequence[Judged]) -> list[Difference]:
    """Other seeds are other inputs of the same sizes: allowed, and told."""
    for one in judged:
        first, second = one.pair.baseline, one.pair.candidate
        if first and second and first.problem and second.problem:
            seeds = first.problem.seed, second.problem.seed
            if seeds[0] != seeds[1]:
                return [Difference(key="problem.seed", baseline=seeds[0], candidate=seeds[1])]
    return []
