"""File with the answer of the profiled process.

A runner in the process can write anything to the file, or put a pipe, a device or a folder in its place.
"""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from fastrnns_rs.documents import codec, reading
from fastrnns_rs.documents.codec import since
from fastrnns_rs.errors import FastrnnsError, UsageError

#: Largest size in bytes. Tables with all rows of a large model have some megabytes.
_MOST_BYTES = 256 << 20
#: Largest time in nanoseconds, as in documents.
_MOST_NS = 1 << 62
#: Number of texts of a file: its path and its kind.
_FILE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runner:
    name: str
    status: Literal["pending", "running", "ok", "failed"]
    phases: list[str]
    step: str = field(default="", metadata=since("1.0"))
    reason: str | None = field(default=None, metadata=since("1.0"))
    hint: str = field(default="", metadata=since("1.0"))
    forward_ns: list[int] = field(default_factory=list, metadata=since("1.0"))
    backward_ns: list[int] | None = field(default=None, metadata=since("1.0"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    message: str
    hint: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cycle:
    runner: str
    index: int
    iterations: list[int]
    table: str
    files: list[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    runners: list[_Runner]
    refusal: _Refusal | None = field(default=None, metadata=since("1.0"))
    cycles: list[_Cycle] = field(default_factory=list, metadata=since("1.0"))
    warnings: list[str] = field(default_factory=list, metadata=since("1.0"))
    finished: bool = field(default=False, metadata=since("1.0"))


def read_answer(path: Path, iterations: int) -> dict[str, Any]:
    """Returns the answer of a process, as far as it is written.

    Args:
        path: Path of the file.
        iterations: Number of iterations of a runner that ended well.

    Returns:
        An empty dictionary without an answer. For a damaged answer, a refusal with the reason.
    """
    try:
        # Opening a pipe would wait for its writer, and a link may lead to a device.
        if not stat.S_ISREG(path.lstat().st_mode):
            return _damaged("the file of its answer was replaced")
        plain = json.loads(reading.content(path, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    try:
        answer = codec.from_plain(_Answer, plain, {})
        _check(answer, iterations)
    except UsageError as error:
        return _damaged(error.message)
    return asdict(answer)


def remove_answer(path: Path) -> None:
    """Removes the file, unless it is not a file."""
    with suppress(OSError):
        path.unlink()


def _check(answer: _Answer, iterations: int) -> None:
    """Rejects values that no process sends.

    Raises:
        UsageError: If there is such a value.
    """
    for one in answer.runners:
        times = [one.forward_ns, *([one.backward_ns] if one.backward_ns else [])]
        if one.status == "ok" and min(map(len, times)) < iterations:
            raise UsageError(f"times missing: {one.name[:40]!r}")
        if any(not 0 <= time <= _MOST_NS for each in times for time in each):
            raise UsageError(f"time out of range: {one.name[:40]!r}")
    if any(len(file) != _FILE for cycle in answer.cycles for file in cycle.files):
        raise UsageError("a file has no path or no kind")


def _damaged(why: str) -> dict[str, Any]:
    message = f"the answer of the profiled process is damaged: {why}"
    return {"runners": [], "refusal": {"message": message, "hint": "", "kind": FastrnnsError.__name__}}
