"""Results that other tools wrote, as sides of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastrnns_rs.verbs.compare.importers import google_benchmark, hyperfine, pyperf, pytest_benchmark
from fastrnns_rs.verbs.compare.importers.json_place import Place
from fastrnns_rs.verbs.compare.side import Side


@dataclass(frozen=True, slots=True)
class _Format:
    """A foreign format.

    Attributes:
        name: The tool that writes it.
        recognises: Whether a JSON object looks like one, by its outermost keys: a damaged one still does.
        read: Makes a side of it.
        hint: How to write a file that can be read.
    """

    name: str
    recognises: Callable[[dict[str, Any]], bool]
    read: Callable[[Place], Side]
    hint: str


_FORMATS = (
    _Format("pytest-benchmark", pytest_benchmark.recognises, pytest_benchmark.read, pytest_benchmark.HINT),
    _Format("google-benchmark", google_benchmark.recognises, google_benchmark.read, google_benchmark.HINT),
    _Format("pyperf", pyperf.recognises, pyperf.read, pyperf.HINT),
    _Format("hyperfine", hyperfine.recognises, hyperfine.read, hyperfine.HINT),
)

#: The tools whose files can be read.
NAMES = tuple(sorted(one.name for one in _FORMATS))


def read_foreign(path: str, plain: object) -> Side | None:
    """The side that a file of another tool describes.

    Args:
        path: The file, for messages.
        plain: What its JSON holds.

    Returns:
        None where the JSON is of no known format.

    Raises:
        UsageError: It is of one, and damaged or of a version that is not known.
    """
    if not isinstance(plain, dict):
        return None
    for one in _FORMATS:
        if one.recognises(plain):
            return one.read(Place(plain, "", path, one.name, one.hint))
    return None
