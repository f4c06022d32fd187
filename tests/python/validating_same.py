"""Simulations of `ab --same`: what its checks report of runs with and without an injected fault."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from validating_blocks import autoregressive
from validating_verdicts import percent
from validation_tables import Table

from fastrnns_rs.documents.self_check import SelfCheck
from fastrnns_rs.machine.noise.process_pairs import ProcessPair
from fastrnns_rs.machine.noise.run_checks import check_run
from fastrnns_rs.verbs.ab.self_comparison import PhaseSessions, check_session
from fastrnns_rs.verbs.bench.bench_plan import rounds
from fastrnns_rs.verbs.compare.session_spread import PastSession

PAIRS = 20
SPREADS = (0.01, 0.02)
#: Noise of a process that its phases do not share, relative to the shared noise.
_OWN_NOISE = 0.3
#: Faults of a simulated run, in the order of the table.
FAULTS = (
    "none",
    "side b 3 % slower",
    "second of a pair 3 % slower",
    "drift of 10 %",
    "jump of 5 %",
    "random walk, 0.5 % a process",
    "one process 3 times as slow",
    "AR(.36)",
    "AR(.9)",
)

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Shares:
    """Shares of runs in which a check reports a finding."""

    sides: float
    order: float
    drift: float
    jump: float
    anything: float


def noise(rng: Generator, fault: str, spread: float) -> Logs:
    """Logarithms of the times of consecutive processes, with a fault that does not depend on the sides."""
    processes = 2 * PAIRS
    if fault.startswith("AR"):
        return autoregressive(float(fault[3:-1]), spread, processes)(rng)
    logs = spread * rng.standard_normal(processes)
    if fault.startswith("drift"):
        logs += math.log(1.1) * np.linspace(0, 1, processes)
    elif fault.startswith("jump"):
        # At least three pairs are on either side.
        logs[rng.integers(6, processes - 5) :] += math.log(1.05)
    elif fault.startswith("random"):
        logs += np.cumsum(0.005 * rng.standard_normal(processes))
    elif fault.startswith("one"):
        logs[rng.integers(processes)] += math.log(3)
    return logs


def pairs(logs: Logs, order: NDArray[np.intp], fault: str) -> list[ProcessPair]:
    """Processes as pairs; `order` has the side, 0 or 1, of each process."""
    times = logs.copy()
    if fault.startswith("side"):
        times += math.log(1.03) * order
    elif fault.startswith("second"):
        times[1::2] += math.log(1.03)
    times = np.exp(times)
    return [
        ProcessPair(
            baseline_ns=float(times[place + order[place]]),
            candidate_ns=float(times[place + 1 - order[place]]),
            baseline_first=bool(order[place] == 0),
        )
        for place in range(0, len(times), 2)
    ]


def checked(rng: Generator, fault: str, spread: float) -> list[SelfCheck]:
    """Checks of one run of two phases, in the real order of `ab`."""
    turns = rounds(2, int(rng.integers(2**32)))
    order = np.concatenate([next(turns)[0] for _ in range(PAIRS)])
    forward = noise(rng, fault, spread)
    backward = forward + _OWN_NOISE * spread * rng.standard_normal(2 * PAIRS)
    return check_run({"forward": pairs(forward, order, fault), "backward": pairs(backward, order, fault)})


def faults(trials: int) -> tuple[Table, dict[tuple[str, float], Shares]]:
    """Findings of the three checks of a run, by its fault and the spread of processes."""
    numbers, rows = {}, []
    for row, fault in enumerate(FAULTS):
        for column, spread in enumerate(SPREADS):
            rng = np.random.default_rng(7100 + 10 * row + column)
            counts: Counter[str] = Counter()
            for _ in range(trials):
                found = [f"{one.check} {one.finding}" for one in checked(rng, fault, spread) if one.finding != "none"]
                counts.update([*found, *(["anything"] if found else [])])
            names = ("sides difference", "launch_order difference", "time drift", "time jump", "anything")
            shares = Shares(*(counts[name] / trials for name in names))
            numbers[fault, spread] = shares
            figures = (shares.sides, shares.order, shares.drift, shares.jump, shares.anything)
            rows.append((f"{fault}; {spread:.0%}", *map(percent, figures)))
    columns = ("injected; spread of processes", "sides differ", "launch order", "drift", "jump", "any of these")
    title = f"Reported by the checks of one `ab --same`, {PAIRS} pairs, % of {trials} runs"
    return Table(title, columns, tuple(rows)), numbers


def past(logs: Logs, session: str) -> PastSession:
    return PastSession(
        session=session, kind="k", n_processes=len(logs), mean=float(logs.mean()), variance=float(logs.var(ddof=1))
    )


def sessions(trials: int) -> tuple[Table, dict[tuple[int, float], float]]:
    """How often a session is called different from earlier ones, which spread by 1 %: equal sessions, and shifts."""
    numbers, rows = {}, []
    shifts = (0.0, 0.05, 0.1)
    for earlier in (3, 5, 8, 20):
        for place, shift in enumerate(shifts):
            rng = np.random.default_rng(7300 + 10 * earlier + place)
            found = 0
            for _ in range(trials):
                levels = 0.01 * rng.standard_normal(earlier + 1)
                phases: dict[str, PhaseSessions] = {}
                for phase in ("forward", "backward"):
                    logs = [level + 0.01 * rng.standard_normal(2 * PAIRS) for level in levels]
                    known = [past(one, f"s{number}") for number, one in enumerate(logs[1:])]
                    phases[phase] = PhaseSessions(now=past(logs[0] + math.log1p(shift), "now"), earlier=known)
                found += check_session(phases).finding == "difference"  # type: ignore[arg-type]
            numbers[earlier, shift] = found / trials
        rows.append((f"{earlier}", *(percent(numbers[earlier, shift]) for shift in shifts)))
    columns = ("earlier sessions", "no difference", *(f"{shift:.0%} slower" for shift in shifts[1:]))
    title = f"A session called different from earlier sessions that spread by 1 %, % of {trials}"
    return Table(title, columns, tuple(rows)), numbers
