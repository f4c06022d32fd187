"""The default history of the tests is not the user's, and a test that keeps a run there fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from history_guard import HistoryGuard
from history_runs import made

from fastrnns_rs.verbs.history.run_history import chosen_history, default_folder


def test_the_history_of_the_user_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_history(None) is None
    folder = default_folder()
    monkeypatch.delenv("XDG_DATA_HOME")
    assert not folder.is_relative_to(default_folder().parent)


def test_runs_in_the_default_history_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    guard = HistoryGuard()
    guard.check()
    for number in range(2):
        history = chosen_history(None)
        assert history is not None
        name = os.path.basename(history.keep(made(number)))
        with pytest.raises(pytest.fail.Exception, match=name):
            guard.check()
        guard.check()
