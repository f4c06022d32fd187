"""Simulations of means and 95th percentiles beside medians, and of the warning that mean and median differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.signal import lfilter
from validating_verdicts import MARGIN, percent
from validation_tables import Table

from fastrnns_rs.verbs.compare.row_statistics import add_statistics
from fastrnns_rs.verbs.compare.series_matching import Pair
from fastrnns_rs.verbs.compare.session_spread import PastSession, past_sessions
from fastrnns_rs.verbs.compare.side import LEVELS, Series
from fastrnns_rs.verbs.compare.verdicts import FALSE_DISCOVERY_RATE, Judged, decide

#: Share of slow iterations, and how many times as long they take.
SHARE, FACTOR = 0.05, 5.0
#: Processes per side, timed iterations of a process, and rows of a table.
PROCESSES, ITERATIONS, ROWS = 10, 100, 12
#: Sessions of the history that are neither of the two, and the spread between sessions.
EARLIER, BETWEEN_SESSIONS = 8, 0.005

Times = NDArray[np.float64]
#: Draws times of a number of processes, by process and iteration.
Draw = Callable[[Generator, int, int], Times]


def _processes(rng: Generator, logs: Times) -> Times:
    """Times around 1 ms of processes that differ by 1 %."""
    return np.asarray(1e6 * np.exp(0.01 * rng.standard_normal((len(logs), 1)) + logs))


def white(rng: Generator, processes: int, iterations: int) -> Times:
    return _processes(rng, 0.02 * rng.standard_normal((processes, iterations)))


def skewed(rng: Generator, processes: int, iterations: int) -> Times:
    return _processes(rng, 0.4 * rng.standard_normal((processes, iterations)))


def autocorrelated(rng: Generator, processes: int, iterations: int) -> Times:
    noise = rng.standard_normal((processes, iterations))
    noise[:, 1:] *= np.sqrt(1 - 0.9**2)
    return _processes(rng, 0.05 * np.asarray(lfilter([1.0], [1.0, -0.9], noise)))


def with_pauses(rng: Generator, processes: int, iterations: int) -> Times:
    times = white(rng, processes, iterations)
    return np.where(rng.random(times.shape) < SHARE, FACTOR * times, times)


NOISES: dict[str, Draw] = {
    "white, 2 %": white,
    "lognormal, 40 %": skewed,
    "AR(.9), 5 %": autocorrelated,
    "5 % of iterations at 5×, both sides": with_pauses,
}


@dataclass(frozen=True)
class Design:
    """Way in which both sides are measured: as pairs of `ab`, without pairs, or in two sessions with a history."""

    name: str
    paired: bool = False
    history: bool = False


WELCH, PAIRS, HISTORY = Design("processes"), Design("pairs of `ab`", paired=True), Design("history", history=True)
DESIGNS = (WELCH, PAIRS, HISTORY)


def series(row: int, times: Times, session: str, design: Design) -> Series:
    """Processes of one session as a series, with their statistics by numpy."""
    medians, p95s = np.quantile(times, [0.5, 0.95], axis=1)
    return Series(
        runner=f"runner {row}",
        medians_ns=medians.tolist(),
        means_ns=times.mean(axis=1).tolist(),
        p95s_ns=p95s.tolist(),
        n_samples=times.size,
        sessions=[session] * len(times),
        kinds=(str(row),),
        families=(str(row),),
        blocks=[*range(len(times))] if design.paired else [],
    )


class Known:
    """Earlier sessions of a row, for all its statistics."""

    def __init__(self, rows: Iterable[Series]) -> None:
        self.rows: dict[str, list[PastSession]] = {}
        for one in rows:
            for level in LEVELS:
                chosen = one.with_statistic(level)
                for kind in chosen.kinds:
                    self.rows.setdefault(kind, []).extend(past_sessions(kind, chosen))

    def equal(self, kinds: Iterable[str]) -> list[PastSession]:
        return [row for kind in sorted(kinds) for row in self.rows.get(kind, [])]

    def comparable(self, _families: Iterable[str]) -> list[PastSession]:
        return []


def compared(
    rng: Generator,
    draws: tuple[Draw, Draw],
    design: Design,
    rows: int = 1,
    sizes: tuple[int, int] = (PROCESSES, ITERATIONS),
) -> list[Judged]:
    """Rows of one comparison, judged by the median."""

    def sides(draw: Draw, session: str) -> Iterator[Series]:
        level = np.exp(BETWEEN_SESSIONS * rng.standard_normal()) if design.history else 1.0
        for row in range(rows):
            yield series(row, level * draw(rng, *sizes), session, design)

    earlier = range(EARLIER if design.history else 0)
    past = Known(one for number in earlier for one in sides(draws[0], f"past {number}")) if earlier else None
    names = ("baseline", "candidate") if design.history else ("now", "now")
    pairs = [
        Pair(name=one.runner, baseline=one, candidate=other, conflicts=[], intended=[])
        for one, other in zip(*(sides(draw, name) for draw, name in zip(draws, names, strict=True)), strict=True)
    ]
    return add_statistics(decide(pairs, MARGIN, past), MARGIN, past)


@dataclass(frozen=True)
class Alarms:
    """Shares of comparisons without a difference: mean or p95 different by itself, any added row, and the warning. The
    last two also of tables of 12 rows.
    """

    mean: float
    p95: float
    added: float
    warned: float
    table_added: float
    table_warned: float


def _is_different(row: Judged, name: str) -> bool:
    """Whether a statistic alone differs: a single row that is equivalent has the adjusted p-value 1."""
    found = getattr(row.row, name)
    return bool(found.p_value < FALSE_DISCOVERY_RATE and found.p_value_adjusted < 1)


def _added(row: Judged) -> bool:
    """Whether the mean or the 95th percentile differs after the correction for the table."""
    found = (row.row.mean, row.row.p95)
    return any(
        one.p_value_adjusted <= FALSE_DISCOVERY_RATE for one in found if one and one.p_value_adjusted is not None
    )


def null(trials: int, tables: int) -> tuple[Table, dict[tuple[str, str], Alarms]]:
    """Equal programs: how often the mean, the 95th percentile or the warning sees a difference."""
    numbers, rows = {}, []
    for place, (name, draw) in enumerate(NOISES.items()):
        for column, design in enumerate(DESIGNS):
            rng = np.random.default_rng(7000 + 10 * place + column)
            # Eight earlier sessions take several times as long as the two that are compared.
            n_single, n_whole = (count // 3 if design.history else count for count in (trials, tables))
            single = [compared(rng, (draw, draw), design)[0] for _ in range(n_single)]
            whole = [compared(rng, (draw, draw), design, ROWS) for _ in range(n_whole)]
            found = Alarms(
                mean=sum(_is_different(one, "mean") for one in single) / n_single,
                p95=sum(_is_different(one, "p95") for one in single) / n_single,
                added=sum(map(_added, single)) / n_single,
                warned=sum(one.mean_to_median is not None for one in single) / n_single,
                table_added=sum(any(map(_added, each)) for each in whole) / n_whole,
                table_warned=sum(any(one.mean_to_median for one in each) for each in whole) / n_whole,
            )
            numbers[name, design.name] = found
            cells = (found.mean, found.p95, found.added, found.warned, found.table_added, found.table_warned)
            rows.append((f"{name}, {design.name}", *map(percent, cells)))
    columns = (
        "no difference",
        "mean",
        "95th percentile",
        "one of both, adjusted",
        "warning",
        f"{ROWS} rows: one of all, adjusted",
        f"{ROWS} rows: warning",
    )
    title = (
        f"Equal programs called different by statistics beside the median, {PROCESSES} + {PROCESSES} processes of "
        f"{ITERATIONS} iterations, % of {trials} comparisons and {tables} tables, with a history a third"
    )
    return Table(title, columns, tuple(rows)), numbers


@dataclass(frozen=True)
class Found:
    """Shares of comparisons with pauses on one side: median and mean that are called slower, and the warning."""

    median: float
    mean: float
    warned: float
    median_equivalent: float


def pauses(trials: int) -> tuple[Table, dict[tuple[str, int, int], Found]]:
    """One side has 5 % of iterations at 5×: the mean is 20 % longer, and the median is as before."""
    numbers, rows = {}, []
    plans = [(design, (PROCESSES, ITERATIONS)) for design in DESIGNS]
    plans += [(WELCH, sizes) for sizes in ((10, 50), (10, 300), (5, 100), (20, 100))]
    for place, (design, sizes) in enumerate(plans):
        rng = np.random.default_rng(7100 + place)
        single = [compared(rng, (white, with_pauses), design, sizes=sizes)[0] for _ in range(trials)]
        found = Found(
            median=sum(one.row.verdict == "slower" for one in single) / trials,
            mean=sum(_is_different(one, "mean") for one in single) / trials,
            warned=sum(one.mean_to_median is not None for one in single) / trials,
            median_equivalent=sum(one.row.verdict == "equivalent" for one in single) / trials,
        )
        numbers[(design.name, *sizes)] = found
        cells = (found.median, found.median_equivalent, found.mean, found.warned)
        rows.append((f"{design.name}, {sizes[0]} + {sizes[0]}, {sizes[1]} iterations", *map(percent, cells)))
    columns = ("design", "median: slower", "median: equivalent", "mean: different", "warning")
    title = (
        f"{100 * SHARE:.0f} % of the candidate's iterations take {FACTOR:.0f} times as long, % of {trials} comparisons"
    )
    return Table(title, columns, tuple(rows)), numbers
