"""How long a worker takes until it measures, against what any child must do: import torch and build the model."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import asdict

from paired import in_turn, ratio, verdict

from fastrnns_rs import registry
from fastrnns_rs.context import JitSettings
from fastrnns_rs.launching import launch
from fastrnns_rs.pacing import Loop
from fastrnns_rs.problem import PRESETS, Sizes

ROUNDS = 15
RUNNER = registry.find("cudnn")
PROBLEM = RUNNER.problem(Sizes(), PRESETS["cpu"], dtype="float32", device="cpu", seed=0, allow_tf32=False)
#: The same model, input and parameters by hand, and the line that says so.
BY_HAND = f"""
import torch
torch.manual_seed({PROBLEM.seed})
x = torch.randn({PROBLEM.seq_length}, {PROBLEM.mini_batch}, {PROBLEM.input_size}, requires_grad=True)
state = tuple(torch.randn(1, {PROBLEM.mini_batch}, {PROBLEM.hidden_size}, requires_grad=True) for _ in range(2))
model = torch.nn.LSTM({PROBLEM.input_size}, {PROBLEM.hidden_size})
print("built", flush=True)
"""


def ours() -> float:
    """Seconds from the start of a worker until it says that it measures."""
    reached: dict[str, float] = {}
    job = {
        "kind": "bench",
        "runner": RUNNER.name,
        "source": asdict(RUNNER.source),
        "problem": asdict(PROBLEM),
        "loop": asdict(Loop(warmup=1, nloops=1, seconds=1.0)),
        "threads": None,
        "jit": asdict(JitSettings()),
    }
    begin = time.perf_counter()
    answer = launch(job, timeout=300, on_phase=lambda name: reached.setdefault(name, time.perf_counter()))
    if answer.content.get("status") != "ok":
        sys.exit(f"the worker failed: {answer.reason}")
    return reached["measure"] - begin


def by_hand() -> float:
    """Seconds from the start of a child that does no more until it has its model."""
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", BY_HAND], stdout=subprocess.PIPE) as child:
        if child.stdout is None or not child.stdout.readline():
            sys.exit("the model by hand failed")
        return time.perf_counter() - begin


def main() -> None:
    found = in_turn(ROUNDS, ours=ours, by_hand=by_hand)
    for name, label in (("ours", "a worker"), ("by_hand", "python: import torch, build")):
        print(f"{label}: {statistics.median(found[name]):.3f} s")
    verdict("until it measures: worker / import torch and build", ratio(found["ours"], found["by_hand"]), 1.1)


if __name__ == "__main__":
    main()
