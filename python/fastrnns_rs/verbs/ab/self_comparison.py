"""Noise floor of a run of `ab --same`, with earlier sessions of the history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from fastrnns_rs import stats
from fastrnns_rs.documents.noise_figures import minimum_detectable_change
from fastrnns_rs.documents.self_check import SIGNIFICANCE, SelfCheck
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.machine.noise import compute_run_floor, store
from fastrnns_rs.machine.noise.run_checks import choose_phase
from fastrnns_rs.verbs.compare.run_files import read_both
from fastrnns_rs.verbs.compare.session_spread import PastSession, past_sessions, pool_spread
from fastrnns_rs.views.noise import differences

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.noise_floor import NoiseFloor
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.compare.session_spread import Past, SessionSpread

    Phase = Literal["forward", "backward"]

#: Number of earlier sessions from which this session is compared with them: the fewest with a usable variance.
LEAST_EARLIER_SESSIONS = 3
#: Largest spread of pairs whose effect is computed, nearly that of `minimum_detectable_change`.
_MOST_SPREAD = 9.9


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSessions:
    """Sessions of one phase under the same conditions."""

    now: PastSession
    earlier: list[PastSession]


def measure_self(run: Run, past: Past | None) -> NoiseFloor:
    """Measures the noise floor of a run, and compares its session with earlier ones.

    The figure between sessions is what `compare` detects by the history between two sides of one session each. It
    therefore needs as many sessions as `compare`: eight.

    Args:
        run: Complete run of `ab --same`.
        past: Earlier sessions; None without a history.

    Raises:
        UsageError: If the run is not a complete run of `ab --same`.
    """
    floor = compute_run_floor(run)
    phases = _read_phases(run, past)
    spreads = [pool_spread([*one.earlier, one.now]) for one in phases.values()]
    known = [(effect, one.stddev) for one in spreads if one is not None and (effect := _find_effect(one)) is not None]
    between, stddev = max(known) if known and len(known) == len(spreads) else (None, None)
    return replace(
        floor,
        between_sessions_change=between,
        session_log_stddev=stddev,
        n_sessions=None if past is None else 1 + min(len(one.earlier) for one in phases.values()),
        checks=[*floor.checks, check_session(phases, has_history=past is not None)],
    )


def _find_effect(sessions: SessionSpread) -> float | None:
    """Returns the effect detected between two sides of one session each.

    Of sessions that differ by factors, fewer are counted, as of a machine with two speeds: the effect then grows by a
    few percent. It is None if they differ too much.
    """
    # The variances of the sides add up.
    variance, count = 2 * sessions.variance, sessions.degrees_of_freedom + 1
    if variance:
        count = min(count, int(_MOST_SPREAD**2 / variance))
    if count < LEAST_EARLIER_SESSIONS:
        return None
    return minimum_detectable_change(math.sqrt(variance * count), count, paired=True)


def keep_self_comparison(run: Run, comparison: Comparison, past: Past | None) -> tuple[Comparison, NoiseFloor]:
    """Measures the noise floor of a run, and stores it.

    Args:
        run: Complete run of `ab --same`.
        comparison: Comparison of its sides.
        past: Earlier sessions; None without a history.

    Returns:
        The comparison, with a warning if a check found a difference; and the noise floor.

    Raises:
        UsageError: If the run is not a complete run of `ab --same`, or the noise floor cannot be written.
    """
    comparison, floor = assess_self_comparison(run, comparison, past)
    store(floor)
    return comparison, floor


def assess_self_comparison(run: Run, comparison: Comparison, past: Past | None) -> tuple[Comparison, NoiseFloor]:
    """Measures the noise floor of a run; see `keep_self_comparison`.

    Raises:
        UsageError: If the run is not a complete run of `ab --same`.
    """
    floor = measure_self(run, past)
    found = differences(floor)
    if found:
        warning = make_warning("equal_sides_differ", evidence="; ".join(found))
        comparison = replace(comparison, warnings=[*comparison.warnings, warning])
    return comparison, floor


def check_session(phases: dict[Phase, PhaseSessions], *, has_history: bool = True) -> SelfCheck:
    """Compares this session with earlier ones by a prediction interval.

    Args:
        phases: Sessions of each phase.
        has_history: False if no earlier session can be known.
    """
    count = min(len(one.earlier) for one in phases.values())
    if count < LEAST_EARLIER_SESSIONS:
        return SelfCheck(check="session", finding="unknown", n_sessions=count if has_history else None)
    level = 1 - SIGNIFICANCE / len(phases)
    return choose_phase("session", {phase: _predict(one, level) for phase, one in phases.items()}, count)


def _predict(phase: PhaseSessions, level: float) -> stats.SampleComparison:
    """Compares the level of a session with the mean of earlier sessions."""
    count = len(phase.earlier)
    spread = pool_spread(phase.earlier, least_degrees=LEAST_EARLIER_SESSIONS - 1)
    assert spread is not None  # noqa: S101  # the caller has counted the sessions
    # A session of fewer processes than the earlier ones varies more.
    missing = max(0.0, 1 / phase.now.n_processes - spread.inverse_processes)
    error = math.sqrt(spread.variance * (1 + 1 / count) + spread.process_variance * missing)
    return stats.compare_samples(
        [math.exp(one.mean) for one in phase.earlier],
        [math.exp(phase.now.mean)] * count,
        confidence_level=level,
        session_error=(error, float(spread.degrees_of_freedom)),
    )


def _read_phases(run: Run, past: Past | None) -> dict[Phase, PhaseSessions]:
    found: dict[Phase, PhaseSessions] = {}
    own = {one.session_id for one in run.sessions} | {run.run_id}
    for one, other in zip(*(side.series for side in read_both(run)), strict=True):
        medians = [*one.medians_ns, *other.medians_ns]
        # As in the floor, a phase that the clock does not resolve is left out.
        if one.phase is None or not (one.medians_ns and other.medians_ns) or min(medians) <= 0:
            continue
        # Both sides measured the same, so that the session has all of their processes.
        [now] = past_sessions("now", replace(one, medians_ns=medians, sessions=["now"] * len(medians)))
        rows: Sequence[PastSession] = [] if past is None else past.equal({*one.kinds, *other.kinds})
        # The kinds of both sides are the same thing, whatever their hashes.
        earlier = {row.session: replace(row, kind="now") for row in rows if row.session not in own}
        found[one.phase] = PhaseSessions(now=now, earlier=[*earlier.values()])
    return found
