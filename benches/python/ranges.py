"""Ranges of NVTX: what they add to reading an export, against `nsys stats --report nvtxgpuproj` on fewer of them.

nsys takes minutes for hundreds of ranges over a million kernels: it is given `--peer-ranges`, one round and `--timeout`
seconds, and where it does not end in time that is said.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from captures import corpus, enlarge_export
from report import OURS, apart, measured, python

SEED = "h100_2gpu_2026.2.sqlite"
#: In every iteration; the ranges in it are as many, less one.
PARTS = 100
PUSHED = 59


def put_ranges(path: Path, count: int) -> None:
    """Replaces all ranges by so many on the thread that launches most: iterations, each with parts within it."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("DELETE FROM NVTX_EVENTS")
        thread, first, last = database.execute(
            "SELECT globalTid, min(start), max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME"
            " GROUP BY globalTid ORDER BY count(*) DESC LIMIT 1"
        ).fetchone()
        iterations = max(count // PARTS, 1)
        length = (last - first) // iterations
        part = length // PARTS
        rows = []
        for number in range(count):
            iteration, place = divmod(number, PARTS)
            start = first + iteration * length + max(place - 1, 0) * part
            end = start + (part if place else length - 1)
            rows.append((start, end, PUSHED, f"part {place}" if place else "iteration", thread, 0))
        database.executemany(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        database.commit()


def nsys(path: Path, timeout: float) -> float | None:
    """Seconds that nsys takes; None where it did not end in time, or is not there."""
    tool = shutil.which("nsys")
    if tool is None:
        print("left out, not installed: nsys")
        return None
    begin = time.perf_counter()
    command = [tool, "stats", "--force-export=false", "--report=nvtxgpuproj", "--format=csv", "--output=-", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
    except subprocess.TimeoutExpired:
        print(f"nsys did not end within {timeout:.0f} s")
        return None
    took = time.perf_counter() - begin
    if "iteration" not in done.stdout:
        sys.exit(f"nsys projected no range: {done.stdout[-500:]}")
    return took


def line(name: str, ranges: int, seconds: float, mebibytes: float | None, share: str = "") -> None:
    print(f"{name:32} {ranges:8d} {seconds:9.3f} {'' if mebibytes is None else f'{mebibytes:.0f}':>6}  {share}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1_000_000)
    parser.add_argument("--ranges", type=int, default=100_000)
    parser.add_argument("--peer-ranges", type=int, default=387, help="0 leaves nsys out")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that nsys is given")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        many, few, none = (Path(folder) / f"{name}.sqlite" for name in ("many", "few", "none"))
        apart(enlarge_export, corpus() / "nsys" / SEED, none, given.kernels)
        apart(put_ranges, none, 0)
        for path, count in ((many, given.ranges), (few, given.peer_ranges)):
            shutil.copyfile(none, path)
            apart(put_ranges, path, count)
        print(f"{given.kernels} kernels{'':20} ranges   seconds    MiB")
        found: dict[Path, list[tuple[float, float]]] = {none: [], few: [], many: []}
        for _ in range(given.rounds):
            for path, values in found.items():
                took, _, size = measured(python(OURS, path))
                values.append((took, size))
        figures = {
            path: [statistics.median(column) for column in zip(*values, strict=True)] for path, values in found.items()
        }
        line("ours, reading alone", 0, *figures[none])
        line("ours", given.peer_ranges, *figures[few])
        line("ours", given.ranges, *figures[many])
        beyond = [more[0] - less[0] for more, less in zip(found[many], found[none], strict=True)]
        line("ours, what ranges add", given.ranges, statistics.median(beyond), None, "wanted: at most 0.5 s")
        if given.peer_ranges and (took := nsys(few, given.timeout)) is not None:
            line("nsys stats nvtxgpuproj", given.peer_ranges, took, None, f"{took / figures[few][0]:.0f}x ours")


if __name__ == "__main__":
    main()
