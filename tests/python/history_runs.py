"""Runs to keep in a history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from run_files import SESSION, exactly, run

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.history.run_history import RunHistory


def made(number: int, level: int = 1000, **changes: Any) -> Run:
    """A run of a session of its own."""
    started = f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z"
    session = replace(SESSION, session_id=f"session {number}", started_utc=started)
    row = exactly([level, level + 2, level + 4])
    row = replace(row, processes=[replace(one, session=session.session_id) for one in row.processes])
    return run([row], run_id=f"{number:032x}", created_utc=started, sessions=[session], **changes)


def kept(history: RunHistory, *runs: Run) -> list[str]:
    for one in runs:
        history.keep(one)
    return [one.run_id for one in history.document().runs]


def keep_past(folder: Path, level: int) -> None:
    """Keeps a history of twenty sessions."""
    for number in range(20):
        RunHistory(folder).keep(made(number, level + level // 1000 * (number % 4)))
