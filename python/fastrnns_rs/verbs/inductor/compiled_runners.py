"""Compilation of runners by a child process into Inductor's cache."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import FastrnnsError, UsageError, make_system_error
from fastrnns_rs.problem.problem import PRESETS, problem_options
from fastrnns_rs.processes.launcher import Start, launch
from fastrnns_rs.processes.listener import Limit, Terms
from fastrnns_rs.processes.phases import COMPILE
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import make_plan
from fastrnns_rs.verbs.inductor.module_files import check_cache, find

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.runners.plan import Options, Task
    from fastrnns_rs.verbs.inductor.module_files import Generated

#: Variable with which Inductor writes a benchmark into each Triton kernel.
_BENCHMARK_KERNELS = {"TORCHINDUCTOR_BENCHMARK_KERNEL": "1"}


def check(options: Options) -> None:
    """Checks that the runners exist and compile, before torch is probed.

    Raises:
        UsageError: If a runner does not exist or does not compile.
    """
    for runner, _ in options.choice.runners():
        if not runner.compiles:
            known = ", ".join(one.name for one in registry.all_runners().values() if one.compiles)
            message = f"runner without Inductor: {runner.name!r}"
            raise UsageError(message, f"Use {known}.", where="runner", value=runner.name)


def compile_modules(
    options: Options,
    facts: Facts,
    *,
    kernels: bool,
    on_runner: Callable[[str, int, int], None] = lambda _name, _done, _of: None,
    on_phase: Callable[[str], None] = lambda _name: None,
) -> tuple[list[Generated], list[RunWarning]]:
    """Compiles runners and returns their modules.

    Args:
        options: Runners, and the problem that each is compiled for.
        facts: Facts of torch and the device.
        kernels: True if the kernels will be benchmarked.
        on_runner: Function called before each compilation with the runner's name, the number of completed runners and
            the total number.
        on_phase: Function called with each phase of a compilation.

    Returns:
        The modules, and a warning for each runner without a module: it does not compile, or not with Inductor.

    Raises:
        FastrnnsError: If other users may have written to torch's cache.
        MissingError: If the device does not exist.
        UsageError: If a runner does not support an option.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    check_cache()
    tasks = make_plan(options, facts).tasks
    modules: list[Generated] = []
    failures: list[RunWarning] = []
    for index, task in enumerate(tasks):
        on_runner(task.runner.name, index, len(tasks))
        try:
            modules += _compiled(task, options, kernels=kernels, on_phase=on_phase)
        except (FastrnnsError, OSError) as error:
            refused = make_system_error(error) if isinstance(error, OSError) else error
            failures.append(make_warning("runner_failed", evidence=refused.message, hint=refused.hint))
    return modules, failures


def _compiled(task: Task, options: Options, *, kernels: bool, on_phase: Callable[[str], None]) -> list[Generated]:
    seconds = options.compile_timeout
    limit = Limit(seconds, f"compilation took longer than the compile timeout, {seconds:g} s")
    job = {
        "kind": "compile",
        **task.job(),
        "jit": asdict(options.jit),
        "threads": options.threads,
    }
    setting = Setting(threads=options.threads, variables=_BENCHMARK_KERNELS if kernels else {})
    # The timeout is for the steps around the compilation, which has its own.
    terms = Terms(timeout=options.timeout + seconds, limits={COMPILE: limit}, on_phase=on_phase)
    answer = launch(Start(job=job, terms=terms, setting=setting))
    name = task.runner.name
    if answer.ended == "interrupted":
        raise KeyboardInterrupt
    if answer.content.get("status") != "ok":
        hint = f"Run: FASTRNNS_DEBUG=1 {_bench_command(task, options)}"
        if answer.ended == "timed_out":
            flag = "--compile-timeout" if answer.reason == limit.reason else "--timeout"
            hint = f"Use a longer time limit: {flag}"
        raise FastrnnsError(f"cannot compile runner: {name!r}", hint, reason=answer.reason or "")
    modules = answer.content.get("modules")
    if not isinstance(modules, list) or not modules:
        raise FastrnnsError(f"no generated module of runner: {name!r}", "Use a runner that Inductor compiles.")
    return [replace(one, runner=name, problem=task.problem) for one in find(map(str, modules))]


def _bench_command(task: Task, options: Options) -> str:
    """Returns a short `bench` that compiles a runner for the same problem."""
    problem, source = task.problem, task.runner.source
    words = ["--quick"] if options.quick else ["--processes", "1"]
    preset = "quick" if options.quick else "cpu" if problem.device == "cpu" else "upstream"
    # A runner of a file is known only with its file.
    words += [] if source.runner_file is None else ["--runner-file", source.runner_file]
    words += [] if options.device == "auto" else ["--device", options.device]
    words += [] if options.threads is None else ["--threads", str(options.threads)]
    words += problem_options(problem, PRESETS[preset])
    return shlex.join(["fastrnns-rs", "bench", *words, task.runner.name])
