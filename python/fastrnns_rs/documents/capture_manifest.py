"""Capture manifest: requested profile, files of the capture, and checks of both."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from fastrnns_rs.documents import soundness
from fastrnns_rs.documents.codec import RunWarning, shown, since
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.part import Part
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.problem import Problem

#: What is expected and found in checks of equal numbers, by ID without the name of a file.
_COMPARED = {
    "cycles": (r"(\d+)", r"(\d+)"),
    "runners": (r"(\d+) runners", r"(\d+) ended well"),
    "ranges": (r"(\d+ ranges)", r"(\d+ ranges(?:, \d+ (?:missing|too many): .*)?)"),
}
#: What is found in other checks that fail, and in those that pass. Lost events may be harmless.
_FAILED = {
    "kernels": r"0 kernels(?:, 0 graphs)?",
    "written": r"no file|an empty file",
    "opens": r"it cannot be read: .*",
}
_PASSED = {
    "kernels": r"\d+ kernels(?:, \d+ graphs)?",
    "written": r"\d+ bytes",
    "opens": r"\d+ (?:tables|events)",
    "event_loss": r"none",
}
_NEVER = r"(?!)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolEntry(Part):
    """Profiler of a capture. `path` is null for a profiler that is not a program."""

    name: str
    path: str | None
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ArtefactEntry(Part):
    """File of the capture, in the folder of its manifest."""

    path: str
    kind: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CheckEntry(Part):
    """Check that decides whether the capture is valid."""

    id: str
    expected: str
    found: str
    ok: bool

    def check(self, path: str) -> None:
        """Rejects a result that is not that of the texts.

        Args:
            path: Path of the check in the message.

        Raises:
            UsageError: If the texts say that the check passed and `ok` is false, or the reverse.
        """
        # Redaction may have changed the texts.
        if self._passed() not in {self.ok, None}:
            texts = f"expected is {shown(self.expected)} and found {shown(self.found)}"
            raise UsageError(f"{path}.ok is {str(self.ok).lower()}, and {texts}")

    def _passed(self) -> bool | None:
        """Returns whether the check passed by its texts; None if they do not say."""
        name = self.id.partition(":")[0]
        for patterns, passed in ((_FAILED, False), (_PASSED, True)):
            if re.fullmatch(patterns.get(name, _NEVER), self.found, re.DOTALL):
                return passed
        expected, found = (
            re.fullmatch(pattern, text, re.DOTALL)
            for pattern, text in zip(_COMPARED.get(name, (_NEVER, _NEVER)), (self.expected, self.found), strict=True)
        )
        return expected[1] == found[1] if expected and found else None


class _Placed(Document):
    """Base class of a manifest in memory, with the file names of its document."""

    __slots__ = ("_named",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Capture(_Placed):
    """Capture manifest: profiled runners, files, checks and effect of the profiler.

    `profiled_over_unprofiled` is the ratio of the median iterations, each summed over all runners.
    `profiled_over_unprofiled_ci` holds its 95 % interval within these two processes. It is null with fewer than ten
    iterations.

    `unprofiled_ns` has a number for each of `runners`: the time of one iteration without the profiler, in nanoseconds.
    It is the median of the captured iterations. The time of an iteration is that of its forward and its backward phase,
    as `bench` takes it. It is null for a runner that did not run without the profiler, or failed there.

    >>> import fastrnns_rs
    >>> capture = fastrnns_rs.load("capture.json")
    >>> capture.ok, capture.runners
    (True, ['cudnn'])
    """

    noun: ClassVar[str] = "capture manifest"
    hint: ClassVar[str] = "Use a capture manifest of profile."
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
    warnings: list[RunWarning]
    runners: list[str]
    problem: Problem
    iterations: int
    phases: list[str]

    @property
    def ok(self) -> bool:
        """True if there is at least one check, and every check passed."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    def check(self) -> None:
        """Checks numbers, as any document does, and those of runners and iterations.

        Raises:
            UsageError: If a number contradicts others; the message names it.
        """
        soundness.check_numbers(self)
        for number, one in enumerate(self.checks):
            one.check(f"checks[{number}]")
            asked = re.fullmatch(r"(\d+) runners", one.expected) if one.id == "runners" else None
            if asked and asked[1] != f"{len(self.runners)}":
                raise UsageError(f"checks[{number}].expected is {shown(one.expected)}, and runners {len(self.runners)}")
        if self.iterations < 1:
            raise UsageError(f"iterations is {self.iterations}, not above 0")
        if self.unprofiled_ns and len(self.unprofiled_ns) != len(self.runners):
            count = f"{len(self.unprofiled_ns)} numbers, and runners {len(self.runners)}"
            raise UsageError(f"unprofiled_ns has {count}")
        ends = self.profiled_over_unprofiled_ci
        if ends is not None and [min(ends, default=0), max(ends, default=0)] != ends:
            raise UsageError(f"profiled_over_unprofiled_ci is {shown(ends)}, not the ends of an interval")
        ratio = self.profiled_over_unprofiled
        if ratio is not None and ratio <= 0:
            raise UsageError(f"profiled_over_unprofiled is {ratio:g}, not above 0")

    def resolved(self, folder: Path) -> Self:
        """Returns the same manifest with absolute paths of all files.

        Its document keeps the file names.

        Args:
            folder: Folder of the manifest. File names that are not absolute start there.
        """
        # A tilde that does not name a user's home is kept, and no error is raised.
        paths = [str(folder / os.path.expanduser(one.path)) for one in self.artefacts]  # noqa: PTH111
        found = replace(
            self, artefacts=[replace(one, path=path) for one, path in zip(self.artefacts, paths, strict=True)]
        )
        object.__setattr__(found, "_named", self._as_named())
        return found

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document as plain dictionaries and lists."""
        return Document.to_dict(replace(self, artefacts=self._as_named()))

    def _as_named(self) -> list[ArtefactEntry]:
        return getattr(self, "_named", self.artefacts)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a capture manifest from a file, as `Document.load` does.

        Files then have absolute paths, whatever their names in the manifest.
        """
        # A class with slots is created twice, and `super()` without arguments finds the first class.
        found = super(Capture, cls).load(path).resolved(Path(path).resolve().parent)
        return found.remember_name(path)
