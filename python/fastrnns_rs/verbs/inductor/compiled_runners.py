"""Generated modules of a runner: a child process compiles it into Inductor's own cache, where they stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.processes.launcher import Setting, Start, launch
from fastrnns_rs.processes.listener import Limit, Terms
from fastrnns_rs.processes.phases import COMPILE
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import make_plan
from fastrnns_rs.verbs.inductor.module_files import check_cache, find

if TYPE_CHECKING:
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.runners.plan import Options, Task
    from fastrnns_rs.verbs.inductor.module_files import Generated

#: What has Inductor write a benchmark into each Triton kernel.
_BENCHMARK_KERNELS = {"TORCHINDUCTOR_BENCHMARK_KERNEL": "1"}


def check(options: Options) -> None:
    """Refuses runners that are not there or compile nothing, before torch is asked anything.

    Raises:
        UsageError: One is.
    """
    for runner, _ in options.choice.runners():
        if not runner.compiles:
            known = ", ".join(one.name for one in registry.all_runners().values() if one.compiles)
            raise UsageError(f"{runner.name} compiles nothing with Inductor", f"those that do: {known}")


def modules_of(
    options: Options,
    facts: Facts,
    *,
    kernels: bool,
    on_runner: Callable[[str, int, int], None] = lambda _name, _done, _of: None,
) -> tuple[list[Generated], list[Notice]]:
    """Compiles runners and finds their modules.

    Args:
        options: The runners, and the problem that each is compiled for.
        facts: What is known of torch and the device.
        kernels: Whether their kernels are to be benchmarked.
        on_runner: Called with a runner's name, how many are done and how many there are, as its compilation begins.

    Returns:
        The modules, and a warning for each runner that has none: it does not compile, or not with Inductor.

    Raises:
        FastrnnsError: Other users may have written torch's cache.
        MissingError: The device is not there.
        UsageError: A runner cannot honour an option.
        KeyboardInterrupt: Ctrl-C.
    """
    check_cache()
    tasks = make_plan(options, facts).tasks
    modules: list[Generated] = []
    failures: list[Notice] = []
    for index, task in enumerate(tasks):
        on_runner(task.runner.name, index, len(tasks))
        try:
            modules += _compiled(task, options, kernels=kernels)
        except FastrnnsError as error:
            failures.append(Notice(code="runner_failed", message=error.message, hint=error.hint))
    return modules, failures


def _compiled(task: Task, options: Options, *, kernels: bool) -> list[Generated]:
    seconds = options.compile_timeout
    limit = Limit(seconds, f"compiling took longer than {seconds:g} s: give --compile-timeout")
    job = {
        "kind": "compile",
        **task.job(),
        "jit": asdict(options.jit),
        "threads": options.threads,
    }
    setting = Setting(threads=options.threads, variables=_BENCHMARK_KERNELS if kernels else {})
    answer = launch(Start(job=job, terms=Terms(timeout=options.timeout, limits={COMPILE: limit}), setting=setting))
    name = task.runner.name
    if answer.ended == "interrupted":
        raise KeyboardInterrupt
    if answer.content.get("status") != "ok":
        hint = "fastrnns-rs bench runs it too, and FASTRNNS_DEBUG=1 shows where it failed"
        raise FastrnnsError(f"{name} was not compiled: {answer.reason}", hint)
    modules = answer.content.get("modules")
    if not isinstance(modules, list) or not modules:
        raise FastrnnsError(f"{name} left no generated module", "choose a runner that Inductor compiles")
    return [replace(one, runner=name) for one in find(map(str, modules))]
