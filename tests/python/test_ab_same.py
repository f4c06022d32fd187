"""`ab --same` without processes: what it says of the machine, what it keeps, and what reads that again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import run_cli
from pretended_workers import each, measured
from test_bench_execution import Workers

from fastrnns_rs.machine import noise
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.bench.bench_plan import rounds
from fastrnns_rs.views.noise import answer, lines


class BiasedWorkers(Workers):
    """Workers that are 3 % slower if their side is `b`, by the order of the seed."""

    def __init__(self, order: list[int]) -> None:
        super().__init__(spread=0.003)
        self._order = order

    def __call__(self, job: dict[str, Any]) -> Answer:
        slower = self._order[len(self.started)]
        found = super().__call__(job)
        times = [round(one * (1.03 if slower else 1)) for one in found.content["forward_ns"]]
        return measured(times, [2 * one for one in times], steady_from=5)


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
    assert "\n".join(one.text for one in lines(floor, 80)[1:]) in said.stderr
    # And now it is a margin.
    again = run_cli("ab", "cudnn", "py", "--quick", "--json", "--margin", "noise-floor", executor=each(workers))
    assert again.status == 0
    method = again.json()["method"]
    assert (method["margin"], method["margin_source"]) == (floor.minimum_detectable_change, "noise_floor")


def test_the_screen_is_short_and_ends_with_a_command(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(anywhere / "state"))
    words = ("ab", "--same", "--quick", "--order-seed", "3", "--history", anywhere / "history")
    said = run_cli(*words, executor=each(Workers(spread=0.003)))
    floor = noise.stored("cpu")
    assert floor is not None
    assert answer(floor) in said.stdout.split("\n")
    assert "Sessions: not known yet, with 0 of 3 earlier sessions.\n" in said.stdout
    assert said.stderr.rstrip("\n").endswith("\nShow the noise floor: fastrnns-rs doctor")
    screen = [*said.stdout.split("\n"), *said.stderr.partition("\n")[2].rstrip("\n").split("\n")]
    assert max(len(line) for line in screen if not line.startswith("  fastrnns-rs")) <= 80
    # Warnings about this machine take three lines each, and a blank one. The last line of stdout ends it.
    assert len(screen) - 1 <= 20 + 3 * said.stderr.count("warning[")
    assert said.stderr.count("fastrnns-rs compare") == 0


def test_a_side_that_is_slower_is_a_warning_of_the_document(anywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(anywhere / "state"))
    turns = rounds(2, 3, 2)
    order = [side for _ in range(20) for side in next(turns)[0]]
    words = ("ab", "--same", "--quick", "--json", "--order-seed", "3", "--no-history")
    said = run_cli(*words, executor=each(BiasedWorkers([int(side) for side in order])))
    assert said.status == 0
    [found] = [one for one in said.json()["warnings"] if one["code"] == "equal_sides_differ"]
    assert found["evidence"].startswith("side b +3.")
    assert "Differences found: side b +3." in said.stderr
    floor = noise.stored("cpu")
    assert floor is not None
    assert floor.n_sessions is None
    assert {one.check: one.finding for one in floor.checks} == {
        "sides": "difference",
        "launch_order": "none",
        "time": "none",
        "session": "unknown",
    }
