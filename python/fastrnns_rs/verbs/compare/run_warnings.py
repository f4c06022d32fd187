"""Warnings of a comparison of runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.side_warnings import merge_warnings
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.compare import new_measurement
from fastrnns_rs.verbs.compare.ab_suggestion import suggest_ab_command
from fastrnns_rs.verbs.compare.environment_keys import AT_ONCE, other_machine
from fastrnns_rs.verbs.compare.session_spread import LEAST_SESSIONS_OF_HISTORY
from fastrnns_rs.verbs.compare.verdict_steps import format_change
from fastrnns_rs.verbs.compare.verdicts import FEW_PROCESSES
from fastrnns_rs.views.comparison.repeating import list_options
from fastrnns_rs.views.text import shell_word

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.comparison import Difference, Method, Row, StatisticChange
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.verbs.compare.verdicts import Judged

_MORE_FILES = (
    "Compare 3 files per side, of runs at different times: fastrnns-rs compare --baseline FILE... --candidate FILE..."
)
#: The interval that holds after each pair has no ends below this number.
_FEW_PAIRS = "rows have no verdict, because --until decided needs 4 pairs"
#: Number of row names that fit in a line.
_SHOWN = 4


def find_warnings(
    baseline: Side, candidate: Side, judged: Sequence[Judged], changed: Sequence[Difference], method: Method
) -> list[RunWarning]:
    """Returns the warnings of a comparison, including the warnings of its two sides."""
    return [
        *merge_warnings(baseline.stored, candidate.stored),
        *merge_warnings(baseline.warnings, candidate.warnings),
        *_check_rows(judged),
        *_check_means(baseline, candidate, judged, method),
        *_check_processes(baseline, candidate, judged),
        *_check_failures(baseline, candidate, judged),
        *_check_sessions(judged, changed, candidate, method),
        *_check_short_baselines(baseline, candidate, judged, method),
        *_check_machines(changed),
        *_check_concurrency(changed),
    ]


def _check_rows(judged: Sequence[Judged]) -> Iterator[RunWarning]:
    forced = [one for one in judged if one.pair.conflicts]
    if forced:
        reasons = "; ".join(dict.fromkeys(text for one in forced for text in one.pair.conflicts))
        names = {"RUNNER": new_measurement.list_runners(forced)}
        yield make_warning("forced", evidence=f"{_join_names(forced)}: {reasons}", rows=_names(forced), **names)
    paired = [(one.pair.baseline, one.pair.candidate) for one in judged]
    times = [(one.medians_ns, other.medians_ns) for one, other in paired if one and other and one.medians_ns]
    if times and all(len(one) > 1 and one == other for one, other in times):
        count = sum(len(one) for one, _ in times)
        yield make_warning("same_times", evidence=f"{count:,} equal process medians in {_count(times, 'row')}")


def _check_means(baseline: Side, candidate: Side, judged: Sequence[Judged], method: Method) -> Iterator[RunWarning]:
    """Warns about rows whose mean changed by another amount than their judged median."""
    differing = [one for one in judged if one.mean_to_median and one.row.mean and one.row.median is None]
    if not differing:
        return
    texts = [f"{one.pair.title}: median {_change(one.row)}, mean {_change(one.row.mean)}" for one in differing]
    more = f"; and {counted(len(texts) - _SHOWN, 'more row')}" if len(texts) > _SHOWN else ""
    command = new_measurement.make_statistic_command(baseline, candidate, replace(method, statistic="mean"))
    yield make_warning(
        "mean_differs",
        evidence="; ".join(texts[:_SHOWN]) + more,
        rows=_names(differing),
        hint=f"Judge the mean: {command}" if command else "",
    )


def _change(found: Row | StatisticChange | None) -> str:
    return format_change(found.ratio, found.ratio_ci_low, found.ratio_ci_high) if found else ""


def _check_processes(baseline: Side, candidate: Side, judged: Sequence[Judged]) -> Iterator[RunWarning]:
    unequal = [
        one
        for one in judged
        if one.found
        and one.found.p_value is not None
        and one.row.basis != "sessions"
        and not one.replication.uses_session_error(one.found)
        and one.found.n_baseline != one.found.n_candidate
    ]
    if unequal:
        names = {"RUNNER": new_measurement.list_runners(unequal)}
        yield make_warning("unequal_processes", evidence=_join_counts(unequal), rows=_names(unequal), **names)
    by_verdict = [one for one in judged if one.found and one.found.p_value is None and one.replication.anytime]
    others = [one for one in judged if one.found and one.found.p_value is None and not one.replication.anytime]
    for few, message in ((others, None), (by_verdict, _FEW_PAIRS)):
        if not few:
            continue
        again = new_measurement.make_ab_command(baseline, candidate, FEW_PROCESSES)
        yield make_warning(
            "too_few_processes",
            message=message,
            evidence=_join_counts(few),
            rows=_names(few),
            hint=f"Run: {again}" if again else "",
            RUNNER=new_measurement.list_runners(few),
        )


def _check_failures(baseline: Side, candidate: Side, judged: Sequence[Judged]) -> Iterator[RunWarning]:
    failed = [one for one in judged if any(side and side.failed for side in (one.pair.baseline, one.pair.candidate))]
    if failed:
        evidence = "; ".join(dict.fromkeys(f"{one.pair.name}: {one.row.reason}" for one in failed[:_SHOWN]))
        side = candidate if any(one.pair.candidate and one.pair.candidate.failed for one in failed) else baseline
        yield make_warning(
            "runner_failed",
            evidence=evidence,
            rows=_names(failed),
            # The evidence has the reasons where no command can name the run.
            hint=None if side.name is None else "",
            FILE=shlex.quote(side.name or ""),
        )


def _check_sessions(
    judged: Sequence[Judged], changed: Sequence[Difference], candidate: Side, method: Method
) -> Iterator[RunWarning]:
    apart = [one for one in judged if one.found and one.found.p_value is not None and one.row.basis == "two_sessions"]
    if apart:
        known = min(one.replication.past_sessions for one in apart)
        sides = [side for one in apart for side in (one.pair.baseline, one.pair.candidate) if side]
        # Sessions of a side that has several show a variance too.
        where = "in the history" if all(len({*side.sessions}) == 1 for side in sides) else "known"
        sessions = f"{known} of {LEAST_SESSIONS_OF_HISTORY} sessions {where}"
        command = suggest_ab_command(apart, changed, candidate, method)
        hint = f"Run: {command}" if command else ""
        if all(one.pair.series.group is None for one in apart):
            # Files of other tools: only fastrnns-rs records the family of a runner.
            sessions, hint = "a file of another tool counts as one session", _MORE_FILES
        yield make_warning(
            "one_session", evidence=f"the difference between sessions is unknown ({sessions})", hint=hint
        )
    pooled = [one for one in judged if one.row.history_pooled]
    if pooled:
        evidence = f"{_join_names(pooled)}: fewer than {LEAST_SESSIONS_OF_HISTORY} sessions of their own"
        names = {"RUNNER": new_measurement.list_runners(pooled)}
        yield make_warning("pooled_sessions", evidence=evidence, rows=_names(pooled), **names)


def _check_short_baselines(
    baseline: Side, candidate: Side, judged: Sequence[Judged], method: Method
) -> Iterator[RunWarning]:
    """Warns about rows left open because the baseline has one session only.

    The warning is given only if the history supplies the variance between sessions.
    """
    apart = [one for one in judged if one.row.basis == "history" and one.row.verdict == "inconclusive"]
    open_rows = [one for one in apart if one.pair.baseline and len({*one.pair.baseline.sessions}) == 1]
    if not open_rows:
        return
    # Names of the history start with @. The path of a file that starts with @ is written with its folder.
    names = [side.label for side in (baseline, candidate) if len(side.files) == 1 and side.label.startswith("@")]
    hint = ""
    if baseline.label.startswith("@like:"):
        # The history has no other run that measured the same. A command would measure the present code.
        hint = "Measure the baseline again in 3 sessions, with the same code and options."
    elif len(names) == 2:  # noqa: PLR2004  # the two sides
        words = ["fastrnns-rs", "compare", f"@like:{names[0][1:]}", names[1]]
        hint = f"Run: {' '.join([*map(shell_word, words), *list_options(method)])}"
    yield make_warning(
        "short_baseline", evidence=f"{_join_names(open_rows)}: 1 session", hint=hint, rows=_names(open_rows)
    )


def _check_machines(changed: Sequence[Difference]) -> Iterator[RunWarning]:
    found = other_machine(changed)
    if found:
        evidence = "; ".join(f"{one.key}: {one.baseline} and {one.candidate}" for one in found)
        yield make_warning("other_machine", evidence=evidence)


def _check_concurrency(changed: Sequence[Difference]) -> Iterator[RunWarning]:
    for one in changed:
        if one.key == AT_ONCE and None not in {one.baseline, one.candidate}:
            evidence = f"{one.baseline} and {one.candidate} workers at the same time"
            yield make_warning("other_company", evidence=evidence)


def _names(judged: Sequence[Judged]) -> list[str]:
    return [one.pair.title for one in judged]


def _join_counts(judged: Sequence[Judged]) -> str:
    """Returns the names of rows, with the processes of their sides."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        if one.found:
            groups.setdefault(_sides(one.found.n_baseline, one.found.n_candidate), []).append(one)
    texts = [f"{_join_names(rows)}: {counts}" for counts, rows in groups.items()]
    rest = sum(map(len, [*groups.values()][_SHOWN:]))
    return "; ".join([*texts[:_SHOWN], *([f"and {counted(rest, 'more row')}"] if rest else [])])


def _sides(baseline: int, candidate: int) -> str:
    if baseline == candidate:
        return f"{counted(baseline, 'process', 'processes')} per side"
    return f"{baseline} and {candidate} processes"


def _count(items: Sequence[object], noun: str) -> str:
    return counted(len(items), noun)


def _join_names(judged: Sequence[Judged]) -> str:
    names = _names(judged)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
