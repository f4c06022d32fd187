"""Writer of one merged trace of captures, for timeline viewers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from fastrnns_rs.documents.writer_lock import locked
from fastrnns_rs.documents.writing import check_writable, replacing
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.report import sources

if TYPE_CHECKING:
    from fastrnns_rs._core import Trace


class Counted(TypedDict):
    """Filters of the included events, as keyword arguments of `Trace`."""

    devices: list[int]
    streams: list[int]
    processes: list[int]
    pattern: str | None
    since_ns: int | None
    until_ns: int | None
    data_loaders: list[str]


def check(output: str | Path, captures: Sequence[str | Path]) -> None:
    """Checks the output path of the trace before anything is read.

    Raises:
        UsageError: If the path cannot be written to, or is one of the captures.
    """
    output = Path(output)
    check_writable(output)
    for capture in captures:
        for file in sources.files_not_to_replace(capture):
            if (
                output.exists()
                and Path(file).exists()
                and (output.samefile(file) or output.resolve() == Path(file).resolve())
            ):
                reason, hint = "the file is one of the captures", "Use another file for the merged trace."
                what = f"cannot write file: {str(output)!r}"
                raise UsageError(what, hint, where="trace_output", reason=reason, value=str(output))


def write(trace: Trace, output: str | Path, counted: Counted) -> None:
    """Writes the trace, compressed unless its name ends in `.json`.

    Raises:
        UsageError: If the trace cannot be written, or another process writes it. An earlier file is kept.
    """
    output = Path(output)
    with locked(output) as place, replacing(output, place) as file:
        trace.draw(file.name, compress=output.suffix != ".json", **counted)
