"""Command `fastrnns-rs bench`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fastrnns_rs.cli import (
    device_options,
    effort_options,
    history_options,
    options,
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
@click.option("--sep", default=" ", help="Separator between the columns of the live table.")
@click.option(
    "--print-json",
    cls=OptionalValueOption,
    type=click.Choice(["oss", "pep"]),
    is_flag=False,
    flag_value="oss",
    help="Write JSON of PyTorch's fastrnns to stdout: oss or pep. [default: oss]",
)
@options.formats("bench", formats.RUN, "Output format on stdout.", "the run file")
@options.output("Write the run file to PATH, again after each process.")
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
    with (
        ResultsFile(_output(given) if leads else None) as results,
        RunKeeping(results, history if leads else None) as keeping,
    ):
        return _measure(given, results, keeping, leads=leads)


def _measure(given: dict[str, Any], results: ResultsFile, keeping: RunKeeping, *, leads: bool) -> int:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.execution import Interrupted, execute
    from fastrnns_rs.verbs.bench.preparation import start
    from fastrnns_rs.verbs.bench.resumption import check_interrupted
    from fastrnns_rs.views.bench_terminal import Terminal

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
    runner_options.load_files(given)
    format_name = _format(given)
    ranks = device_options.ranks(given)
    # On a terminal the live table has been seen. `bench > table.txt` gets a table too.
    redirected = format_name is None and not (sys.stdout is not None and sys.stdout.isatty())
    sweep_options.check(given, has_format=format_name is not None or redirected)
    asked = _options(given)
    # Unknown runners are reported before torch is imported, which takes seconds.
    asked.choice.runners()
    if leads:
        runner_options.note_idle_flags(asked.choice)
    words = ["fastrnns-rs", *sys.argv[1:]] if resume is None else resume.command
    terminal = Terminal(given["sep"])
    interrupted = False
    with device_options.team(ranks) as team:
        executor = shared.executor()
        plan, run = start(
            asked, effort_options.effort_of(given), command=words, resume=resume, team=team, executor=executor
        )
        try:
            observer = terminal if leads else None
            run = execute(plan, run, observer=observer, save=keeping.save, team=team, executor=executor)
        except Interrupted as stopped:
            run, interrupted = stopped.run, True
        finally:
            terminal.close()
        if team is not None and not interrupted:
            team.part()
    # Results that no file could take go to stdout alone.
    if leads and (format_name is not None or (redirected and not results.failed)):
        shared.deliver(sweep_options.sorted_by(run, given["sort"]).render(format_name or "table"), None)
        results.on_stdout = format_name == "json"
    if leads:
        keeping.tell_place(run)
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if run.status == "complete" and not results.failed else ExitCode.FAILED


def _output(given: dict[str, Any]) -> Path | None:
    """Returns the run file.

    With `--resume`, the run file is the resumed file, unless a flag names another file. A configured `output` applies
    to new runs only.
    """
    if given["resume"] is None or is_flag("output"):
        output: Path | None = given["output"]
        return output
    return Path(given["resume"])


def _format(given: dict[str, Any]) -> str | None:
    """Returns the format of stdout, or None if no format is requested."""
    asked = {
        "--format": given["format_name"],
        "--json": "json" if given["as_json"] else None,
        "--print-json": given["print_json"],
    }
    chosen = {flag: name for flag, name in asked.items() if name is not None}
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} both say what stdout is to carry; give one of them")
    return next(iter(chosen.values()), None)


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
_BESIDE = {"resume", "output", "sep", "sort", "history", "no_history", *_FORMATS}


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
        message = f"the run was begun by {' '.join(run.command)!r}, not by bench"
        raise UsageError(message, "go on with it by bench(resume=…) and its arguments")
    # The parent context provides the prefix of environment variables.
    context = command.make_context("bench", list(run.command[2:]), parent=click.get_current_context().parent)
    before = context.params
    # Other users may have written the run file, which is data. Code that its command names is executed only if this
    # command line names the code too.
    for name, param in code.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and not is_flag(name):
            raise UsageError(*_unrepeated(run, param, before[name], given["resume"]))
    if any(is_flag(name) for name in _FORMATS):
        before |= {"format_name": None, "as_json": False, "print_json": None}
    return {**before, **{name: given[name] for name in {*_BESIDE, *code} if is_flag(name) or name == "resume"}}


def _unrepeated(run: Run, param: Code, value: Any, file: str) -> tuple[str, str]:
    """Returns message and hint for code that this command line does not repeat."""
    flag = max(param.opts, key=len)
    words = [word for one in (value if param.multiple else [value]) for word in (flag, str(one))]
    message = f"the run {run.run_id} was begun with {' '.join(words)}, which is code that would be executed"
    return message, f"if you trust it: fastrnns-rs bench --resume {shlex.quote(file)} {shlex.join(words)}"
