"""A guard of the history that commands use by default: a test that keeps a run there fails."""

from __future__ import annotations

import pytest

from fastrnns_rs.verbs.history.run_history import RunHistory, default_folder


class HistoryGuard:
    """The default history of a session of tests, which is a folder of the session and not the user's own.

    A test that keeps a run there has not said which history it uses: with another environment it would be the user's.
    """

    def __init__(self) -> None:
        self._runs = RunHistory(default_folder()).runs_folder
        self._known: set[str] = set()

    def check(self) -> None:
        """Fails the test that calls it if runs have been kept since the last call."""
        found = {path.name for path in self._runs.glob("*")}
        new, self._known = found - self._known, found
        if new:
            pytest.fail(f"the default history got runs: {', '.join(sorted(new))}", pytrace=False)
