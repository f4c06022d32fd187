"""The real nsys in tests. Where it fails by itself it gets another chance, and nobody misses that it did."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from conftest import Done, run_cli
from processes import forget_killed_nsys

from fastrnns_rs._core import Profiler, run_command
from fastrnns_rs.documents.capture_manifest import Capture

T = TypeVar("T")

NSYS = shutil.which("nsys")
nsys_is_here = pytest.mark.skipif(NSYS is None, reason="nsys is not installed; scripts/install-profilers does that")

_ATTEMPTS = 3
#: How `fastrnns-rs`, which starts nsys again by itself, says in the end that nsys has lost its agent.
_NO_AGENT = re.compile(r"^(?:error|\S+\.CaptureError): nsys (?:missed its own|cannot start its) agent", re.MULTILINE)
#: How the log says that a command ended badly.
_ENDED_BADLY = re.compile(r"^# (?!exit status 0 ).* after [\d.]+ s$", re.MULTILINE)


class NsysFailedError(Exception):
    """nsys failed, and not what it ran."""


def of_nsys(step: Sequence[object], ended: object, *printed: str) -> NsysFailedError:
    """What nsys did, how that ended, and the end of what it printed."""
    said = "\n".join(text.strip()[-2000:] for text in printed if text.strip())
    return NsysFailedError(f"{' '.join(map(str, step[:2]))} ended with {ended}:\n{said or 'it printed nothing'}")


def tried(attempt: Callable[[Path], T], folder: Path) -> T:
    """What comes of an attempt, which is given an empty folder: of the first in which nsys does not fail by itself.

    nsys and the agent that it starts miss each other where the machine is busy: `sem_open`, `Local Endpoint is not
    available`, `End of file`, `Connection reset by peer`. That once is no reason to refuse a change, three times are.

    Raises:
        NsysFailedError: nsys failed in each of them.
    """
    for number in range(1, _ATTEMPTS + 1):
        place = folder / f"attempt-{number}"
        place.mkdir(parents=True)
        try:
            return attempt(place)
        except NsysFailedError as error:
            if number == _ATTEMPTS:
                raise
            # Other warnings are errors; conftest.py knows this one by how it begins.
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
    """What `fastrnns-rs profile` says where it makes a capture, and the folder with that."""

    def attempt(place: Path) -> tuple[Done, Path]:
        done = run_cli("profile", *arguments, "--output-dir", place / "out", cwd=cwd, **variables)
        check_captured(done, place / "out")
        return done, place / "out"

    return tried(attempt, folder)


def check_captured(done: Done | subprocess.CompletedProcess[str], out: Path) -> None:
    """Makes sure that a whole command of ours made a capture.

    Raises:
        NsysFailedError: It did not, for no other reason than that nsys failed: it has lost its agent, or ended badly
            though every runner ended well.
    """
    status = done.status if isinstance(done, Done) else done.returncode
    if status == 0:
        return
    log = "\n".join(path.read_text() for path in out.glob("*.log"))
    ran_well = any(one.id == "runners" and one.ok for path in out.glob("*.json") for one in Capture.load(path).checks)
    if _NO_AGENT.search(done.stderr) or (ran_well and _ENDED_BADLY.search(log)):
        raise of_nsys(["fastrnns-rs", "profile"], f"exit status {status}", log, done.stderr)
    assert status == 0, done.stderr


def _step(step: list[str], env: Mapping[str, str] | None) -> None:
    done = run_command(step, env=env, timeout=60)
    if done.exit_status != 0:
        ended = "no end in time" if done.timed_out else f"exit status {done.exit_status}, signal {done.signal}"
        raise of_nsys(step, f"{ended} after {done.duration_ns / 1e9:.1f} s", done.stdout_tail, done.stderr_tail)
