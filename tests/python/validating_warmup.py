"""How much the estimate of a runner depends on where the timed samples of its processes begin, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import run_files
from validation_tables import Table

from fastrnns_rs.documents.replicates import level, median
from fastrnns_rs.documents.run_file import Process
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.verbs.bench.warmup_cut import set_common_cut
from fastrnns_rs.worker.pacing import timed_part

Draw = Callable[[np.random.Generator], np.ndarray]

PROCESSES = 5
_ITERATIONS = 501
_DETECT = Loop(warmup=None, nloops=None, seconds=1.0)
_NOISE = 0.01


def _noise(generator: np.random.Generator) -> np.ndarray:
    return _NOISE * generator.standard_normal(_ITERATIONS)


def switching(dwell: int) -> Draw:
    """Logarithms of times that jump between two levels 5 % apart, with this mean number of iterations at each."""

    def draw(generator: np.random.Generator) -> np.ndarray:
        jumps = generator.random(_ITERATIONS) < 1 / dwell
        return 0.05 * ((np.cumsum(jumps) + generator.integers(2)) % 2) + _noise(generator)

    return draw


def warming(share: float) -> Draw:
    """Times that are 20 % longer for 10 to 150 iterations, in this share of the processes, which vary by 1 %."""

    def draw(generator: np.random.Generator) -> np.ndarray:
        length = generator.integers(10, 150) if generator.random() < share else 0
        return 0.2 * (np.arange(_ITERATIONS) < length) + 0.01 * generator.standard_normal() + _noise(generator)

    return draw


def slowing(generator: np.random.Generator) -> np.ndarray:
    """Times that grow by 10 % after 100 to 200 iterations, as when a clock is throttled."""
    begin = generator.integers(100, 200)
    return 0.1 * (np.arange(_ITERATIONS) >= begin) + 0.01 * generator.standard_normal() + _noise(generator)


KINDS: dict[str, Draw] = {
    "5 % jumps, 30 iterations at a level": switching(30),
    "5 % jumps, 100 iterations at a level": switching(100),
    "5 % jumps, 300 iterations at a level": switching(300),
    "warm-ups of different lengths": warming(1.0),
    "warm-ups in half of the processes": warming(0.5),
    "warm-ups in one process of ten": warming(0.1),
    "slower after 100 to 200 iterations": slowing,
}
RULES = ("each process its own", "common", "whole loop")


@dataclass(frozen=True)
class Spread:
    """Standard deviations of the logarithms of process medians and of estimates, and the mean of the estimates."""

    process: float
    estimate: float
    mean: float


def make_process(number: int, logs: np.ndarray) -> Process:
    """A process with these times, cut as its worker does."""
    samples = [round(1e6 * one) for one in np.exp(logs)]
    part = timed_part(_DETECT, [samples])
    made = run_files.process(number, samples, None)
    return replace(made, steady_from=part.steady_from, warmup_class=part.classification, forward_ns=samples)


def spreads(draw: Draw, runs: int, seed: list[int]) -> dict[str, Spread]:
    """The spread of the estimate of a runner for each rule."""
    generator = np.random.default_rng(seed)
    levels: dict[str, list[list[float]]] = {rule: [] for rule in RULES}
    for _ in range(runs):
        own = [make_process(number, draw(generator)) for number in range(PROCESSES)]
        whole = [replace(one, timed_from=1) for one in own]
        for rule, processes in zip(RULES, (own, set_common_cut(own), whole), strict=True):
            levels[rule].append([median(one.samples_ns("forward", timed=True)) for one in processes])
    return {
        rule: Spread(
            process=float(np.std(np.log(found))),
            estimate=float(np.std(np.log([level(one) for one in found]))),
            mean=float(np.mean(np.log(found)) - np.log(1e6)),
        )
        for rule, found in levels.items()
    }


def table(runs: int) -> tuple[Table, dict[tuple[str, str], Spread]]:
    """The spreads by kind of runner and rule."""
    found = {
        (kind, rule): one
        for number, (kind, draw) in enumerate(KINDS.items())
        for rule, one in spreads(draw, runs, [4, number]).items()
    }
    columns = [f"{what}, {rule}" for what in ("process", "runner", "mean") for rule in RULES]
    rows = [
        (
            kind,
            *(f"{found[kind, rule].process:.2%}" for rule in RULES),
            *(f"{found[kind, rule].estimate:.2%}" for rule in RULES),
            *(f"{found[kind, rule].mean:+.2%}" for rule in RULES),
        )
        for kind in KINDS
    ]
    title = f"Standard deviations of process medians and of the estimate of {PROCESSES} processes, and mean estimate"
    return Table(title, ("iteration times", *columns), tuple(rows)), found
