"""Command `fastrnns-rs bench`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import (
    device_options,
    effort_options,
    history_options,
    options,
    resume_options,
    run_output,
    runner_options,
    shared,
    sweep_options,
)
from fastrnns_rs.cli.configuration import Unconfigured
from fastrnns_rs.cli.configured_values import give_way
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import ListOption, OptionalValueOption, Verb
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.plan import DEFAULT_GROUPS, DEFAULT_TIMEOUT_S
from fastrnns_rs.views import formats

if TYPE_CHECKING:
    from fastrnns_rs.cli.run_saving import RunSaver
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.views.bench_terminal import BenchTerminal

EPILOG = """\b
Examples:
  fastrnns-rs bench --quick cudnn py
  fastrnns-rs bench --group rnns cnns
  fastrnns-rs bench cudnn jit --hidden-size 1024 --json
  fastrnns-rs bench cudnn py --axis hidden-size=pow2:6:10

Defaults come from [tool.fastrnns-rs.bench] in pyproject.toml and from variables such as FASTRNNS_BENCH_NLOOPS.
PyTorch fastrnns' spellings work too: --hiddenSize.

Exit codes: 0 done, 1 a runner failed, 2 usage, 5 a device is missing, 130 interrupted."""


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
    help="Continue an interrupted run: a file, or a name such as @last. It keeps the options that change the "
    "measurement. Files with code, such as --runner-file, --history, and options of the output must be named again.",
)
def command(**given: Any) -> int:
    """Times runners, forward and backward, in fresh processes.

    RUNNER names the runners to time: `bench cudnn py` times exactly these two, and `ab cudnn py` compares them.
    Processes of different runners are interleaved in random order. Sizes default to a preset: PyTorch fastrnns' sizes
    on CUDA, smaller ones on a CPU.
    """
    from fastrnns_rs.verbs.bench import torchrun

    begin = time.monotonic()
    world = torchrun.world()
    leads = world is None or world.leads
    terminal = run_output.terminal("bench", shown=leads)
    sweep_options.check(given)
    format_name = _format(given, leads=leads)
    if given["resume"] is not None:
        from fastrnns_rs.verbs.history.run_names import one_run

        given["resume"] = os.fspath(one_run(given["resume"], history_options.find_history(given)))
        # Of the runs of a history, only this one may be written.
        click.get_current_context().params["resume"] = given["resume"]
    run_output.check(given)
    try:
        if given["resume"] is None and not given["runner_file"] and world is None:
            # Before the modules that measure are imported, which takes longer than this screen.
            _show_expected(terminal, _resolved(given))
        return _keep_and_measure(given, format_name, terminal, begin, leads=leads)
    finally:
        terminal.close()


def _keep_and_measure(
    given: dict[str, Any], format_name: str | None, terminal: BenchTerminal, begin: float, *, leads: bool
) -> int:
    from fastrnns_rs.cli.run_saving import RunSaver

    history = history_options.find_history(given)
    target = run_output.choose_target(given, format_name)
    with (
        ResultsFile(target.run_file if leads else None) as results,
        ResultsFile(target.document_file if leads else None) as document,
        RunSaver(results, history if leads else None) as keeping,
    ):
        document.reserve(given["runner_file"])
        run = _measure(given, results, keeping, terminal if leads else None)
        terminal.close()
        if leads:
            shown = sweep_options.sorted_by(run, given["sort"])
            results.on_stdout = target.deliver(shown, results, document, wide=given["wide"], separator=given["sep"])
            if target.format_name == "json" and target.output is None and not results.on_stdout:
                # Ctrl-C also ends the program that reads a pipe.
                keeping.keep_last()
            run_output.tell_end(run, keeping, begin)
    if run.status == "interrupted":
        return ExitCode.INTERRUPTED
    is_kept = not (results.failed or document.failed or keeping.failed)
    return ExitCode.DONE if run.status == "complete" and is_kept else ExitCode.FAILED


def _measure(
    given: dict[str, Any],
    results: ResultsFile,
    keeping: RunSaver,
    terminal: BenchTerminal | None,
) -> Run:
    """Returns the run, which may be interrupted."""
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.bench.execution import Interrupted, execute
    from fastrnns_rs.verbs.bench.preparation import start
    from fastrnns_rs.verbs.bench.resumption import check_interrupted

    resume, file, typed = None, given["resume"], {name for name in given if shared.is_flag(name)}
    if file is not None:
        if terminal is not None:
            results.reserve_earlier(Path(file))
        resume = Run.load(file)
        # A run that cannot be resumed is refused before runner files are executed.
        check_interrupted(resume)
        given = resume_options.resumed(command, resume, given)
        if terminal is not None:
            keeping.use(history_options.find_history(given))
    with resume_options.naming_run(file, resume, typed):
        given = _resolved(given)
        results.reserve(given["runner_file"])
        runner_options.load_files(given)
        ranks = device_options.ranks(given)
        asked, effort = _options(given), effort_options.make_effort(given)
        # Unknown runners are reported before torch is imported, which takes seconds.
        asked.choice.runners()
    if terminal is not None:
        runner_options.note_idle_flags(asked.choice)
    words = ["fastrnns-rs", *sys.argv[1:]] if resume is None else resume.command
    with device_options.open_rank_group(ranks) as rank_group:
        executor = shared.executor()
        with resume_options.naming_run(file, resume, typed):
            plan, run = start(asked, effort, command=words, resume=resume, rank_group=rank_group, executor=executor)
        if terminal is not None:
            run_output.tell_what_follows(given, plan, run, keeping, terminal)
        try:
            # Other ranks have no place for the run.
            save = keeping.save if terminal is not None else lambda _run: None
            run = execute(plan, run, observer=terminal, save=save, rank_group=rank_group, executor=executor)
        except Interrupted as stopped:
            return stopped.run
        if rank_group is not None:
            rank_group.leave()
    return run


def _resolved(given: dict[str, Any]) -> dict[str, Any]:
    return device_options.resolve_devices(give_way(given))


def _show_expected(terminal: BenchTerminal, given: dict[str, Any]) -> None:
    run_output.show_expected(terminal, _options(given), effort_options.make_effort(given))


def _format(given: dict[str, Any], *, leads: bool) -> str | None:
    """Returns the format of the document, or None if no format is requested."""
    asked = {
        "--format": given["format_name"],
        "--json": "json" if given["as_json"] else None,
        "--print-json": given["print_json"],
    }
    chosen = {flag: name for flag, name in asked.items() if name is not None}
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other", f"Use {' or '.join(chosen)}.")
    found = next(iter(chosen.values()), None if given["sep"] is None else "fastrnns")
    if found != "fastrnns" and shared.is_flag("sep"):
        flag = next(iter(chosen))
        raise UsageError(f"--sep and {flag} exclude each other", f"Use --sep or {flag}.")
    if any(one != "\t" and not one.isprintable() for one in given["sep"] or ""):
        # A terminal would act on it.
        hint = "Use printable characters, or a tab."
        raise UsageError(f"invalid value: {given['sep']!r}", hint, where="sep", value=given["sep"])
    # Only the first rank writes a page.
    if leads and (found == "html" or given["open_page"]):
        from fastrnns_rs.cli.page_output import check

        return check(given, found)
    return found


def _options(given: dict[str, Any]) -> Any:
    from fastrnns_rs.runners.plan import make_options

    axes, given = sweep_options.split_axes(given)
    choice = runner_options.make_choice(given, DEFAULT_GROUPS)
    return make_options(given, choice, axes=axes, filters=sweep_options.parse_filters(given))
