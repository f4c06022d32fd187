"""What the extra time steps really add: both LSTMs in turn in one process, so that nothing else differs.

As a program it prints the median ratio of a pair in each phase.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PAIRS = 300


def measure(path: Path, processes: int, problem: dict[str, Any]) -> dict[str, list[float]]:
    """The ratio that each of some fresh processes finds, by phase; kept in `path` for the next time."""
    from real_noise.command import document, tell

    known = document(path)
    found: dict[str, list[float]] = known or {"forward": [], "backward": []}
    while len(found["forward"]) < processes:
        tell(f"what the extra steps add: process {len(found['forward']) + 1} of {processes}")
        command = [sys.executable, "-W", "ignore::UserWarning", __file__, json.dumps(problem)]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        for phase, ratio in json.loads(text).items():
            found[phase].append(ratio)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def _in_turn(problem: dict[str, Any]) -> dict[str, float]:
    import torch
    from runners import lstm, lstm_more

    from fastrnns_rs import Problem

    torch.set_num_threads(1)
    models = [creator(Problem(**problem)) for creator in (lstm, lstm_more)]
    times: dict[str, list[list[int]]] = {"forward": [[], []], "backward": [[], []]}
    for number in range(2 * PAIRS):
        # Whoever is first in a pair finds the other's data in the caches: each is first as often.
        for place in (number % 2, 1 - number % 2):
            model = models[place]
            begin = time.perf_counter_ns()
            output = model.forward(*model.inputs)
            middle = time.perf_counter_ns()
            arguments = model.backward_setup(output)
            start = time.perf_counter_ns()
            model.backward(*arguments)
            end = time.perf_counter_ns()
            torch._foreach_zero_([param.grad for param in model.params])
            # The first half settles.
            if number >= PAIRS:
                times["forward"][place].append(middle - begin)
                times["backward"][place].append(end - start)
    # Of pairs: what slows the machine for a while slows both of a pair.
    return {
        phase: statistics.median(long / short for short, long in zip(*sides, strict=True))
        for phase, sides in times.items()
    }


if __name__ == "__main__":
    print(json.dumps(_in_turn(json.loads(sys.argv[1]))))
