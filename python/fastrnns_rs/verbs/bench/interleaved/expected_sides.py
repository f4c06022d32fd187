"""Expected run and plan of `ab`, for the screen before torch is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.run_file import RunSide
from fastrnns_rs.machine import nvidia
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.bench.bench_plan import plan_bench
from fastrnns_rs.verbs.bench.expected_run import expected_environment, expected_facts, run_without_results
from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import interleave

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.effort import Effort
    from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import SideRequest


def expected_sides(sides: tuple[SideRequest, SideRequest], effort: Effort) -> tuple[Run, BenchPlan, str | None]:
    """Returns the probable run and plan of `ab`, without importing torch.

    Args:
        sides: Baseline and candidate.
        effort: Amount of measurements; its `processes` must be set.

    Returns:
        Run, plan, and a text in place of the device if only torch can find it.

    Raises:
        UsageError: If an option is invalid.
        MissingError: If torch is not installed.
    """
    plans, recorded = [], []
    for side in sides:
        setting = Setting(threads=side.options.threads, affinity=side.affinity)
        facts = expected_facts(side.options.device, setting)
        plans.append(plan_bench(side.options, effort, facts, setting))
        environment = expected_environment(facts, setting)
        recorded.append(RunSide(name=side.name, label=side.label, runner=side.runners[0], environment=environment))
    plan = interleave(*plans)
    is_unknown = nvidia.has_device() and any(side.options.device == "auto" for side in sides)
    run = run_without_results(plan, recorded[0].environment, recorded)
    return run, plan, "resolving device" if is_unknown else None
