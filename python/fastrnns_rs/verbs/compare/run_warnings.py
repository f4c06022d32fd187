"""Warnings of a comparison of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.documents.side_warnings import of_sides
from fastrnns_rs.verbs.compare.environment_keys import AT_ONCE, other_machine
from fastrnns_rs.verbs.compare.session_spread import LEAST_SESSIONS_OF_HISTORY
from fastrnns_rs.verbs.compare.settling_command import settling_command

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Difference
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged

#: Number of row names that fit in a line.
_SHOWN = 4


def of(baseline: Side, candidate: Side, judged: Sequence[Judged], changed: Sequence[Difference]) -> list[Notice]:
    """Returns the warnings of a comparison, including the warnings of its two sides."""
    return [
        *of_sides(baseline.stored, candidate.stored),
        *of_sides(baseline.warnings, candidate.warnings),
        *_of_rows(judged),
        *_of_sessions(judged, changed),
        *_of_short_baselines(baseline, candidate, judged),
        *_of_machines(changed),
        *_of_company(changed),
    ]


def _of_rows(judged: Sequence[Judged]) -> Iterator[Notice]:
    forced = [one for one in judged if one.pair.conflicts]
    if forced:
        message = "rows that do not belong together are compared all the same, as --force says"
        reasons = "; ".join(dict.fromkeys(text for one in forced for text in one.pair.conflicts))
        yield Notice(code="forced", message=message, evidence=f"{_named(forced)}: {reasons}", hint="measure both alike")
    unequal = [
        one
        for one in judged
        if one.found
        and one.found.p_value is not None
        and one.row.basis != "sessions"
        and one.found.n_baseline != one.found.n_candidate
    ]
    if unequal:
        found = unequal[0].found
        counts = f", {found.n_baseline} and {found.n_candidate} processes" if found else ""
        yield Notice(
            code="unequal_processes",
            message="the sides have unequal numbers of processes: where medians are skewed or of two kinds, "
            "10 to 26 % of comparisons without a difference give a false alarm, in place of 5 %",
            evidence=f"{_named(unequal)}{counts}",
            hint="measure both sides with the same number of processes",
        )
    paired = [(one.pair.baseline, one.pair.candidate) for one in judged]
    times = [(one.medians_ns, other.medians_ns) for one, other in paired if one and other and one.medians_ns]
    if times and all(len(one) > 1 and one == other for one, other in times):
        message = "both sides have the same times to the nanosecond"
        hint = "give the two files of two runs"
        yield Notice(code="same_times", message=message, evidence="every process of every row", hint=hint)
    few = [one for one in judged if one.found and one.found.p_value is None]
    if few:
        message = "fewer than 3 processes on a side: no verdict"
        yield Notice(code="too_few_processes", message=message, evidence=_named(few), hint="bench --processes 10")
    failed = [one for one in judged if any(side and side.failed for side in (one.pair.baseline, one.pair.candidate))]
    if failed:
        evidence = "; ".join(dict.fromkeys(f"{one.pair.name}: {one.row.reason}" for one in failed[:_SHOWN]))
        yield Notice(
            code="runner_failed", message="runners failed", evidence=evidence, hint="their rows have no verdict"
        )


def _of_sessions(judged: Sequence[Judged], changed: Sequence[Difference]) -> Iterator[Notice]:
    apart = [one for one in judged if one.found and one.found.p_value is not None and one.row.basis == "two_sessions"]
    if apart:
        known = min(one.replication.past_sessions for one in apart)
        yield Notice(
            code="one_session",
            message="verdicts in parentheses hold for these two sessions only",
            evidence="the difference between sessions is unknown "
            f"({known} of {LEAST_SESSIONS_OF_HISTORY} other sessions in the history)",
            hint=f"run: {settling_command(apart, changed)}",
        )
    pooled = [one for one in judged if one.row.history_pooled]
    if pooled:
        yield Notice(
            code="pooled_sessions",
            message="the spread of sessions is that of comparable rows: other runners and problems on this machine",
            evidence=f"{_named(pooled)}: fewer than {LEAST_SESSIONS_OF_HISTORY} sessions of the rows themselves",
            hint="measure these rows in more sessions",
        )


def _of_short_baselines(baseline: Side, candidate: Side, judged: Sequence[Judged]) -> Iterator[Notice]:
    """Warns about rows left open because the baseline has one session only.

    The warning is given only if the history supplies the variance between sessions.
    """
    # Names of the history start with @. The path of a file that starts with @ is written with its folder.
    named = [side.label for side in (baseline, candidate) if len(side.files) == 1 and side.label.startswith("@")]
    apart = [one for one in judged if one.row.basis == "history" and one.row.verdict == "inconclusive"]
    open_rows = [one for one in apart if one.pair.baseline and len({*one.pair.baseline.sessions}) == 1]
    if not open_rows:
        return
    known = f"run: fastrnns-rs compare @like:{named[0][1:]} {named[1]}" if len(named) == 2 else None  # noqa: PLR2004  # the two sides
    yield Notice(
        code="short_baseline",
        message="more sessions of the baseline would settle more",
        evidence=f"{_named(open_rows)}: one session, compared with the spread of others",
        hint=known or "give the earlier runs of the baseline too: @like:NAME, or --baseline FILE...",
    )


def _of_machines(changed: Sequence[Difference]) -> Iterator[Notice]:
    found = other_machine(changed)
    if found:
        evidence = "; ".join(f"{one.key}: {one.baseline} and {one.candidate}" for one in found)
        hint = "what differs is the machine as much as the code"
        yield Notice(code="other_machine", message="the sides ran on different machines", evidence=evidence, hint=hint)


def _of_company(changed: Sequence[Difference]) -> Iterator[Notice]:
    for one in changed:
        if one.key == AT_ONCE and None not in {one.baseline, one.candidate}:
            yield Notice(
                code="other_company",
                message="one side's workers ran alone, the other's beside those of other devices or ranks"
                if 1 in {one.baseline, one.candidate}
                else "the workers of the two sides ran beside different numbers of others",
                evidence=f"{one.baseline} and {one.candidate} at the same time",
                hint="workers share the CPU, memory, power and cooling: measure both sides alike",
            )


def _named(judged: Sequence[Judged]) -> str:
    names = [one.pair.title for one in judged]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
