"""The part of a run file that a sweep adds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

#: Values by axis, which is named as its flag is: `{"hidden-size": 256, "dtype": "float64"}`.
Point = dict[str, int | str]

Phase = Literal["forward", "backward", "iteration"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxis:
    """What was swept, and over which values, in the order in which they were given."""

    name: str
    values: list[int | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCell:
    """A phase of a runner at a point; `iteration` is forward and backward together, and only it has rates."""

    runner: str
    point: Point
    phase: Phase
    time_ns: float
    steps_per_second: float | None
    samples_per_second: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepGrowth:
    """The exponent b of a phase's time ~ axis^b, other axes held `at` their values; `reason` where there is none."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What a sweep found: a cell for each runner, point and phase that was measured, then how times grow."""

    axes: list[SweepAxis]
    cells: list[SweepCell]
    growth: list[SweepGrowth]


def label(runner: str, point: Point, device: str | None = None) -> str:
    """What a row is called: `cudnn[hidden-size=256,dtype=float64] on cuda:1`, or the runner alone if that is enough."""
    told = ",".join(f"{name}={value}" for name, value in point.items())
    return runner + (f"[{told}]" if told else "") + (f" on {device}" if device else "")
