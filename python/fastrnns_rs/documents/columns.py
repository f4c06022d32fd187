"""Rows of documents as columns of NumPy arrays, for data frames."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from fastrnns_rs.documents.replicates import counted

if TYPE_CHECKING:
    import numpy as np

    from fastrnns_rs.documents.run_file import Run

    Columns = dict[str, np.ndarray[Any, Any]]

_NONE = type(None)


def collect_columns(rows: Sequence[object], kind: type) -> Columns:
    """Returns an array for each field of the rows.

    Args:
        rows: Rows, which are dataclasses of one class.
        kind: Class of the rows.

    Returns:
        Arrays of equal length. Integers are int64; other numbers, nullable numbers and integers of which one is 2⁶³ or
        more are float64 (None is NaN); flags are booleans; other values are objects.
    """
    hints = get_type_hints(kind)
    return {
        one.name: _column([getattr(row, one.name) for row in rows], *_known(hints[one.name])) for one in fields(kind)
    }


def flat_columns(rows: Sequence[object], kind: type) -> Columns:
    """Returns an array for each number, flag and text of the rows and of their parts.

    The names of parts are prefixes: `baseline_estimate_ns`. Data frames find the type of each column.

    Args:
        rows: Rows, which are dataclasses of one class.
        kind: Class of the rows.

    Returns:
        Arrays as those of `collect_columns`. Nullable flags are float64, and a text that is None is empty.
    """
    return {
        name: _plain_column([_value(row, path) for row in rows], inner, optional=optional)
        for name, path, inner, optional in _leaves(kind)
    }


def _leaves(
    kind: type, name: str = "", path: tuple[str, ...] = (), *, optional: bool = False
) -> Iterator[tuple[str, tuple[str, ...], Any, bool]]:
    """Yields the name, path and type of each column, and True if it is nullable."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        inner, may_be_none = _known(hints[one.name])
        here, deeper = f"{name}{one.name}", (*path, one.name)
        if is_dataclass(inner):
            yield from _leaves(inner, f"{here}_", deeper, optional=optional or may_be_none)  # type: ignore[arg-type]
        else:
            yield here, deeper, inner, may_be_none or optional


def _known(hint: Any) -> tuple[Any, bool]:
    """Returns a type without None, and True if it had None."""
    if get_origin(hint) not in {Union, types.UnionType}:
        return hint, False
    kinds = [one for one in get_args(hint) if one is not _NONE]
    return (kinds[0] if len(kinds) == 1 else object), len(kinds) < len(get_args(hint))


def _value(row: object, path: tuple[str, ...]) -> object:
    for name in path:
        if row is None:
            return None
        row = getattr(row, name)
    return row


def _column(values: Sequence[object], kind: Any, optional: bool) -> np.ndarray[Any, Any]:
    import numpy as np

    if kind is int and not optional:
        with suppress(OverflowError):
            return np.array(values, dtype=np.int64)
    if kind in {int, float}:
        return np.array([np.nan if one is None else one for one in values], dtype=np.float64)
    return np.array(values, dtype=np.bool_) if kind is bool and not optional else _objects(values)


def _plain_column(values: Sequence[object], kind: Any, *, optional: bool) -> np.ndarray[Any, Any]:
    """Returns a column whose type data frames find."""
    if kind is bool and optional:
        return _column(values, float, optional)
    is_text = kind is str or get_origin(kind) is Literal
    return _texts(values) if is_text else _column(values, kind, optional)


def _objects(values: Sequence[object]) -> np.ndarray[Any, Any]:
    import numpy as np

    found = np.empty(len(values), dtype=np.object_)
    # A list of lists of equal length would become a table.
    for place, one in enumerate(values):
        found[place] = one
    return found


def _texts(values: Sequence[object]) -> np.ndarray[Any, Any]:
    """Returns texts; fixed-width texts would all be as long as the longest name."""
    import numpy as np

    # A data frame cannot find the type of objects that it does not have.
    return _objects(["" if one is None else str(one) for one in values]) if values else np.empty(0, dtype="U1")


def sample_columns(run: Run) -> Columns:
    """Returns a row for each sample of a run, with its runner, phase and process."""
    import numpy as np

    axes = [] if run.sweep is None else [one.name for one in run.sweep.axes]
    names = ["runner", "side", "device", *axes, "phase", "process", "rank", "iteration", "timed", "time_ns"]
    parts: list[tuple[list[object], int, int | None, np.ndarray[Any, Any]]] = []
    for result in run.results:
        point = [result.point.get(axis) for axis in axes]
        complete = {id(one) for ranks in counted(result.processes) for one in ranks}
        for process in result.processes:
            for phase, samples in (("forward", process.forward_ns), ("backward", process.backward_ns)):
                known: list[object] = [result.runner, result.side, result.problem.device, *point, phase]
                known += [process.index, process.rank]
                first = process.first_timed if id(process) in complete else None
                parts.append((known, len(samples or ()), first, np.array(samples or (), dtype=np.int64)))
    counts = [count for _, count, _, _ in parts]
    iterations = [np.arange(count, dtype=np.int64) for count in counts]
    timed = [
        np.zeros(count, dtype=np.bool_) if first is None else place >= first
        for (_, count, first, _), place in zip(parts, iterations, strict=True)
    ]
    repeated = {
        name: _repeated([known[at] for known, *_ in parts], counts, int if name == "rank" else None)
        for at, name in enumerate(names[:-3])
    }
    return {
        **{name.replace("-", "_"): column for name, column in repeated.items()},
        "iteration": np.concatenate([*iterations, np.empty(0, dtype=np.int64)]),
        "timed": np.concatenate([*timed, np.empty(0, dtype=np.bool_)]),
        "time_ns": np.concatenate([*(one for *_, one in parts), np.empty(0, dtype=np.int64)]),
    }


def _repeated(values: Sequence[object], counts: Sequence[int], kind: type | None) -> np.ndarray[Any, Any]:
    """Returns each value as often as its count.

    Args:
        values: Values.
        counts: Count of each value.
        kind: `int` for integers that may all be None; None to find the kind.
    """
    import numpy as np

    optional = None in values or kind is not None
    is_number = kind is int or {type(one) for one in values} - {_NONE} == {int}
    return np.repeat(_column(values, int, optional) if is_number else _texts(values), counts)
