"""Every comparison of random runs can be read again."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from history_runs import keep_past
from run_files import both, exactly, of_other_session, result, run

from fastrnns_rs import Comparison, compare
from fastrnns_rs.documents.run_file import Result


def rows(dice: random.Random, *, coarse: bool) -> list[Result]:
    """Runners with any number of processes, and times with any spread; some failed."""
    made = []
    for name in ("cudnn", "jit", "py")[: dice.randint(1, 3)]:
        few, level = dice.choice([1, 2, 3, 5, 12]), dice.choice([3, 1e3, 1e6, 1e9])
        if coarse:
            time = dice.randint(1, 10_000)
            times = [time + (dice.random() < 0.2) for _ in range(few)] if dice.random() < 0.5 else [time] * few
            made.append(exactly(times, name))
        else:
            made.append(
                result(name, processes=few, seed=dice.randrange(1 << 30), level_ns=level, count=dice.randint(1, 30))
            )
        if dice.random() < 0.1:
            made[-1] = replace(made[-1], processes=[], status="failed", reason="out of memory")
    return made


# The last two have an interval of more than a century, and pairs that do not vary beside a process without a partner.
@pytest.mark.parametrize("seed", [*range(80), 1114, 1498])
def test_what_we_compare_is_sound(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    coarse = dice.random() < 0.3
    sources: list[Any]
    kind = dice.choice(["ab", "one session", "two sessions", "sessions", "history", "pooled"])
    first, second = (run(rows(dice, coarse=coarse)) for _ in range(2))
    if kind == "ab":
        one, other = (
            replace(made.results[0], side=side, runner="cudnn") for made, side in ((first, "a"), (second, "b"))
        )
        kept = dice.randint(0, 1) if len(other.processes) > 1 else 0
        sources = [both(one, replace(other, processes=other.processes[: len(other.processes) - kept]))]
    elif kind == "sessions":
        sources = [
            [of_other_session(run(rows(dice, coarse=coarse)), f"{side}{number}") for number in range(3)]
            for side in ("a", "b")
        ]
    elif kind == "pooled":
        sources = [[first, run(rows(dice, coarse=coarse))], second]
    else:
        sources = [first, second if kind == "one session" else of_other_session(second)]
    options: dict[str, Any] = {
        "statistic": dice.choice(["median", "mean", "p95"]),
        "margin": dice.choice([0.001, 0.05]),
    }
    if kind == "history":
        keep_past(tmp_path, 1_000_000)
    history = tmp_path if kind == "history" else False
    found = compare(*sources, history=history, force=dice.random() < 0.5, **options)
    assert Comparison.from_dict(found.to_dict()) == found
