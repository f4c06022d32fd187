"""Command `fastrnns-rs show`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import display, history_options, options, shared, sweep_options
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import formats
from fastrnns_rs.views.prose import WIDTH
from fastrnns_rs.views.screen import Line

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run


@click.command(name="show", cls=Verb)
@click.argument("file")
@options.formats("show", [*dict.fromkeys((*formats.RUN, *formats.COMPARISON))])
@sweep_options.rows("Show only rows that match CONDITION")
@options.wide("Show standard deviations, samples, warm-up and interval bounds too.")
@click.option("--warnings", "only_warnings", is_flag=True, help="Show all warnings, and no table.")
@options.output()
@history_options.options("show")
def command(file: str, output: Path | None, **given: Any) -> int:
    """Shows a run, a comparison, or results of another tool again.

    FILE is a file, or a name in the history such as @last.
    """
    format_name = shared.format_of(given) or "table"
    from fastrnns_rs.verbs.history.run_names import one_run

    path = Path(one_run(file, history_options.history_of(given)))
    shared.check_output(output, [path])
    if given["only_warnings"]:
        _show_warnings(path, output)
    elif format_name == "table" and (run := _run_of(path)) is not None:
        _show_run(run, file, output, given)
    else:
        shared.deliver(_text(path, format_name, given), output)
    return ExitCode.DONE


def _run_of(file: Path) -> Run | None:
    """Returns the run of a file; None if the file contains something else."""
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.compare.run_files import read_any

    found = read_any(file)
    return found if isinstance(found, Run) else None


def _show_run(run: Run, name: str, output: Path | None, given: dict[str, Any]) -> None:
    """Writes the screen of a run, then its warnings and, if it is incomplete, the command that continues it."""
    from fastrnns_rs.views.run import run_screen

    width = display.terminal_width() if output is None else WIDTH
    shown = sweep_options.chosen(run, given)
    display.show_lines(run_screen.lines(shown, width, wide=given["wide"]), output)
    width = display.terminal_width(sys.stderr)
    lines = display.warnings_as_lines(run.warnings, width, f"fastrnns-rs show {shlex.quote(name)} --warnings")
    if run.status == "interrupted" and not run.sides:
        lines.append(Line(f"Continue: fastrnns-rs bench --resume {shlex.quote(name)}"))
    display.tell_lines([Line(""), *lines] if lines else [])


def _show_warnings(file: Path, output: Path | None) -> None:
    """Writes all warnings of a run or a comparison."""
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.verbs.compare.run_files import read_any

    found = read_any(file)
    warnings = (Comparison.from_dict(found, str(file)) if isinstance(found, dict) else found).warnings
    lines = display.warnings_as_lines(warnings, display.terminal_width() if output is None else WIDTH)
    display.show_lines(lines or [Line("no warnings")], output)


def _text(file: Path, format_name: str, given: dict[str, Any]) -> str:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.verbs.compare.run_files import read_any

    found = read_any(file)
    if isinstance(found, Run):
        _check(file, "a run", format_name, formats.RUN)
        text = _rendered(file, sweep_options.chosen(found, given), format_name)
        if found.status != "complete":
            shared.tell([f"note: this run is not complete, but {visible(found.status)}"])
        shared.tell_warnings(found.warnings)
        return text
    sweep_options.refuse(given, file)
    if isinstance(found, dict):
        from fastrnns_rs.documents.comparison import Comparison

        _check(file, "a comparison", format_name, formats.COMPARISON)
        try:
            comparison = Comparison.from_dict(found, str(file))
        except UsageError as error:
            raise UsageError(
                f"damaged comparison: {str(file)!r}", Comparison.hint, reason=str(error), value=str(file)
            ) from error
        text = _rendered(file, comparison, format_name)
        shared.tell_warnings(comparison.warnings, format_name)
        return text
    from fastrnns_rs.views.foreign_results import table

    _check(file, "what another tool measured", format_name, ("table",))
    shared.tell_warnings(found.warnings)
    return table(found)


def _rendered(file: Path, document: Run | Comparison, format_name: str) -> str:
    try:
        return document.render(format_name)
    except (ArithmeticError, ValueError) as error:
        # Python's JSON parser accepts numbers of more than 64 bits, and infinite numbers.
        message, hint = f"cannot show file: {str(file)!r}", "Check the numbers of the file."
        raise UsageError(message, hint, reason=str(error), value=str(file)) from error


def _check(file: Path, what: str, format_name: str, names: tuple[str, ...]) -> None:
    if format_name not in names:
        message = f"unsupported format: {format_name!r}"
        hint = f"Use {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))}."
        reason = f"{str(file)!r} is {what}"
        raise UsageError(message, hint, where="format_name", reason=reason, value=format_name)
