"""Command `fastrnns-rs inductor`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import display, options, runner_options, shared
from fastrnns_rs.cli.configuration import Program, Target
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import F, ListOption, Verb
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.counting import counted
from fastrnns_rs.documents.inductor_report import FORMATS, short
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.runners.plan import DEFAULT_COMPILE_TIMEOUT_S, Choice, make_options
from fastrnns_rs.verbs.inductor.request import DEFAULT_REPEAT, DEFAULT_TIMEOUT_S, DEFAULT_TIMES, InductorOptions
from fastrnns_rs.views.inductor_terminal import InductorTerminal

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.inductor_report import InductorReport
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.runners.plan import Options
    from fastrnns_rs.verbs.inductor.module_files import Generated

#: Options for the measurement of a module, and options for the compilation of a runner.
_MODULE_OPTIONS = tuple(one.name for one in fields(InductorOptions))
_RUNNER_OPTIONS = {
    *("runner_file", "quick", "compile_timeout", "device", "dtype", "allow_tf32", "seed"),
    *(one.name for kind in (Sizes, Modes, JitSettings) for one in fields(kind)),
}
#: Number of modules of a runner that trains, as a rule: forward and backward.
_GRAPHS = 2
#: Steps of a module that options request.
_EXTRAS = {
    "profile": ("profile",),
    "memory snapshot": ("memory_snapshot",),
    "kernels": ("kernels", "all_configs"),
}

EPILOG = """\b
Examples:
  fastrnns-rs inductor --from-cache
  fastrnns-rs inductor --runner compile_cell --quick
  fastrnns-rs inductor module.py --profile
  TORCHINDUCTOR_BENCHMARK_KERNEL=1 python train.py
  fastrnns-rs inductor --from-cache --benchmark-all-configs --json"""


def _switch(parameter: str, text: str, *flags: str) -> Callable[[F], F]:
    """Returns a flag with upstream's name, also for its environment variable."""
    variable = "FASTRNNS_INDUCTOR_" + flags[-1].removeprefix("--").replace("-", "_").upper()
    return click.option(*flags, parameter, envvar=variable, is_flag=True, help=text)


@click.command(name="inductor", cls=Verb, epilog=EPILOG)
@click.argument("modules", nargs=-1, type=click.Path(path_type=Path), metavar="[MODULE.py|FOLDER]...")
@click.option(
    "--from-cache",
    is_flag=True,
    help="Time the newest module in Inductor's cache. A backward module brings its forward.",
)
@options.count("--times", DEFAULT_TIMES, "Calls per repeat.")
@options.count("--repeat", DEFAULT_REPEAT, "Repeats per module. Each repeat is one sample.")
@options.count("--processes", 1, "Fresh processes per module.")
@_switch("kernels", "Time each Triton kernel.", "-k", "--benchmark-kernels")
@_switch("all_configs", "Time each configuration of each Triton kernel.", "-c", "--benchmark-all-configs")
@click.option(
    "--arch",
    "architectures",
    cls=ListOption,
    envvar="FASTRNNS_INDUCTOR_ARCH",
    metavar="NAME...",
    help="Assemble each kernel of -k for these architectures too, such as sm_80.",
)
@click.option("-p", "--profile", is_flag=True, help="Run under torch.profiler too, and show its kernels.")
@_switch("memory_snapshot", "Write a snapshot of the CUDA allocator.", "--cuda-memory-snapshot")
@click.option("--ncu", is_flag=True, help="Run under Nsight Compute too.")
@click.option("--ncu-kernel-regex", metavar="REGEX", help="Kernels that ncu profiles. [default: all]")
@click.option(
    "--ncu-metrics", metavar="NAMES", help="Metrics that ncu collects, separated by commas. [default: the set full]"
)
@click.option("--ncu-path", cls=Program, metavar="FILE", help="ncu program. [default: ncu on PATH]")
@click.option(
    "--output-dir",
    cls=Target,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder for traces, snapshots and reports.",
)
@options.seconds("--timeout", DEFAULT_TIMEOUT_S, "Time limit per step of a module.")
@click.option(
    "--runner", cls=ListOption, metavar="NAME...", help="Compile these runners, and time their generated modules."
)
@runner_options.runner_files
@click.option("--quick", is_flag=True, help="Use small sizes with --runner, for a first look.")
@runner_options.sizes
@runner_options.modes
@runner_options.machine
@options.seconds("--compile-timeout", DEFAULT_COMPILE_TIMEOUT_S, "Time limit for compilation with --runner.")
@runner_options.torchscript
@options.formats("inductor", FORMATS)
@options.output()
def command(**given: Any) -> int:
    """Times modules that torch.compile generated, and their kernels.

    The code of a module runs in its own process. Time only modules that you trust.
    """
    from fastrnns_rs.cli.device_options import refuse_ranks

    refuse_ranks("inductor")
    # With --open, this names the file.
    format_name = shared.choose_format(given) or "table"
    with ResultsFile(given["output"]) as results:
        return _measure(given, results, format_name)


def _measure(given: dict[str, Any], results: ResultsFile, format_name: str) -> int:
    from fastrnns_rs.verbs.inductor.module_runs import Interrupted, measure

    given["architectures"] = given["architectures"] or ()
    asked = InductorOptions(**shared.take(given, *_MODULE_OPTIONS))
    runner_options.load_files(given)
    named = _find_modules(given)
    # Unknown runners are reported before torch is queried, which takes seconds.
    what = _named_runners(given)
    results.reserve([*given["runner_file"], *(one.path for one in named)])
    interrupted = False
    failed: list[RunWarning] = []
    runners = list(given["runner"] or ())
    expected = len(named) + len(runners) * (1 if given["mode"] == "inference" else _GRAPHS)
    intent = counted(len(runners), "runner") if runners else counted(expected, "module")
    with display.step_progress("inductor", intent, "steps") as progress:
        extras = [name for name, wanted in _EXTRAS.items() if any(getattr(asked, one) for one in wanted)]
        terminal = InductorTerminal(
            progress, runners=runners, modules=expected, processes=asked.processes, extras=extras
        )

        def shows(module: Generated, step: str, done: int, _of: int) -> None:
            terminal.step(short(module.path.stem), step, done)

        try:
            if what is None:
                report = measure(named, asked, shows)
            else:
                modules, failed, facts = _compile_runners(what, asked, terminal)
                terminal.finds(len(named) + len(modules))
                report = measure([*named, *modules], asked, shows, facts, failed)
        except Interrupted as stopped:
            report, interrupted = stopped.report, True
    _show(report, given, results, format_name)
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if report.ok and not failed and not results.failed else ExitCode.FAILED


def _show(report: InductorReport, given: dict[str, Any], results: ResultsFile, format_name: str) -> None:
    """Writes the report, its warnings, and errors that the screen leaves out."""
    if format_name == "table" and given["output"] is None:
        from fastrnns_rs.views.inductor_report import lines

        on_terminal = display.is_terminal(sys.stdout)
        display.show_lines(lines(report, display.terminal_width(), whole_text=not on_terminal))
    else:
        results.deliver(report.render(format_name))
        shared.tell_error(_failures(report))
    if report.warnings:
        shared.tell([""])
    shared.tell_warnings(report.warnings)
    trace = next((one.trace_path for one in report.modules if one.trace_path is not None), None)
    if format_name == "table" and trace is not None:
        display.tell_next("Show where the time went", shlex.join(["fastrnns-rs", "report", trace]))


def _find_modules(given: dict[str, Any]) -> list[Generated]:
    """Finds the modules that are named by file or by folder, and the newest module.

    Raises:
        click.UsageError: If no module is named, `--runner` has no names, or a flag needs `--runner`.
    """
    from fastrnns_rs.verbs.inductor import module_files

    if given["runner"] == ():
        raise UsageError("missing value: --runner", "Run: fastrnns-rs list")
    if given["runner"] is None:
        if not given["modules"] and not given["from_cache"]:
            raise UsageError(
                "missing argument: MODULE", "Use a file, a folder, --from-cache or --runner.", where="inductor"
            )
        for param in click.get_current_context().command.params:
            if param.name in _RUNNER_OPTIONS and shared.is_flag(param.name):
                flag = max(param.opts, key=len)
                raise UsageError(f"{flag} needs --runner", f"Leave out {flag} or add --runner.")
    newest = [one.path for one in module_files.newest()] if given["from_cache"] else []
    return module_files.find([*given["modules"], *newest])


def _named_runners(given: dict[str, Any]) -> Options | None:
    """Returns the runners to compile, with their options; None if no runner is named.

    Raises:
        UsageError: If a runner does not exist or does not compile.
    """
    from fastrnns_rs.verbs.inductor import compiled_runners

    if given["runner"] is None:
        return None
    what = make_options(given, Choice(groups=(), names=given["runner"]))
    compiled_runners.check(what)
    return what


def _compile_runners(
    what: Options, asked: InductorOptions, terminal: InductorTerminal
) -> tuple[list[Generated], list[RunWarning], Facts]:
    """Compiles the requested runners.

    Returns:
        Generated modules, warnings about runners without a module, and facts about torch.
    """
    from fastrnns_rs.machine import environment
    from fastrnns_rs.processes.worker_setting import Setting
    from fastrnns_rs.verbs.inductor import compiled_runners

    facts = environment.probe(what.device, what.computed_dtype, Setting(threads=what.threads))
    kernels = asked.kernels or asked.all_configs
    found = compiled_runners.compile_modules(
        what, facts, kernels=kernels, on_runner=terminal.compiles, on_phase=terminal.phase
    )
    return *found, facts


def _failures(report: InductorReport) -> list[str]:
    return [
        f"error: {visible(one.path)}: {visible(one.reason or '')}"
        for one in report.modules
        if one.status in {"failed", "timed_out"}
    ]
