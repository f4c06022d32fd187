"""How long the commands that only read take to start, against an interpreter that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from paired import in_turn, ratio, seconds, verdict

COMMAND = Path(sys.executable).with_name("fastrnns-rs")


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    found = in_turn(
        40,
        nothing=lambda: seconds(lambda: run(sys.executable, "-c", "pass")),
        help=lambda: seconds(lambda: run(COMMAND, "--help")),
        list=lambda: seconds(lambda: run(COMMAND, "list")),
    )
    for name, label in (("nothing", "python -c pass"), ("help", "fastrnns-rs --help"), ("list", "fastrnns-rs list")):
        print(f"{label}: {statistics.median(found[name]) * 1e3:.1f} ms")
    verdict("--help / python -c pass", ratio(found["help"], found["nothing"]), 6)
    verdict("list / python -c pass", ratio(found["list"], found["nothing"]), 9)


if __name__ == "__main__":
    main()
