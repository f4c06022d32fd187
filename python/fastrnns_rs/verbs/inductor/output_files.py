"""Where what a module leaves behind goes: under names that say which module it was, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents.file_names import default_folder, reserve_file

if TYPE_CHECKING:
    from fastrnns_rs.verbs.inductor.module_files import Generated
    from fastrnns_rs.verbs.inductor.request import InductorOptions

#: A file system takes names of 255 bytes.
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The files of a module; None for what is not asked for."""

    trace: Path | None = None
    memory_snapshot: Path | None = None
    ncu_report: Path | None = None

    def drop_empty(self) -> None:
        """Removes those that nothing was written to."""
        for path in (self.trace, self.memory_snapshot, self.ncu_report):
            if path is not None and path.exists() and path.stat().st_size == 0:
                path.unlink()


def places_of(one: Generated, asked: InductorOptions) -> Places:
    """Names that nothing else has.

    Raises:
        UsageError: The folder cannot be made or written to.
    """
    folder = asked.output_dir or default_folder()
    # Torch drops some letters of a name when it writes a trace.
    name = "".join(letter if letter.isprintable() else "_" for letter in one.path.stem)
    stem = name.encode(errors="replace")[:_LONGEST_NAME].decode(errors="ignore")
    base = f"{stem}_{one.graph}_{datetime.now(UTC):%Y%m%dT%H%M%SZ}"

    def place(suffix: str, *, wanted: bool) -> Path | None:
        return reserve_file(folder, base, suffix) if wanted else None

    return Places(
        trace=place(".trace.json.gz", wanted=asked.profile),
        memory_snapshot=place(".memory.pickle", wanted=asked.memory_snapshot),
        ncu_report=place(".ncu-rep", wanted=asked.ncu),
    )
