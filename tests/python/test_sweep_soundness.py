"""Sweeps and rows of a run file that contradict their processes, problems or results."""

from __future__ import annotations

from typing import Any

import pytest
from run_files import exactly, run

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.phase_summary import summary


def summarized() -> dict[str, Any]:
    """A run of one runner, with three processes and their statistics."""
    forward = summary([[[one - 1, one, one + 2]] for one in (1000, 1100, 1200)])
    return run([exactly([1000, 1100, 1200], forward=forward)]).to_dict()


def test_failed_processes_have_no_estimate() -> None:
    plain = summarized()
    for one in plain["results"][0]["processes"]:
        one |= {"status": "failed", "reason": "it fails"}
    with pytest.raises(UsageError, match=r"^results\[0\]\.forward has an estimate, and no process is ok$"):
        Run.from_dict(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time_ns": 500.0}, "time_ns is 500, and that of the result is "),
        ({"samples_per_second": 1.0}, "samples_per_second is 1, not mini_batch by time_ns"),
    ],
)
def test_a_sweep_does_not_contradict_its_results(changes: dict[str, float], message: str) -> None:
    plain = summarized()
    [one] = plain["results"]
    one["point"] = {"seq-length": one["problem"]["seq_length"]}
    forward = Run.from_dict(plain).results[0].forward
    assert forward is not None
    rate = one["problem"]["mini_batch"] / forward.estimate_ns * 1e9
    cell = {"runner": one["runner"], "point": one["point"], "phase": "iteration", "time_ns": forward.estimate_ns}
    cell |= {"steps_per_second": None, "samples_per_second": rate}
    plain["sweep"] = {"axes": [], "cells": [cell], "growth": []}
    assert Run.from_dict(plain).sweep is not None
    plain["sweep"]["cells"] = [cell | changes]
    with pytest.raises(UsageError, match=rf"^sweep\.cells\[0\]\.{message}"):
        Run.from_dict(plain)
