"""Complete comparison of two sides: checks, geometric mean and exit code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.combined_ratio import combine_ratios
from fastrnns_rs.documents.comparison import FAILED, Compared, Comparison, Difference
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare import run_warnings
from fastrnns_rs.verbs.compare.environment_keys import differences, plain_values
from fastrnns_rs.verbs.compare.row_statistics import add_statistics
from fastrnns_rs.verbs.compare.series_matching import match
from fastrnns_rs.verbs.compare.side import identity
from fastrnns_rs.verbs.compare.verdicts import (
    ANYTIME_METHOD,
    METHOD,
    PAIRED_METHOD,
    count_verdicts,
    decide,
    describe_method,
    exit_code,
)

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.comparison import GeometricMean, MarginSource, Statistic
    from fastrnns_rs.documents.run_file import Session
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
    statistic: Statistic = "median",
) -> list[Judged]:
    """Returns the rows of a comparison, each with the data behind it.

    Args:
        baseline: Baseline side.
        candidate: Candidate side.
        margin: Equivalence margin as a share: 0.01 is 1 %.
        force: Compare and label rows that conflict, instead of raising an error.
        intended: True if the sides differ on request, as in `ab`. Different runners, problems and modes are then
            labelled instead of refused.
        past: Earlier sessions, which show the variance between sessions.
        statistic: Statistic of each process that is judged.

    Raises:
        UsageError: If two series conflict, two sessions have one ID, or there is nothing to compare.
    """
    refuse_different_sessions(baseline, candidate)
    if not intended:
        refuse_shared_runs(baseline, candidate)
    pairs = match(baseline, candidate, intended=intended)
    if not force:
        refuse_conflicts(pairs)
    return add_statistics(decide([pair.with_statistic(statistic) for pair in pairs], margin, past), margin, past)


def assemble(
    baseline: Side,
    candidate: Side,
    judged: Sequence[Judged],
    *,
    margin: float,
    margin_source: MarginSource,
    fail_on: Collection[str] = (),
    warnings: Sequence[RunWarning] = (),
    statistic: Statistic = "median",
    intended: bool = False,
) -> Comparison:
    """Builds the document of a comparison from its rows.

    A runner that failed in a baseline of its own is no fault of the candidate. Both sides of an `ab` (`intended`) are
    one measurement, which failed.
    """
    rows = [one.row for one in judged]
    sides = [side for one in judged for side in (one.pair.candidate, *([one.pair.baseline] if intended else []))]
    failed = any(side is not None and side.failed for side in sides)
    changed = [*differences(baseline.environment, candidate.environment), *_seeds(judged)]
    method = describe_method(
        _method(judged, statistic),
        margin,
        margin_source,
        forced=any(one.pair.conflicts for one in judged),
        statistic=statistic,
    )
    return Comparison(
        kind="run",
        warnings=[*warnings, *run_warnings.find_warnings(baseline, candidate, judged, changed, method)],
        exit_code=FAILED if failed else exit_code(rows, margin, fail_on),
        baseline=_compared(baseline),
        candidate=_compared(candidate),
        method=method,
        environment_differences=changed,
        rows=rows,
        geometric_mean=geometric_mean(judged),
        counts=count_verdicts(row.verdict for row in rows if row.conditional_verdict is None),
        conditional_counts=count_verdicts(filter(None, (row.conditional_verdict for row in rows))),
    )


def _method(judged: Iterable[Judged], statistic: Statistic) -> str:
    replications = [one.replication for one in judged]
    name = PAIRED_METHOD if any(one.paired for one in replications) else METHOD
    if any(one.anytime for one in replications):
        name = ANYTIME_METHOD
    return name.replace("median", statistic)


def _compared(side: Side) -> Compared:
    return Compared(
        label=side.label,
        files=side.files,
        created_utc=side.created_utc,
        sessions=side.sessions,
        warnings=side.stored,
        environment=plain_values(side.environment),
    )


def _seeds(judged: Sequence[Judged]) -> list[Difference]:
    """Returns the differences of the seeds, one for each pair of seeds.

    They are reported but allowed, because different seeds give different inputs of the same sizes.
    """
    sides = [(one.pair.baseline, one.pair.candidate) for one in judged]
    problems = [(first.problem, second.problem) for first, second in sides if first and second]
    seeds = dict.fromkeys((first.seed, second.seed) for first, second in problems if first and second)
    return [
        Difference(key="problem.seed", baseline=first, candidate=second) for first, second in seeds if first != second
    ]


def refuse_shared_runs(baseline: Side, candidate: Side) -> None:
    """Checks that no run is on both sides.

    Processes of a shared run are no evidence for or against a difference. Two sides that are entirely equal are
    accepted, with a warning.

    Raises:
        UsageError: If a run is on both sides.
    """
    shared = {*baseline.runs} & {*candidate.runs}
    if shared and [one.medians_ns for one in baseline.series] != [one.medians_ns for one in candidate.series]:
        places = [
            file
            for side in (baseline, candidate)
            for file, run in zip(side.files, side.runs, strict=True)
            if run == min(shared)
        ]
        message = f"duplicate run: {places[0]!r} (baseline) and {places[1]!r} (candidate) contain the same run"
        raise UsageError(message, "Use each run once.")


def refuse_different_sessions(baseline: Side, candidate: Side) -> None:
    """Checks that one session ID is that of one session, in all runs.

    Runs of one session have a verdict that those of two sessions do not have.

    Raises:
        UsageError: If two sessions of one ID differ in their start, machine or boot.
    """
    known: dict[str, Session] = {}
    for one in (*baseline.listed, *candidate.listed):
        first = known.setdefault(one.session_id, one)
        for name in ("started_utc", "machine_id", "boot_id"):
            values = getattr(first, name), getattr(one, name)
            # An older build, or the system, may not tell the machine.
            if None not in values and values[0] != values[1]:
                found = f"{name} is {values[0]!r} and {values[1]!r}"
                raise UsageError(f"different sessions have one ID: {one.session_id!r}", "Measure again.", reason=found)


def refuse_conflicts(pairs: Sequence[Pair]) -> None:
    """Checks that no pair has conflicts.

    Raises:
        UsageError: If a pair has conflicts; the message names the first pair and its reasons.
    """
    found = [pair for pair in pairs if pair.conflicts]
    if found:
        rows = len(found) - 1
        more = f", {counted(rows, 'more row')}" if rows else ""
        message = f"different problems: {', '.join(found[0].conflicts)}"
        raise UsageError(message, "Add `force=True` to compare them anyway.", where=f"{found[0].title}{more}")


def geometric_mean(judged: Iterable[Judged]) -> GeometricMean | None:
    """Returns the geometric mean of the ratios, without rows that conflict.

    Returns:
        The mean; None if no row has a p-value.
    """
    return combine_ratios(
        ((one.pair.name, identity(one.pair.series)), one.row) for one in judged if not one.pair.conflicts
    )
