"""Command `fastrnns-rs ab`."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import (
    device_options,
    display,
    effort_options,
    history_options,
    options,
    run_output,
    runner_options,
    same_output,
    shared,
    side_options,
    verdict_options,
)
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.runners.plan import DEFAULT_TIMEOUT_S
from fastrnns_rs.views.screen import Line

if TYPE_CHECKING:
    from fastrnns_rs.cli.run_output import RunTarget
    from fastrnns_rs.cli.run_saving import RunSaver
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.views.bench_terminal import BenchTerminal

EPILOG = """\b
Examples:
  fastrnns-rs ab cudnn jit_premul
  fastrnns-rs ab jit --a '--fuser te' --b '--fuser none'
  fastrnns-rs ab cudnn jit py --b-env OMP_WAIT_POLICY=ACTIVE --processes 20
  fastrnns-rs ab cudnn jit --until decided
  fastrnns-rs ab cudnn --b-python ../torch-nightly/bin/python
  fastrnns-rs ab --same

Exit codes: 0 done, 1 a runner failed, 2 usage, 3 and 4 with --fail-on, 5 a device or an interpreter is missing,
130 interrupted."""


@click.command(name="ab", cls=Verb, epilog=EPILOG)
@click.argument("runners", nargs=-1, metavar="RUNNER...")
@side_options.options
@click.option("--same", is_flag=True, help="Compare a runner with itself, and store the noise of this machine.")
@runner_options.runner_files
@runner_options.sizes
@runner_options.modes
@effort_options.processes(
    "Fresh processes per side. [default: 10; 5 with --live, 3 with --quick, 20 with --rigorous or --same]"
)
@click.option(
    "--until",
    type=click.Choice(["decided"]),
    help="Stop as soon as every row has a verdict, after at most --processes pairs. [default pairs: 50]",
)
@click.option(
    "--live",
    is_flag=True,
    help="Keep both processes of a pair alive, and measure them alternately, usually 0.1 s each time, without --warmup "
    "and --nloops.",
)
@runner_options.machine
@options.seconds("--timeout", DEFAULT_TIMEOUT_S, "Time limit per process.")
@runner_options.torchscript
@runner_options.compiling
@verdict_options.margin
@verdict_options.statistic
@click.option("--force", is_flag=True, help="Compare different devices, and label the rows.")
@verdict_options.fail_on
@verdict_options.formats("ab")
@options.wide("Show ratios, p-values and memory too.")
@run_output.options
@history_options.options("ab")
def command(**given: Any) -> int:
    """Times baseline (A) and candidate (B) interleaved, and compares them.

    `ab cudnn py` compares the two runners; `bench cudnn py` times both. With an option for one side, such as --b-env,
    each named runner is compared with itself. `ab --same` runs cudnn unless a runner is named. Options without a side
    hold for both. Processes are interleaved in pairs, each in random order.
    """
    from fastrnns_rs.cli.run_saving import RunSaver

    run_output.check(given)
    history = history_options.find_history(given)
    target = run_output.choose_target(given, shared.choose_format(given))
    with (
        ResultsFile(target.run_file) as results,
        ResultsFile(target.document_file) as document,
        RunSaver(results, history) as keeping,
    ):
        terminal = run_output.terminal("ab")
        try:
            code = _measure(given, target, results, document, keeping, terminal)
        finally:
            terminal.close()
    return ExitCode.FAILED if keeping.failed and code != ExitCode.INTERRUPTED else code


def _measure(
    given: dict[str, Any],
    target: RunTarget,
    results: ResultsFile,
    document: ResultsFile,
    keeping: RunSaver,
    terminal: BenchTerminal,
) -> int:
    from fastrnns_rs.cli import comparison_output
    from fastrnns_rs.verbs.bench.execution import Interrupted, execute
    from fastrnns_rs.verbs.bench.interleaved import side_checks
    from fastrnns_rs.verbs.bench.interleaved.expected_sides import expected_sides
    from fastrnns_rs.verbs.bench.interleaved.interleaved_plan import choose_executor, start
    from fastrnns_rs.verbs.compare import margins, sequential_stop
    from fastrnns_rs.verbs.compare.compared_sources import compare_sources
    from fastrnns_rs.verbs.compare.verdicts import check_causes

    begin = time.monotonic()
    device_options.refuse_ranks("ab")
    format_name = shared.choose_format(given) or "table"
    fail_on = verdict_options.causes(given)
    check_causes(fail_on)
    # A wrong margin is reported before minutes of measurement.
    margins.check(given["margin"], given["statistic"])
    results.reserve(given["runner_file"])
    document.reserve(given["runner_file"])
    runner_options.load_files(given)
    requests = side_options.requests(given)
    side_options.warn_of_changed_meaning(given, requests)
    effort, words = side_checks.make_effort(given), ["fastrnns-rs", *sys.argv[1:]]
    with suppress(FastrnnsError):
        # An invalid option is reported by the real plan.
        terminal.expects(*expected_sides(requests, effort))
    judging = shared.take(given, "margin", "force", "statistic")
    executor = shared.executor()
    plan, run = start(requests, effort, command=words, executor=executor)
    noise_floor = given["margin"] == margins.NOISE_FLOOR
    side_checks.check_sides(plan, run, force=given["force"], noise_floor=noise_floor)
    run_output.tell_what_follows(given, plan, run, keeping, terminal)
    try:
        run = execute(
            plan,
            run,
            observer=terminal,
            save=keeping.save,
            executor=choose_executor(plan, executor),
            find_decided=partial(sequential_stop.find_decided, **judging),
        )
    except Interrupted as stopped:
        terminal.close()
        _show_interrupted(stopped.run, format_name, target, keeping)
        run_output.tell_end(stopped.run, keeping, begin)
        return ExitCode.INTERRUPTED
    terminal.close()
    if (name := keeping.find_name(run)) is not None:
        run.remember_name(name)
    comparison = compare_sources([run], [], fail_on=fail_on, **judging).comparison
    answer = [Line(""), Line(ending)] if (ending := sequential_stop.describe_end(run)) else []
    has_floor = False
    if given["same"] and run.status == "complete":
        comparison, answer, has_floor = same_output.keep_noise_floor(run, comparison, given)
    # The warnings of the run follow.
    file = None if target.document_file is None else document
    show = partial(comparison_output.show, wide=given["wide"], stored=False, document=file, answer=answer)
    show(comparison, format_name, target.output)
    run_output.tell_end(run, keeping, begin)
    if run.status != "complete" or results.failed or document.failed or (given["same"] and not has_floor):
        return ExitCode.FAILED
    if given["same"]:
        display.tell_next("Show the noise floor", "fastrnns-rs doctor")
    return comparison.exit_code


def _show_interrupted(run: Run, format_name: str, target: RunTarget, keeping: RunSaver) -> None:
    """Writes the times of both sides so far, which are not compared.

    A program gets the run instead of the comparison, unless a file has the run.
    """
    from fastrnns_rs.views.run import run_screen

    if not run.results:
        return
    if format_name == "table" and target.output is None:
        display.show_lines(run_screen.lines(run, display.terminal_width()))
    elif keeping.only_here is not None:
        if format_name == "json" and target.output is None and _prints(run.render("json")):
            shared.tell(["note: the run is on stdout, in place of the comparison"])
        else:
            keeping.keep_last()


def _prints(text: str) -> bool:
    """Writes a text to stdout, and returns False if it is lost.

    Ctrl-C also ends the program that reads a pipe.
    """
    with suppress(OSError):
        return shared.deliver(text, None)
    shared.discard(shared.STDOUT)
    return False
