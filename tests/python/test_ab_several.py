"""`ab` with several runners and an option of one side: each runner is compared with itself, in pairs of its own."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pretended_workers
import pytest
from conftest import run_cli
from scipy import stats as reference
from test_ab import SMALL

from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.launcher import Executor, Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.history.run_history import RunHistory

NAMES = ("sound", "prints", "reads")
WORDS = ["ab", *NAMES, "--b", "--threads 1", *SMALL, "--processes", "4", "--nloops", "9", "--warmup", "0"]
#: How much slower the candidate of each runner is.
RATIOS = {"sound": 1.3, "prints": 0.7, "reads": 1.0}


def drifting() -> Executor:
    """Each process is 20 % slower than the one before; the candidate differs by the ratio of its runner."""
    started = count()

    def worker(job: dict[str, Any]) -> Answer:
        number = next(started)
        side = RATIOS[job["runner"]] if job["threads"] == 1 else 1.0
        level = 1e6 * 1.2**number * side * (1 + 0.001 * (number * number % 7))
        samples = [round(level) + one for one in range(9)]
        return pretended_workers.measured(samples, samples, steady_from=0)

    return pretended_workers.each(worker)


def medians(run: Run, runner: str) -> dict[str | None, list[float]]:
    """The forward medians of a runner by side, in the order of its pairs."""
    sides = [one for one in run.results if one.runner == runner]
    return {one.side: [float(np.median(each.forward_ns)) for each in one.processes] for one in sides}


def test_each_runner_is_compared_with_itself_pair_by_pair(anywhere: Path) -> None:
    done = run_cli(*WORDS, "--json", "--run-file", "ab.json", cwd=anywhere, executor=drifting())
    assert done.status == 0, done.stderr
    assert done.stderr.startswith("ab: 3 runners, 24 processes\n")
    document = done.json()
    assert (document["baseline"]["label"], document["candidate"]["label"]) == ("a", "b --threads 1")
    rows = document["rows"]
    assert [(row["runner"], row["phase"]) for row in rows] == [
        (name, phase) for name in NAMES for phase in ("forward", "backward")
    ]
    run = Run.load(anywhere / "ab.json")
    p_values = []
    for row in rows[::2]:
        sides = medians(run, row["runner"])
        first, second = np.log(sides["a"]), np.log(sides["b"])
        expected = reference.ttest_rel(second, first)
        assert row["basis"] == "interleaved"
        assert np.isclose(row["ratio"], np.exp(np.mean(second - first)), rtol=1e-12)
        assert np.isclose(row["p_value"], expected.pvalue, rtol=1e-9)
        p_values += 2 * [1.0 if row["verdict"] == "equivalent" else row["p_value"]]
    adjusted = reference.false_discovery_control(p_values)
    assert np.allclose([row["p_value_adjusted"] for row in rows], adjusted, rtol=1e-9)
    # The drift within a pair is 20 %, in either direction. It does not reach from one runner to the next.
    assert abs(np.log(rows[0]["ratio"] / RATIOS["sound"])) < 0.2
    assert abs(np.log(rows[2]["ratio"] / RATIOS["prints"])) < 0.2


def test_the_two_sides_of_a_runner_run_after_each_other(anywhere: Path) -> None:
    done = run_cli(*WORDS, "--run-file", "ab.json", "--order-seed", "3", cwd=anywhere, executor=drifting())
    run = Run.load(anywhere / "ab.json")
    by_order = {each.order: (one.runner, one.side, each.index) for one in run.results for each in one.processes}
    pairs = [(by_order[at], by_order[at + 1]) for at in range(0, 24, 2)]
    for (runner, side, index), (other, other_side, other_index) in pairs:
        assert (runner, index, {side, other_side}) == (other, other_index, {"a", "b"})
    # A round has each runner once, in an order that varies; and so do the sides.
    orders = [[pairs[at + place][0][0] for place in range(3)] for at in range(0, 12, 3)]
    assert all(sorted(one) == sorted(NAMES) for one in orders)
    assert len({*map(tuple, orders)}) > 1
    assert {one[1] for one, _ in pairs} == {"a", "b"}
    assert [(one.name, one.label, one.runner) for one in run.sides] == [
        ("a", "a", "sound"),
        ("b", "b --threads 1", "sound"),
    ]
    assert [(one.runner, one.side) for one in run.plan.runners] == [(name, side) for name in NAMES for side in "ab"]
    head = done.stdout.splitlines()
    assert head[0].startswith("baseline   a  ")
    assert head[1].startswith("candidate  b --threads 1  ")


def test_every_way_to_see_it_again(history: RunHistory) -> None:
    done = run_cli(*WORDS, "--json", executor=drifting())
    assert done.status == 0, done.stderr
    assert run_cli("compare", "@last", "--json").json()["rows"] == done.json()["rows"]
    shown = [line[:10].rstrip() for line in run_cli("show", "@last").stdout.splitlines()]
    assert [one for one in shown if one.endswith(")")] == [f"{name} ({side})" for name in NAMES for side in "ab"]
    assert run_cli("compare", "@last", "--explain", "prints/forward").stdout.startswith("prints/forward: ")
    [kept] = run_cli("history", "--json").json()["runs"]
    assert (kept["verb"], kept["runners"]) == ("ab", [*NAMES])
    for words in (("--format", "markdown"), ("--format", "html"), ("--wide",)):
        assert "reads" in run_cli("compare", "@last", *words).stdout


def test_a_side_that_fails_ends_the_rows_of_its_runner_only(anywhere: Path) -> None:
    def worker(job: dict[str, Any]) -> Answer:
        if job["runner"] == "prints" and job["threads"] == 1:
            return Answer({}, "died", "the process was killed", "")
        return pretended_workers.rising(job)

    words = [*WORDS, "--json", "--run-file", "ab.json"]
    done = run_cli(*words, cwd=anywhere, executor=pretended_workers.each(worker))
    assert done.status == 1
    run = Run.load(anywhere / "ab.json")
    counts = {(one.runner, one.side): len(one.processes) for one in run.results}
    assert counts["prints", "b"] == 1
    assert counts["prints", "a"] <= 1
    assert [counts[name, side] for name in ("sound", "reads") for side in "ab"] == [4, 4, 4, 4]
    verdicts = {(row["runner"], row["phase"]): row["verdict"] for row in done.json()["rows"]}
    assert {name for (name, _), verdict in verdicts.items() if verdict is None} == {"prints"}
    assert {name for (name, _), verdict in verdicts.items() if verdict is not None} == {"sound", "reads"}
    # The side that did not run, if any, is named before.
    assert "failed: the process was killed" in " ".join(done.stderr.split())
    assert " sound: " not in done.stderr


def test_each_side_is_probed_once(anywhere: Path) -> None:
    kinds: list[str] = []
    workers = drifting()

    def run(starts: Sequence[Start]) -> list[Answer]:
        kinds.extend(start.job["kind"] for start in starts)
        return workers(starts)

    assert run_cli(*WORDS, cwd=anywhere, executor=run).status == 0
    assert (kinds.count("probe"), kinds.count("bench")) == (2, 24)


@pytest.mark.parametrize("ended", [1, 7])
def test_an_interrupted_one_shows_its_times_and_starts_again(ended: int, anywhere: Path) -> None:
    left = [*range(ended)]

    def stops(job: dict[str, Any]) -> Answer:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return pretended_workers.rising(job)

    words = [*WORDS, "--history", "kept"]
    done = run_cli(*words, cwd=anywhere, executor=pretended_workers.each(stops))
    assert done.status == 130
    assert sum(done.stdout.count(f" {number} of 4") for number in (1, 2)) == min(ended, 6)
    assert f"Interrupted after {ended} of 24 processes." in done.stderr
    assert shlex.split(done.stderr.partition("Start again:")[2]) == ["fastrnns-rs", *words]
    uncompared = run_cli("compare", "@last", "--history", "kept", cwd=anywhere)
    assert (uncompared.status, f"it has {ended} of 24 processes" in uncompared.stderr) == (2, True), uncompared.stderr
    refused = run_cli("bench", "--resume", "@last", "--history", "kept", cwd=anywhere)
    assert refused.stderr.startswith("error: cannot resume a run of ab")
