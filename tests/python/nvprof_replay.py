"""What nvprof itself says of a profile, where it is installed: `nvprof -i FILE` needs no GPU."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

#: The newest version that release 11.8 takes; it reads columns by name, so a newer file replays as one of these.
_NEWEST = 18

#: Count, total, shortest and longest, in nanoseconds, by name.
Totals = dict[str, tuple[int, int, int, int]]

#: How often, and nanoseconds on the host and on devices, and how many kernels, by name and domain of a range.
Ranges = dict[tuple[str, str | None], tuple[int, int, int, int]]


def nvprof() -> str:
    """The program; skips the test where it is not installed."""
    found = shutil.which("nvprof")
    if found is None:
        pytest.skip("nvprof is not installed")
    return found


def replay(profile: Path, folder: Path, *options: str) -> str:
    """What it prints of a copy of a profile."""
    program = nvprof()
    copy = folder / "replayed.prof"
    copy.unlink(missing_ok=True)
    shutil.copyfile(profile, copy)
    with sqlite3.connect(copy) as database:
        database.execute("UPDATE Version SET version = min(version, ?)", [_NEWEST])
    database.close()
    command = [program, "-i", str(copy), *options]
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stderr.decode(errors="replace")


def totals(printed: str, kind: str) -> Totals:
    """The rows of one kind above the sections of ranges, by raw name; averages are checked on the way."""
    found: Totals = {}
    for line in (
        printed.split("Unified Memory profiling", maxsplit=1)[0].split("NVTX result:", maxsplit=1)[0].splitlines()
    ):
        if line.startswith(f'"{kind}",'):
            _, _, time, calls, average, shortest, longest, name = line.split(",", 7)
            count, total = int(calls), _whole(time)
            assert _whole(average) == total // count
            found[name[1:-1]] = (count, total, _whole(shortest), _whole(longest))
    return found


def ranges(printed: str) -> Ranges:
    """The tables of ranges; the same range on several threads has one for each, here together."""
    found: Ranges = {}
    name, domain = "", None
    for line in printed.partition("NVTX result:")[2].splitlines():
        if section := re.fullmatch(r'=+ +(Domain|Range) "(.*)"', line):
            if section[1] == "Range":
                name = section[2]
            else:
                domain = None if section[2] == "<unnamed>" else section[2]
        elif line.startswith(('"Range:",', '"GPU activities",')):
            kind, _, time, calls, *_, what = line.split(",", 7)
            count, host, device, kernels = found.get((name, domain), (0, 0, 0, 0))
            if kind == '"Range:"':
                found[name, domain] = (count + int(calls), host + _whole(time), device, kernels)
            else:
                launched = 0 if what.startswith('"[CUDA mem') else int(calls)
                found[name, domain] = (count, host, device + _whole(time), kernels + launched)
    return found


def counted(summary: dict[str, Any]) -> Totals:
    """What we say of the same: kernels, copies and sets, those of all devices together."""
    found: Totals = {}
    rows = [(row["mangled_name"] or row["name"], row) for row in summary["kernels"]]
    rows += [(f"[CUDA {row['kind']}]", row) for row in summary["memory_operations"]]
    for name, row in rows:
        known = found.get(name, (0, 0, row["min_ns"], 0))
        one = (row["count"], row["total_ns"], row["min_ns"], row["max_ns"])
        found[name] = (known[0] + one[0], known[1] + one[1], min(known[2], one[2]), max(known[3], one[3]))
    return found


def called(summary: dict[str, Any]) -> Totals:
    """What we say of calls."""
    keys = ("count", "total_ns", "min_ns", "max_ns")
    return {row["name"]: tuple(row[key] for key in keys) for row in summary["api_calls"]}


def _whole(text: str) -> int:
    whole, _, fraction = text.partition(".")
    assert set(fraction) <= {"0"}
    return int(whole)
