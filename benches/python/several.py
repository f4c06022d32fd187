"""Many traces read at once against one after the other, in one process: seconds in turn, and what they hold in common.

The files are links to one trace of about 50 MB, so that the disk is not what is measured: nothing remembers a file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from captures import corpus, enlarge_trace
from paired import in_turn, ratio, seconds, verdict

from fastrnns_rs._core import Trace

MIB = 2**20
SOURCE = "kineto/hta_v100_ddp.json.gz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--mib", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder, "trace.json")
        enlarge_trace(corpus() / SOURCE, large, 1)
        enlarge_trace(corpus() / SOURCE, large, max(1, given.mib * MIB // large.stat().st_size))
        paths = [Path(folder, f"rank{number}.json") for number in range(given.files)]
        for path in paths:
            path.symlink_to(large)
        files = [(path, path.name) for path in paths]

        def one_by_one(threads: int | None) -> None:
            """As a loop over files would: each alone, then put together."""
            Trace.joined(Trace([file], first=at, threads=threads).to_bytes() for at, file in enumerate(files))

        def floor() -> None:
            for path in paths:
                with path.open("rb", buffering=0) as file:
                    while file.read(MIB):
                        pass

        if Trace(files, threads=1).summarize().to_json() != Trace(files).summarize().to_json():
            raise SystemExit("what comes of the files depends on the threads")
        found = in_turn(
            given.rounds,
            at_once=lambda: seconds(lambda: Trace(files)),
            one_thread=lambda: seconds(lambda: Trace(files, threads=1)),
            one_by_one=lambda: seconds(lambda: one_by_one(None)),
            floor=lambda: seconds(floor),
        )
        size = large.stat().st_size / 1e6
        print(f"{given.files} traces of {size:.0f} MB on {len(os.sched_getaffinity(0))} cores, {given.rounds} rounds")
        for name, times in found.items():
            print(f"{name:12} {statistics.median(times):8.3f} s")
        verdict(
            "one after the other, on one thread, over at once",
            ratio(found["one_thread"], found["at_once"]),
            1.8,
            at_most=False,
        )
        print(
            f"one after the other, each on all cores, over at once: {ratio(found['one_by_one'], found['at_once']):.2f}x"
        )
        print(f"at once over the floor, reading the bytes: {ratio(found['at_once'], found['floor']):.2f}x")


if __name__ == "__main__":
    main()
