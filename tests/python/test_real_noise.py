"""The bench that judges real processes: what it draws, how it reads pyperf, and what it does to a page."""

from __future__ import annotations

import json
import math
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
from conftest import ROOT

# Last, so that no file of the benches stands before a module of the same name.
sys.path.append(str(ROOT / "benches" / "python"))

from real_noise import designs, live, page, pyperf_judge, table
from real_noise.pool import PHASES, Pool, Process

#: As `pyperf compare_to --group-by-speed` of pyperf 2.10.0 wrote it, for benchmarks that were made for it.
PRINTED = """\
Slower (2):
- more-3-forward: 2.00 sec +- 0.01 sec -> 7.01 sec +- 0.02 sec: 3.50x slower
- same-0-forward: 2.00 sec +- 0.00 sec -> 2.40 sec +- 0.01 sec: 1.20x slower

Faster (2):
- same-0-backward: 2.00 sec +- 0.01 sec -> 1.40 sec +- 0.00 sec: 1.43x faster
- more-1-backward: 2.00 sec +- 0.01 sec -> 2.00 sec +- 0.01 sec: 1.00x faster

Benchmark hidden because not significant (2): more-1-forward, more-2-forward

Geometric mean: 1.20x slower

"""
SPREAD = 0.05
DRAWS = {"same": designs.without_difference, "more": designs.with_difference}


def processes(count: int, first: int) -> list[Process]:
    """Logarithms of medians with a standard deviation of exactly `SPREAD`, as far as whole nanoseconds go."""
    generator = random.Random(first)
    logs = [generator.gauss() for _ in range(count)]
    middle, scale = statistics.fmean(logs), SPREAD / statistics.stdev(logs)
    times = [round(1e9 * math.exp(scale * (log - middle))) for log in logs]
    return [Process(first + place, "flat", {phase: [time] for phase in PHASES}) for place, time in enumerate(times)]


def pool() -> Pool:
    # No draw looks at the run.
    run: Any = None
    return Pool(run, processes(120, 0), processes(60, 120))


def orders(processes: list[Process]) -> set[int]:
    return {process.order for process in processes}


@pytest.mark.parametrize("design", DRAWS)
def test_sides_are_disjoint_and_from_their_pools(design: str) -> None:
    """Without a difference both are of the one pool."""
    known = pool()
    candidates = {"same": known.same, "more": known.more}[design]
    drawn = DRAWS[design](known, 200, 1)
    for one in drawn:
        assert len(orders(one.baseline)) == len(orders(one.candidate)) == designs.PER_SIDE
        assert not orders(one.baseline) & orders(one.candidate)
        assert orders(one.baseline) <= orders(known.same)
    assert set().union(*(orders(one.candidate) for one in drawn)) == orders(candidates)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_both_phases_see_the_same_draw_and_a_seed_the_same_draws(draw: Callable[..., list[designs.Comparison]]) -> None:
    known = pool()
    drawn = draw(known, 20, 3)
    assert len({one.name for one in drawn}) == len(drawn) == 40
    for forward, backward in zip(drawn[::2], drawn[1::2], strict=True):
        assert (forward.phase, backward.phase) == PHASES
        assert (forward.baseline, forward.candidate) == (backward.baseline, backward.candidate)
    assert draw(known, 20, 3) == drawn
    assert draw(known, 20, 4) != drawn


@pytest.mark.parametrize(("design", "left"), [("same", 1), ("more", 7 / 8)])
def test_a_finite_pool_leaves_as_much_of_the_variance_as_the_page_says(design: str, left: float) -> None:
    def mean_log(side: list[Process]) -> float:
        return statistics.fmean(math.log(process.median("forward")) for process in side)

    drawn = [one for one in DRAWS[design](pool(), 5000, 1) if one.phase == "forward"]
    found = statistics.variance(mean_log(one.candidate) - mean_log(one.baseline) for one in drawn)
    of_new_processes = 2 * SPREAD**2 / designs.PER_SIDE
    # Five thousand draws know their variance to 2 %.
    assert found / of_new_processes == pytest.approx(left, abs=0.05)


def test_what_pyperf_prints_is_read() -> None:
    assert pyperf_judge.read(PRINTED) == {
        "more-3-forward": "slower",
        "same-0-forward": "slower",
        "same-0-backward": "faster",
        "more-1-backward": "faster",
        "more-1-forward": None,
        "more-2-forward": None,
    }
    assert pyperf_judge.read("") == {}


def test_values_for_pyperf_are_means_of_thirds() -> None:
    values, loops = pyperf_judge.values([10**9, 3 * 10**9, 5 * 10**9, 7 * 10**9, 10**9, 2 * 10**9, 9 * 10**9])
    assert (values, loops) == ([2.0, 6.0, 1.5], 2)


@pytest.mark.parametrize(("hits", "trials"), [(0, 1000), (28, 1000), (500, 1000), (1000, 1000), (3, 20)])
def test_a_share_carries_wilsons_interval(hits: int, trials: int) -> None:
    words = {
        "ours": {(design, phase): ["slower"] * hits + [None] * (trials - hits) for design in DRAWS for phase in PHASES}
    }
    row = list(table.judged(words, {}, trials))[2]
    expected = scipy.stats.binomtest(hits, trials).proportion_ci(method="wilson")
    cell = f"{100 * hits / trials:.1f} % ({100 * expected.low:.1f} to {100 * expected.high:.1f})"
    assert row == table.row("ours", *[cell] * 4)


def test_tables_go_into_their_place_and_nowhere_else(tmp_path: Path) -> None:
    """A new file is made."""
    file, new = tmp_path / "page.md", tmp_path / "new.md"
    page.check(new)
    assert not new.exists()
    before, after = "<!-- end -->\nbefore\n", "after\n<!-- end -->\n"
    file.write_text(f"{before}<!-- real noise -->\nold\n<!-- end -->\n{after}")
    for text in ("first\n", "first\n\nlive\n"):
        for path in (file, new):
            page.write(path, text)
        tables = f"<!-- real noise -->\n{text}<!-- end -->\n"
        assert (new.read_text(), file.read_text()) == (tables, before + tables + after)


@pytest.mark.parametrize(
    "text", ["a page\n", "<!-- real noise -->\nno end\n", "<!-- end -->\n<!-- real noise -->\n", ""]
)
def test_a_page_without_a_place_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    file = tmp_path / "page.md"
    file.write_text(text, encoding="utf-8")
    for attempt in (page.check, lambda path: page.write(path, "tables\n")):
        with pytest.raises(SystemExit, match="has no lines <!-- real noise --> and <!-- end -->"):
            attempt(file)
        assert file.read_text(encoding="utf-8") == text


def test_failed_live_calls_are_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = {"phase": "forward", "ratio": 1.02, "ratio_ci_low": 1.01, "ratio_ci_high": 1.03, "verdict": "slower"}
    answers = [(1, ""), (3, json.dumps({"rows": [compared]}))]
    called: list[str | Path] = []

    def command(*arguments: str | Path, state: Path | None = None) -> tuple[int, str]:
        called.append(arguments[1])
        return answers[len(called) - 1] if len(called) <= len(answers) else (5, "")

    monkeypatch.setattr(live, "fastrnns_rs", command)
    lines = list(table.live(live.measure(tmp_path, 2)))[2:]
    assert lines == [
        "| ab 1 |  | - | no result: it ended with 1 |  |  |",
        "| ab 2 | forward | 1.0200 (1.0100 to 1.0300) | slower |  |  |",
        "| ab --same 1 |  | - | no result: it ended with 5 |  |  |",
        "| ab --same 2 |  | - | no result: it ended with 5 |  |  |",
    ]
    live.measure(tmp_path, 2)
    # What succeeded is kept, and not called again.
    assert called == ["lstm", "lstm", "--same", "--same", "lstm", "--same", "--same"]
