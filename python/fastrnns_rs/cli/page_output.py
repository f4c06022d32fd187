"""Output as pages of `--format html` and as plots of `--plot`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from fastrnns_rs.cli import output_checks, shared
from fastrnns_rs.cli.configuration import TargetFile
from fastrnns_rs.cli.options import PAGE, F, several
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible

HTML = "html"


def plot_option(document: str) -> Callable[[F], F]:
    """Returns `--plot`, the file of a plot.

    Args:
        document: What the plot shows, as `the times`.
    """
    return click.option(
        "--plot",
        cls=TargetFile,
        type=click.Path(path_type=Path),
        metavar="OUT.svg",
        help=f"Draw {document} to a .png, .svg or .pdf file too.",
    )


def plot_choice(rows: str = "cudnn/forward") -> Callable[[F], F]:
    """Returns `--plot-kind` and `--plot-row`, which choose the plot of `--plot`.

    Args:
        rows: Example of a row.
    """
    return several(
        click.option("--plot-kind", metavar="KIND", help="Kind of --plot. [default: the first kind of the document]"),
        click.option("--plot-row", metavar="ROW", help=f"Row of --plot, such as {rows}. [default: the first row]"),
    )


def check_choice(given: dict[str, Any]) -> None:
    """Checks that options which choose a plot have a plot.

    Raises:
        UsageError: If `--plot` is missing.
    """
    for name in ("plot_kind", "plot_row"):
        if given[name] is not None and given["plot"] is None:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} needs --plot", f"Add --plot OUT.svg or leave out {flag}.")


def check(given: dict[str, Any], name: str | None) -> str | None:
    """Checks the packages of a page or of a plot before there is anything to lose.

    With `--open`, the format is HTML, and `output` of `given` becomes a new file unless it names one.

    Args:
        given: Options of the command.
        name: Requested format; None for the default.

    Returns:
        The format.

    Raises:
        MissingError: If a package is not installed.
        UsageError: If `--open` has another format, a page would be written to a terminal, or a plot has an unknown
            format or the file of the output.
    """
    if given.get("open_page"):
        if name not in {None, HTML}:
            flag = "--json" if given["as_json"] else f"--format {name}"
            hint = f"Leave out {flag} or use --format html." if given["as_json"] else "Use --format html."
            raise UsageError(f"--open needs --format html, and there is {flag}", hint, where="open_page")
        name = HTML
    if name == HTML:
        from fastrnns_rs.views.output_stream import is_terminal
        from fastrnns_rs.views.page.writing import require_packages

        _without_settings_here(require_packages)
        if not given.get("open_page") and given["output"] is None and is_terminal(sys.stdout):
            raise UsageError("--format html needs a file: stdout is a terminal", "Add --output page.html or --open.")
    if given.get("open_page"):
        if given["output"] is not None and shared.is_stream(given["output"]):
            raise UsageError("--open needs a file", "Leave out --output, or use the path of a file.")
        if given["output"] is None:
            import tempfile

            from fastrnns_rs.processes.temporary_folder import temporary_root

            descriptor, name_of_file = tempfile.mkstemp(suffix=".html", prefix="fastrnns-rs-", dir=temporary_root())
            os.close(descriptor)
            path = given["output"] = Path(name_of_file)
            click.get_current_context().call_on_close(lambda: _remove_empty(path))
        click.get_current_context().meta[PAGE] = given["output"], _file_state(given["output"])
    if given.get("plot") is not None:
        from fastrnns_rs.views.plots.figure import check_suffix, require_matplotlib

        check_suffix(given["plot"])
        _without_settings_here(require_matplotlib)
        output_checks.check_output(given["plot"], flag="--plot")
        output_checks.check_distinct(given, "output", "plot")
    return name


def _remove_empty(path: Path) -> None:
    """Removes the file of a page that was not written."""
    with suppress(OSError):
        if not path.stat().st_size:
            path.unlink()


def _without_settings_here(require: Callable[[], None]) -> None:
    """Imports matplotlib without the settings of a file in the working directory.

    It reads such a file when it is imported, also a file of another user. Plots have a style of their own.
    """
    from fastrnns_rs.processes.working_directory import outside_working_directory

    with outside_working_directory():
        require()


def write_plot(document: object, path: Path | None, *, kind: str | None = None, row: str | None = None) -> None:
    """Draws a plot of a document to a file.

    Args:
        document: Document.
        path: File; None for no plot.
        kind: Kind of plot; None for the first.
        row: Row of a kind that shows one row; None for the first.
    """
    if path is not None:
        from fastrnns_rs.views.plots.figure import save

        save(document, path, kind, row=row)


def _file_state(path: Path) -> tuple[int, ...] | None:
    """Returns inode, time and size of a file; None if it is missing or empty."""
    with suppress(OSError):
        found = path.stat()
        return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None
    return None


def open_page(path: Path, before: tuple[int, ...] | None) -> None:
    """Opens a page in a browser, if the command wrote it.

    Args:
        path: File of the page.
        before: State of the file when the command began: an earlier page is not opened as a new one.
    """
    if _file_state(path) in {None, before}:
        return
    import webbrowser

    from fastrnns_rs.processes.programs import absolute_folders

    # The module searches `PATH` for many programs, some of which hardly a machine has.
    os.environ["PATH"] = absolute_folders()
    is_open = False
    # `BROWSER` is any text, and its commands may be none.
    with suppress(ValueError, LookupError, OSError, webbrowser.Error):
        is_open = webbrowser.open(path.resolve().as_uri())
    if is_open:
        shared.tell([f"note: the browser shows {visible(str(path))}"])
    elif shared.is_quiet():
        # The path is the only result: the file may be a temporary one.
        click.echo(path)
    else:
        shared.tell([f"note: no browser found; the page is {visible(str(path))}"])
