"""Requirements of workers that compile: a compiler cache folder and a time limit."""

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
    """Start conditions of a worker.

    Attributes:
        setting: Setting of the task, with the cache folder among its variables.
        shared: True if the cache folder may already contain files.
        limits: Time limit of each phase.
    """

    setting: Setting
    shared: bool
    limits: Mapping[str, Limit]


@contextmanager
def compiling(task: BenchTask, plan: BenchPlan) -> Iterator[Arranged]:
    """Prepares the compiler cache of a worker, and removes it afterwards.

    Variables given for the task alone are kept: if they set a cache folder, the folder is shared.
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
    """Creates the shared cache folder if necessary, and returns its full path.

    Raises:
        UsageError: If the folder cannot be created.
    """
    try:
        if not folder or "\0" in folder:
            raise UsageError(f"invalid folder: {folder!r}", "Use the path of a folder.", where="compile_cache")
        path = Path(folder).resolve()
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        message, hint = f"cannot create folder: {folder!r}", "Use a folder that is writable."
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise UsageError(message, hint, where="compile_cache", reason=reason, value=folder) from error
    return str(path)
