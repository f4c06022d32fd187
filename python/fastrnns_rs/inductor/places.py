"""Where what a module leaves behind goes: under names that say which module it was, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.profiling.naming import default_folder

if TYPE_CHECKING:
    from fastrnns_rs.inductor.finding import Generated
    from fastrnns_rs.inductor.planning import InductorOptions

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

    def place(suffix: str, *, wanted: bool) -> Path | None:
        return _reserve(folder, f"{one.path.stem[:_LONGEST_NAME]}_{one.graph}", suffix) if wanted else None

    return Places(
        trace=place(".trace.json.gz", wanted=asked.profile),
        memory_snapshot=place(".memory.pickle", wanted=asked.memory_snapshot),
        ncu_report=place(".ncu-rep", wanted=asked.ncu),
    )


def _reserve(folder: Path, name: str, suffix: str) -> Path:
    """An empty file in the folder, which is made."""
    base = f"{name}_{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for count in range(1, 1000):
            path = folder.resolve() / f"{base if count == 1 else f'{base}-{count}'}{suffix}"
            try:
                # Whoever makes the file has the name.
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        message = f"{folder} cannot be written to: {error.strerror}"
        raise UsageError(message, "choose another folder with --output-dir") from error
    raise UsageError(f"{folder} has a thousand files of this second", "choose another folder with --output-dir")
