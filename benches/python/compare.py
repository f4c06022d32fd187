"""`compare` of two large run files against Python's own reading of the same JSON, each as a process of its own.

The floor is `json.load`: whoever reads the files in Python pays that.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from paired import in_turn, ratio, seconds, verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "python"))

from run_files import process, result, run

COMMAND = Path(sys.executable).with_name("fastrnns-rs")
RUNNERS, PROCESSES, SAMPLES = 20, 20, 1000


def call(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, check=True)


def write(path: Path, seed: int) -> Path:
    """A run file of two phases."""
    generator = random.Random(seed)  # noqa: S311  # not for secrets

    def made(index: int) -> object:
        phases = ([round(generator.lognormvariate(14, 0.02)) for _ in range(SAMPLES)] for _ in range(2))
        return process(index, *phases, warmup=10)

    results = [result(f"runner_{one}", processes=0) for one in range(RUNNERS)]
    for one in results:
        one.processes.extend(made(index) for index in range(PROCESSES))
    path.write_text(json.dumps(run(results).to_dict()))
    return path


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = (write(Path(folder) / name, seed) for seed, name in enumerate(("a.json", "b.json")))
        size = (first.stat().st_size + second.stat().st_size) / 1e6
        load = f"import json; json.load(open({str(first)!r})); json.load(open({str(second)!r}))"
        found = in_turn(
            15,
            nothing=lambda: seconds(lambda: call(sys.executable, "-c", "pass")),
            load=lambda: seconds(lambda: call(sys.executable, "-c", load)),
            compare=lambda: seconds(lambda: call(COMMAND, "compare", first, second)),
        )
    print(f"two files, {size:.1f} MB: {RUNNERS} runners x {PROCESSES} processes x {SAMPLES} samples x 2 phases each")
    for name, label in (("nothing", "python -c pass"), ("load", "json.load of both"), ("compare", "compare")):
        print(f"{label}: {statistics.median(found[name]) * 1e3:.0f} ms")
    verdict("compare / json.load", ratio(found["compare"], found["load"]), 3)


if __name__ == "__main__":
    main()
