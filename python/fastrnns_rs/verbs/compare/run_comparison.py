"""The whole comparison of two sides: what is not compared, one ratio for all, and the exit code that it stands for."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Compared, Comparison, Difference, GeometricMean
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.verbs.compare import run_warnings
from fastrnns_rs.verbs.compare.environment_keys import differences
from fastrnns_rs.verbs.compare.series_matching import match
from fastrnns_rs.verbs.compare.side import identity
from fastrnns_rs.verbs.compare.verdicts import METHOD, counts_of, decide, exit_code, method_of

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.comparison import MarginSource
    from fastrnns_rs.verbs.compare.series_matching import Pair
    from fastrnns_rs.verbs.compare.session_spread import Past
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged


def judge_sides(
    baseline: Side,
    candidate: Side,
    *,
    margin: float,
    force: bool = False,
    intended: bool = False,
    past: Past | None = None,
) -> list[Judged]:
    """The rows of a comparison, each with what is behind it.

    Args:
        baseline: What is compared with.
        candidate: What is compared.
        margin: How small a difference does not matter, as a share: 0.01 is 1 %.
        force: Whether rows that do not belong together are compared all the same, and labelled.
        intended: Whether the sides were told to differ, as those of `ab` are: other runners, problems and modes are
            then labelled and not refused.
        past: Earlier sessions, which show how much sessions differ.

    Raises:
        UsageError: Two series do not belong together, or there is nothing to compare.
    """
    if not intended:
        refuse_shared_runs(baseline, candidate)
    pairs = match(baseline, candidate, intended=intended)
    if not force:
        refuse_conflicts(pairs)
    return decide(pairs, margin, past)


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
    failed = any(one.pair.candidate is not None and one.pair.candidate.failed for one in judged)
    changed = [*differences(baseline.environment, candidate.environment), *_seeds(judged)]
    return Comparison(
        kind="run",
        warnings=[*warnings, *run_warnings.of(baseline, candidate, judged, changed)],
        exit_code=ExitCode.FAILED if failed else exit_code(rows, margin, fail_on),
        baseline=Compared(label=baseline.label, files=baseline.files),
        candidate=Compared(label=candidate.label, files=candidate.files),
        method=method_of(METHOD, margin, margin_source, forced=any(one.pair.conflicts for one in judged)),
        environment_differences=changed,
        rows=rows,
        geometric_mean=geometric_mean(judged),
        counts=counts_of(row.verdict for row in rows if row.conditional_verdict is None),
        conditional_counts=counts_of(filter(None, (row.conditional_verdict for row in rows))),
    )


def _seeds(judged: Sequence[Judged]) -> list[Difference]:
    """Other seeds are other inputs of the same sizes: allowed, and told."""
    for one in judged:
        first, second = one.pair.baseline, one.pair.candidate
        if first and second and first.problem and second.problem:
            seeds = first.problem.seed, second.problem.seed
            if seeds[0] != seeds[1]:
                return [Difference(key="problem.seed", baseline=seeds[0], candidate=seeds[1])]
    return []


def refuse_shared_runs(baseline: Side, candidate: Side) -> None:
    """Refuses a run that is on both sides: its processes are no evidence of a difference, nor of none.

    Two sides that are the same throughout are let pass, and warned of.

    Raises:
        UsageError: There is such a run.
    """
    shared = {*baseline.runs} & {*candidate.runs}
    if shared and [one.medians_ns for one in baseline.series] != [one.medians_ns for one in candidate.series]:
        places = [
            file
            for side in (baseline, candidate)
            for file, run in zip(side.files, side.runs, strict=True)
            if run == min(shared)
        ]
        message = f"{places[0]} of the baseline and {places[1]} of the candidate hold the same run"
        raise UsageError(message, "give each run to one side")


def refuse_conflicts(pairs: Sequence[Pair]) -> None:
    """Refuses pairs that do not belong together.

    Raises:
        UsageError: There are such; the message names the first and its reasons.
    """
    found = [pair for pair in pairs if pair.conflicts]
    if found:
        more = f" (and so of {len(found) - 1} more rows)" if len(found) > 1 else ""
        message = f"{found[0].title}: {'; '.join(found[0].conflicts)}{more}"
        raise UsageError(message, "measure both sides alike; --force compares them all the same, and labels the rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """A ratio's logarithm, and half of its interval's width."""

    difference: float
    half: float


def geometric_mean(judged: Sequence[Judged]) -> GeometricMean | None:
    """The geometric mean of the runners' ratios, a number for each runner and problem: the mean of its phases.

    Rows without a p-value and those that do not belong together have no part in it. The interval tells how sure the
    mean of *these* runners is, not how they differ from one another. Their processes are not the same, so that
    intervals add up as independent ones do, by their squares (Zou and Donner, *Construction of confidence limits about
    effect measures: a general approach*, 2008). The phases of one runner are of the same processes, and mostly slow
    together: the wider of their intervals is taken for that of their mean, which it is at most. Runners compared by
    sessions, or with the spread of earlier ones, share what differs between sessions: widths add up, as if the runners
    were fully dependent.

    Returns:
        None where no row has a p-value.
    """
    runners: dict[Hashable, list[_Phase]] = {}
    for one in judged:
        row = one.row
        if one.pair.conflicts or row.p_value is None or not (row.ratio and row.ratio_ci_low and row.ratio_ci_high):
            continue
        phase = _Phase(difference=math.log(row.ratio), half=math.log(row.ratio_ci_high / row.ratio_ci_low) / 2)
        runners.setdefault((one.pair.name, identity(one.pair.series)), []).append(phase)
    if not runners:
        return None
    count = len(runners)
    means = [math.fsum(one.difference for one in phases) / len(phases) for phases in runners.values()]
    mean = math.fsum(means) / count
    halves = [max(one.half for one in phases) for phases in runners.values()]
    shared = any(one.row.basis in {"sessions", "history"} for one in judged)
    half = (math.fsum(halves) if shared else math.hypot(*halves)) / count
    return GeometricMean(
        ratio=math.exp(mean), ratio_ci_low=math.exp(mean - half), ratio_ci_high=math.exp(mean + half), n=count
    )
