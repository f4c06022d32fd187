"""Command `fastrnns-rs compare`."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click

from fastrnns_rs.cli import history_options, options, output_checks, page_output, shared, verdict_options
from fastrnns_rs.cli.configuration import Input, Program, Unconfigured, note_sources
from fastrnns_rs.cli.options import ListOption, Verb, VerbContext
from fastrnns_rs.errors import UsageError, exclusive

EPILOG = """\b
Examples:
  fastrnns-rs compare before.json after.json
  fastrnns-rs compare @last~1 @last
  fastrnns-rs compare before.json after.json --fail-on regression
  fastrnns-rs compare --baseline before-*.json --candidate after-*.json
  fastrnns-rs compare ab.json --explain cudnn/forward
  fastrnns-rs compare before.sqlite after.sqlite

Exit codes: 0 done, 1 a runner of the candidate failed, 2 usage, or the sides do not belong together, 3 and 4 with
--fail-on, 5 a tool is missing."""


_TWO_LISTS = "Use --baseline FILE... --candidate FILE..., and no other files."


class Files(ListOption, Input):
    """List option of paths, with any spaces and commas, and of names of runs."""

    #: `configured` leaves names of runs as they are.
    names_runs = True

    def __init__(self, declarations: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, **settings)
        self.callback = lambda _context, _option, value: tuple(one for one in value if one)


@click.command(name="compare", cls=Verb, epilog=EPILOG)
@click.argument("files", nargs=-1, metavar="[BASELINE CANDIDATE]", callback=shared.path_words)
@click.option("--baseline", cls=Files, metavar="FILE...", help="Files of the baseline, one per session.")
@click.option("--candidate", cls=Files, metavar="FILE...", help="Files of the candidate, one per session.")
@verdict_options.margin
@verdict_options.statistic
@click.option("--force", is_flag=True, help="Compare different timing modes, devices and problems, and label the rows.")
@verdict_options.fail_on
@click.option(
    "--explain",
    cls=Unconfigured,
    metavar="ROW",
    help="Derive the verdict of one row step by step: RUNNER, RUNNER/PHASE or a kernel.",
)
@click.option("--iteration-range", metavar="NAME", help="Annotation or NVTX range that marks iterations.")
@click.option(
    "--wide",
    is_flag=True,
    help="Show ratios, p-values, memory, means and 95th percentiles too; of captures, kernels apart; with --explain, "
    "all samples.",
)
@click.option(
    "--nsys-path", cls=Program, metavar="PATH", help="nsys program that exports reports. [default: the newest]"
)
@verdict_options.formats("compare")
@page_output.plot_option("the ratios, or the kernels that made the difference,")
@page_output.plot_choice()
@options.output()
@history_options.options("compare")
def command(**given: Any) -> int:
    """Compares two runs or captures: did the candidate get faster or slower?

    Reads run files of bench, captures, and JSON of pyperf, pytest-benchmark, hyperfine and google-benchmark. A file of
    ab holds both sides. For captures the table shows which kernels made the difference.
    """
    from fastrnns_rs._core import return_freed_memory
    from fastrnns_rs.cli import comparison_output
    from fastrnns_rs.verbs.compare import margins
    from fastrnns_rs.verbs.compare.compared_sources import are_captures, compare_sources
    from fastrnns_rs.verbs.compare.verdicts import check_causes
    from fastrnns_rs.verbs.history.run_history import open_past
    from fastrnns_rs.verbs.history.run_names import resolved
    from fastrnns_rs.verbs.report.sources import files_not_to_replace

    note_sources(click.get_current_context(), "nsys_path")
    typed = next(filter(shared.is_flag, ("as_json", "format_name", "open_page")), None)
    if given["explain"] is not None and typed is not None:
        raise exclusive("explain", typed)
    format_name = shared.choose_format(given) or "table"
    page_output.check_choice(given)
    fail_on = verdict_options.causes(given)
    _check_causes(given, fail_on, check_causes)
    # A wrong margin is reported before files are read, which may take long.
    margins.check(given["margin"], given["statistic"])
    history = history_options.find_history(given)
    first, second = (resolved(side, history) for side in _files(given))
    files = [os.fspath(one) for one in (*first, *second)]
    for flag in ("output", "plot"):
        output_checks.check_output(
            given[flag], (one for file in files for one in files_not_to_replace(file)), f"--{flag}"
        )
    captures = are_captures(first, second)
    if not captures:
        # Configured ones are for captures.
        given |= {name: None for name in ("iteration_range", "nsys_path") if not shared.is_flag(name)}
    elif not second:
        raise UsageError("missing argument: CANDIDATE", "Use 2 captures: baseline and candidate.", where="compare")
    if captures:
        if given["statistic"] != "median" and shared.is_flag("statistic"):
            raise UsageError("--statistic needs runs", "Leave out --statistic.")
        given["statistic"] = "median"
        return_freed_memory()
    settings = shared.take(given, "margin", "force", "iteration_range", "nsys_path", "statistic")
    with open_past(history) as past:
        found = compare_sources(first, second, fail_on=fail_on, past=past, **settings)
    # A wrong kind or row is reported before anything is printed.
    page_output.write_plot(found.comparison, given["plot"], kind=given["plot_kind"], row=given["plot_row"])
    if given["explain"] is not None:
        comparison_output.show_derivation(found, given["explain"], given["output"], wide=given["wide"])
    else:
        more = None if given["wide"] else _typed("--wide")
        named = {os.fspath(one): shared.run_words(str(one)) for one in (*first, *second) if str(one) != os.fspath(one)}
        comparison_output.show(
            found.comparison, format_name, given["output"], wide=given["wide"], more=more, named=named
        )
    return found.comparison.exit_code


def _typed(flag: str) -> str:
    """Returns the command as it was typed, with another flag."""
    from fastrnns_rs.views.text import shell_word

    context = click.get_current_context()
    words = [*context.words] if isinstance(context, VerbContext) else []
    # Words behind two dashes are files.
    words.insert(words.index("--") if "--" in words else len(words), flag)
    return " ".join(["fastrnns-rs", "compare", *map(shell_word, words)])


def _files(given: dict[str, Any]) -> tuple[Sequence[str], Sequence[str]]:
    """Returns the files of baseline and candidate.

    A single file is a run of `ab`, which contains both sides; the candidate is then empty.
    """
    files, baseline, candidate = given["files"], given["baseline"], given["candidate"]
    # Named files have priority over configured ones.
    if files and any(given[name] and shared.is_flag(name) for name in ("baseline", "candidate")):
        message = "BASELINE and CANDIDATE exclude --baseline and --candidate"
        raise UsageError(message, _TWO_LISTS)
    if len(files) == 1:
        return files, ()
    if files:
        if len(files) > 2:  # noqa: PLR2004  # a baseline and a candidate
            message = f"unexpected argument: {' '.join(map(repr, files[2:]))}"
            raise UsageError(message, _TWO_LISTS, where="compare")
        baseline, candidate = ([file] for file in files)
    if not baseline or not candidate:
        missing = " and ".join(name for name, side in (("BASELINE", baseline), ("CANDIDATE", candidate)) if not side)
        raise UsageError(f"missing argument: {missing}", "Run: fastrnns-rs compare --help", where="compare")
    return baseline, candidate


def _check_causes(given: Mapping[str, Any], fail_on: Sequence[str], check: Any) -> None:
    try:
        check(fail_on)
    except UsageError as error:
        # A list option takes every word up to the next flag, and so also files that follow it.
        wrong = [one for one in fail_on if os.path.isfile(one)]  # noqa: PTH113  # Path raises for long words
        words, named = sys.argv[2:], [*given["files"], *wrong]
        if wrong and not Counter(named) - Counter(words):
            for file in named:
                words.remove(file)
            hint = f"Run: {shlex.join(['fastrnns-rs', 'compare', *named, *words])}"
            raise UsageError(f"file after a list: {wrong[0]!r}", hint, where="--fail-on") from error
        raise
