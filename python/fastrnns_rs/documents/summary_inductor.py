"""Report of Inductor inside a summary: a class for each JSON object."""

from __future__ import annotations

from dataclasses import dataclass

from fastrnns_rs.documents.part import Part


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InductorKernel(Part):
    """Kernel, copy or set."""

    name: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InductorCategory(Part):
    """Category under Inductor's name, over all runs."""

    name: str
    count: int
    total_ns: int
    kernels: list[InductorKernel]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InductorEntry(Part):
    """Report that Inductor's own benchmark would write about the capture."""

    wall_time_ns: float
    runs: int
    busy_fraction: float
    tabulate_line: str
    categories: list[InductorCategory]
