"""What `pyperf compare_to` says: the tool itself, run once on two suites with a benchmark for each comparison."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from real_noise.designs import Comparison
    from real_noise.judges import Word
    from real_noise.pool import Process

#: As many as pyperf takes of a process by default.
VALUES = 3


def check_installed() -> str:
    """The version of pyperf; ends the program where there is none."""
    try:
        import pyperf
    except ModuleNotFoundError:
        sys.exit(
            "pyperf is missing: pip install 'pyperf>=2.10', or scripts/setup bench; --without-pyperf leaves it out"
        )
    return pyperf.__version__


def judge(comparisons: list[Comparison]) -> dict[str, Word]:
    """What it says of each comparison, by name."""
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for side in ("baseline", "candidate"):
            sides.append(str(Path(folder, f"{side}.json")))
            _write(sides[-1], [(one.name, one.phase, getattr(one, side)) for one in comparisons])
        command = [sys.executable, "-m", "pyperf", "compare_to", "--group-by-speed", *sides]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = read(text)
    missing = {one.name for one in comparisons} - set(found)
    if missing:
        sys.exit(f"pyperf says nothing of {len(missing)} comparisons, such as {min(missing)}; it wrote:\n{text[:500]}")
    return found


def read(text: str) -> dict[str, Word]:
    """Each benchmark's word in what `compare_to --group-by-speed` prints."""
    found: dict[str, Word] = {}
    section: Word = None
    for line in text.splitlines():
        if line.startswith("Benchmark hidden because not significant"):
            found |= dict.fromkeys(line.partition("): ")[2].split(", "))
        elif heading := re.fullmatch(r"(Slower|Faster|Same speed) \(\d+\):", line):
            section = {"Slower": "slower", "Faster": "faster"}.get(heading[1])
        elif line.startswith("- "):
            found[line[2:].partition(": ")[0]] = section
    return found


def values(samples: list[int]) -> tuple[list[float], int]:
    """Three values of a process, as pyperf makes them: each the mean of a loop of at least a tenth of a second.

    A loop is here a third of the samples, in their order; one or two at the end that make no third are left out.

    Returns:
        The values, in seconds, and how many iterations a loop has.
    """
    size = len(samples) // VALUES
    parts = (samples[part * size : (part + 1) * size] for part in range(VALUES))
    return [statistics.fmean(part) / 1e9 for part in parts], size


def _write(path: str, benchmarks: list[tuple[str, str, list[Process]]]) -> None:
    import pyperf

    suite = []
    for name, phase, processes in benchmarks:
        runs = []
        for process in processes:
            taken, loops = values(process.samples[phase])
            metadata = {"name": name, "unit": "second", "loops": loops}
            runs.append(pyperf.Run(taken, metadata=metadata, collect_metadata=False))
        suite.append(pyperf.Benchmark(runs))
    pyperf.BenchmarkSuite(suite).dump(path)
