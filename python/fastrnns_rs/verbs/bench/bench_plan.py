"""What a bench will run: each runner in its setting, the loop of a process, the number of processes and their order."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.sweep import SweepAxis, label
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.processes.launcher import Setting
from fastrnns_rs.runners.plan import DEFAULT_COMPILE_TIMEOUT_S, Task, make_plan
from fastrnns_rs.verbs.bench.compile_limits import check_cache
from fastrnns_rs.verbs.bench.effort import Effort, StopRule, loop_of, seconds_within

if TYPE_CHECKING:
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.runners.plan import Options, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTask(Task):
    """A task in one setting.

    Attributes:
        jit: How TorchScript compiles.
        setting: What its workers run in.
        side: Which side of an `ab` it is.
        on: Its device, where the plan has several.
    """

    jit: JitSettings
    setting: Setting
    side: Literal["a", "b"] | None = None
    on: str | None = None

    @property
    def name(self) -> str:
        """The runner, its point in a sweep, and where it runs if that is not one place for all."""
        return label(self.runner.name, self.point, self.on)

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.name if self.side is None else f"{self.name} ({self.side})"


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
        devices: The devices, if they are several.
        side_by_side: Whether the devices measure a runner at the same time, rather than one after the other.
        compile_timeout: Seconds that a worker may compile.
        compile_cache: The folder that all workers compile into; None for one of each worker's own.
        axes: What is swept.
        sessions: Number of sessions, which share the processes of each runner equally.
        every_s: Seconds from the start of one session to that of the next.
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
    devices: tuple[str, ...] = ()
    side_by_side: bool = False
    compile_timeout: float = DEFAULT_COMPILE_TIMEOUT_S
    compile_cache: str | None = None
    axes: tuple[SweepAxis, ...] = ()
    sessions: int = 1
    every_s: float = 0.0

    @property
    def measured(self) -> list[BenchTask]:
        """The tasks that are not skipped."""
        return [task for task in self.tasks if task.refusal is None]


def plan_bench(
    options: Options,
    effort: Effort,
    facts: Facts,
    setting: Setting,
    further: Sequence[Facts] = (),
) -> BenchPlan:
    """Decides what a bench will run, before anything does.

    Args:
        options: Which runners, on which problem.
        effort: How much is measured.
        facts: What is known of torch and the device.
        setting: What the workers run in.
        further: The same of each device beside the first, where a bench has several.

    Raises:
        MissingError: The device is not there.
        UsageError: Options contradict each other, or a runner named by hand cannot honour one.
    """
    rule = effort.rule()
    names = effort.devices or [options.device]
    wanted = [replace(options, device=name) for name in names]
    base, tasks = _on_devices(wanted, [facts, *further], setting)
    processes = effort.processes_of(base.preset.processes, quick=options.quick)
    start_s = facts.start_s or 0.0
    seconds = base.preset.seconds
    if not effort.rigorous and effort.processes is None:
        running = sum(one.refusal is None for one in tasks)
        seconds = seconds_within(seconds, processes * running, start_s)
    processes *= effort.sessions
    loop = loop_of(rule, warmup=options.warmup, nloops=options.nloops, processes=processes, seconds=seconds)
    loop = replace(loop, sync=options.sync)
    if rule is not None and rule.rule == "time" and 2 * loop.seconds >= options.timeout:
        # A process that is not steady goes on for as long again.
        message = (
            f"{loop.seconds:g} s of measuring, or twice that, do not fit into the timeout of {options.timeout:g} s"
        )
        raise UsageError(message, "give more processes, less time or a longer --timeout")
    return BenchPlan(
        preset=("rigorous" if effort.rigorous else base.preset.name, base.preset.description),
        tasks=tasks,
        processes=processes,
        loop=loop,
        rule=rule,
        order_seed=secrets.randbits(32) if effort.order_seed is None else effort.order_seed,
        design="rounds",
        timeout=options.timeout,
        start_s=start_s,
        devices=tuple(str(one.device) for one in (facts, *further)) if further else (),
        side_by_side=effort.side_by_side,
        compile_timeout=options.compile_timeout,
        compile_cache=None if options.compile_cache is None else check_cache(os.fspath(options.compile_cache)),
        axes=tuple(axis.record() for axis in options.axes),
        sessions=effort.sessions,
        every_s=effort.every_s() if effort.sessions > 1 else 0.0,
    )


def _on_devices(options: Sequence[Options], facts: Sequence[Facts], setting: Setting) -> tuple[Plan, list[BenchTask]]:
    """What runs on each device: its plan where there is one, and the tasks, runner by runner."""
    if len(options) > 1 and any(one.key == "device" for one in options[0].filters):
        raise UsageError("--devices and a filter by device both say where to run", "give one of them")
    plans = [make_plan(each, one) for each, one in zip(options, facts, strict=True)]
    first = plans[0]
    if any(one.preset != first.preset for one in plans):
        kinds = " and ".join(dict.fromkeys(one.preset.name for one in plans))
        message = f"the devices {', '.join(str(one.device) for one in facts)} have presets of their own, {kinds}"
        raise UsageError(message, "--quick has the same sizes for all; or give devices of one kind")
    tasks = [
        BenchTask(
            **{field.name: getattr(one, field.name) for field in fields(one)},
            jit=first.options.jit,
            setting=setting,
            on=one.problem.device if len(plans) > 1 else None,
        )
        for alike in zip(*(plan.tasks for plan in plans), strict=True)
        for one in alike
    ]
    return first, tasks


def turns_of(plan: BenchPlan) -> list[list[int]]:
    """Which tasks, by index, are measured at the same time: each by itself, or one runner on every device."""
    found: dict[object, list[int]] = {}
    for index, task in enumerate(plan.tasks):
        alike = (task.runner.name, task.side, replace(task.problem, device=""))
        key = alike if plan.side_by_side and task.refusal is None else index
        found.setdefault(key, []).append(index)
    return list(found.values())


def rounds(tasks: int, design: Literal["rounds", "abba"], seed: int) -> Iterator[tuple[list[int], int]]:
    """The order of processes, round by round and without end; the same for the same seed, wherever one begins.

    Args:
        tasks: How many tasks there are; two for `abba`.
        design: `rounds` has each task once in a round, shuffled. `abba` has blocks ABBA and BAAB by chance, so that a
            drift within a block meets both sides alike.
        seed: Seed of the order.

    Yields:
        The tasks of a round, by index, and how many processes each has had when it ends.
    """
    number = 0
    while True:
        # A text seeds alike in every process, whatever the hash seed is.
        chance = random.Random(f"{seed}:{number}")  # noqa: S311  # an order, not a secret
        number += 1
        if design == "abba":
            first, second = chance.sample([0, 1], 2)
            yield [first, second, second, first], 2 * number
        else:
            yield chance.sample(range(tasks), tasks), number
