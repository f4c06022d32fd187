"""Names and folders of captures."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING

from fastrnns_rs.documents.user_folder import user_folder
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from fastrnns_rs.problem.problem import Problem

#: File systems allow names of 255 bytes, and nsys cuts names that are longer than this.
_LONGEST_RUNNERS = 60
_OTHER_FOLDER = "Use another `output_dir`."


def default_folder() -> Path:
    """Returns the default folder of captures, by the platform's convention."""
    return user_folder("data") / "captures"


def name(runners: list[str], problem: Problem, now: datetime) -> str:
    """Returns the name of a capture: its runners, its sizes and the time.

    The time is in seconds.
    """
    return f"prof_{_runners(runners)}_{_sizes(problem)}_{now:%Y%m%dT%H%M%SZ}"


def reserve(folder: Path, runners: list[str], problem: Problem, *, shares_traces: bool = False) -> Path:
    """Creates the folder and an empty log in it, under a new name.

    Args:
        folder: Output folder of the capture.
        runners: Names of its runners.
        problem: Its problem.
        shares_traces: True if its traces are written to a folder that may not be its own.

    Returns:
        Path of all files of the capture, without suffixes.

    Raises:
        UsageError: If the folder cannot be created or written to.
    """
    suffix = ".log"
    # The log reserves the name in one folder. Captures of the same second with other output folders write traces too.
    base = name(runners, problem, datetime.now(UTC)) + (f"-{secrets.token_hex(4)}" if shares_traces else "")
    path = reserve_file(folder, base, suffix)
    return path.with_name(path.name.removesuffix(suffix))


def reserve_file(folder: Path, base: str, suffix: str) -> Path:
    """Creates the folder and a new empty file in it.

    The name of the file is the base, or the base and a number.

    Raises:
        UsageError: If the folder cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for count in range(1, 1000):
            path = folder.resolve() / f"{base if count == 1 else f'{base}-{count}'}{suffix}"
            try:
                # Creating the file reserves the name: another process that tries the same name fails.
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            return path
    except (OSError, ValueError) as error:
        # A ValueError: the path has a zero byte, or a character that no path can have.
        message, reason = f"cannot write folder: {str(folder)!r}", getattr(error, "strerror", None) or str(error)
        raise UsageError(message, _OTHER_FOLDER, where="output_dir", reason=reason, value=str(folder)) from error
    reason = "the folder has a thousand captures of this second"
    raise UsageError(f"cannot write folder: {str(folder)!r}", _OTHER_FOLDER, where="output_dir", reason=reason)


def with_suffix(stem: Path, suffix: str) -> Path:
    """Returns the path of a file of a capture.

    `Path.with_suffix` would cut the stem at its last dot.
    """
    return stem.with_name(stem.name + suffix)


def unfinished(stem: str) -> str:
    """Returns the start of the names of folders with unfinished files.

    Args:
        stem: Name of the files without suffixes, so that a parent knows the folders of its child process.
    """
    return f".fastrnns-rs-{hashlib.sha256(stem.encode(errors='surrogatepass')).hexdigest()[:16]}-"


def legible(runner: str) -> str:
    """Returns a runner's name with only characters that are safe in a file name."""
    return "".join(letter if letter.isalnum() or letter in "_+" else "_" for letter in runner)


def distinct(runner: str) -> str:
    """Returns a short file-safe name that is different for each runner."""
    name = legible(runner)
    return name if name == runner and len(name.encode()) <= _LONGEST_RUNNERS else _hashed(runner)


def choose_distinct(runner: str, runners: Iterable[str]) -> str:
    """Returns a file-safe name that differs from others even without case.

    Some file systems ignore case.

    Args:
        runner: Name of a runner of a capture.
        runners: Names of the runners of the capture so far, in order.
    """
    earlier = takewhile(runner.__ne__, runners)
    is_taken = any(one.casefold() == runner.casefold() for one in earlier)
    return _hashed(runner) if is_taken else distinct(runner)


def by_distinct(runners: Sequence[str]) -> dict[str, str]:
    """Returns runners by their names in file names, from `choose_distinct`."""
    return {name: one for one in reversed(runners) for name in (_hashed(one), distinct(one))}


def find_runner(file: str, runners: Mapping[str, str]) -> str | None:
    """Returns the runner of a trace of torch's profiler, by the name of the file.

    Args:
        file: Name of a file, `STEM.RUNNER.CYCLE.json.gz`, without its folder.
        runners: Runners of the capture, from `by_distinct`.

    Returns:
        None if the name contains no runner of the capture.
    """
    return next((runners[part] for part in file.split(".")[1:2] if part in runners), None)


def _runners(runners: list[str]) -> str:
    joined = "-".join(map(legible, runners))
    if len(joined.encode()) <= _LONGEST_RUNNERS:
        return joined
    if len(runners) == 1:
        return _cut(joined, _LONGEST_RUNNERS)
    return f"{_cut(legible(runners[0]), 40)}-and-{len(runners) - 1}-more"


def _hashed(runner: str) -> str:
    # `legible` removes tildes, so that this name cannot be that of another runner.
    return f"{_cut(legible(runner), 40)}~{hashlib.sha256(runner.encode(errors='surrogatepass')).hexdigest()[:12]}"


def _cut(text: str, length: int) -> str:
    return text.encode()[:length].decode(errors="ignore")


def _sizes(problem: Problem) -> str:
    parts = {
        "s": problem.seq_length,
        "l": problem.num_layers,
        "i": problem.input_size,
        "h": problem.hidden_size,
        "b": problem.mini_batch,
        "image": problem.image_size,
    }
    return "-".join(f"{letter}{size}" for letter, size in parts.items() if size is not None)
