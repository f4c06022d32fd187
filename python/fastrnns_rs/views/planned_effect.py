"""Text of the minimum detectable effect of a planned run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted

if TYPE_CHECKING:
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.history.planned_effect import PlannedEffect


def sentence(found: PlannedEffect, plan: BenchPlan) -> str:
    """Returns the effect in one line.

    Example: `10 pairs: finds differences of about 1.2 % or more (from 12 earlier processes)`.
    """
    if plan.design == "pairs":
        amount = f"{counted(plan.processes, 'pair')}: finds"
    else:
        amount = f"{counted(plan.processes, 'process', 'processes')} per runner: two such runs in equal sessions find"
    percent = 100 * found.effect
    size = f"{percent:.2g}" if percent < 99.5 else f"{percent:,.0f}"  # noqa: PLR2004  # an exponent would follow
    row = f"{found.row}, the noisiest of {found.rows} rows, " if found.rows > 1 else ""
    return f"{amount} differences of about {size} % or more ({row}from {found.processes} earlier processes)"
