"""Time to list a history of 10,000 runs, against a command that reads no files.

python benches/python/history.py [RUNS]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from paired import in_turn, ratio, seconds, verdict
from startup import COMMAND, run

from fastrnns_rs.verbs.history.run_history import RunHistory

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "python"))
from run_files import SESSION, exactly
from run_files import run as made

ROUNDS = 15


def fill(history: RunHistory, count: int) -> None:
    """Writes run files of three runners each, and their index."""
    history.make()
    for number in range(count):
        started = (
            f"2026-{number // 1000 % 12 + 1:02}-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        )
        session = replace(SESSION, session_id=f"session {number}", started_utc=started)
        results = [exactly([1000, 1002, 1004], runner) for runner in ("cudnn", "aten", "jit")]
        results = [
            replace(row, processes=[replace(one, session=session.session_id) for one in row.processes])
            for row in results
        ]
        one = made(results, run_id=f"{number:032x}", created_utc=started, sessions=[session])
        history.find_place(one).write_text(json.dumps(one.to_dict()))
    history.listed()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        history = RunHistory(Path(folder))
        fill(history, count)

        def took(*words: str) -> float:
            return seconds(lambda: run(COMMAND, "history", "--history", folder, *words))

        found = in_turn(
            ROUNDS,
            list=lambda: seconds(lambda: run(COMMAND, "list")),
            newest=took,
            name=lambda: took("@last~1"),
            json=lambda: took("--json"),
            all=lambda: took("--all"),
        )
    print(f"fastrnns-rs list: {statistics.median(found['list']) * 1e3:.0f} ms")
    for name, words in (("newest", ""), ("name", " @last~1"), ("json", " --json"), ("all", " --all")):
        print(f"history{words}, {count:,} runs: {statistics.median(found[name]) * 1e3:.0f} ms")
    verdict("history / list", ratio(found["newest"], found["list"]), 1.5)
    verdict("history --json / list", ratio(found["json"], found["list"]), 3)


if __name__ == "__main__":
    main()
