"""`ab --same` without processes: what it says of the machine, what it keeps, and what reads that again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import FACTS
from pretended_workers import each
from test_bench_execution import Workers

from fastrnns_rs import environment, noise
from fastrnns_rs.benchmarking import execution
from fastrnns_rs.cli.ab import command


def test_the_same_against_itself_keeps_the_noise_of_the_machine(
    anywhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    workers = Workers(spread=0.02)
    monkeypatch.setenv("XDG_STATE_HOME", str(anywhere / "state"))
    monkeypatch.setattr(execution, "launch_together", each(workers))
    monkeypatch.setattr(environment, "probe", lambda *_given: FACTS)
    call = {"prog_name": "ab", "standalone_mode": False}
    assert command.main(["--same", "--quick", "--json", "--order-seed", "3"], **call) == 0
    said = capsys.readouterr()
    assert len(workers.started) == 40
    assert {row["verdict"] for row in json.loads(said.out)["rows"]} <= {
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
    assert noise.sentence(floor) in said.err
    # And now it is a margin.
    assert command.main(["cudnn", "py", "--quick", "--json", "--margin", "noise-floor"], **call) == 0
    method = json.loads(capsys.readouterr().out)["method"]
    assert (method["margin"], method["margin_source"]) == (floor.minimum_detectable_change, "noise_floor")
