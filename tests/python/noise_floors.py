"""Runs of `ab --same` whose noise is known, their noise floors, and figures of noise floors that agree."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from run_files import ENVIRONMENT, SESSION, process, result, run

from fastrnns_rs.documents.noise_figures import minimum_detectable_change, wilson
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.run_file import Run, RunSide
from fastrnns_rs.verbs.ab.self_comparison import measure_self
from fastrnns_rs.verbs.history.run_history import RunHistory, open_past

PAIRS = 20


def gauss(count: int, spread: float = 0.01, seed: int = 0) -> list[float]:
    generator = random.Random(seed)
    return [generator.gauss(0, spread) for _ in range(count)]


def same_run(number: int = 0, *, level: float = 0.0, bias: float = 0.0, backward: bool = True) -> Run:
    """A run of `ab --same` in a session of its own."""
    logs, flips = gauss(2 * PAIRS, 0.005, seed=number), (False, True) * 10
    session = replace(SESSION, session_id=f"session {number}", started_utc=f"2026-01-{number + 1:02}T00:00:00Z")
    sides = []
    for side, name in enumerate("ab"):
        made = []
        for index, flipped in enumerate(flips):
            place = 2 * index + (side != flipped)
            median = round(1e6 * math.exp(level + logs[place] + bias * side))
            times = [median - 1, median, median + 2]
            timed = process(index, times, [2 * one for one in times] if backward else None)
            made.append(replace(timed, order=place, session=session.session_id))
        sides.append(replace(result("lstm", processes=0), side=name, processes=made))
    labels = [RunSide(name=name, label="lstm", runner="lstm", environment=ENVIRONMENT) for name in ("a", "b")]
    found = run(sides, run_id=f"{number:032x}", created_utc=session.started_utc, sessions=[session])
    return replace(found, sides=labels)


def floor_of_sessions(folder: Path, sessions: int) -> NoiseFloorDocument:
    """The noise floor of the last of so many sessions, which differ by 0.5 %."""
    history = RunHistory(folder)
    for number, level in enumerate(gauss(sessions, 0.005, seed=3)):
        now = same_run(number, level=level)
        history.keep(now)
    with open_past(history) as past:
        return NoiseFloorDocument(noise_floor=measure_self(now, past))


def detecting(change: float) -> dict[str, Any]:
    """The figures of a floor of 10 pairs with this effect: without a margin, its logarithm is a multiple of theirs."""
    one = math.log1p(minimum_detectable_change(1.0, 10, margin=0.0, paired=True))
    spread = math.log1p(change) / one
    return {
        "minimum_detectable_change": change,
        "pair_log_stddev": spread,
        "log_stddev": spread,
        "processes_per_side": 10,
        "margin": 0.0,
    }


def alarming(hits: int, trials: int) -> dict[str, Any]:
    """The figures of a floor with this many false alarms."""
    low, high = wilson(hits, trials)
    return {
        "comparisons": trials,
        "false_alarm_rate": hits / trials,
        "false_alarm_ci_low": low,
        "false_alarm_ci_high": high,
    }
