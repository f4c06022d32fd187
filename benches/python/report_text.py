"""The text of a report against that of an earlier build: seconds of whole processes, in turn.

`--before` is the folder with the earlier build's package and its extension, as a checkout has it in `python`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from paired import in_turn, ratio, seconds, verdict

HERE = Path(__file__).resolve().parents[2] / "python"
LIMIT = 2.0
API = "import fastrnns_rs, sys; print(fastrnns_rs.read(sys.argv[1]).render())"
COMMAND = "from fastrnns_rs.cli import main; main()"
CASES: dict[str, tuple[str, list[str]]] = {
    "read and render": (API, []),
    "report": (COMMAND, []),
    "report --by kernel": (COMMAND, ["--by", "kernel"]),
    "report --by kernel --format csv": (COMMAND, ["--by", "kernel", "--format", "csv"]),
    "report --by kernel --format markdown": (COMMAND, ["--by", "kernel", "--format", "markdown"]),
    "report --json": (COMMAND, ["--json"]),
}


def write(path: Path, names: int, launches: int) -> Path:
    """A trace with kernels of so many names, each launched as often."""
    events = []
    for at in range(names * launches):
        name = f"void at::native::vectorized_elementwise_kernel<{at % names}, at::native::AddFunctor<float> >(int)"
        launch = {"correlation": at + 1}
        arguments = {**launch, "device": 0, "stream": 7, "grid": [at % 7 + 1, 1, 1], "block": [128, 1, 1]}
        place = {"ph": "X", "pid": 1, "tid": 1, "ts": 20 * at}
        events.append({**place, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 5, "args": launch})
        events.append({**place, "ts": 20 * at + 7, "cat": "kernel", "name": name, "dur": 3 + at % 9, "args": arguments})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def run(package: Path, code: str, words: list[str]) -> str:
    """Runs a process of a build and returns its output."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    argv = [sys.executable, "-P", "-c", code, *words]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        captures = {
            "small": write(Path(folder, "small.json"), 12, 10),
            "10,000 kernels": write(Path(folder, "large.json"), 10_000, 3),
        }
        for size, path in captures.items():
            print(f"{size}: {path.stat().st_size / 1e3:.0f} kB")
            for title, (code, flags) in CASES.items():
                words = [str(path), *flags] if code == API else ["report", str(path), *flags]
                if run(given.before, code, words) != run(HERE, code, words):
                    sys.exit(f"{title} prints another text than before")
                before, after = (partial(run, package, code, words) for package in (given.before, HERE))
                found = in_turn(given.rounds, before=partial(seconds, before), after=partial(seconds, after))
                times = ", ".join(f"{name} {1e3 * statistics.median(some):.0f} ms" for name, some in found.items())
                verdict(f"  {title} ({times})", ratio(found["after"], found["before"]), LIMIT)


if __name__ == "__main__":
    main()
