"""Replication levels: processes, sessions, or the history's session variance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastrnns_rs import stats
from fastrnns_rs.documents.comparison import RowBasis
from fastrnns_rs.documents.replicates import LEAST_SESSIONS, vary
from fastrnns_rs.verbs.compare.session_spread import SessionSpread, spread_between

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.series_matching import Pair
    from fastrnns_rs.verbs.compare.session_spread import Past
    from fastrnns_rs.verbs.compare.side import Series

CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """Numbers of a pair that a verdict is computed from.

    Attributes:
        basis: Level at which the pair is compared. None if a side has no numbers, or its sessions are unknown.
        baseline: Numbers of the baseline, in nanoseconds.
        candidate: Numbers of the candidate, in nanoseconds.
        spread: Variance between sessions, if the basis is `history`.
        past_sessions: Number of sessions found for `spread`.
        session_error: Standard error of the log ratio with `spread`, and its degrees of freedom.
        paired: True if numbers of the same position come from neighbouring processes of one block of `ab`.
        anytime: True if the verdict after each pair decided whether another was measured.
    """

    basis: RowBasis | None
    baseline: list[float]
    candidate: list[float]
    spread: SessionSpread | None = None
    past_sessions: int = 0
    session_error: tuple[float, float] | None = None
    paired: bool = False
    anytime: bool = False

    @property
    def gains_from_processes(self) -> bool:
        """True if more processes make the interval narrower."""
        return self.basis not in {"sessions", "history"}

    def uses_session_error(self, found: stats.SampleComparison) -> bool:
        """Returns True if the error between sessions is used: it is the larger one."""
        return self.session_error is not None and self.session_error[0] == found.log_standard_error

    def compared(self, margin: float, confidence_level: float = CONFIDENCE_LEVEL) -> stats.SampleComparison:
        """Computes the statistics of the numbers.

        Raises:
            ValueError: If a number is not above 0.
            ArithmeticError: If the ratio of the sides is too large or too small for a number.
        """
        return stats.compare_samples(
            self.baseline,
            self.candidate,
            margin=margin,
            confidence_level=confidence_level,
            session_error=self.session_error,
            paired=self.paired,
            anytime=self.anytime,
        )


def choose_replication(pair: Pair, past: Past | None) -> Replication:
    """Returns the level at which a pair is compared.

    Processes of one session share conditions that differ between sessions: temperature, other tenants, memory
    placement. From three sessions per side on, sessions are the replicates. With fewer, earlier sessions may show the
    variance between sessions. Otherwise only processes of the same sessions are comparable without a warning.

    Args:
        pair: Two series.
        past: Earlier sessions; None if there are none.
    """
    one, other = pair.baseline, pair.candidate
    if one is None or other is None or not one.levels or not other.levels:
        return Replication(basis=None, baseline=[], candidate=[])
    by_process = Replication(basis=None, baseline=one.levels, candidate=other.levels)
    first, second = {*one.sessions}, {*other.sessions}
    if not first or not second:
        return by_process
    if first == second:
        return _paired(one, other) or replace(by_process, basis="interleaved")
    if min(len(first), len(second)) >= LEAST_SESSIONS:
        return Replication(basis="sessions", baseline=one.session_levels, candidate=other.session_levels)
    spread, found = spread_between(one, other, past)
    if spread is None:
        return replace(by_process, basis="two_sessions", past_sessions=found)
    error = spread.error_between(one, other)
    return replace(by_process, basis="history", spread=spread, past_sessions=found, session_error=error)


def _paired(one: Series, other: Series) -> Replication | None:
    """Returns the pairs of processes that ran right after each other in `ab`.

    A process without a partner is left out: the run was interrupted after it. None for sides that `ab` did not
    interleave.
    """
    if not one.blocks or not other.blocks:
        return None
    first, second = (dict(zip(side.blocks, side.levels, strict=True)) for side in (one, other))
    shared = [place for place in first if place in second]
    return Replication(
        basis="interleaved",
        baseline=[first[place] for place in shared],
        candidate=[second[place] for place in shared],
        paired=True,
        anytime=one.by_verdict,
    )


def compare_pair(pair: Pair, replication: Replication, margin: float) -> stats.SampleComparison | None:
    """Computes the statistics of a pair.

    Returns:
        The statistics; None if a side has no processes, or the sides differ and neither they, their pairs nor their
        sessions vary.

    Raises:
        ValueError: If a number is not above 0.
        ArithmeticError: If the ratio of the sides is too large or too small for a number.
    """
    first, second = replication.baseline, replication.candidate
    if not first or not second or any(one and one.lack for one in (pair.baseline, pair.candidate)):
        return None
    found = replication.compared(margin)
    error, _ = replication.session_error or (0.0, 0.0)
    varies = found.p_value is None or vary(first, second, paired=replication.paired, session_error=error)
    return found if varies else None
