"""How long a worker takes until its first sample begins, against what any child must do: import torch, build the model.

The clock of `time.perf_counter` is one for all processes of a machine on Linux: both children print what it shows just
before they first call their model, and this process subtracts what it showed before it started them.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from paired import in_turn, ratio, verdict

from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.problem.problem import PRESETS, Sizes
from fastrnns_rs.processes.launcher import Start, launch
from fastrnns_rs.processes.listener import Terms
from fastrnns_rs.runners import registry

ROUNDS = 15
RUNNER = registry.find("cudnn")
PROBLEM = RUNNER.problem(Sizes(), PRESETS["cpu"], dtype="float32", device="cpu", seed=0, allow_tf32=False)
#: What stands before the time that a child prints.
FIRST_CALL = "first call at"
#: `cudnn`, which tells the time when it is called. A file of its own: the worker loads nothing else of this program.
TELLING = f"""
import time
from dataclasses import replace
from fastrnns_rs import runner
from fastrnns_rs.runners import registry

@runner("telling", description="cudnn that says when it is called")
def telling(problem):
    model = registry.find("cudnn").creator(problem)

    def forward(*inputs):
        print("{FIRST_CALL}", time.perf_counter())
        return model.forward(*inputs)

    return replace(model, forward=forward)
"""
#: The same model, input and parameters by hand, and the same line.
BY_HAND = f"""
import time
import torch
torch.manual_seed({PROBLEM.seed})
x = torch.randn({PROBLEM.seq_length}, {PROBLEM.mini_batch}, {PROBLEM.input_size}, requires_grad=True)
state = tuple(torch.randn(1, {PROBLEM.mini_batch}, {PROBLEM.hidden_size}, requires_grad=True) for _ in range(2))
model = torch.nn.LSTM({PROBLEM.input_size}, {PROBLEM.hidden_size})
print("{FIRST_CALL}", time.perf_counter())
model(x, state)
"""


def first_call(printed: str) -> float:
    """The time of the first call in what a child printed; the worker's measures more than one."""
    times = [float(line.removeprefix(FIRST_CALL)) for line in printed.splitlines() if line.startswith(FIRST_CALL)]
    if not times:
        sys.exit(f"a child made no call; it printed:\n{printed}")
    return times[0]


def ours() -> float:
    """Seconds from the start of a worker until it first calls the model."""
    runner = registry.find("telling")
    job = {
        "kind": "bench",
        "runner": runner.name,
        "source": asdict(runner.source),
        "problem": asdict(PROBLEM),
        "loop": asdict(Loop(warmup=1, nloops=1, seconds=1.0)),
        "threads": None,
        "jit": asdict(JitSettings()),
    }
    begin = time.perf_counter()
    answer = launch(Start(job=job, terms=Terms(timeout=300)))
    if answer.content.get("status") != "ok":
        sys.exit(f"the worker failed: {answer.reason}")
    return first_call(answer.printed) - begin


def by_hand() -> float:
    """Seconds from the start of a child that does no more until it first calls the model."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", BY_HAND], stdout=subprocess.PIPE, text=True, check=True)
    return first_call(done.stdout) - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "telling.py")
        file.write_text(TELLING, encoding="utf-8")
        registry.load_file(str(file))
        found = in_turn(ROUNDS, ours=ours, by_hand=by_hand)
    for name, label in (("ours", "a worker"), ("by_hand", "python: import torch, build")):
        print(f"{label}: {statistics.median(found[name]):.3f} s")
    verdict("until the first sample: worker / import torch and build", ratio(found["ours"], found["by_hand"]), 1.1)


if __name__ == "__main__":
    main()
