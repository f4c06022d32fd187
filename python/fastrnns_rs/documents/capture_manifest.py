"""The capture record: what a profiler was asked, what it left, and whether that is what was asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from fastrnns_rs.documents.codec import Notice, since
from fastrnns_rs.documents.document import Document
from fastrnns_rs.problem.problem import Problem


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


class _Placed(Document):
    """What a record in memory knows beside its document: the files as that names them."""

    __slots__ = ("_named",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(_Placed):
    """What a profiler wrote of runners, and how it came about.

    `profiled_over_unprofiled_ci` holds the 95 % interval of that ratio; null with fewer than ten iterations.

    `unprofiled_ns` has a number for each of `runners`: how long one iteration took in the run without the profiler, in
    nanoseconds. It is the median of the iterations that were captured, each the time of its forward and its backward
    phase, as `bench` takes it. It is null for a runner that did not run without the profiler, or failed there.
    """

    noun: ClassVar[str] = "capture record"
    hint: ClassVar[str] = "profile writes one beside it"
    schema: Literal["fastrnns-rs/capture"] = "fastrnns-rs/capture"
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
    profiled_over_unprofiled_ci: list[float] | None = field(default=None, metadata=since("1.2"))
    unprofiled_ns: list[int | None] = field(default_factory=list, metadata=since("1.1"))
    warnings: list[Notice]
    runners: list[str]
    problem: Problem
    iterations: int
    phases: list[str]

    @property
    def ok(self) -> bool:
        """Whether there was something to check, and every check passed."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    def resolved(self, folder: Path) -> Self:
        """The same with every file by its absolute path. Its document names them as before.

        Args:
            folder: Where the record lies: names of files that are not absolute start there.
        """
        # A tilde that stands for nobody's home stays, and no error is raised.
        paths = [str(folder / os.path.expanduser(one.path)) for one in self.artefacts]  # noqa: PTH111
        found = replace(
            self, artefacts=[replace(one, path=path) for one, path in zip(self.artefacts, paths, strict=True)]
        )
        object.__setattr__(found, "_named", self._as_named())
        return found

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as plain dictionaries and lists."""
        return Document.to_dict(replace(self, artefacts=self._as_named()))

    def _as_named(self) -> list[ArtefactEntry]:
        return getattr(self, "_named", self.artefacts)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """As of any document. Files are then named by absolute paths, whatever the record calls them."""
        # A class with slots is made twice, which `super()` does not see.
        return super(Capture, cls).load(path).resolved(Path(path).resolve().parent)
