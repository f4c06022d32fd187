"""Where captures go, and what they are called."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.problem.problem import Problem

#: A file system takes names of 255 bytes, and nsys cuts longer ones than this.
_LONGEST_RUNNERS = 60


def default_folder() -> Path:
    """Where captures go unless one says where, by the platform's custom."""
    import platformdirs

    return platformdirs.user_data_path("fastrnns-rs") / "captures"


def name(runners: list[str], problem: Problem, now: datetime) -> str:
    """The name of a capture: its runners, its sizes and the time to the second."""
    return f"prof_{_runners(runners)}_{_sizes(problem)}_{now:%Y%m%dT%H%M%SZ}"


def reserve(folder: Path, runners: list[str], problem: Problem) -> Path:
    """Makes the folder and an empty log in it, under a name that no other capture has.

    Returns:
        The path of everything that the capture writes, without suffixes.

    Raises:
        UsageError: The folder cannot be made or written to.
    """
    suffix = ".log"
    path = reserve_file(folder, name(runners, problem, datetime.now(UTC)), suffix)
    return path.with_name(path.name.removesuffix(suffix))


def reserve_file(folder: Path, base: str, suffix: str) -> Path:
    """Makes the folder and an empty file in it that had not been there; its name is the base, or that with a number.

    Raises:
        UsageError: The folder cannot be made or written to.
    """
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
    raise UsageError(f"{folder} has a thousand captures of this second", "choose another folder with --output-dir")


def with_suffix(stem: Path, suffix: str) -> Path:
    """A file of a capture. Not `Path.with_suffix`, which would cut a stem at its last dot."""
    return stem.with_name(stem.name + suffix)


def legible(runner: str) -> str:
    """A runner's name as it may stand in a file's."""
    return "".join(letter if letter.isalnum() or letter in "_+" else "_" for letter in runner)


def distinct(runner: str) -> str:
    """The same, short, and different for each runner."""
    name = legible(runner)
    if name == runner and len(name.encode()) <= _LONGEST_RUNNERS:
        return name
    # No legible name has a tilde.
    return f"{_cut(name, 40)}~{hashlib.sha256(runner.encode(errors='surrogatepass')).hexdigest()[:12]}"


def _runners(runners: list[str]) -> str:
    joined = "-".join(map(legible, runners))
    if len(joined.encode()) <= _LONGEST_RUNNERS:
        return joined
    if len(runners) == 1:
        return _cut(joined, _LONGEST_RUNNERS)
    return f"{_cut(legible(runners[0]), 40)}-and-{len(runners) - 1}-more"


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
