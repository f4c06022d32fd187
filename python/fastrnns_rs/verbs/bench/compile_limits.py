"""What a worker needs that compiles: a folder of its own for the compiler's files, and a limit of its time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fastrnns_rs.errors import UsageError
from fastrnns_rs.processes.listener import Limit
from fastrnns_rs.processes.phases import COMPILE, COMPILE_AGAIN
from fastrnns_rs.processes.temporary_folder import VARIABLES, compiler_folder, variables_for

if TYPE_CHECKING:
    from fastrnns_rs.processes.launcher import Setting
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan, BenchTask


class Arranged(NamedTuple):
    """What a worker is started with.

    Attributes:
        setting: The task's, with the folder among its variables.
        shared: Whether the folder may hold something already.
        limits: How long it may stay in a phase.
    """

    setting: Setting
    shared: bool
    limits: Mapping[str, Limit]


@contextmanager
def compiling(task: BenchTask, plan: BenchPlan) -> Iterator[Arranged]:
    """Arranges for a worker to compile, and clears away after it.

    Variables that were given for the task alone stay as they are: whoever gives a folder there shares it.
    """
    if not task.runner.compiles:
        yield Arranged(task.setting, shared=False, limits={})
        return
    seconds = plan.compile_timeout
    limit = Limit(seconds, f"compiling took longer than {seconds:g} s: give --compile-timeout")
    given = task.setting.variables
    shared = plan.compile_cache is not None or not VARIABLES.isdisjoint(given)
    with compiler_folder() if plan.compile_cache is None else nullcontext(plan.compile_cache) as folder:
        setting = replace(task.setting, variables={**variables_for(folder), **given})
        yield Arranged(setting, shared, dict.fromkeys((COMPILE, COMPILE_AGAIN), limit))


def check_cache(folder: str) -> str:
    """Makes the folder that workers are to share, if need be; returns its full path.

    Raises:
        UsageError: It cannot be made.
    """
    try:
        if not folder or "\0" in folder:
            raise UsageError(f"the folder of --compile-cache is {folder!r}", "give the path of a folder")
        path = Path(folder).resolve()
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        message = f"the folder of --compile-cache cannot be made: {error}"
        raise UsageError(message, "give a folder that can be written to") from error
    return str(path)
