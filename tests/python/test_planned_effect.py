"""The minimum detectable effect that `ab` and `bench` report before they measure, from the history."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pretended_workers
import pytest
import scipy.stats
from commands import Done
from conftest import PLANTED, TINY, run_cli
from history_runs import kept, made

from fastrnns_rs import stats
from fastrnns_rs.documents.noise_figures import minimum_detectable_change
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.processes.launcher import Executor
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.history.run_history import RunHistory

SMALL = ["--runner-file", str(PLANTED), "--device", "cpu", "--nloops", "3", "--warmup", "0", *TINY]
#: Standard deviation of the log medians of each runner.
SPREADS = {"sound": 0.01, "prints": 0.03}
LINE = re.compile(
    r"^(.*) differences of about ([\d.]+) % or more \((?:(.*) rows, )?from (\d+) earlier processes\)$", re.MULTILINE
)


@pytest.mark.parametrize("spread", [1e-4, 0.014, 0.3])
@pytest.mark.parametrize("pairs", [3, 4, 5, 10, 40])
def test_the_effect_on_pairs_is_found_with_80_percent_power(spread: float, pairs: int) -> None:
    """Against the noncentral t of the differences, without a margin."""
    effect = minimum_detectable_change(spread, pairs, margin=0.0, paired=True)
    shift = math.log1p(effect) / (spread / math.sqrt(pairs))
    power = scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, pairs - 1), pairs - 1, shift)
    assert power == pytest.approx(0.8, abs=2e-3)
    rough = minimum_detectable_change(spread, pairs, margin=0.0, paired=True, precision=0.02)
    assert rough == pytest.approx(effect, rel=0.03)


@pytest.mark.parametrize(("spread", "pairs"), [(0.008, 10), (0.02, 5)])
def test_the_verdict_of_pairs_finds_the_effect_as_often(spread: float, pairs: int) -> None:
    effect = minimum_detectable_change(spread * math.sqrt(2), pairs, paired=True)
    generator, trials = np.random.default_rng(3), 4000
    sides = np.exp(generator.normal(0, spread, (trials, 2, pairs)))
    sides[:, 1] *= 1 + effect
    found = sum(stats.compare_samples(*one, margin=0.01, paired=True).verdict == "slower" for one in sides)
    assert found / trials == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / trials))


def noisy(seed: int) -> Executor:
    generator = np.random.default_rng(seed)

    def worker(job: dict[str, Any]) -> Answer:
        levels = 1e8 * np.exp(generator.normal(0, SPREADS[job["runner"]], 2))
        forward, backward = ([round(level)] * 3 for level in levels)
        return pretended_workers.measured(forward, backward, steady_from=0)

    return pretended_workers.each(worker)


def ab(*words: str, seed: int = 0) -> Done:
    words = ("ab", *SMALL, "--processes", "6", "--b", "--threads 1", *words)
    done = run_cli(*words, executor=noisy(seed))
    assert done.status == 0, done.stderr
    return done


def expected_variance(runs: list[Run], runner: str, phase: str, *sides: str) -> float:
    """The variance within sessions, with the weights of a pooled variance, added for the sides."""
    total = 0.0
    for side in sides:
        rows = [one for each in runs for one in each.results if (one.runner, one.side) == (runner, side)]
        logs = [[math.log(np.median(getattr(one, f"{phase}_ns"))) for one in row.processes] for row in rows]
        total += float(np.mean([np.var(one, ddof=1) for one in logs]))
    return total


def test_ab_reports_the_effect_of_its_noisiest_row(history: RunHistory) -> None:
    assert "differences of about" not in ab("sound", "prints", "sound").stderr
    ab("sound", "prints", seed=1)
    runs = [Run.load(one.path) for one in history.document().runs]
    done = ab("sound", "prints", "--json", seed=2)
    assert json.loads(done.stdout)["kind"] == "run"
    [(amount, percent, row, count)] = LINE.findall(done.stderr)
    assert (amount, count) == ("6 pairs: finds", "12")
    name, phase = row.removesuffix(", the noisiest of 4").split("/")
    variances = {
        (runner, one): expected_variance(runs, runner, one, "a", "b")
        for runner in SPREADS
        for one in ("forward", "backward")
    }
    assert (name, phase) == max(variances, key=lambda one: variances[one])
    effect = minimum_detectable_change(math.sqrt(variances[name, phase]), 6, paired=True)
    assert float(percent) == pytest.approx(100 * effect, rel=0.05)
    # It comes before the first process.
    assert done.stderr.index("6 pairs") < done.stderr.index("24 processes in")


def test_other_conditions_and_quiet_commands_have_no_line(history: RunHistory) -> None:
    ab("sound", seed=1)
    assert "6 pairs: finds" in ab("sound").stderr
    for words in (("--quiet",), ("--seq-length", "4"), ("--dtype", "float64"), ("--no-history",), ("--amp",)):
        assert "differences of about" not in ab("sound", *words).stderr, words
    assert "differences of about" not in ab("prints").stderr
    # The verdict ends it, with intervals that are wider.
    assert "differences of about" not in ab("sound", "--until", "decided").stderr


def test_a_new_side_varies_as_its_runner_did(history: RunHistory) -> None:
    ab("sound", seed=1)
    words = ["ab", "sound", "--b-env", "A=1", *SMALL, "--processes", "8"]
    [(amount, percent, _, count)] = LINE.findall(run_cli(*words, executor=noisy(2)).stderr)
    assert (amount, count) == ("8 pairs: finds", "6")
    runs = [Run.load(history.document().runs[0].path)]
    variance = max(2 * expected_variance(runs, "sound", phase, "a") for phase in ("forward", "backward"))
    assert float(percent) == pytest.approx(
        100 * minimum_detectable_change(math.sqrt(variance), 8, paired=True), rel=0.05
    )
    # Two runners need the spread of each.
    words = ["ab", "sound", "prints", *SMALL, "--processes", "8"]
    assert not LINE.findall(run_cli(*words, executor=noisy(3)).stderr)
    [(_, _, row, _)] = LINE.findall(run_cli(*words, executor=noisy(4)).stderr)
    assert row.startswith("sound / prints/")


def test_bench_reports_what_two_of_its_runs_find(history: RunHistory) -> None:
    words = ["bench", "sound", *SMALL, "--processes", "5"]
    assert not LINE.findall(run_cli(*words, executor=noisy(1)).stderr)
    done = run_cli(*words, executor=noisy(2))
    [(amount, percent, row, count)] = LINE.findall(done.stderr)
    assert amount == "5 processes per runner: two such runs in equal sessions find"
    assert (row[:6], count) == ("sound/", "5")
    medians = [
        [
            np.median(getattr(one, f"{phase}_ns"))
            for one in Run.load(history.document().runs[0].path).results[0].processes
        ]
        for phase in ("forward", "backward")
    ]
    spread = max(float(np.std(np.log(one), ddof=1)) for one in medians)
    assert float(percent) == pytest.approx(100 * minimum_detectable_change(spread, 5), rel=0.05)
    for more in (("--processes", "2"), ("--sessions", "2", "--every", "1s"), ("--quiet",)):
        done = run_cli(
            *words[:-2], *(more if "--processes" in more else ("--processes", "5", *more)), executor=noisy(3)
        )
        assert (done.status, LINE.findall(done.stderr)) == (0, []), more


def test_only_the_last_runs_are_read(history: RunHistory) -> None:
    kept(history, *(made(number) for number in range(105)))
    with history.index() as index:
        [kind] = {row[0] for row in index._fetch("SELECT kind FROM sessions WHERE mean < 100 LIMIT 1")}
        found = index.recent({kind})
        assert not index.recent({"no such kind"})
    assert [one.session for one in found] == [f"session {number}" for number in range(104, 4, -1)]
