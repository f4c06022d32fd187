"""Plan and run of two interleaved sides, each with its own environment and torch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fastrnns_rs._core import run_command
from fastrnns_rs.documents.run_file import RunSide
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.machine import warnings as machine_warnings
from fastrnns_rs.processes.launcher import Executor, launch_together
from fastrnns_rs.processes.live_pair import LivePair
from fastrnns_rs.processes.programs import find_program
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Options
from fastrnns_rs.verbs.bench.bench_plan import LEAST_TURNS, TURN_S, plan_bench
from fastrnns_rs.verbs.bench.plan_record import record_plan
from fastrnns_rs.verbs.bench.run_init import new_run

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Environment, Run
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.effort import Effort


#: Attributes of a request that affect its times.
_CONDITIONS = ("runners", "options", "affinity", "python", "variables")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRequest:
    """Request for one of two sides.

    Attributes:
        name: Name of the side.
        runners: Names of the runners. Each is compared with the runner at the same place on the other side.
        options: Options of the problem and the machine.
        words: Options given for this side alone, as written.
        affinity: CPUs that the processes may use; None for no restriction.
        python: Path of the interpreter; None for the current interpreter.
        variables: Environment variables added to the current environment.
    """

    name: Literal["a", "b"]
    runners: tuple[str, ...]
    options: Options
    words: list[str] = field(default_factory=list)
    affinity: tuple[int, ...] | None = None
    python: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Label of the side: its only runner or its name, and its own options."""
        python = [] if self.python is None else [f"python={self.python}"]
        name = self.runners[0] if len(self.runners) == 1 else self.name
        return " ".join([name, *self.words, *(f"{key}={value}" for key, value in self.variables.items()), *python])

    def equals(self, other: SideRequest) -> bool:
        """Returns True if the other side measures the same in the same environment."""
        return all(getattr(self, key) == getattr(other, key) for key in _CONDITIONS)


def variables(given: Iterable[str]) -> dict[str, str]:
    """Parses environment variables from texts such as `NAME=VALUE`.

    Raises:
        UsageError: If a text has another form.
    """
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not _is_encodable(value):
            raise UsageError(f"invalid variable: {one!r}", "Use NAME=VALUE.", value=one)
        found[name] = value
    return found


def _is_encodable(text: str) -> bool:
    """Returns True if a variable can have this value."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def start(
    sides: tuple[SideRequest, SideRequest],
    effort: Effort,
    *,
    command: Sequence[str],
    executor: Executor = launch_together,
) -> tuple[BenchPlan, Run]:
    """Probes torch in a child process of each side, and builds the plan and its run.

    Args:
        sides: Baseline and candidate.
        effort: Amount of measurements; its `processes` must be set.
        command: Command that the run file records.
        executor: Function that runs the child processes.

    Raises:
        MissingError: If a device, torch or an interpreter is missing.
        UsageError: If an option is invalid.
        FastrnnsError: If torch does not work.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    plans, described = [], []
    for side, other in zip(sides, reversed(sides), strict=True):
        plan, found = _plan(side, other, effort, executor)
        plans.append(plan)
        described.append(found)
    first, second = plans
    plan = interleave(first, second)
    plan = replace(plan, start_s=(first.start_s + second.start_s) / 2)
    recorded = [
        RunSide(
            name=side.name,
            label=side.label,
            runner=side.runners[0],
            python=side.python,
            options=side.words,
            variables=dict(side.variables),
            environment=found,
            threads=own.threads,
            affinity=own.affinity,
            jit=own.jit,
        )
        for side, found, own in zip(sides, described, map(record_plan, plans), strict=True)
    ]
    run = new_run(plan, described[0], command, recorded)
    warnings = [*run.warnings]
    for one, task in zip(described, plan.tasks[: len(sides)], strict=True):
        # A warning about both sides is given once, although values such as the load have changed by then.
        said = {warning.code for warning in warnings}
        fresh = machine_warnings.check_machine(one, device=task.problem.device)
        warnings += [new for new in fresh if new.code not in said]
    return plan, replace(run, warnings=warnings)


def interleave(first: BenchPlan, second: BenchPlan) -> BenchPlan:
    """Returns the plan of both sides, with the two tasks of each runner together."""
    pairs = zip(first.tasks, second.tasks, strict=True)
    tasks = [task for one, other in pairs for task in (replace(one, side="a"), replace(other, side="b"))]
    return replace(first, tasks=tasks, design="pairs")


def choose_executor(plan: BenchPlan, executor: Executor) -> Executor:
    """Returns the function that runs the processes of a plan.

    It is `executor`, unless the processes of a pair take turns.
    """
    if not plan.turns:
        return executor
    return LivePair(plan.turns, least=LEAST_TURNS, seconds=2 * plan.turns * TURN_S, seed=plan.order_seed)


def _plan(side: SideRequest, other: SideRequest, effort: Effort, executor: Executor) -> tuple[BenchPlan, Environment]:
    python = None if side.python is None else check_interpreter(side.python, side.variables)
    affinity = side.affinity
    setting = Setting(threads=side.options.threads, affinity=affinity, python=python, variables={**side.variables})
    _check_variables(setting)
    facts = environment.probe(side.options.device, side.options.computed_dtype, setting, executor=executor)
    # This side has a value of the other side's variables too. Of PYTHONPATH another interpreter gets only our folder.
    without = side.variables.keys() | ({"PYTHONPATH"} if python else set())
    named = {name: value for name, value in other.variables.items() if name not in without}
    return plan_bench(side.options, effort, facts, setting), environment.describe(facts, setting, named=named)


def _check_variables(setting: Setting) -> None:
    """Rejects variables that have another value in the worker.

    Tables would name the given value.

    Raises:
        UsageError: If there is such a variable.
    """
    environment = setting.environment()
    for name, value in setting.variables.items():
        # Folders of `PYTHONPATH` are kept, behind that of this package.
        if name != "PYTHONPATH" and environment.get(name) != value:
            is_count = name.endswith("_NUM_THREADS")
            reason = "`threads` sets it" if is_count else "a worker has a value of its own, or none"
            hint = "Leave out the variable, or `threads`." if is_count else "Leave out the variable."
            raise UsageError(f"variable has no effect: {name!r}", hint, reason=reason, value=name)


#: An interpreter may take seconds to start from a cold disk.
_TIMEOUT_S = 30.0
_LEAST = (3, 11)
_INTERPRETER = "Use the path of a Python interpreter."
_MARK = "fastrnns-rs asks:"
_CODE = f"import sys; print({_MARK!r}, *sys.version_info[:2], flush=True); import fastrnns_rs._core"


def check_interpreter(python: str, variables: Mapping[str, str] | None = None) -> str:
    """Checks that an interpreter can run the worker, and returns its path.

    Args:
        python: Path or name of a program.
        variables: Environment variables added to the current environment.

    Raises:
        MissingError: If the program does not exist.
        UsageError: If the program cannot be run, does not end, is not Python, is too old, or cannot load the extension.
    """
    found = find_program(python)
    if found is None:
        raise MissingError(f"program not found: {python!r}", _INTERPRETER, value=python)
    # Symbolic links are not resolved: an interpreter finds the packages of its environment by the path of its call.
    path = str(Path(found).absolute())
    environment_of_worker = Setting(python=path, variables=variables or {}).environment()
    message = f"cannot run program: {python!r}"
    try:
        # An interpreter first searches the working directory for modules.
        done = run_command([path, "-c", _CODE], timeout=_TIMEOUT_S, env=environment_of_worker, cwd="/")
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(message, _INTERPRETER, reason=str(error), value=python) from error
    if done.timed_out:
        raise UsageError(message, _INTERPRETER, reason=f"timed out after {_TIMEOUT_S:g} s", value=python)
    # The interpreter may print other lines when it starts.
    answers = [line.partition(_MARK)[2].split() for line in done.stdout_tail.splitlines() if _MARK in line]
    version = answers[-1] if answers else []
    if len(version) != len(_LEAST) or not all(part.isdecimal() for part in version):
        raise UsageError(f"not a Python interpreter: {python!r}", _INTERPRETER, value=python)
    if tuple(map(int, version)) < _LEAST:
        message = f"unsupported interpreter: {python!r} is Python {'.'.join(version)}"
        raise UsageError(message, f"Use Python {'.'.join(map(str, _LEAST))} or newer.", value=python)
    if done.exit_status != 0:
        last = (done.stderr_tail.strip().splitlines() or ["no reason is printed"])[-1]
        message = f"interpreter cannot load the extension: {python!r}"
        raise UsageError(message, "Use an interpreter for the same machine.", reason=last, value=python)
    return path
