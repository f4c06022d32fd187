"""Reading captures against what others take for the same: seconds and peak memory of whole processes, in turn.

Peers that are not installed (`pip install msgspec isal duckdb duckdb-extension-sqlite-scanner`) are left out and named.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import multiprocessing
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from captures import corpus, enlarge_export, enlarge_trace
from paired import ratio

ROUNDS = 5
OURS = "import fastrnns_rs, sys; fastrnns_rs.read(sys.argv[1])"
DEVICES = "import fastrnns_rs, sys; fastrnns_rs.read(sys.argv[1], extent='devices')"
JSON = "import json, sys; json.load(open(sys.argv[1]))"
MSGSPEC = """
import collections, msgspec, sys
class Event(msgspec.Struct):
    name: str = ""
    cat: str = ""
    dur: float = 0.0
class Trace(msgspec.Struct):
    traceEvents: list[Event]
trace = msgspec.json.decode(open(sys.argv[1], "rb").read(), type=Trace)
found = collections.defaultdict(lambda: [0, 0.0])
for event in trace.traceEvents:
    if event.cat == "kernel":
        found[event.name][0] += 1
        found[event.name][1] += event.dur
"""
INFLATE = """
import sys
import {module} as zlib
inflate = zlib.decompressobj(31)
with open(sys.argv[1], "rb") as file:
    while part := file.read(1 << 20):
        inflate.decompress(part)
"""
DUCKDB = """
import duckdb, duckdb_extension_sqlite_scanner, pathlib, sys
database = duckdb.connect()
folder = pathlib.Path(duckdb_extension_sqlite_scanner.__file__).parent
database.execute(f"LOAD '{next(folder.rglob('*.duckdb_extension'))}'")
database.execute(f"ATTACH '{sys.argv[1]}' AS capture (TYPE sqlite, READ_ONLY)")
database.execute('''
    SELECT demangledName, count(*), sum("end" - start), median("end" - start), min("end" - start), max("end" - start)
    FROM capture.CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1
''').fetchall()
"""
BUSY = """
database.execute('''
    SELECT deviceId, sum(greatest("end" - greatest(start, coalesce(before, start)), 0)) FROM (
        SELECT deviceId, start, "end", max("end") OVER (
            PARTITION BY deviceId ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM capture.CUPTI_ACTIVITY_KIND_KERNEL
    ) GROUP BY 1
''').fetchall()
"""


def measured(argv: list[str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak MiB of a command with its child processes."""
    begin = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # Printing into nothing lets grep stop at the first match.
    if process.stdout is not None:
        while process.stdout.read(1 << 20):
            pass
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - begin
    if status != 0:
        raise RuntimeError(f"{shlex.join(argv)[:200]} failed")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def apart(function: Callable[..., None], *arguments: object) -> None:
    """Calls it in another process: what a child takes at most counts from what its parent has."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(function.__name__)


def unpack(source: Path, target: Path) -> None:
    with gzip.open(source) as packed, target.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)


def pack(source: Path, target: Path) -> None:
    with source.open("rb") as file, gzip.open(target, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(file, packed, 1 << 20)


def python(code: str, path: Path) -> list[str]:
    return [sys.executable, "-c", code, str(path)]


def report(path: Path, *options: str) -> list[str]:
    """The command of a report."""
    return [str(Path(sys.executable).with_name("fastrnns-rs")), "report", str(path), *options]


def compare(title: str, commands: dict[str, list[str]]) -> None:
    """Prints wall and processor time and memory of each command, and the ratios of ours to them."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, argv in commands.items():
            found[name].append(measured(argv))
    times, processor, sizes = (
        {name: [one[place] for one in values] for name, values in found.items()} for place in range(3)
    )
    print(f"\n{title}\n{'':24} seconds      CPU      MiB  ours over it: seconds, CPU")
    for name in commands:
        medians = [statistics.median(one[name]) for one in (times, processor, sizes)]
        ratios = [ratio(one["ours"], one[name]) for one in (times, processor)]
        print(f"{name:24} {medians[0]:7.3f} {medians[1]:8.3f} {medians[2]:8.0f}  {ratios[0]:.2f}x {ratios[1]:.2f}x")


def has(*modules: str) -> bool:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        print(f"left out, not installed: {', '.join(missing)}")
    return not missing


def traces(folder: Path, times: int) -> None:
    seed = corpus() / "kineto" / "hta_v100_ddp.json.gz"
    small, large, packed = folder / "small.json", folder / "large.json", folder / "large.json.gz"
    empty = folder / "empty.json"
    empty.write_text('{"traceEvents": []}')
    apart(unpack, seed, small)
    compare(
        f"{small.stat().st_size / 1e6:.0f} MB of JSON",
        {"ours": python(OURS, small), "json.load": python(JSON, small), "an empty trace": python(OURS, empty)},
    )
    apart(enlarge_trace, seed, large, times)
    commands = {
        "ours": python(OURS, large),
        "an empty trace": python(OURS, empty),
        "grep -c '\"kernel\"'": ["sh", "-c", f"grep -c '\"kernel\"' {shlex.quote(str(large))} | cat"],
        "cat, the floor": ["sh", "-c", f"cat {shlex.quote(str(large))} > /dev/null"],
    }
    if has("msgspec"):
        commands["msgspec"] = python(MSGSPEC, large)
    title = f"{large.stat().st_size / 1e9:.2f} GB of JSON"
    compare(title, commands)
    grep = {name: argv for name, argv in commands.items() if name.startswith("grep")}
    compare(f"{title}, `report`", {"ours": report(large), **grep})
    compare(f"{title}, `report --by kernel`", {"ours": report(large, "--by", "kernel"), **grep})
    apart(pack, large, packed)
    commands = {"ours": python(OURS, packed), "zlib, inflating alone": python(INFLATE.format(module="zlib"), packed)}
    if has("isal"):
        commands["ISA-L, inflating alone"] = python(INFLATE.format(module="isal.isal_zlib"), packed)
    compare(f"the same, compressed to {packed.stat().st_size / 1e6:.0f} MB", commands)


def exports(folder: Path, kernels: int) -> None:
    seed = corpus() / "nsys" / "h100_2gpu_2026.2.sqlite"
    nsys = shutil.which("nsys")
    if nsys is None:
        print("left out, not installed: nsys")
    copy, large = folder / "small.sqlite", folder / "large.sqlite"
    shutil.copyfile(seed, copy)
    stats = [nsys or "", "stats", "--force-export=false", "--report=gpukernsum", "--format=csv"]
    commands = {"ours": python(OURS, copy)}
    if nsys is not None:
        commands["nsys stats"] = [*stats, str(copy)]
    compare(f"{copy.stat().st_size / 1e6:.1f} MB of SQLite", commands)
    apart(enlarge_export, seed, large, kernels)
    commands = {"ours": python(OURS, large)}
    if has("duckdb", "duckdb_extension_sqlite_scanner"):
        commands["duckdb, kernels alone"] = python(DUCKDB, large)
        commands["duckdb, and busy time"] = python(DUCKDB + BUSY, large)
    if nsys is not None:
        commands["nsys stats"] = [*stats, str(large)]
    title = f"{kernels:.0e} kernels in {large.stat().st_size / 1e9:.2f} GB of SQLite"
    compare(title, commands)
    alone = {name: argv for name, argv in commands.items() if name == "duckdb, kernels alone"}
    compare(f"{title}, without calls and ranges", {"ours": python(DEVICES, large), **alone})
    compare(f"{title}, `report --by kernel`", {"ours": report(large, "--by", "kernel"), **alone})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="copies of the trace: 20 make 1.09 GB")
    parser.add_argument("--kernels", type=int, default=10_000_000, help="kernels of the export: 10^7 make some 3 GB")
    parser.add_argument("--folder", type=Path, help="where the large files go, and stay; a temporary folder by default")
    given = parser.parse_args()
    # Else every start compiles all modules that it loads, which happens once on a machine of its own.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        traces(folder, given.times)
        exports(folder, given.kernels)


if __name__ == "__main__":
    main()
