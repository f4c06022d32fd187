"""Variance between sessions, from a history and from sides of several sessions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Series

#: Degrees of freedom of eight sessions of one kind.
LEAST_DEGREES = 7
LEAST_SESSIONS_OF_HISTORY = LEAST_DEGREES + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSession:
    """Row of one session, as logarithms of a statistic of its processes.

    Attributes:
        session: ID of the session.
        kind: Hash of the conditions, and the statistic: rows of equal kind measured the same thing.
        n_processes: Number of processes.
        mean: Mean of the logarithms.
        variance: Variance of the logarithms, with divisor n - 1; None for a single process.
    """

    session: str
    kind: str
    n_processes: int
    mean: float
    variance: float | None


class Past(Protocol):
    """Source of earlier sessions, such as the history."""

    def equal(self, kinds: Iterable[str]) -> list[PastSession]:
        """Returns the rows of these kinds."""

    def comparable(self, families: Iterable[str]) -> list[PastSession]:
        """Returns all rows of these families.

        Rows of a family share machine, software, settings, device and phase.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpread:
    """Variance of sessions within their kinds.

    Attributes:
        sessions: Number of sessions behind the variance.
        variance: Variance of a session's mean of logarithms, including the share of its processes.
        degrees_of_freedom: Degrees of freedom of `variance`.
        process_variance: Variance of a process within its session.
        process_degrees: Degrees of freedom of `process_variance`.
        inverse_processes: Mean of 1 / n, where n is the number of processes of a session.
        pooled: True if sessions of other runners or problems are included.
    """

    sessions: int
    variance: float
    degrees_of_freedom: int
    process_variance: float
    process_degrees: int
    inverse_processes: float
    pooled: bool = False

    @property
    def stddev(self) -> float:
        """Standard deviation between sessions, without the share of their processes.

        The difference of the two variance estimates can be negative, and is then taken as 0.
        """
        return math.sqrt(max(0.0, self.variance - self.process_variance * self.inverse_processes))

    def error_between(self, baseline: Series, candidate: Series) -> tuple[float, float]:
        """Returns the standard error and the degrees of freedom of the log ratio.

        A side's mean weighs each session by its processes. If the sides have fewer processes per session than the past,
        the variance of processes is added for the missing processes.
        """
        weight = _session_weight(baseline) + _session_weight(candidate)
        process_share = 1 / len(baseline.levels) + 1 / len(candidate.levels)
        missing = max(0.0, process_share - weight * self.inverse_processes)
        parts = (self.variance * weight, self.process_variance * missing)
        total = math.fsum(parts)
        if total == 0:
            return 0.0, float(self.degrees_of_freedom)
        shares = [(part / total) ** 2 for part in parts]
        inverse = shares[0] / self.degrees_of_freedom
        if self.process_degrees:
            inverse += shares[1] / self.process_degrees
        return math.sqrt(total), 1 / inverse if inverse else math.inf


def spread_between(baseline: Series, candidate: Series, past: Past | None) -> tuple[SessionSpread | None, int]:
    """Returns the variance of sessions that measured the same as one of two sides.

    If a side has several sessions, they are included. If there are too few sessions, sessions of comparable rows are
    added.

    Returns:
        The variance, or None if there are fewer than eight sessions; and the number of sessions that were found.
    """
    own = [one for name, side in (("baseline", baseline), ("candidate", candidate)) for one in _own(name, side)]
    excluded = {*baseline.sessions, *candidate.sessions}
    if past is None:
        return pool_spread(own), len({one.session for one in own})

    def others(found: list[PastSession]) -> list[PastSession]:
        return [one for one in found if one.session not in excluded]

    equal = own + others(past.equal({*baseline.kinds, *candidate.kinds}))
    found = pool_spread(equal)
    if found is not None:
        return found, found.sessions
    pooled = own + others(past.comparable({*baseline.families, *candidate.families}))
    return pool_spread(pooled, pooled=True), len({one.session for one in equal})


def pool_spread(
    rows: Sequence[PastSession], *, pooled: bool = False, least_degrees: int = LEAST_DEGREES
) -> SessionSpread | None:
    """Pools the variance of rows within their kinds.

    Rows of one session are not independent evidence of the variance between sessions. The degrees of freedom are at
    most the number of sessions less one.

    Args:
        rows: Rows of sessions; one of each kind per session.
        pooled: Value of the result's `pooled`.
        least_degrees: Fewest degrees of freedom of a result.

    Returns:
        The variance; None with fewer degrees of freedom.
    """
    kinds: dict[str, list[PastSession]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    several = [each for each in kinds.values() if len(each) > 1]
    counted = [row for each in several for row in each]
    sessions = {row.session for row in counted}
    degrees = sum(len(each) - 1 for each in several)
    if min(degrees, len(sessions) - 1) < least_degrees:
        return None
    means = [(each, _average([row.mean for row in each])) for each in several]
    squares = math.fsum((row.mean - mean) ** 2 for each, mean in means for row in each)
    within = [(row.variance, row.n_processes - 1) for row in counted if row.variance is not None]
    process_degrees = sum(freedom for _, freedom in within)
    process_squares = math.fsum(variance * freedom for variance, freedom in within)
    return SessionSpread(
        sessions=len(sessions),
        variance=squares / degrees,
        degrees_of_freedom=min(degrees, len(sessions) - 1),
        process_variance=process_squares / process_degrees if process_degrees else 0.0,
        process_degrees=process_degrees,
        inverse_processes=math.fsum(1 / row.n_processes for row in counted) / len(counted),
        pooled=pooled,
    )


def past_sessions(kind: str, series: Series) -> list[PastSession]:
    """Returns one row for each session of a series."""
    found: dict[str, list[float]] = {}
    for session, time in zip(series.sessions, series.levels, strict=True):
        found.setdefault(session, []).append(math.log(time))
    rows = []
    for session, logs in found.items():
        mean, several = _average(logs), len(logs) > 1
        variance = math.fsum((one - mean) ** 2 for one in logs) / (len(logs) - 1) if several else None
        rows.append(PastSession(session=session, kind=kind, n_processes=len(logs), mean=mean, variance=variance))
    return rows


def _own(name: str, series: Series) -> list[PastSession]:
    rows = past_sessions(name, series)
    return rows if len(rows) > 1 else []


def _session_weight(series: Series) -> float:
    """Returns the sum of the squared shares of a side's sessions.

    The sum is 1 for one session, and 1 / k for k equal sessions.
    """
    total = len(series.sessions)
    return math.fsum((count / total) ** 2 for count in Counter(series.sessions).values())


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
