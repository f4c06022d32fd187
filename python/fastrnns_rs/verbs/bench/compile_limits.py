"""Requirements of workers that compile: a compiler cache folder and a time limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fastrnns_rs.processes.listener import Limit
from fastrnns_rs.processes.phases import COMPILE, COMPILE_AGAIN
from fastrnns_rs.processes.temporary_folder import VARIABLES, compiler_folder, variables_for

if TYPE_CHECKING:
    from fastrnns_rs.processes.worker_setting import Setting
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
