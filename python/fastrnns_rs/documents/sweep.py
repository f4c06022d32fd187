"""Part of a run file that a sweep adds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part, Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastrnns_rs.documents.run_results import Result

#: Values by axis, which has the name of its flag: `{"hidden-size": 256, "dtype": "float64"}`.
Point = dict[str, int | str]

Phase = Literal["forward", "backward", "iteration"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SweepAxis(Part):
    """Axis of a sweep and its values, in the given order."""

    name: str
    values: list[int | str]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SweepCell(Part):
    """Phase of a runner at a point. Only `iteration` (both phases) has rates."""

    runner: str
    point: Point
    phase: Phase
    time_ns: float
    steps_per_second: float | None
    samples_per_second: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SweepGrowth(Part):
    """Exponent b of a phase's time ~ axis^b, with other axes held `at` their values.

    `reason` says why there is no exponent.
    """

    runner: str
    phase: Phase
    axis: str
    at: Point
    n_points: int
    exponent: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence_level: float | None = None
    ci_method: str | None = None
    local_exponents: list[float] = field(default_factory=list)
    largest_deviation: float | None = None
    lack_of_fit_p: float | None = None
    straight: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Container[SweepCell], Tabular):
    """Result of a sweep.

    It has a cell for each runner, point and phase that was measured, and the growth of times.

    >>> import fastrnns_rs
    >>> sweep = fastrnns_rs.load("sweep.json").sweep
    >>> [cell.point["hidden-size"] for cell in sweep]
    [32, 64]
    >>> sweep["py[hidden-size=32]/forward"].time_ns
    1000000.0
    """

    row_noun: ClassVar[str] = "cell"
    place: ClassVar[str] = "in this sweep"
    rows_key: ClassVar[str] = "cells"

    axes: list[SweepAxis]
    cells: list[SweepCell]
    growth: list[SweepGrowth]

    def _names(self) -> list[tuple[str, ...]]:
        return [
            (f"{label(one.runner, one.point)}/{one.phase}", label(one.runner, one.point), one.runner)
            for one in self.cells
        ]

    @checked_keywords(name="kind")
    def plot(
        self, kind: str = "sweep", *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the sweep with matplotlib, of the extra `plots`.

        The plot of a run, `run.plot("sweep")`, also has the intervals of times.

        Args:
            kind: `sweep` for times, or `throughput` for rates.
            row: Axis and quantity, as `hidden-size/forward`; None for the first axis and quantity.
            ax: Axes to draw on; None for a new figure.
            dark: True draws on a dark background.

        Returns:
            Figure of matplotlib, which a notebook shows.

        Raises:
            MissingError: If matplotlib is not installed.
            UsageError: If the kind or the row is unknown.
        """
        from fastrnns_rs.views.plots.figure import draw

        return draw(self, kind, row=row, ax=ax, dark=dark).figure


def label(runner: str, point: Point, device: str | None = None) -> str:
    """Returns a row's name: `cudnn[hidden-size=256,dtype=float64] on cuda:1`.

    The name is the runner alone if there is no point and no device.
    """
    values = ",".join(f"{name}={value}" for name, value in point.items())
    return runner + (f"[{values}]" if values else "") + (f" on {device}" if device else "")


def name_runner(result: Result) -> str:
    """Returns the name of the runner, with its device if the run has several."""
    device = result.problem.device
    return f"{result.runner} on {device}" if result.title.endswith(f" on {device}") else result.runner
