"""`compare` of two exports of nsys with a million kernels each, the second with one slower kernel: the whole command.

`nsys-ai` does the same work (`pip install nsys-ai`); where it is not installed it is left out, and that is said.
"""

from __future__ import annotations

import json
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from captures import corpus, enlarge_export
from paired import in_turn, seconds

KERNELS = 1_000_000
SOURCE = "nsys/mfu_2gpu_before_2026.2.sqlite"
TURNS = 7
TARGET_S = 1.0


def slowed(source: Path, target: Path) -> str:
    """A copy in which the kernel that takes most takes a tenth longer; its name."""
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as database:
        number, name = database.execute(
            "SELECT demangledName, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName "
            "GROUP BY demangledName ORDER BY sum(end - start) DESC LIMIT 1"
        ).fetchone()
        # Into no other kernel: what follows on its queue is not moved, which changes no duration.
        database.execute(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + (end - start) * 11 / 10 WHERE demangledName = ?",
            (number,),
        )
        database.commit()
    return str(name)


def call(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before.sqlite", Path(folder) / "after.sqlite"
        enlarge_export(corpus() / SOURCE, before, KERNELS)
        name = slowed(before, after)
        ours = [sys.executable, "-m", "fastrnns_rs", "compare", before, after]
        first = json.loads(call(*ours, "--json"))["kernels"][0]
        if first["name"] != name:
            sys.exit(f"{first['name']} is named first, not {name}")
        found = in_turn(TURNS, compare=lambda: seconds(lambda: call(*ours)))
        # Of the largest child that ended: nothing else has run so far.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        peer = shutil.which("nsys-ai")
        if peer is not None:
            # Once: it keeps what it has read beside the files, and its first reading is what ours is each time.
            found["nsys-ai diff"] = [seconds(lambda: call(peer, "diff", before, after))]
        size = (before.stat().st_size + after.stat().st_size) / 1e6
    print(f"two exports of nsys, {KERNELS} kernels and more each, {size:.0f} MB together")
    for label, times in found.items():
        print(f"{label}: {statistics.median(times):.2f} s")
    print(f"compare, peak resident size: {peak:.0f} MiB")
    if peer is None:
        print("nsys-ai: not installed, left out")
    print(f"wanted: at most {TARGET_S:.0f} s")


if __name__ == "__main__":
    main()
