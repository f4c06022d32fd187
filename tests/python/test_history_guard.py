"""A test that keeps a run in the user's own history fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import finished
from history_runs import made

_CONFTEST = """
from history_guard import HistoryGuard

def pytest_configure(config):
    config.pluginmanager.register(HistoryGuard())
"""
_TESTS = """
import sys
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.history.run_history import RunHistory, chosen_history

def test_keeps_a_run():
    chosen_history(None).keep(Run.load("run.json"))

def test_keeps_another_run():
    chosen_history(None).keep(Run.load("other.json"))

def test_keeps_none():
    pass

def test_keeps_one_elsewhere(tmp_path):
    RunHistory(tmp_path).keep(Run.load("run.json"))
"""


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "FASTRNNS_HISTORY"])
def test_a_run_in_the_users_history_fails_its_test(variable: str, tmp_path: Path) -> None:
    made(1).save(tmp_path / "run.json")
    made(2).save(tmp_path / "other.json")
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_planted.py").write_text(_TESTS)
    variables = {
        "FASTRNNS_NO_HISTORY": "",
        "XDG_DATA_HOME": tmp_path / "data",
        variable: tmp_path / "users",
        "PYTHONPATH": Path(__file__).parent,
    }
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-rA",
        "--rootdir",
        str(tmp_path),
        "test_planted.py",
    ]
    done = finished(words, cwd=tmp_path, **variables)
    assert done.stdout.count("the user's history changed during this test: ") >= 2, done.stdout
    outcomes = {line for line in done.stdout.splitlines() if line.startswith("ERROR ")}
    assert {line.split("::")[1].split()[0] for line in outcomes} == {"test_keeps_a_run", "test_keeps_another_run"}
