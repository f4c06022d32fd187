"""Simulations of comparisons between sessions, with and without earlier ones, by all rules of `compare`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from validating_verdicts import DIFFERENT, MARGIN, percent
from validation_tables import Table

from fastrnns_rs.documents.comparison import is_regression, is_withheld
from fastrnns_rs.verbs.compare.run_comparison import geometric_mean
from fastrnns_rs.verbs.compare.series_matching import Pair
from fastrnns_rs.verbs.compare.session_spread import PastSession
from fastrnns_rs.verbs.compare.side import Series
from fastrnns_rs.verbs.compare.verdicts import Judged, decide

#: Sessions of the history that are neither of the two.
EARLIER = 8
#: As a default run of a dozen runners has.
ROWS = 24
CELLS = [(a, b, n) for a in (0.0, 0.005, 0.01, 0.02) for b in (0.003, 0.01) for n in (5, 10, 20)]

Logs = NDArray[np.float64]


@dataclass(frozen=True)
class Known:
    """A history of rows, each of its own kind."""

    rows: dict[str, list[PastSession]]

    def equal(self, kinds: Iterable[str]) -> list[PastSession]:
        return [row for kind in sorted(kinds) for row in self.rows.get(kind, [])]

    def comparable(self, _families: Iterable[str]) -> list[PastSession]:
        return []


def draws(rng: np.random.Generator, cell: tuple[float, float, int], sessions: int, rows: int) -> Logs:
    """Logarithms of medians, by session, row and process. Rows of one session share what differs between these."""
    between, within, processes = cell
    shared = between * rng.standard_normal((sessions, 1, 1))
    return shared + within * rng.standard_normal((sessions, rows, processes))


def series(row: int, logs: Sequence[Logs], name: str) -> Series:
    """Sessions of one side as a series."""
    medians = [float(one) for session in logs for one in np.exp(session)]
    sessions = [f"{name} {number}" for number, session in enumerate(logs) for _ in session]
    return Series(
        runner=f"runner {row}",
        medians_ns=medians,
        n_samples=len(medians),
        sessions=sessions,
        kinds=(str(row),),
    )


def judged(history: Logs, baseline: Logs, candidate: Logs) -> list[Judged]:
    """The rows of a comparison; logarithms are by session, row and process."""
    rows = range(candidate.shape[1])
    known = Known(
        {
            str(row): [
                PastSession(
                    session=f"past {number}",
                    kind=str(row),
                    n_processes=len(logs),
                    mean=float(logs.mean()),
                    variance=float(logs.var(ddof=1)),
                )
                for number, logs in enumerate(history[:, row])
            ]
            for row in rows
        }
    )
    pairs = [
        Pair(
            name=f"runner {row}",
            baseline=series(row, [*baseline[:, row]], "baseline"),
            candidate=series(row, [*candidate[:, row]], "candidate"),
            conflicts=[],
            intended=[],
        )
        for row in rows
    ]
    return decide(pairs, MARGIN, known)


@dataclass(frozen=True)
class Errors:
    """Shares of comparisons: called different, and with an interval that holds the truth. Of tables of 24 rows: those
    that fail a build, and those whose geometric mean excludes 1.
    """

    different: float
    coverage: float
    fails: float
    mean_excludes: float


def history_errors(trials: int, tables: int) -> tuple[Table, dict[tuple[float, float, int], Errors]]:
    """Equal programs in two sessions, with eight earlier ones."""
    numbers, shown = {}, []
    for place, cell in enumerate(CELLS):
        rng = np.random.default_rng(4500 + place)
        single = [
            judged(*(draws(rng, cell, sessions, 1) for sessions in (EARLIER, 1, 1)))[0].row for _ in range(trials)
        ]
        assert {one.basis for one in single} == {"history"}
        whole = [judged(*(draws(rng, cell, sessions, ROWS) for sessions in (EARLIER, 1, 1))) for _ in range(tables)]
        means = [geometric_mean(one) for one in whole]
        numbers[cell] = Errors(
            different=sum(one.verdict in DIFFERENT for one in single) / trials,
            coverage=sum((one.ratio_ci_low or 0) <= 1 <= (one.ratio_ci_high or 0) for one in single) / trials,
            fails=sum(any(is_regression(one.row, MARGIN) for one in each) for each in whole) / tables,
            mean_excludes=sum(not (one.ratio_ci_low or 0) <= 1 <= (one.ratio_ci_high or 0) for one in means if one)
            / tables,
        )
        found = numbers[cell]
        cells = (found.different, found.coverage, found.fails, found.mean_excludes)
        shown.append((f"{cell[0]:.1%}, {cell[1]:.1%}, {cell[2]}", *map(percent, cells)))
    columns = (
        "spread of sessions, of processes, processes a session",
        "called different",
        "coverage",
        "a table of 24 rows fails a build",
        "its geometric mean excludes 1",
    )
    title = f"Equal programs with eight earlier sessions, {trials} comparisons and {tables} tables each, %"
    return Table(title, columns, tuple(shown)), numbers


def history_power(trials: int) -> tuple[Table, dict[tuple[int, float, int], float]]:
    """How often +5 % is found slower where sessions spread by 1 %, by the number of sessions of the baseline."""
    numbers, shown = {}, []
    plans = [(0.003, 10), (0.01, 5), (0.01, 10)]
    for sessions in (1, 2, 3, 4, 8):
        for place, (within, processes) in enumerate(plans):
            rng = np.random.default_rng(4600 + 10 * sessions + place)
            cell = (0.01, within, processes)
            found = 0
            for _ in range(trials):
                history, baseline, candidate = (draws(rng, cell, count, 1) for count in (EARLIER, sessions, 1))
                [one] = judged(history, baseline, candidate + math.log(1.05))
                found += one.row.verdict == "slower"
            numbers[sessions, within, processes] = found / trials
        cells = [numbers[sessions, within, processes] for within, processes in plans]
        shown.append((str(sessions), *map(percent, cells)))
    columns = ("sessions of the baseline", *(f"{within:.1%}, {processes}" for within, processes in plans))
    title = (
        f"A candidate of one session that takes 5 % longer, found slower, {trials} comparisons each, %, "
        "by the spread and number of processes"
    )
    return Table(title, columns, tuple(shown)), numbers


def conditional_errors(trials: int) -> tuple[Table, dict[tuple[float, float, int], tuple[float, float, float]]]:
    """Equal programs in two sessions without a history: verdicts, conditional ones, and builds that these hold up."""
    numbers, shown = {}, []
    for place, cell in enumerate(CELLS):
        rng = np.random.default_rng(4700 + place)
        rows = []
        for _ in range(trials):
            baseline, candidate = (draws(rng, cell, 1, 1) for _ in range(2))
            [one] = judged(np.empty((0, 1, cell[2])), baseline, candidate)
            rows.append(one.row)
        assert {one.basis for one in rows} == {"two_sessions"}
        numbers[cell] = (
            sum(one.verdict in DIFFERENT for one in rows) / trials,
            sum(one.conditional_verdict in DIFFERENT for one in rows) / trials,
            sum(is_withheld(one, MARGIN) for one in rows) / trials,
        )
        shown.append((f"{cell[0]:.1%}, {cell[1]:.1%}, {cell[2]}", *map(percent, numbers[cell])))
    columns = (
        "spread of sessions, of processes, processes a session",
        "called different",
        "different in parentheses",
        "exit code 4 for a regression that is withheld",
    )
    title = f"Equal programs in two sessions without a history, {trials} comparisons each, %"
    return Table(title, columns, tuple(shown)), numbers
