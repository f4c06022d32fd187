"""Checks of the starts of processes in a run against those of their sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run

#: A clock that had the local time is set back by hours. More is no clock, but another session.
_CLOCKS = timedelta(days=1)


def check_starts(run: Run) -> None:
    """Rejects processes that started before their session, or in a later one.

    From three sessions on, sessions are the replicates: processes of one session that are counted in several make a
    difference look more certain than it is.

    Raises:
        UsageError: If there is such a process; the message names the path.
    """
    _check_orders(run)
    # Sessions are in the order in which they were measured.
    bounds = {one.session_id: (one, after) for one, after in pairwise([*run.sessions, None]) if one is not None}
    for number, result in enumerate(run.results):
        for place, process in enumerate(result.processes):
            own, after = bounds.get(process.session or "", (None, None))
            path = f"results[{number}].processes[{place}].started_utc is {shown(process.started_utc)}"
            if own is not None and is_before(process.started_utc, own.started_utc):
                raise UsageError(f"{path}, and its session started at {shown(own.started_utc)}")
            if after is not None and is_before(after.started_utc, process.started_utc):
                raise UsageError(f"{path}, and the session after its own started at {shown(after.started_utc)}")


def _check_orders(run: Run) -> None:
    """Checks that sessions were measured one after the other, as no clock can tell."""
    # Processes without a session are of an older build, whose run was resumed.
    orders: dict[str | None, list[int]] = {None: [], **{one.session_id: [] for one in run.sessions}}
    for result in run.results:
        for process in result.processes:
            if process.session in orders:
                orders[process.session].append(process.order)
    for (one, first), (other, second) in pairwise((name, found) for name, found in orders.items() if found):
        if max(first) >= min(second):
            raise UsageError(f"session {shown(other)} has a process before the last of session {shown(one)}")


def is_before(time: str | None, other: str | None) -> bool:
    """Returns True if a time is before another, by more than clocks are set back."""
    first, second = _parse(time), _parse(other)
    return first is not None and second is not None and second - first > _CLOCKS


def _parse(time: str | None) -> datetime | None:
    """Returns a time; None if it is unknown, or another program wrote no time."""
    try:
        found = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
