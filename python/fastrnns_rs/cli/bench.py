"""Command `fastrnns-rs bench`."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fastrnns_rs.cli import (
    device_options,
    effort_options,
    history_options,
    options,
    run_output,
    runner_options,
    shared,
    sweep_options,
)
from fastrnns_rs.cli.configuration import Code, Unconfigured
from fastrnns_rs.cli.options import ListOption, OptionalValueOption, Verb
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.runners.plan import DEFAULT_GROUPS, DEFAULT_TIMEOUT_S
from fastrnns_rs.views import formats

if TYPE_CHECKING:
    from fastrnns_rs.cli.run_keeping import RunKeeping
    from fastrnns_rs.cli.run_output import RunTarget
    from fastrnns_rs.documents.run_file import Run

EPILOG = """\b
Examples:
  fastrnns-rs bench --quick cudnn py
  fastrnns-rs bench --group rnns cnns
  fastrnns-rs bench cudnn jit --hidden-size 1024 --json
  fastrnns-rs bench cudnn py --axis hidden-size=pow2:6:10

Defaults come from [tool.fastrnns-rs.bench] in pyproject.toml and from variables such as FASTRNNS_BENCH_NLOOPS.
PyTorch fastrnns' spellings work too: --hiddenSize."""


@click.command(name="bench", cls=Verb, epilog=EPILOG)
@runner_options.choosing("time", "cnns rnns")
@runner_options.runner_files
@runner_options.sizes
@runner_options.modes
@sweep_options.axes
@sweep_options.rows("Measure only rows that match CONDITION")
@effort_options.processes("Fresh processes per runner. [default: 5; 1 with --quick, 20 with --rigorous]")
@effort_options.sessions
@click.option(
    "--stop",
    metavar="RULE",
    help="Stopping rule: precision:1% (half-width of every interval; in at most 10 minutes, or precision:1%:20m), "
    "time:30s (per runner) or count:100 (timed iterations per process).",
)
@runner_options.machine
@options.seconds("--timeout", DEFAULT_TIMEOUT_S, "Time limit per process.")
@runner_options.torchscript
@runner_options.compiling
@click.option(
    "--devices",
    cls=ListOption,
    metavar="NAME...",
    help="Time each runner on several devices, for example cuda:0,cuda:1.",
)
@click.option(
    "--side-by-side/--one-by-one",
    default=False,
    help="Time a runner on all devices at the same time.  [default: one-by-one]",
)
@click.option("--sep", help="Separator between the columns of --format fastrnns, which it selects.")
@click.option(
    "--print-json",
    cls=OptionalValueOption,
    type=click.Choice(["oss", "pep"]),
    is_flag=False,
    flag_value="oss",
    help="Write JSON of PyTorch's fastrnns to stdout: oss or pep. [default: oss]",
)
@options.formats("bench", formats.RUN, document="the run file")
@options.wide("Show standard deviations, samples, warm-up and interval bounds too.")
@run_output.options
@history_options.options("bench")
@click.option(
    "--resume",
    cls=Unconfigured,
    metavar="FILE",
    help="Continue an interrupted run. Options default to those of its command, except code.",
)
def command(**given: Any) -> int:
    """Times runners, forward and backward, in fresh processes.

    RUNNER names the runners to time: `bench cudnn py` times exactly these two. Processes of different runners are
    interleaved in random order. Sizes default to a preset: PyTorch fastrnns' sizes on CUDA, smaller ones on a CPU.
    """
    from fastrnns_rs.cli.run_keeping import RunKeeping
    from fastrnns_rs.verbs.bench import torchrun

    world = torchrun.world()
    leads = world is None or world.leads
    history = history_options.history_of(given)
    if given["resume"] is not None:
        from fastrnns_rs.verbs.history.run_names import one_run

        given["resume"] = os.fspath(one_run(given["resume"], history))
    target = run_output.target_of(given, _format(given))
    with (
        ResultsFile(target.run_file if leads else None) as results,
        RunKeeping(results, history if leads else None) as keeping,
    ):
        return _measure(given, target, results, keeping, leads=leads)


def _measure(
    given: dict[str, Any], target: RunTarget, results: ResultsFile, keeping: RunKeeping, *, leads: bool
) -> int:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.execution import Interrupted, execute
    from fastrnns_rs.verbs.bench.preparation import start
    from fastrnns_rs.verbs.bench.resumption import check_interrupted

    begin = time.monotonic()
    resume = None
    if given["resume"] is not None:
        if leads:
            results.reserve_earlier(Path(given["resume"]))
        resume = Run.load(given["resume"])
        # A run that cannot be resumed is refused before runner files are executed.
        check_interrupted(resume)
        given = _resumed_options(resume, given)
    given = device_options.settled(effort_options.settled(given))
    results.reserve(given["runner_file"])
    target.check(given["runner_file"])
    runner_options.load_files(given)
    ranks = device_options.ranks(given)
    sweep_options.check(given, has_format=True)
    asked, effort = _options(given), effort_options.effort_of(given)
    # Unknown runners are reported before torch is imported, which takes seconds.
    asked.choice.runners()
    if leads:
        runner_options.note_idle_flags(asked.choice)
    words = ["fastrnns-rs", *sys.argv[1:]] if resume is None else resume.command
    terminal = run_output.terminal("bench", shown=leads)
    interrupted = False
    try:
        if resume is None and ranks is None:
            run_output.show_expected(terminal, asked, effort, words)
        with device_options.team(ranks) as team:
            executor = shared.executor()
            plan, run = start(asked, effort, command=words, resume=resume, team=team, executor=executor)
            try:
                observer = terminal if leads else None
                run = execute(plan, run, observer=observer, save=keeping.save, team=team, executor=executor)
            except Interrupted as stopped:
                run, interrupted = stopped.run, True
            if team is not None and not interrupted:
                team.part()
    finally:
        terminal.close()
    if leads:
        shown = sweep_options.sorted_by(run, given["sort"])
        results.on_stdout = target.deliver(shown, results, wide=given["wide"], separator=given["sep"])
        run_output.tell_end(run, keeping, begin)
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if run.status == "complete" and not results.failed else ExitCode.FAILED


def _format(given: dict[str, Any]) -> str | None:
    """Returns the format of the document, or None if no format is requested."""
    asked = {
        "--format": given["format_name"],
        "--json": "json" if given["as_json"] else None,
        "--print-json": given["print_json"],
    }
    chosen = {flag: name for flag, name in asked.items() if name is not None}
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} both choose the output format; give one of them")
    return next(iter(chosen.values()), None if given["sep"] is None else "fastrnns")


def _options(given: dict[str, Any]) -> Any:
    from fastrnns_rs.runners.plan import Choice, options_of

    runner_options.check_choice(given)
    axes, given = sweep_options.axes_of(given)
    if given["runners"]:
        choice = Choice(groups=(), names=given["runners"])
    else:
        choice = Choice(groups=given["group"] or DEFAULT_GROUPS, **shared.take(given, "rnns", "cnns", "variable_lstms"))
    return options_of(given, choice, axes=axes, filters=sweep_options.filters_of(given))


#: Options that do not change the measurement.
_FORMATS = {"format_name", "as_json", "print_json"}
_BESIDE = {"resume", "output", "run_file", "sep", "sort", "wide", "history", "no_history", *_FORMATS}


def _resumed_options(run: Run, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of a resumed run.

    The options are the options of this command line. If it has no option that changes the measurement, the options are
    those of the command that began the run.

    Raises:
        UsageError: If this command line has no such option and the run was not begun by `bench`, or if its command
            names code that this command line does not repeat.
    """
    code = {str(param.name): param for param in command.params if isinstance(param, Code)}
    if any(is_flag(name) for name in given if name not in {*_BESIDE, *code}):
        return given
    if run.command[:2] != ["fastrnns-rs", "bench"]:
        message = f"not a run of the command bench: {given['resume']!r}"
        reason = f"the run was started by {' '.join(run.command)!r}"
        hint = "Resume the run in Python: fastrnns_rs.bench(resume=…)"
        raise UsageError(message, hint, where="resume", reason=reason, value=given["resume"])
    # The parent context provides the prefix of environment variables.
    context = command.make_context("bench", list(run.command[2:]), parent=click.get_current_context().parent)
    before = context.params
    # Other users may have written the run file, which is data. Code that its command names is executed only if this
    # command line names the code too.
    for name, param in code.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and not is_flag(name):
            raise UsageError(*_unrepeated(param, before[name], given["resume"]))
    if any(is_flag(name) for name in _FORMATS):
        before |= {"format_name": None, "as_json": False, "print_json": None}
    return {**before, **{name: given[name] for name in {*_BESIDE, *code} if is_flag(name) or name == "resume"}}


def _unrepeated(param: Code, value: Any, file: str) -> tuple[str, str]:
    """Returns message and hint for code that this command line does not repeat."""
    flag = max(param.opts, key=len)
    words = [word for one in (value if param.multiple else [value]) for word in (flag, str(one))]
    message = f"run with code: {' '.join(words)!r} (--resume)"
    return message, f"If you trust the code, run: fastrnns-rs bench --resume {shlex.quote(file)} {shlex.join(words)}"
