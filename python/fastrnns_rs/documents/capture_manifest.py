"""The capture record: what a profiler was asked, what it left, and whether that is what was asked for."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fastrnns_rs.documents import codec
from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.problem.problem import Problem

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry:
    """The profiler. `path` is null for one that is no program."""

    name: str
    path: str | None
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtefactEntry:
    """A file of the capture, in the folder of its record."""

    path: str
    kind: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEntry:
    """What was looked at before the capture was called one."""

    id: str
    expected: str
    found: str
    ok: bool


class _Placed:
    """What a record in memory knows beside its document: how that names its files."""

    __slots__ = ("_names",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(_Placed):
    """What a profiler wrote of runners, and how it came about.

    `unprofiled_ns` has a number for each of `runners`: how long one iteration took in the run without the profiler, in
    nanoseconds. It is the median of the iterations that were captured, each the time of its forward and its backward
    phase, as `bench` takes it. It is null for a runner that did not run without the profiler, or failed there.
    """

    schema: Literal["fastrnns-rs/capture"]
    schema_version: str
    tool: ToolEntry
    command: list[str]
    started_utc: str
    duration_ns: int
    exit_status: int | None
    signal: int | None
    timed_out: bool
    artefacts: list[ArtefactEntry]
    checks: list[CheckEntry]
    profiled_over_unprofiled: float | None
    unprofiled_ns: list[int | None]
    warnings: list[Notice]
    runners: list[str]
    problem: Problem
    iterations: int
    phases: list[str]

    @property
    def ok(self) -> bool:
        """Whether there was something to check, and every check passed."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    def resolved(self, folder: Path) -> Capture:
        """The same with every file by its absolute path. Its document names them as before.

        Args:
            folder: Where the record lies: names of files that are not absolute start there.
        """
        # A tilde that stands for nobody's home stays, and no error is raised.
        paths = [str(folder / os.path.expanduser(one.path)) for one in self.artefacts]  # noqa: PTH111
        found = replace(
            self, artefacts=[replace(one, path=path) for one, path in zip(self.artefacts, paths, strict=True)]
        )
        object.__setattr__(found, "_names", self._document_names())
        return found

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as plain dictionaries and lists."""
        plain: dict[str, Any] = codec.to_plain(self)
        for one, name in zip(plain["artefacts"], self._document_names(), strict=True):
            one["path"] = codec.to_plain(name)
        return plain

    def to_json(self) -> str:
        """The JSON document."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Writes the record. The file is there whole or not at all.

        Raises:
            UsageError: The place cannot be written to.
        """
        codec.write_atomically(Path(path), self.to_json())

    def _document_names(self) -> list[str]:
        return getattr(self, "_names", [one.path for one in self.artefacts])

    @classmethod
    def load(cls, path: str | Path) -> Capture:
        """Reads a record. Its files are then named by absolute paths, whatever the record calls them.

        Raises:
            MissingError: There is no such file.
            UsageError: It is no record.
        """
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            codec.check_version(plain, SCHEMA_VERSION)
            return codec.from_plain(cls, plain).resolved(Path(path).resolve().parent)
        except FileNotFoundError as error:
            raise MissingError(f"no file at {path}", "give the path of a capture record") from error
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} is not a capture record: {error}", "profile writes one beside it") from error
