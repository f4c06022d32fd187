"""Command `fastrnns-rs verify`."""

from __future__ import annotations

import shlex
from typing import Any

import click

from fastrnns_rs.cli import display, next_command, options, runner_options, shared
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import OptionalValueOption, Verb
from fastrnns_rs.cli.results_file import ResultsFile
from fastrnns_rs.counting import counted
from fastrnns_rs.documents.verification import FORMATS, Verification
from fastrnns_rs.escaping import visible
from fastrnns_rs.runners.plan import make_options
from fastrnns_rs.verbs.verify.verification_plan import DEFAULT_GROUPS, DEFAULT_SEED, DEFAULT_TIMEOUT_S, VerifyOptions
from fastrnns_rs.views.screen import Line
from fastrnns_rs.views.verification import lines
from fastrnns_rs.views.verify_terminal import VerifyTerminal

EPILOG = """\b
Examples:
  fastrnns-rs verify
  fastrnns-rs verify --group all --dtype float64
  fastrnns-rs verify jit jit_premul --hidden-size 512 --verbose
  fastrnns-rs verify --runner-file mine.py mine --json"""


@click.command(name="verify", cls=Verb, epilog=EPILOG)
@runner_options.choosing("check", "rnns")
@runner_options.runner_files
@runner_options.sizes
@runner_options.modes
@runner_options.machine
@click.option(
    "--check-grad",
    cls=OptionalValueOption,
    type=bool,
    is_flag=False,
    flag_value=True,
    default=True,
    metavar="[BOOLEAN]",
    help="Check gradients too. [default: True]",
)
@click.option("--no-check-grad", is_flag=True, help="Check outputs and states only.")
@click.option("--rtol", type=click.FloatRange(min=0), help="Relative tolerance. [default: by dtype]")
@click.option("--atol", type=click.FloatRange(min=0), help="Absolute tolerance. [default: by dtype]")
@options.seconds("--timeout", DEFAULT_TIMEOUT_S, "Time limit per runner.")
@runner_options.torchscript
@click.option("--verbose", is_flag=True, help="Show one line per check instead of one per runner.")
@options.formats("verify", FORMATS)
@options.output()
def command(**given: Any) -> int:
    """Checks outputs, states and gradients of runners against a reference.

    RUNNER names the runners to check. The reference is an independent implementation. Sizes default to small values, so
    that a check takes about one second on a CPU. The exit code is 1 if a runner is wrong or cannot be checked.
    """
    from fastrnns_rs.cli.device_options import refuse_ranks

    refuse_ranks("verify")
    with ResultsFile(given["output"]) as results:
        return _check(given, results)


def _check(given: dict[str, Any], results: ResultsFile) -> int:
    from fastrnns_rs.verbs.verify.verification_run import Interrupted, verify

    format_name = shared.choose_format(given) or "table"
    results.reserve(given["runner_file"])
    runner_options.load_files(given)
    asked = _asked(given)
    # Unknown runners are reported before torch is queried, which takes seconds.
    names = [runner.name for runner, _ in asked.options.choice.runners()]
    runner_options.note_idle_flags(asked.options.choice)
    interrupted = False
    with display.step_progress("verify", counted(len(names), "runner"), "runners") as progress:
        try:
            found = verify(asked, VerifyTerminal(progress, names))
        except Interrupted as stopped:
            found, interrupted = stopped.verification, True
    left = [one.runner for one in found.results if one.status == "interrupted"]
    # A file of an earlier verification is better than one without a check.
    if len(left) < len(names) or (format_name != "table" and given["output"] is None):
        _show(found, given, results, format_name)
    if interrupted:
        display.tell_lines([Line(f"Interrupted after {len(names) - len(left)} of {counted(len(names), 'runner')}.")])
        display.tell_next("Check the others", next_command.with_runners(left) if left else None)
        return ExitCode.INTERRUPTED
    _tell_next(found, given)
    return ExitCode.DONE if found.ok and not results.failed else ExitCode.FAILED


def _show(found: Verification, given: dict[str, Any], results: ResultsFile, format_name: str) -> None:
    """Writes the result, and the errors where the screen does not have them."""
    if format_name == "table" and given["output"] is None:
        display.show_lines(lines(found, display.terminal_width(), verbose=given["verbose"]))
    else:
        is_verbose = given["verbose"] and format_name == "table"
        results.deliver(found.render(format_name, view="checks" if is_verbose else "overview"))
        shared.tell_error(_failures(found))
    if found.results and all(one.status == "skipped" for one in found.results):
        shared.tell_error(["error: no runner was checked", "hint: The reasons are in the table."])


def _tell_next(found: Verification, given: dict[str, Any]) -> None:
    failed = [one.runner for one in found.results if one.status == "failed"]
    if failed and not given["verbose"]:
        display.tell_next("Show every check", next_command.with_runners(failed, "--verbose"))
    elif found.ok:
        files = [word for file in given["runner_file"] for word in ("--runner-file", str(file))]
        right = [one.runner for one in found.results if one.status == "ok"]
        # Many runners have a group, which is shorter.
        named = bool(given["runners"] or given["rnns"] or given["cnns"])
        words = right if named else ["--group", *(given["group"] or DEFAULT_GROUPS)]
        words += ["--variable-lstms"] * bool(given["variable_lstms"] and not named)
        display.tell_next("Time the runners", shlex.join(["fastrnns-rs", "bench", *words, *files]))


def _asked(given: dict[str, Any]) -> VerifyOptions:
    # Without `--group`, a flag that names networks chooses their group.
    by_flag = ["cnns"] * bool(given["cnns"]) + ["rnns"] * bool(given["rnns"] and given["cnns"])
    choice = runner_options.make_choice(given, by_flag or DEFAULT_GROUPS)
    # A flag takes precedence over a configured value.
    no_grad = given["no_check_grad"] and (shared.is_flag("no_check_grad") or not shared.is_flag("check_grad"))
    return VerifyOptions(
        options=make_options(given, choice),
        check_grad=given["check_grad"] and not no_grad,
        **shared.take(given, "rtol", "atol"),
    )


def _failures(found: Verification) -> list[str]:
    return [
        f"error: {visible(one.runner)}: {visible(one.reason or '')}" for one in found.results if one.status == "failed"
    ]


# The default is the seed of PyTorch's own test; the other verbs use 0.
next(param for param in command.params if param.name == "seed").default = DEFAULT_SEED
