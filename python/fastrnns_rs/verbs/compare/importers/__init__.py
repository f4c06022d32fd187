"""Importers that convert results of other tools to sides of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fastrnns_rs.verbs.compare.importers import google_benchmark, hyperfine, pyperf, pytest_benchmark
from fastrnns_rs.verbs.compare.importers.json_place import Place

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Side


class _Format(Protocol):
    """Interface of a module that reads a foreign format.

    Attributes:
        HINT: Hint that explains how to write a file that the module can read.
    """

    HINT: str

    def recognises(self, plain: dict[str, Any]) -> bool:
        """Returns True if the outermost keys of a JSON object match the format.

        A damaged file still matches.
        """

    def read(self, document: Place) -> Side:
        """Converts the document to a side."""


#: Tools and their formats. If several formats match, the first is used.
_FORMATS: dict[str, _Format] = {
    "pytest-benchmark": pytest_benchmark,
    "google-benchmark": google_benchmark,
    "pyperf": pyperf,
    "hyperfine": hyperfine,
}

#: Names of the tools whose files can be read.
NAMES = tuple(sorted(_FORMATS))


def read_foreign(path: str, plain: object) -> Side | None:
    """Converts a file of another tool to a side.

    Args:
        path: Path of the file, for messages.
        plain: Parsed JSON of the file.

    Returns:
        The side; None if the format is not known.

    Raises:
        UsageError: If the format is known, and the file is damaged or its version is not known.
    """
    if not isinstance(plain, dict):
        return None
    for tool, one in _FORMATS.items():
        if one.recognises(plain):
            return one.read(Place(plain, "", path, tool, one.HINT))
    return None
