"""Command `fastrnns-rs show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import history_options, options, shared, sweep_options
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.views import formats

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run


@click.command(name="show", cls=Verb)
@click.argument("file")
@options.formats("show", [*dict.fromkeys((*formats.RUN, *formats.COMPARISON))])
@sweep_options.rows("Show only rows that match CONDITION")
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
    shared.deliver(_text(path, format_name, given), output)
    return ExitCode.DONE


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
            raise UsageError(f"{file} is not a comparison: {error}", "compare --json writes one") from error
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
        raise UsageError(f"{file} cannot be shown: {error}", "look for a number without sense in it") from error


def _check(file: Path, what: str, format_name: str, names: tuple[str, ...]) -> None:
    if format_name not in names:
        raise UsageError(f"{file} is {what}, which has no format {format_name}", f"it has {', '.join(names)}")
