"""How much sessions of one machine differ where nothing changed, and how often a comparison of two of them is wrong.

    python benches/python/sessions.py measure     one more session: a run file in benches/sessions, about a minute
    python benches/python/sessions.py report      the table of all sessions in that folder

A session is two runners, five processes each. Measure sessions hours or days apart, with the same models and the same
torch: the report refuses sessions that differ in either. Sessions are compared in both ways of `compare`: the processes
of every two, and, where there are six sessions or more, three sessions against three others. Nothing differs, so that
each difference that is reported is a false alarm.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs import stats
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.verbs.compare.replication import LEAST_SESSIONS
from fastrnns_rs.verbs.compare.run_side import side_of_run

if TYPE_CHECKING:
    from fastrnns_rs.verbs.compare.side import Series

FOLDER = Path(__file__).resolve().parents[1] / "sessions"
RUNNERS = ("cudnn", "py")
PROCESSES = 5
LOOP = ("--warmup", "20", "--nloops", "100")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("act", choices=["measure", "report"])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder of the sessions [default: %(default)s]")
    given = parser.parse_args()
    if given.act == "measure":
        measure(given.folder)
    else:
        print("\n".join(report([Run.load(one) for one in sorted(given.folder.glob("*.json"))])))


def measure(folder: Path) -> None:
    """Measures a session, and keeps its run file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{datetime.now(UTC):%Y-%m-%dT%H%M}.json"
    words = ["--device", "cpu", "--group", "rnns", "--rnns", *RUNNERS, "--processes", str(PROCESSES), *LOOP]
    command = [sys.executable, "-m", "fastrnns_rs", "bench", *words, "--no-history", "--output", name]
    done = subprocess.run(command, cwd=folder, check=False)
    if done.returncode:
        sys.exit(f"bench ended with exit code {done.returncode}")
    run = Run.load(folder / name)
    # Where Python lies on a machine is nobody else's business.
    replace(run, environment=replace(run.environment, python_executable=None)).save(folder / name)


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Yields the lines of the table."""
    if len(runs) < 2:
        sys.exit(f"there are {len(runs)} sessions: measure two or more")
    for name, values in (
        ("models", {row.source_sha256 for run in runs for row in run.results}),
        ("torch", {run.environment.torch_version for run in runs}),
        ("CPUs", {run.environment.cpu_model for run in runs}),
    ):
        if len(values) > 1:
            sys.exit(f"the sessions differ in {name}: {', '.join(sorted(map(str, values)))}")
    boots = len({one.boot_id for run in runs for one in run.sessions})
    commits = len({run.environment.git.commit for run in runs})
    yield f"{len(runs)} sessions, {boots} boots, {commits} commits, {runs[0].created_utc} to {runs[-1].created_utc}:"
    yield ""
    yield "| row | spread of processes, % | spread of sessions, % | two sessions differ | three and three differ |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for each in zip(*(side_of_run(run, label="", file="").series for run in runs), strict=True):
        levels = [statistics.fmean(map(math.log, one.medians_ns)) for one in each]
        processes = statistics.fmean(statistics.variance(map(math.log, one.medians_ns)) for one in each)
        spreads = (f"{100 * value:.2f}" for value in (math.sqrt(processes), statistics.stdev(levels)))
        yield f"| {each[0].runner}/{each[0].phase} | {' | '.join((*spreads, pairs(each), triples(levels)))} |"


def pairs(each: Sequence[Series]) -> str:
    """Returns how many pairs of sessions are called different by their processes."""
    return alarms([(one.medians_ns, other.medians_ns) for one, other in itertools.combinations(each, 2)])


def triples(levels: Sequence[float]) -> str:
    """Returns how many splits of three sessions against three others are called different."""
    if len(levels) < 2 * LEAST_SESSIONS:
        return "-"
    sides = []
    for first in itertools.combinations(range(len(levels)), LEAST_SESSIONS):
        rest = [one for one in range(len(levels)) if one not in first and one > first[0]]
        sides += [(first, second) for second in itertools.combinations(rest, LEAST_SESSIONS)]
    return alarms([[[math.exp(levels[one]) for one in side] for side in both] for both in sides])


def alarms(comparisons: Sequence[Sequence[Sequence[float]]]) -> str:
    """Returns the number of comparisons that report a difference, of all."""
    found = [stats.compare_samples(*sides).verdict in {"faster", "slower"} for sides in comparisons]
    return f"{sum(found)} of {len(found)}"


if __name__ == "__main__":
    main()
