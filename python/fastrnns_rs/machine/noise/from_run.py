"""The noise floor that a run of one runner against itself tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise.relabelling import measure_floor
from fastrnns_rs.replicates import median

if TYPE_CHECKING:
    from fastrnns_rs.documents.noise_floor import NoiseFloor
    from fastrnns_rs.documents.run_file import Run


def floor_of(run: Run) -> NoiseFloor:
    """What the processes of both sides tell of the machine, whichever side they were on.

    Args:
        run: Of `ab --same`. Its processes that failed or were interrupted do not count.

    Raises:
        UsageError: It has another number of runners than one, or fewer than 40 processes that ended well.
    """
    runners = {result.runner for result in run.results}
    if len(runners) != 1:
        names = ", ".join(sorted(runners)) or "none"
        raise UsageError(f"a noise floor is that of one runner, and the run has {names}", "give ab --same one runner")
    ended = [
        one for result in run.results for one in result.processes if one.status == "ok" and one.steady_from is not None
    ]
    backward = [median(one.backward_ns[one.steady_from :]) for one in ended if one.backward_ns is not None]
    return measure_floor(
        [median(one.forward_ns[one.steady_from :]) for one in ended],
        # Of a model that has no such phase there is none in any process.
        backward or None,
        device=run.results[0].problem.device,
        runner=runners.pop(),
        environment=run.environment,
        seed=run.plan.order_seed or 0,
    )
