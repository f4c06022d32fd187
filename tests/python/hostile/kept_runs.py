"""Runs that tests of histories keep."""

from __future__ import annotations

from run_files import exactly, run

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.history.run_history import RunHistory


def made(number: int) -> Run:
    return run([exactly([1000 + number])], run_id=f"{number:032x}", created_utc=f"2026-01-01T00:00:{number:02}Z")


def ids(history: RunHistory) -> list[int]:
    return sorted(int(one.run_id, 16) for one in history.document().runs)


def keep_three(history: RunHistory) -> RunHistory:
    """Keeps three runs."""
    for number in range(3):
        history.keep(made(number))
    return history
