"""Readers that turn files into sides, recognising each format by its content."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.file_description import wrong_kind
from fastrnns_rs.documents.garbage_collection import pause_garbage_collection
from fastrnns_rs.documents.replicates import count_planned
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.side import pool

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.verbs.compare.side import Side

    Source = str | os.PathLike[str] | Run

_RUN = "fastrnns-rs/run"
_BOTH = "Use 2 files: baseline and candidate."
#: Kind of file that this module reads.
_WANTED = "run or comparison"


def load(path: str | Path) -> Any:
    """Returns the parsed JSON of a file.

    Raises:
        UsageError: If the file does not exist, cannot be read or is not JSON.
    """
    text = reading.document_text(path, _WANTED)
    try:
        try:
            return reading.parsed(text)
        except (reading.NoNumberError, reading.DuplicateKeyError):
            # google-benchmark writes counters behind its own keys, with any name, and as C++ prints them (NaN,
            # Infinity). Its importer checks every time itself.
            plain = _parse_leniently(text)
            if plain is not None:
                return plain
            raise
    except ValueError as error:
        reason = "the file is empty" if not text.strip() else f"the file is not JSON: {error}"
        raise wrong_kind(path, _WANTED, reason=reason, readers=("show",)) from error


def _parse_leniently(text: str) -> dict[str, Any] | None:
    """Returns the document of a google-benchmark file; None for another document.

    The first of equal keys counts, except in the outermost object.

    Raises:
        ValueError: If the text is not JSON.
    """
    outer: list[tuple[str, Any]] = []

    def keep_first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal outer
        # That of the document is the last.
        outer = pairs
        return dict(reversed(pairs))

    try:
        plain = json.loads(text, object_pairs_hook=keep_first)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error
    if not isinstance(plain, dict) or len(plain) < len(outer):
        return None
    # Our documents and those of pytest-benchmark have one of the others.
    is_google = {"context", "benchmarks"} <= plain.keys() and not {"schema", "machine_info"} & plain.keys()
    return plain if is_google else None


def read_side(sources: Sequence[Source]) -> Side:
    """Reads one side from one or several runs, and pools their processes.

    Args:
        sources: Paths of files, or runs.

    Raises:
        UsageError: If a file does not exist, or contains no runs, or both sides of `ab`, or a run that another file
            contains too.
    """
    if not sources:
        raise UsageError("missing files: `baseline` and `candidate` need at least 1 file each", _BOTH)
    sides: list[Side] = []
    seen: dict[Hashable, str] = {}
    with pause_garbage_collection():
        for source in sources:
            found, name = _open(source), _name(source)
            # A copy of a run, or the run that it was resumed from, has the same run ID.
            key = found.run_id if isinstance(found, Run) else os.path.realpath(name)
            known = [key, *(_processes(found) if isinstance(found, Run) else _foreign_processes(found))]
            for one in known:
                if one in seen:
                    message = f"duplicate run: {seen[one]!r} and {_shown(source)!r} contain the same run"
                    raise UsageError(message, "Use each run once.")
            if len({*known}) < len(known):
                message = f"duplicate process: {_shown(source)!r} contains a process twice"
                raise UsageError(message, "Measure again.", value=_shown(source))
            seen |= dict.fromkeys(known, _shown(source))
            sides.append(
                side_of_run(found, label=_shown(source), file=name, name=_typed(source))
                if isinstance(found, Run)
                else _with_session(found, str(key))
            )
    return pool(sides)


def _with_session(side: Side, file: str) -> Side:
    """Returns a side of another tool, whose file counts as one session."""
    series = [one if one.lack else replace(one, sessions=[file] * len(one.medians_ns)) for one in side.series]
    return replace(side, runs=[file], series=series)


def _processes(run: Run) -> Iterator[Hashable]:
    """Yields a key of each process that no other process has.

    A run may be copied under another run ID, and a result under another seed: sides are pooled whatever their seeds
    are.
    """
    for result in run.results:
        problem = replace(result.problem, seed=0)
        for one in result.processes:
            if one.session is not None and one.forward_ns:
                samples = hash((*one.forward_ns, *(one.backward_ns or ())))
                yield one.session, result.runner, result.mode, problem, one.rank, one.index, one.order, samples


def _foreign_processes(side: Side) -> Iterator[Hashable]:
    """Yields a key of each benchmark and of each process that no other has.

    Times of two measurements are never equal to the last digit, unless the clock is coarse.
    """
    for series in side.series:
        if _are_coarse(series.medians_ns):
            continue
        if len({*series.medians_ns}) > 1:
            yield series.runner, *series.medians_ns
        for median, mean, p95 in zip(series.medians_ns, series.means_ns, series.p95s_ns, strict=False):
            # Of a single time there may be a second.
            if median not in {mean, p95} and mean != p95:
                yield series.runner, "process", median, mean, p95


def _are_coarse(times_ns: Sequence[float]) -> bool:
    """Returns True if two of these times may be equal by chance.

    They are multiples of a step of more than a ten-thousandth of the shortest.
    """
    picoseconds = [round(1000 * one) for one in times_ns]
    return 10_000 * math.gcd(*picoseconds) > min(picoseconds, default=0)


def read_both(source: Source) -> tuple[Side, Side]:
    """Reads both sides of a run of `ab`.

    Raises:
        UsageError: If the file does not exist, or the run does not have two sides.
    """
    name, shown = _name(source), _shown(source)
    found = source if isinstance(source, Run) else read_any(name)
    if isinstance(found, dict):
        raise _comparison(shown)
    if not isinstance(found, Run) or not found.sides:
        raise UsageError("missing candidate", _BOTH, reason=f"{shown!r} is a baseline only")
    if found.status == "interrupted":
        # An interrupted block has samples of one side that the other side does not have.
        done = sum(process.status == "ok" for one in found.results for process in one.processes)
        reason = f"it has {done} of {count_planned(found)} processes"
        raise UsageError(f"interrupted run: {shown!r}", "Run ab again.", reason=reason, value=shown, verb="show")
    labels = {one.name: one.label for one in found.sides}
    if [*labels] != ["a", "b"]:
        raise UsageError(f"not a run of ab: {shown!r}", "Use a run file of ab.", value=shown)
    typed = _typed(source)
    first, second = (side_of_run(found, side=side, label=labels[side], file=name, name=typed) for side in ("a", "b"))
    return first, second


def read_any(path: str | Path, others: Sequence[str] = ()) -> Run | Side | dict[str, Any]:
    """Reads a run, the results of another tool, or a comparison as plain JSON.

    Args:
        path: File.
        others: Schemas of other documents that are returned as plain JSON too.
    """
    plain = load(path)
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if schema == "fastrnns-rs/comparison" or schema in others:
        found: dict[str, Any] = plain
        return found
    if schema != _RUN and isinstance(schema, str) and schema.startswith("fastrnns-rs/"):
        raise wrong_kind(path, _WANTED, reason=f"unknown schema: {schema[:60]!r}")
    if schema == _RUN:
        try:
            return Run.from_dict(plain, str(path))
        except UsageError as error:
            shown = str(path)
            raise UsageError(f"not a run: {shown!r}", Run.hint, reason=str(error), value=shown) from error
    from fastrnns_rs.verbs.compare.importers import read_foreign

    foreign = read_foreign(str(path), plain)
    if foreign is None:
        raise wrong_kind(path, _WANTED, reason="unknown format", readers=("show",))
    return foreign


def _open(source: Source) -> Run | Side:
    """Returns a run of one side, or the results of another tool."""
    found = source if isinstance(source, Run) else read_any(_name(source))
    if isinstance(found, dict):
        raise _comparison(_shown(source))
    if isinstance(found, Run) and found.sides:
        shown = _shown(source)
        message = f"not one run: {shown!r} contains baseline and candidate of ab"
        raise UsageError(message, "Compare the file alone.", value=shown, verb="compare")
    return found


def _comparison(name: str) -> UsageError:
    return UsageError(f"not a run: {name!r} is a comparison", "Use a run.", value=name, verb="show")


def _typed(source: Source) -> str | None:
    """Returns the name of a run for a command line; None if it has no name."""
    return source.loaded_as if isinstance(source, Run) else str(source)


def _name(source: Source) -> str:
    return f"run {source.run_id}" if isinstance(source, Run) else os.fspath(source)


def _shown(source: Source) -> str:
    """Returns the name of a source in messages, as the user typed it."""
    return source.loaded_as or _name(source) if isinstance(source, Run) else str(source)
