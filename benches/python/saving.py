"""Cost of saving a run after each of its processes, against writing it once with `json.dumps`.

    python benches/python/saving.py [SAMPLES] [PROCESSES] [FOLDER]

Times in seconds: of `json.dumps` and one write, of one write by `Run.save`, and of all saves of the command line's
`Saver`, a process more at each. The two ways take turns; each figure is the least of three.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fastrnns_rs.cli.shared import Saver
from fastrnns_rs.documents.run_file import Run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "python"))
from run_files import process, result, run

ROUNDS = 3


def whole(samples: int, processes: int) -> Run:
    """A run of one runner with so many samples of about a millisecond, forward and backward together."""
    chance = random.Random(1)  # noqa: S311
    each = samples // processes // 2
    made = []
    for index in range(processes):
        forward, backward = ([int(1e6 * chance.uniform(0.9, 1.9)) for _ in range(each)] for _ in range(2))
        made.append(process(index, forward, backward))
    return run([replace(result(), processes=made)])


def so_far(done: Run, count: int) -> Run:
    """The run after so many of its processes."""
    [row] = done.results
    return replace(done, results=[replace(row, processes=row.processes[:count])])


def once(done: Run, path: Path) -> None:
    """Writes the run as anyone would."""
    path.write_text(json.dumps(done.to_dict()))


def after_each(done: Run, path: Path) -> None:
    """Saves the run as a bench does."""
    saver = Saver(path)
    for count in range(len(done.results[0].processes) + 1):
        saver(so_far(done, count))


def seconds(write: Callable[[Run, Path], None], done: Run, path: Path) -> float:
    """Times one way of writing."""
    begin = time.perf_counter()
    write(done, path)
    return time.perf_counter() - begin


def given(place: int, default: str) -> str:
    """An argument of the command line."""
    return sys.argv[place] if place < len(sys.argv) else default


def main() -> None:
    """Prints the times."""
    samples, processes = int(given(1, "24000000")), int(given(2, "42"))
    done = whole(samples, processes)
    ways: dict[str, Callable[[Run, Path], None]] = {
        "json.dumps, once": once,
        "Run.save, once": lambda one, path: one.save(path),
        f"Saver, after each of {processes} processes": after_each,
    }
    least = dict.fromkeys(ways, float("inf"))
    with tempfile.TemporaryDirectory(dir=given(3, tempfile.gettempdir())) as folder:
        path = Path(folder) / "run.json"
        for _ in range(ROUNDS):
            for name, write in ways.items():
                least[name] = min(least[name], seconds(write, done, path))
        if Run.load(path) != done:
            sys.exit("the run was not read back")
        print(f"{samples} samples, {path.stat().st_size / 1e6:.0f} MB")
    reference = least["json.dumps, once"]
    for name, found in least.items():
        print(f"{name}: {found:.2f} s, {found / reference:.2f} times json.dumps")


if __name__ == "__main__":
    main()
