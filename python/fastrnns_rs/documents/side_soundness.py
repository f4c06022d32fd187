"""Checks of the sides of a comparison: their sessions, memory and devices."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown, to_plain
from fastrnns_rs.documents.replicates import LEAST_SESSIONS
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Compared, Comparison, Figures, Row

#: Largest number of options and variables whose labels are compared, which takes a time quadratic in it.
_MOST_WORDS = 1000


def check_sides(found: Comparison) -> None:
    """Rejects sessions that the rows do not have, and two peaks of one process.

    It also rejects sides that do not match in a comparison that was not forced, and differences that the environments
    do not have.

    Raises:
        UsageError: If a side has such a number; the message names its path.
    """
    _check_forced(found)
    _check_differences(found)
    _check_labels(found)
    for name, whole in (("baseline", found.baseline), ("candidate", found.candidate)):
        rows: list[tuple[int, Row, Figures]] = [
            (number, row, side) for number, row in enumerate(found.rows) if (side := getattr(row, name)) is not None
        ]
        # Files of other tools may have samples without processes.
        if whole.sessions is not None and all(side.n_processes for *_, side in rows):
            _check_sessions(name, whole.sessions, rows)
        if len(whole.files) == 1:
            _check_peaks(name, rows)
    _check_only_runner(found)


def _check_forced(found: Comparison) -> None:
    """Checks that a comparison of sides that do not match was forced.

    The answer begins with this. Rows of runs do not show each reason.
    """
    if found.method.forced:
        return
    if any(one.code == "forced" for one in found.warnings):
        raise UsageError("method.forced is false, and a warning is that the comparison was forced")
    first, second = found.baseline.devices, found.candidate.devices
    # Captures without the name of a GPU are compared with any.
    if found.kind == "capture" and first and second and first != second:
        names = f"{shown(first)} and {shown(second)}"
        raise UsageError(f"method.forced is false, and the devices are {names}")


def _check_differences(found: Comparison) -> None:
    """Checks that the differences are those of the environments.

    Older documents have no environments, and may list a machine of which only one side has an ID. Seeds are of rows.
    """
    first, second = found.baseline.environment, found.candidate.environment
    if not first or not second:
        return
    every = [
        [(key, first.get(key), second.get(key)) for key in {**first, **second} if first.get(key) != second.get(key)],
        [(one.key, one.baseline, one.candidate) for one in found.environment_differences],
    ]
    # Documents have names that are not UTF-8 escaped, except in keys.
    expected, listed = (
        Counter(
            (*to_plain([key, *pair]),)
            for key, *pair in each
            if key != "problem.seed" and not (key == "machine_id" and None in pair)
        )
        for each in every
    )
    for key, *pair in (expected - listed) + (listed - expected):
        values = f"{shown(first.get(key, pair[0]))} and {shown(second.get(key, pair[1]))}"
        raise UsageError(f"environment_differences are others than those of {shown(key)}: {values}")


def _check_labels(found: Comparison) -> None:
    """Checks that no label has the files, or the options, of the other side."""
    first, second = found.baseline, found.candidate
    files = [_name_files(one) for one in (first, second)]
    # A run of Python code may have another name than its file.
    if first.label != second.label and (first.label, second.label) == (files[1], files[0]):
        raise UsageError("baseline.label is that of the files of the candidate, and the reverse")
    for name, side, other in (("baseline", first, second), ("candidate", second, first)):
        own, words = (_find_words(one) for one in (side, other))
        if len(own) + len(words) > _MOST_WORDS:
            continue
        # A value may contain what is an option of the other side.
        rest = f"{side.label} "
        for word in own:
            rest = rest.replace(f" {word} ", " ")
        foreign = next((one for one in words if f" {one} " in rest), None)
        if foreign is not None and side.label != _name_files(side):
            raise UsageError(f"{name}.label is {shown(side.label)}, and {shown(foreign)} is of the other side")


def _name_files(side: Compared) -> str:
    return " and ".join([*side.files[:1], *([f"{len(side.files) - 1} more"] if len(side.files) > 1 else [])])


def _find_words(side: Compared) -> list[str]:
    """Returns what the label of a side of an `ab` has of its environment."""
    every = ((key, value) for key, value in side.environment.items() if value is not None)
    return [
        str(value) if key == "options" else f"{key.removeprefix('variables.')}={value}"
        for key, value in every
        if key in {"options", "python"} or key.startswith("variables.")
    ]


def find_runner(row: Row) -> Hashable:
    """Returns a key that is equal for the phases of one runner and problem."""
    problem = row.problem.by_name() if row.problem else {}
    return (
        row.runner,
        *sorted((name, str(value)) for name, value in problem.items() if name not in {"seed", "device"}),
    )


def _check_sessions(name: str, sessions: int, rows: list[tuple[int, Row, Figures]]) -> None:
    """Checks that each session may have a process."""
    counts: defaultdict[Hashable, Counter[str | None]] = defaultdict(Counter)
    for _, row, side in rows:
        counts[find_runner(row)][row.phase] += side.n_processes
    # Both phases have the same processes.
    processes = sum(max(one.values()) for one in counts.values())
    if sessions > processes:
        raise UsageError(f"{name}.sessions is {sessions}, and the rows have {processes} processes")


def _check_only_runner(found: Comparison) -> None:
    """Checks that the sessions of a single runner are those that its basis has."""
    numbers = (found.baseline.sessions, found.candidate.sessions)
    phases = {row.phase: row for row in found.rows if row.baseline and row.candidate}
    # All processes have a forward phase. A failed runner has processes that no row shows.
    if len(phases) < len(found.rows) or len({*map(find_runner, found.rows)}) != 1 or None in numbers:
        return
    row = phases.get("forward", found.rows[0])
    first, second = (number or 0 for number in numbers)
    if row.basis == "interleaved" and first != second:
        raise UsageError(f"baseline.sessions is {first}, and candidate.sessions {second}, of rows of the same sessions")
    if row.basis in {"two_sessions", "history"} and min(first, second) >= LEAST_SESSIONS:
        raise UsageError(f"baseline.sessions is {first}, and the basis of the rows is {row.basis}")


def _check_peaks(name: str, rows: list[tuple[int, Row, Figures]]) -> None:
    """Checks that both phases of a runner have one peak.

    They ran in the same processes.
    """
    # Results that differ in their timing mode, which a comparison does not record, have the same key.
    phases = Counter((find_runner(row), row.phase) for _, row, _ in rows)
    peaks: dict[Hashable, int | None] = {}
    for number, row, side in rows:
        if phases[find_runner(row), row.phase] > 1:
            continue
        first = peaks.setdefault(find_runner(row), side.peak_memory_bytes)
        if side.peak_memory_bytes != first:
            found = f"{side.peak_memory_bytes}, and the other phase of the runner has {first}"
            raise UsageError(f"rows[{number}].{name}.peak_memory_bytes is {found}")
