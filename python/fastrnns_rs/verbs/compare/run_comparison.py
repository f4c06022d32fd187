"""The whole comparison of two sides, and the exit code that it stands for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Compared, Comparison, Counts, Difference, Method
from fastrnns_rs.errors import ExitCode, UsageError, nearest
from fastrnns_rs.verbs.compare import run_warnings
from fastrnns_rs.verbs.compare.compatibility import refuse_conflicts, refuse_shared_runs
from fastrnns_rs.verbs.compare.environment_keys import differences
from fastrnns_rs.verbs.compare.overall_ratio import geometric_mean
from fastrnns_rs.verbs.compare.series_matching import match
from fastrnns_rs.verbs.compare.verdicts import CONFIDENCE_LEVEL, FALSE_DISCOVERY_RATE, METHOD, decide

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.comparison import MarginSource
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged

#: What `--fail-on` takes.
CAUSES = ("regression", "inconclusive")


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
    words = Counter(row.verdict or "none" for row in rows)
    return Comparison(
        kind="run",
        warnings=[*warnings, *run_warnings.of(baseline, candidate, judged, changed)],
        exit_code=_exit_code(judged, fail_on),
        baseline=Compared(label=baseline.label, files=baseline.files),
        candidate=Compared(label=candidate.label, files=candidate.files),
        method=Method(
            name=METHOD,
            confidence_level=CONFIDENCE_LEVEL,
            margin=margin,
            margin_source=margin_source,
            false_discovery_rate=FALSE_DISCOVERY_RATE,
            forced=any(one.pair.conflicts for one in judged),
        ),
        environment_differences=changed,
        rows=rows,
        kernels=[],
        geometric_mean=geometric_mean(judged),
        counts=Counts(**{word: words[word] for word in ("faster", "slower", "equivalent", "inconclusive", "none")}),
    )


def check_causes(fail_on: Collection[str]) -> None:
    """Refuses what is no cause to fail.

    Raises:
        UsageError: One is none of `CAUSES`.
    """
    for one in fail_on:
        if one not in CAUSES:
            raise UsageError(f"fail-on takes {' and '.join(CAUSES)}, not {one!r}", nearest(str(one), CAUSES))


def _exit_code(judged: Sequence[Judged], fail_on: Collection[str]) -> int:
    check_causes(fail_on)
    verdicts = {one.row.verdict for one in judged}
    if any(one.pair.candidate is not None and one.pair.candidate.failed for one in judged):
        return ExitCode.FAILED
    if "regression" in fail_on and "slower" in verdicts:
        return ExitCode.REGRESSION
    if "inconclusive" in fail_on and {None, "inconclusive"} & verdicts:
        return ExitCode.INCONCLUSIVE
    return ExitCode.DONE


def _seeds(judged: Sequence[Judged]) -> list[Difference]:
    """Other seeds are other inputs of the same sizes: allowed, and told."""
    for one in judged:
        first, second = one.pair.baseline, one.pair.candidate
        if first and second and first.problem and second.problem:
            seeds = first.problem.seed, second.problem.seed
            if seeds[0] != seeds[1]:
                return [Difference(key="problem.seed", baseline=seeds[0], candidate=seeds[1])]
    return []
