"""`ab --live` beside `ab`: widths of intervals, and the time that they took, by turns in one run.

python benches/python/live.py --rounds 3 cudnn py
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time

#: Pairs of each way: about the same time in all.
WAYS = {"ab": ["--processes", "10"], "ab --live": ["--live", "--processes", "5"]}


def measured(runners: list[str], further: list[str]) -> tuple[float, list[float]]:
    """Seconds of a comparison, and the half width of each row's interval in percent."""
    command = [
        sys.executable,
        "-m",
        "fastrnns_rs",
        "ab",
        *runners,
        *further,
        "--device",
        "cpu",
        "--no-history",
        "--json",
    ]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    rows = json.loads(done.stdout)["rows"]
    return seconds, [50 * math.log(row["ratio_ci_high"] / row["ratio_ci_low"]) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runners", nargs="+", help="two runners, or one with --b-env")
    parser.add_argument("--rounds", type=int, default=3)
    given, further = parser.parse_known_args()
    found: dict[str, list[tuple[float, list[float]]]] = {name: [] for name in WAYS}
    for _ in range(given.rounds):
        for name, words in WAYS.items():
            found[name].append(measured(given.runners, [*words, *further]))
            print(f"{name:10} {found[name][-1][0]:6.1f} s  ±{', ±'.join(f'{one:.2f}' for one in found[name][-1][1])} %")
    medians = {}
    for name, runs in found.items():
        seconds = statistics.median(one[0] for one in runs)
        medians[name] = seconds, statistics.median(width for one in runs for width in one[1])
        print(f"{name:10} median {seconds:6.1f} s, ±{medians[name][1]:.2f} %")
    (separate_s, separate), (live_s, live) = medians["ab"], medians["ab --live"]
    print(f"live over separate: {live / separate:.2f} of the width in {live_s / separate_s:.2f} of the time")


if __name__ == "__main__":
    main()
