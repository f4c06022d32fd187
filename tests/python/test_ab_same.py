"""`ab --same` without processes: what it says of the machine, what it keeps, and what reads that again."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run_cli
from pretended_workers import each
from test_bench_execution import Workers

from fastrnns_rs.machine import noise
from fastrnns_rs.views.noise import sentence


def test_the_same_against_itself_keeps_the_noise_of_the_machine(
    anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(spread=0.02)
    monkeypatch.setenv("XDG_STATE_HOME", str(anywhere / "state"))
    said = run_cli("ab", "--same", "--quick", "--json", "--order-seed", "3", executor=each(workers))
    assert said.status == 0
    assert len(workers.started) == 40
    assert {row["verdict"] for row in said.json()["rows"]} <= {
        "equivalent",
        "inconclusive",
        "faster",
        "slower",
    }
    floor = noise.stored("cpu")
    assert floor is not None
    assert (floor.n_processes, floor.comparisons, floor.runner) == (40, 1000, "cudnn")
    # 10 + 10 processes with a spread of 2 % find some 3 % in four of five comparisons.
    assert 0.02 < floor.minimum_detectable_change < 0.04
    assert sentence(floor) in " ".join(said.stderr.split())
    # And now it is a margin.
    again = run_cli("ab", "cudnn", "py", "--quick", "--json", "--margin", "noise-floor", executor=each(workers))
    assert again.status == 0
    method = again.json()["method"]
    assert (method["margin"], method["margin_source"]) == (floor.minimum_detectable_change, "noise_floor")
