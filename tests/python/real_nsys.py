"""The real nsys in tests. It fails now and then by itself: then it gets another chance, and nobody misses that it did."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from conftest import Done, run_cli
from processes import forget_killed_nsys

from fastrnns_rs._core import Profiler, run_command

T = TypeVar("T")

NSYS = shutil.which("nsys")
nsys_is_here = pytest.mark.skipif(NSYS is None, reason="nsys is not installed; scripts/install-profilers does that")

_ATTEMPTS = 3
#: How `fastrnns-rs` says that nsys never got as far as its runners. All else that goes wrong may be our fault.
_OF_NSYS = re.compile(r"^error: (?:nsys ended without having run anything|nsys cannot start its agent)", re.MULTILINE)


class NsysFailedError(Exception):
    """nsys failed, and not what it ran."""


def of_nsys(step: Sequence[object], ended: object, *printed: str) -> NsysFailedError:
    """What nsys did, how that ended, and the end of what it printed."""
    said = "\n".join(text.strip()[-2000:] for text in printed if text.strip())
    return NsysFailedError(f"{' '.join(map(str, step[:2]))} ended with {ended}:\n{said or 'it printed nothing'}")


def tried(attempt: Callable[[Path], T], folder: Path) -> T:
    """What comes of an attempt, which is given an empty folder: of the first in which nsys does not fail by itself.

    An nsys that starts may be cut off by another that ends (`Connection reset by peer`). One such failure is no reason
    to refuse a change, three in a row are.

    Raises:
        NsysFailedError: nsys failed in each of them.
    """
    for number in range(1, _ATTEMPTS + 1):
        place = folder / f"attempt {number}"
        place.mkdir(parents=True)
        try:
            return attempt(place)
        except NsysFailedError as error:
            if number == _ATTEMPTS:
                raise
            # By these words conftest.py tells this warning, which is no error, from others.
            warnings.warn(f"nsys failed by itself in attempt {number} of {_ATTEMPTS}: {error}", stacklevel=2)
            forget_killed_nsys()
    raise AssertionError


def finished(tool: Profiler, stem: Path) -> Path:
    """The export of what nsys captured, after the steps that lead there.

    Raises:
        NsysFailedError: One of them failed.
    """
    last = None
    while (step := tool.finish(stem)) is not None and step != last:
        _step(step, None)
        last = step
    path = stem.with_name(f"{stem.name}.sqlite")
    if not path.is_file():
        raise of_nsys(last or [str(tool.path)], f"success and without {path.name}")
    return path


def captured(command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> Path:
    """The export of what nsys captures of a command that does not fail. Its other files are beside it."""

    def attempt(place: Path) -> Path:
        tool, stem = Profiler("nsys", NSYS), place / "x"
        _step(tool.wrap(command, stem, cuda=False, capture_range=False), env)
        return finished(tool, stem)

    return tried(attempt, folder)


def profile(folder: Path, *arguments: str | Path, cwd: Path | None = None, **variables: str) -> tuple[Done, Path]:
    """What `fastrnns-rs profile` says, and the folder that it was to write to."""

    def attempt(place: Path) -> tuple[Done, Path]:
        done = run_cli("profile", *arguments, "--output-dir", place / "out", cwd=cwd, **variables)
        check(done.status, done.stderr, place / "out")
        return done, place / "out"

    return tried(attempt, folder)


def check(status: int, said: str, out: Path) -> None:
    """Passes whatever a whole command of ours says, but that nsys failed.

    Raises:
        NsysFailedError: That is what it says. The log has nsys' own words.
    """
    if status != 0 and _OF_NSYS.search(said):
        raise of_nsys(["fastrnns-rs", "profile"], f"exit status {status}", said, *map(Path.read_text, out.glob("*.log")))


def _step(step: list[str], env: Mapping[str, str] | None) -> None:
    done = run_command(step, env=env, timeout=60)
    if done.exit_status != 0:
        ended = "no end in time" if done.timed_out else f"exit status {done.exit_status}, signal {done.signal}"
        raise of_nsys(step, f"{ended} after {done.duration_ns / 1e9:.1f} s", done.stdout_tail, done.stderr_tail)
