"""Readers that turn files into sides, recognising each format by its content."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.collections_off import without_collections
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.side import pool

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.verbs.compare.side import Side

    Source = str | os.PathLike[str] | Run

_RUN = "fastrnns-rs/run"
_LONGEST_SCHEMA = 60
#: Other documents of fastrnns-rs, with the command that shows each.
_OTHERS = {
    "fastrnns-rs/comparison": "fastrnns-rs show FILE shows a comparison",
    "fastrnns-rs/summary": "captures are shown by fastrnns-rs report",
    "fastrnns-rs/capture": "captures are shown by fastrnns-rs report",
    "fastrnns-rs/doctor": "fastrnns-rs doctor looks at the machine anew",
    "fastrnns-rs/list": "fastrnns-rs list shows the runners",
    "fastrnns-rs/noise-floor": "fastrnns-rs doctor shows the noise floor",
    "fastrnns-rs/dry-run": "a plan has no times: measure without --dry-run",
}
_KNOWN = "run files of bench, and JSON of pyperf, pytest-benchmark, hyperfine and google-benchmark are known"


def load(path: str | Path) -> Any:
    """Returns the parsed JSON of a file.

    Raises:
        MissingError: If the file does not exist.
        UsageError: If the file cannot be read or is not JSON.
    """
    text = reading.document_text(path, Run.noun)
    try:
        try:
            return reading.parsed(text)
        except reading.NoNumberError:
            plain = json.loads(text)
            # google-benchmark writes counters as C++ prints them (NaN, Infinity). Its importer checks every time
            # itself.
            if isinstance(plain, dict) and {"context", "benchmarks"} <= plain.keys():
                return plain
            raise
    except ValueError as error:
        what = "is empty" if not text.strip() else f"is no JSON: {error}"
        raise UsageError(f"{path} {what}", _KNOWN) from error


def read_side(sources: Sequence[Source]) -> Side:
    """Reads one side from one or several runs, and pools their processes.

    Args:
        sources: Paths of files, or runs.

    Raises:
        MissingError: If a file does not exist.
        UsageError: If a file contains no runs, or both sides of `ab`, or a run that another file contains too.
    """
    if not sources:
        raise UsageError("a side of the comparison has no files", "give at least one")
    sides: list[Side] = []
    seen: dict[str, str] = {}
    with without_collections():
        for source in sources:
            found, name = _open(source), _name(source)
            # A copy of a run, or the run that it was resumed from, has the same run ID.
            key = found.run_id if isinstance(found, Run) else os.path.realpath(name)
            if key in seen:
                message = f"{seen[key]} and {name}, of one side, hold the same run"
                raise UsageError(message, "a process counts once; give each run once")
            seen[key] = name
            sides.append(
                side_of_run(found, label=_label(source), file=name)
                if isinstance(found, Run)
                else replace(found, runs=[key])
            )
    return pool(sides)


def read_both(source: Source) -> tuple[Side, Side]:
    """Reads both sides of a run of `ab`.

    Raises:
        MissingError: If the file does not exist.
        UsageError: If the run does not have two sides.
    """
    name = _name(source)
    found = source if isinstance(source, Run) else read_any(name)
    if isinstance(found, dict):
        raise UsageError(f"{name} is a comparison, not a run", _OTHERS["fastrnns-rs/comparison"])
    if not isinstance(found, Run) or not found.sides:
        raise UsageError(f"{name} is one side of a comparison", "give the other one too: compare BASELINE CANDIDATE")
    if found.status == "interrupted":
        # An interrupted block has samples of one side that the other side does not have.
        raise UsageError(f"{name} was interrupted: its sides were not measured alike", "run ab again")
    labels = {one.name: one.label for one in found.sides}
    if [*labels] != ["a", "b"]:
        raise UsageError(f"{name} has not the two sides a and b", "fastrnns-rs ab writes files with two sides")
    first, second = (side_of_run(found, side=side, label=labels[side], file=name) for side in ("a", "b"))
    return first, second


def read_any(path: str | Path) -> Run | Side | dict[str, Any]:
    """Reads a run, the results of another tool, or a comparison as plain JSON."""
    plain = load(path)
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if schema == "fastrnns-rs/comparison":
        found: dict[str, Any] = plain
        return found
    if schema != _RUN and isinstance(schema, str) and schema.startswith("fastrnns-rs/"):
        # The schema name of an unknown version can have any length.
        raise UsageError(f"{path} is a {schema[:_LONGEST_SCHEMA]} document", _OTHERS.get(schema, _KNOWN))
    if schema == _RUN:
        try:
            return Run.from_dict(plain, str(path))
        except UsageError as error:
            raise UsageError(f"{path} is not a run file: {error}", "bench --output FILE writes one") from error
    from fastrnns_rs.verbs.compare.importers import read_foreign

    foreign = read_foreign(str(path), plain)
    if foreign is None:
        raise UsageError(f"{path} is of no known format", _KNOWN)
    return foreign


def _open(source: Source) -> Run | Side:
    """Returns a run of one side, or the results of another tool."""
    found = source if isinstance(source, Run) else read_any(_name(source))
    if isinstance(found, dict):
        raise UsageError(f"{_name(source)} is a comparison, not a run", _OTHERS["fastrnns-rs/comparison"])
    if isinstance(found, Run) and found.sides:
        message = f"{_name(source)} holds both sides of an ab"
        raise UsageError(message, f"fastrnns-rs compare {_name(source)}, with no other file, compares them")
    return found


def _label(source: Source) -> str:
    """Returns the label of a side: for a run of the history, its name there."""
    return _name(source) if isinstance(source, Run) else str(source)


def _name(source: Source) -> str:
    return f"run {source.run_id}" if isinstance(source, Run) else os.fspath(source)
