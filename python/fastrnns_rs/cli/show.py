"""Command `fastrnns-rs show`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import display, history_options, options, output_checks, page_output, shared, sweep_options
from fastrnns_rs.cli.exit_codes import ExitCode
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.errors import UsageError, exclusive
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import formats
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.screen import Line

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.verbs.compare.side import Side

#: Results of another tool, in messages.
_FOREIGN = "what another tool measured"
_SUMMARY_SCHEMA = "fastrnns-rs/summary"
#: Formats of a summary of captures.
_SUMMARY = ("table", "json", page_output.HTML)

EPILOG = """\b
Examples:
  fastrnns-rs show @last
  fastrnns-rs show run.json --sort -forward
  fastrnns-rs show run.json --format csv --output run.csv
  fastrnns-rs show @last --warnings
  fastrnns-rs show @last~1 @last --format html --output page.html

Exit codes: 0 done, 2 usage."""


@click.command(name="show", cls=Verb, epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", callback=shared.path_words)
@options.formats("show", [*dict.fromkeys((*formats.RUN, *formats.COMPARISON))])
@sweep_options.rows("Show only rows that match CONDITION")
@options.wide("Show standard deviations, samples, warm-up and interval bounds too.")
@page_output.plot_option("the run or the comparison")
@page_output.plot_choice()
@click.option("--warnings", is_flag=True, help="Show all warnings, and no table.")
@options.output()
@history_options.options("show")
def command(files: tuple[str, ...], **given: Any) -> int:
    """Shows a run, a comparison, a summary or results of another tool again.

    FILE is a file, or a name in the history such as @last. Several documents are one page of --format html.
    """
    format_name = shared.choose_format(given) or "table"
    from fastrnns_rs.verbs.history.run_names import single_runs

    page_output.check_choice(given)
    typed = next(filter(shared.is_flag, ("as_json", "format_name", "open_page")), None)
    if given["warnings"] and format_name != "table" and typed is not None:
        raise exclusive("warnings", typed)
    if len(files) > 1:
        _check_several(files, given, format_name)
    history = history_options.find_history(given)
    paths = [*map(Path, single_runs(files, history))]
    output_checks.check_output(given["output"], paths)
    output_checks.check_output(given["plot"], paths, "--plot")
    if len(files) > 1:
        _show_page([*zip(files, paths, strict=True)], given)
    else:
        _show_one(files[0], paths[0], format_name, given)
    return ExitCode.DONE


def _check_several(files: Sequence[str], given: dict[str, Any], format_name: str) -> None:
    """Checks that the options fit several files.

    Raises:
        UsageError: If there is another output than a page.
    """
    for name in ("plot", "warnings"):
        if given[name]:
            raise UsageError(f"--{name} needs one file, and there are {len(files)}", f"Leave out --{name}.")
    if format_name != page_output.HTML:
        words = " ".join(map(shared.run_words, files))
        message = f"several files need --format html: {len(files)} files"
        raise UsageError(message, f"Run: fastrnns-rs show {words} --format html --output page.html", where="show")


def _show_page(named: Sequence[tuple[str, Path]], given: dict[str, Any]) -> None:
    """Writes one page of several runs and comparisons."""
    from fastrnns_rs.views.page.pages import html_page

    documents = [_page_document(file, path, given) for file, path in named]
    with _numbers_checked(named[0][1]):
        text = html_page(*documents)
    shared.deliver(text, given["output"])


def _page_document(file: str, path: Path, given: dict[str, Any]) -> Run | Comparison | SummaryDocument:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.compare.side import Side

    shown = _read(path)
    if isinstance(shown, Run):
        return sweep_options.chosen(shown, given).remember_name(file)
    if isinstance(shown, Side):
        raise _unsupported(file, _FOREIGN, page_output.HTML, ("table",))
    sweep_options.refuse(given, path)
    return shown


def _read(path: Path) -> Run | Comparison | SummaryDocument | Side:
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.verbs.compare.run_files import read_any

    found = read_any(path, (_SUMMARY_SCHEMA,))
    if not isinstance(found, dict):
        return found
    if found["schema"] == _SUMMARY_SCHEMA:
        try:
            return SummaryDocument.from_dict(found, str(path))
        except UsageError as error:
            message, hint = f"damaged summary: {str(path)!r}", "Use a document of report --json."
            raise UsageError(message, hint, reason=str(error), value=str(path)) from error
    return _comparison(path, found)


def _show_one(file: str, path: Path, format_name: str, given: dict[str, Any]) -> None:
    """Writes a document in any format, and its plot."""
    from fastrnns_rs.cli import comparison_output
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.verbs.compare.side import Side
    from fastrnns_rs.views import foreign_results

    output: Path | None = given["output"]
    shown = _read(path)
    noun, names = (
        ("a run", formats.RUN)
        if isinstance(shown, Run)
        else (_FOREIGN, ("table",))
        if isinstance(shown, Side)
        else ("a summary of captures", _SUMMARY)
        if isinstance(shown, SummaryDocument)
        else ("a comparison", formats.COMPARISON)
    )
    if not given["warnings"]:
        _check(file, noun, format_name, names)
    if isinstance(shown, Run):
        # Configured conditions are for rows, and warnings without a plot have none.
        has_rows = not given["warnings"] or given["plot"] is not None or any(map(shared.is_flag, ("filter", "sort")))
        shown = (sweep_options.chosen(shown, given) if has_rows else shown).remember_name(file)
    else:
        sweep_options.refuse(given, path)
    if not isinstance(shown, Side):
        # A wrong kind or row is reported before anything is printed.
        page_output.write_plot(shown, given["plot"], kind=given["plot_kind"], row=given["plot_row"])
    elif given["plot"] is not None:
        raise UsageError(f"no plot of {_FOREIGN}: {file!r}", "Leave out --plot.", where="plot", value=file)
    if given["warnings"]:
        # The warnings of a comparison are those of other files.
        name = file if isinstance(shown, Run) else None
        warnings: Any = shown.warnings
        _show_warnings(display.with_run_named(warnings, name), output)
    elif isinstance(shown, Run):
        _show_run(shown, file, format_name, output, given)
    elif isinstance(shown, Side):
        shared.deliver(foreign_results.table(shown), output)
        shared.tell_warnings(shown.warnings)
    elif isinstance(shown, SummaryDocument):
        _show_summary(shown, format_name, output)
    else:
        more = f"fastrnns-rs show {shared.run_words(file)} --warnings"
        with _numbers_checked(path):
            comparison_output.show(shown, format_name, output, wide=given["wide"], more=more)


def _show_summary(summary: SummaryDocument, format_name: str, output: Path | None) -> None:
    """Writes a summary of `report --json`."""
    from fastrnns_rs.views.page.pages import html_page
    from fastrnns_rs.views.summary.glance import glance
    from fastrnns_rs.views.summary.plain import make_plain

    if format_name == "table":
        text = glance(make_plain(summary), width=display.terminal_width() if output is None else WIDTH)
    else:
        text = summary.to_json() if format_name == "json" else html_page(summary)
    shared.deliver(text, output)


def _comparison(file: Path, plain: dict[str, Any]) -> Comparison:
    from fastrnns_rs.documents.comparison import Comparison

    try:
        return Comparison.from_dict(plain, str(file))
    except UsageError as error:
        raise UsageError(
            f"damaged comparison: {str(file)!r}", Comparison.hint, reason=str(error), value=str(file)
        ) from error


def _show_run(run: Run, name: str, format_name: str, output: Path | None, given: dict[str, Any]) -> None:
    """Writes a run, then its warnings, and a command for an incomplete run."""
    from fastrnns_rs.views.run import run_screen

    if format_name == "table":
        width = display.terminal_width() if output is None else WIDTH
        bars = display.has_symbols(output)
        display.show_lines(run_screen.lines(run, width, wide=given["wide"], bars=bars), output)
        more = f"fastrnns-rs show {shared.run_words(name)} --warnings"
        warnings = display.with_run_named(run.warnings, name)
        lines = display.warnings_as_lines(warnings, display.terminal_width(sys.stderr), more)
        lines += _next_lines(run, name)
        display.tell_lines([Line(""), *lines] if lines else [])
        return
    with _numbers_checked(Path(name)):
        text = run.render(format_name)
    if run.status != "complete":
        shared.tell([f"note: this run is not complete, but {visible(run.status)}"])
    shared.tell_warnings(display.with_run_named(run.warnings, name))
    shared.deliver(text, output)


def _next_lines(run: Run, name: str) -> list[Line]:
    """Returns the next command for a run, if there is one.

    The command continues or repeats an interrupted run, or compares the sides of `ab`.
    """
    limit, words = display.terminal_width(sys.stderr), shared.run_words(name)
    if run.sides:
        if run.status != "interrupted":
            return display.next_lines("Compare the sides", f"fastrnns-rs compare {words}", limit)
        is_ours = run.command[:1] == ["fastrnns-rs"]
        return display.next_lines("Start again", shlex.join(run.command), limit) if is_ours else []
    # Ranks are not resumed, and the command of `torchrun` is unknown.
    if run.status != "interrupted" or run.ranks:
        return []
    if run.command[:2] == ["fastrnns-rs", "bench"]:
        return display.next_lines("Continue", f"fastrnns-rs bench --resume {words}", limit)
    # A run file does not have the arguments of Python.
    call = f"fastrnns_rs.bench(..., resume={name!r})"
    return display.next_lines("Continue in Python, with the same arguments", call, limit)


def _show_warnings(warnings: Sequence[RunWarning], output: Path | None) -> None:
    """Writes all warnings of a document."""
    lines = display.warnings_as_lines(warnings, display.terminal_width() if output is None else WIDTH)
    display.show_lines(lines or [Line("no warnings")], output)


@contextmanager
def _numbers_checked(file: Path) -> Iterator[None]:
    """Replaces errors of numbers by an error about the file."""
    try:
        yield
    except (ArithmeticError, ValueError) as error:
        # Python's JSON parser accepts numbers of more than 64 bits, and infinite numbers.
        message, hint = f"cannot show file: {str(file)!r}", "Check the numbers of the file."
        raise UsageError(message, hint, reason=str(error), value=str(file)) from error


def _check(file: str, what: str, format_name: str, names: tuple[str, ...]) -> None:
    if format_name not in names:
        raise _unsupported(file, what, format_name, names)


def _unsupported(file: str, what: str, format_name: str, names: tuple[str, ...]) -> UsageError:
    message = f"unsupported format: {format_name!r}"
    hint = f"Use {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))}."
    return UsageError(message, hint, where="format_name", reason=f"{file!r} is {what}", value=format_name)
