"""From two sides to one plan and its run: each side is asked about its own torch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.run_file import RunSide
from fastrnns_rs.machine import environment
from fastrnns_rs.machine import warnings as machine_warnings
from fastrnns_rs.processes.launcher import Executor, Setting, launch_together
from fastrnns_rs.verbs.bench.bench_plan import plan_bench
from fastrnns_rs.verbs.bench.interleaved import interpreter
from fastrnns_rs.verbs.bench.run_init import new_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.run_file import Environment, Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.effort import Effort
    from fastrnns_rs.verbs.bench.interleaved.side import SideRequest


def start(
    sides: tuple[SideRequest, SideRequest],
    effort: Effort,
    *,
    command: Sequence[str],
    executor: Executor = launch_together,
) -> tuple[BenchPlan, Run]:
    """Asks a child process of each side about torch, and decides what will run.

    Args:
        sides: Baseline and candidate.
        effort: How much is measured; its `processes` is given.
        command: What the run file names as its command.
        executor: Runs the child processes.

    Raises:
        MissingError: A device, a torch or an interpreter is not there.
        UsageError: An option makes no sense.
        FastrnnsError: Torch does not work.
        KeyboardInterrupt: Ctrl-C.
    """
    plans, described = [], []
    for side in sides:
        plan, found = _plan(side, effort, executor)
        plans.append(plan)
        described.append(found)
    first, second = plans
    tasks = [replace(plan.tasks[0], side=side.name) for plan, side in zip(plans, sides, strict=True)]
    plan = replace(first, tasks=tasks, design="abba", start_s=(first.start_s + second.start_s) / 2)
    recorded = [
        RunSide(
            name=side.name,
            label=side.label,
            runner=side.runner,
            python=side.python,
            options=side.words,
            variables=dict(side.variables),
            environment=found,
        )
        for side, found in zip(sides, described, strict=True)
    ]
    run = new_run(plan, described[0], command, recorded)
    warnings = [*run.warnings]
    for one, task in zip(described, tasks, strict=True):
        # What is true of both is said once, though the load is another number by then.
        said = {warning.code for warning in warnings}
        warnings += [new for new in machine_warnings.before(one, device=task.problem.device) if new.code not in said]
    return plan, replace(run, warnings=warnings)


def _plan(side: SideRequest, effort: Effort, executor: Executor) -> tuple[BenchPlan, Environment]:
    python = None if side.python is None else interpreter.check(side.python, side.variables)
    affinity = side.affinity
    setting = Setting(threads=side.options.threads, affinity=affinity, python=python, variables={**side.variables})
    facts = environment.probe(side.options.device, side.options.computed_dtype, setting, executor=executor)
    return plan_bench(side.options, effort, facts, setting), environment.describe(facts, setting)
