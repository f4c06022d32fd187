"""What a bench will run: each runner in its setting, the loop of a process, the number of processes and their order."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.benchmarking.effort import Effort, loop_of, seconds_within
from fastrnns_rs.benchmarking.stopping import StopRule
from fastrnns_rs.context import JitSettings
from fastrnns_rs.errors import UsageError
from fastrnns_rs.launching import Setting
from fastrnns_rs.pacing import Loop
from fastrnns_rs.planning import make_plan
from fastrnns_rs.problem import Problem
from fastrnns_rs.runners import Runner

if TYPE_CHECKING:
    from fastrnns_rs.environment import Facts
    from fastrnns_rs.planning import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTask:
    """One runner on one problem in one setting; `refusal` says why it is skipped, if it is."""

    runner: Runner
    problem: Problem
    refusal: str | None
    jit: JitSettings
    setting: Setting
    side: Literal["a", "b"] | None = None

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.runner.name if self.side is None else f"{self.runner.name} ({self.side})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """What will run.

    Attributes:
        preset: Its name, and what it is, for people.
        processes: Processes of each runner; with a rule of precision, at least.
        loop: What ends the loop of a process.
        rule: The rule that was asked for.
        design: How processes take turns: each runner once a round in random order, or two sides in blocks ABBA.
        start_s: How long a worker takes until it has torch.
    """

    preset: tuple[str, str]
    tasks: list[BenchTask]
    processes: int
    loop: Loop
    rule: StopRule | None
    order_seed: int
    design: Literal["rounds", "abba"]
    timeout: float
    start_s: float

    @property
    def measured(self) -> list[BenchTask]:
        """The tasks that are not skipped."""
        return [task for task in self.tasks if task.refusal is None]


def plan_bench(
    options: Options,
    effort: Effort,
    facts: Facts,
    setting: Setting,
) -> BenchPlan:
    """Decides what a bench will run, before anything does.

    Args:
        options: Which runners, on which problem.
        effort: How much is measured.
        facts: What is known of torch and the device.
        setting: What the workers run in.

    Raises:
        MissingError: The device is not there.
        UsageError: Options contradict each other, or a runner named by hand cannot honour one.
    """
    rule = effort.rule()
    base = make_plan(options, facts)
    processes = effort.processes_of(base.preset.processes, quick=options.quick)
    tasks = [
        BenchTask(runner=one.runner, problem=one.problem, refusal=one.refusal, jit=base.jit, setting=setting)
        for one in base.tasks
    ]
    start_s = facts.start_s or 0.0
    seconds = base.preset.seconds
    if not effort.rigorous and effort.processes is None:
        running = sum(one.refusal is None for one in tasks)
        seconds = seconds_within(seconds, processes * running, start_s)
    loop = loop_of(rule, warmup=options.warmup, nloops=options.nloops, processes=processes, seconds=seconds)
    if rule is not None and rule.rule == "time" and 2 * loop.seconds >= base.timeout:
        # A process that is not steady goes on for as long again.
        message = f"{loop.seconds:g} s of measuring, or twice that, do not fit into the timeout of {base.timeout:g} s"
        raise UsageError(message, "give more processes, less time or a longer --timeout")
    return BenchPlan(
        preset=("rigorous" if effort.rigorous else base.preset.name, base.preset.description),
        tasks=tasks,
        processes=processes,
        loop=loop,
        rule=rule,
        order_seed=secrets.randbits(32) if effort.order_seed is None else effort.order_seed,
        design="rounds",
        timeout=base.timeout,
        start_s=start_s,
    )
