"""A guard of the user's own history: a test during which it changes fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastrnns_rs.verbs.history.run_history import RunHistory, default_folder


class HistoryGuard:
    """A plugin that looks at the user's history after each test.

    Environment variables are read when it is made, before tests have their own. Where several processes run tests, each
    of them fails the test that it ran at that time.
    """

    def __init__(self) -> None:
        folders = {default_folder(), Path(os.environ.get("FASTRNNS_HISTORY") or default_folder())}
        # A new file changes the time of its folder, and so does a file that is replaced.
        self._watched = [path for one in folders for path in (one, RunHistory(one).runs_folder)]
        self._known = self._times()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        yield
        before, self._known = self._known, self._times()
        changed = [
            str(path) for path, *times in zip(self._watched, before, self._known, strict=True) if len({*times}) > 1
        ]
        if changed:
            pytest.fail(f"the user's history changed during this test: {', '.join(changed)}", pytrace=False)

    def _times(self) -> list[int | None]:
        return [path.stat().st_mtime_ns if path.exists() else None for path in self._watched]
