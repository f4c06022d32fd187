"""Output files of a module, named after the module and the time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents.file_names import default_folder, reserve_file, unfinished
from fastrnns_rs.processes.folder_removal import remove_folders

if TYPE_CHECKING:
    from fastrnns_rs.verbs.inductor.module_files import Generated
    from fastrnns_rs.verbs.inductor.request import InductorOptions

#: File systems limit names to 255 bytes.
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Paths of a module's output files; None for files that are not requested."""

    trace: Path | None = None
    memory_snapshot: Path | None = None
    ncu_report: Path | None = None

    def drop_unfinished(self) -> None:
        """Removes a trace that torch was writing when its process was killed."""
        if self.trace is not None:
            remove_folders(self.trace.parent, unfinished(self.trace.name))

    def drop_empty(self) -> None:
        """Removes the files that are empty."""
        for path in (self.trace, self.memory_snapshot, self.ncu_report):
            # A program may have put a folder there.
            if path is not None and path.is_file() and path.stat().st_size == 0:
                path.unlink()


def reserve_places(one: Generated, asked: InductorOptions) -> Places:
    """Reserves unique output paths for a module.

    Raises:
        UsageError: If the folder cannot be created or written to.
    """
    folder = asked.output_dir or default_folder()
    # torch drops some characters of a name when it writes a trace.
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
