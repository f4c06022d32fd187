"""Results that other tools wrote, as sides of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fastrnns_rs.verbs.compare.importers import google_benchmark, hyperfine, pyperf, pytest_benchmark
from fastrnns_rs.verbs.compare.importers.json_place import Place

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Side


class _Format(Protocol):
    """A module that reads a foreign format; `HINT` says how to write a file that can be read."""

    HINT: str

    def recognises(self, plain: dict[str, Any]) -> bool:
        """Whether a JSON object looks like one, by its outermost keys: a damaged one still does."""

    def read(self, document: Place) -> Side:
        """Makes a side of it."""


#: The tools that write them. Of two that look alike the first counts.
_FORMATS: dict[str, _Format] = {
    "pytest-benchmark": pytest_benchmark,
    "google-benchmark": google_benchmark,
    "pyperf": pyperf,
    "hyperfine": hyperfine,
}

#: The tools whose files can be read.
NAMES = tuple(sorted(_FORMATS))


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
    for tool, one in _FORMATS.items():
        if one.recognises(plain):
            return one.read(Place(plain, "", path, tool, one.HINT))
    return None
