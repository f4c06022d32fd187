"""Captures by torch's profiler of runners on an emulated device."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands import run_cli
from emulated_cuda.machine import Machine

from emulated.bench import RUNNERS, run_on

#: So many of five iterations does torch's profiler record.
RECORDED = 3
_FEW = ("--no-unprofiled", "--warmup", "2", "--nloops", "5", "--seqLength", "3", "--sleep-between-seconds", "0")


@dataclass(frozen=True)
class Traced:
    """A trace of one runner."""

    path: Path

    def summary(self, *arguments: object) -> dict[str, Any]:
        """Returns what `report` finds in it."""
        done = run_cli("report", self.path, *arguments, "--json")
        assert done.status == 0, done.stderr
        document: dict[str, Any] = done.json()
        return document

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Returns its events of some kinds, in order of their starts."""
        with gzip.open(self.path, "rt") as file:
            found = [one for one in json.load(file)["traceEvents"] if one.get("cat") in kinds]
        return sorted(found, key=lambda one: float(one["ts"]))


def profiled(folder: Path, *arguments: object, machine: Machine | None = None) -> dict[str, Traced]:
    """Runs `profile --torch` on the real clock.

    Returns:
        A trace of each runner.
    """
    words = ("profile", "--torch", *arguments, *_FEW, "--runner-file", RUNNERS, "--output-dir", folder / "out")
    done = run_on(folder, *words, "--no-report", machine=machine or Machine(clock="real"))
    assert done.status == 0, done.stderr
    return {path.name.split(".")[1]: Traced(path) for path in sorted((folder / "out").glob("*.json.gz"))}
