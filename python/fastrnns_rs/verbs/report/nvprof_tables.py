"""Warning about tables of nvprof beside other captures of the same program."""

from __future__ import annotations

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.report import file_kinds, sources

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fastrnns_rs.documents.codec import RunWarning


def find_repeated_tables(paths: Sequence[str | Path]) -> Iterator[RunWarning]:
    """Yields a warning if tables and profiles of nvprof may repeat each other.

    Their times cannot be compared: summaries have none, and those of tables and profiles have different origins.

    Args:
        paths: Captures, manifests and folders that can be read.
    """
    files = [file for path in paths for file, _, _ in sources.behind(path)]
    kinds = {file: kind for file in files if (kind := file_kinds.nvprof_kind(file))}
    tables = [file for file, kind in kinds.items() if kind != "database"]
    if tables and len({*kinds.values()}) > 1:
        message = "activities count twice, if a table of nvprof is of the same program as another file"
        yield make_warning("same_capture_twice", message=message, evidence=", ".join(tables))
