"""Checks of the basis of rows of a comparison, and of their statistic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.comparison_rows import CONDITIONAL, OF_SESSIONS
from fastrnns_rs.documents.replicates import LEAST_SESSIONS
from fastrnns_rs.documents.tolerances import COMPUTED
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Compared, Comparison, Figures, Method, Row

_OF_HISTORY = ("session_stddev", "session_stderr", "session_degrees_of_freedom", "history_sessions")


def check_bases(found: Comparison) -> None:
    """Rejects rows of another basis than the sessions have, or another statistic.

    Which sessions both sides share is not in the document, nor is how many a row has, unless they are the replicates.

    Raises:
        UsageError: If there is such a row; the message names its path.
    """
    for number, row in enumerate(found.rows):
        path = f"rows[{number}]"
        _check_history(path, row)
        _check_history_error(path, row, found)
        _check_statistic(path, row, found.method)
        sides = (("baseline", row.baseline, found.baseline), ("candidate", row.candidate, found.candidate))
        for name, side, compared in sides:
            if side is not None:
                _check_sessions(path, row, name, side, compared)
        if row.basis is None and all(side and side.n_processes and whole.sessions for _, side, whole in sides):
            raise UsageError(f"{path}.basis is null, and both sides have sessions")
    bases = {row.basis for row in found.rows} - {None}
    if found.baseline.sessions == found.candidate.sessions == 1 and "interleaved" in bases:
        if len(bases) > 1:
            raise UsageError("rows of one session per side are interleaved, and others are not")
        if len({found.baseline.created_utc, found.candidate.created_utc} - {None}) > 1:
            raise UsageError("rows of one session per side are interleaved, and the sides began at different times")
    apart = any(row.basis == "two_sessions" and row.p_value is not None for row in found.rows)
    if not apart and any(one.code == "one_session" for one in found.warnings):
        raise UsageError("warnings contain one_session, and no row is of two sessions")
    for number, row in enumerate(found.rows):
        _check_texts(f"rows[{number}]", row)


def _check_history(path: str, row: Row) -> None:
    known = [key for key in _OF_HISTORY if getattr(row, key) is not None]
    known += ["history_pooled"] if row.history_pooled else []
    if known and row.basis != "history":
        raise UsageError(f"{path} has {known[0]}, and its basis is {shown(row.basis)}, not a history")
    if missing := [key for key in _OF_HISTORY if key not in known] if row.basis == "history" else []:
        raise UsageError(f"{path}.basis is a history, and {missing[0]} is missing")
    if row.conditional_verdict is not None and row.basis != "two_sessions":
        raise UsageError(f"{path} has a conditional_verdict, and its basis is {shown(row.basis)}, not two_sessions")
    if row.basis == "two_sessions" and row.verdict not in {None, "inconclusive"}:
        raise UsageError(f"{path}.verdict is {row.verdict}, and its basis, two_sessions, gives a conditional_verdict")


def _check_history_error(path: str, row: Row, found: Comparison) -> None:
    """Checks that the error of a ratio is as large as sessions make it.

    Processes make it larger.
    """
    if row.basis != "history" or row.session_stddev is None:
        return
    if row.history_sessions is not None and row.history_sessions < 2:  # noqa: PLR2004
        raise UsageError(f"{path} has a session_stddev, and history_sessions is {row.history_sessions}")
    sides = (found.baseline.sessions, found.candidate.sessions)
    least = row.session_stddev * math.sqrt(math.fsum(1 / one for one in sides if one)) * (1 - COMPUTED)
    if row.session_stderr is not None and row.session_stderr < least:
        raise UsageError(f"{path}.session_stderr is {row.session_stderr:g}, and session_stddev gives {least:g} or more")


def _check_statistic(path: str, row: Row, method: Method) -> None:
    if getattr(row, method.statistic) is not None:
        raise UsageError(f"{path}.{method.statistic} is a change that is not judged, and method.statistic is the same")
    for name, side in (("baseline", row.baseline), ("candidate", row.candidate)):
        if (
            side is not None
            and side.process_medians_ns
            and bool(side.process_levels_ns) != (method.statistic != "median")
        ):
            how = "has no" if method.statistic != "median" else "has"
            raise UsageError(f"{path}.{name} {how} process_levels_ns, and method.statistic is {method.statistic}")


def _check_texts(path: str, row: Row) -> None:
    """Checks that a label and a number of processes are those of the basis."""
    for text, basis in ((CONDITIONAL, "two_sessions"), (OF_SESSIONS, "sessions")):
        if row.basis != basis and any(one.endswith(text) for one in (row.label or "").split("; ")):
            raise UsageError(f"{path}.label contains {shown(text)}, and the basis is {shown(row.basis)}")
    # More processes do not replace sessions.
    if row.basis == "sessions" and row.additional_processes is not None:
        raise UsageError(f"{path}.additional_processes is {row.additional_processes}, and its basis is sessions")


def _check_sessions(path: str, row: Row, name: str, side: Figures, compared: Compared) -> None:
    if side.process_sessions and row.basis != "sessions":
        raise UsageError(f"{path}.{name} has process_sessions, and its basis is {shown(row.basis)}, not sessions")
    if row.basis != "sessions" or not side.n_processes:
        return
    count = len({*side.process_sessions})
    if not LEAST_SESSIONS <= count <= (compared.sessions or 0):
        raise UsageError(f"{path}.basis is sessions, and {name} has {count} of {compared.sessions or 0} sessions")
