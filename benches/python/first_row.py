"""How long `bench` takes until its first row stands, against what it cannot do without.

The floor is one process that imports torch, builds the same model and runs the same iterations by hand. `bench` starts
two processes with torch: one that says what the machine has, and one that measures.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from paired import in_turn, ratio, verdict

from fastrnns_rs.problem.problem import PRESETS, Sizes
from fastrnns_rs.runners import registry

ROUNDS = 7
WARMUP, NLOOPS = 5, 20
PROBLEM = registry.find("cudnn").problem(
    Sizes(), PRESETS["cpu"], dtype="float32", device="cpu", seed=0, allow_tf32=False
)
BENCH = [sys.executable, "-m", "fastrnns_rs", "bench", "--group", "rnns", "--rnns", "cudnn", "--device", "cpu"]
BENCH += ["--processes", "1", "--warmup", str(WARMUP), "--nloops", str(NLOOPS)]
BY_HAND = f"""
import torch
torch.manual_seed({PROBLEM.seed})
x = torch.randn({PROBLEM.seq_length}, {PROBLEM.mini_batch}, {PROBLEM.input_size})
state = tuple(torch.randn(1, {PROBLEM.mini_batch}, {PROBLEM.hidden_size}) for _ in range(2))
model = torch.nn.LSTM({PROBLEM.input_size}, {PROBLEM.hidden_size})
for _ in range({WARMUP + NLOOPS}):
    y, _ = model(x, state)
    y.backward(torch.ones_like(y))
    for param in model.parameters():
        param.grad.zero_()
print("cudnn", flush=True)
"""


def first_line(command: list[str], *, stderr: bool) -> float:
    """Seconds from the start of a command until it has written the row of `cudnn`."""
    begin = time.perf_counter()
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL} if stderr else {"stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        for line in process.stderr if stderr else process.stdout:
            if line.split()[:1] == ["cudnn"]:
                found = time.perf_counter() - begin
                process.communicate()
                return found
    sys.exit(f"no row came from {command}")


def main() -> None:
    found = in_turn(
        ROUNDS,
        ours=lambda: first_line(BENCH, stderr=True),
        by_hand=lambda: first_line([sys.executable, "-c", BY_HAND], stderr=False),
    )
    for name, label in (("ours", "bench"), ("by_hand", "python: import torch, build, run")):
        print(f"{label}: {statistics.median(found[name]):.3f} s")
    verdict("until the first row: bench / by hand", ratio(found["ours"], found["by_hand"]), 2.5)


if __name__ == "__main__":
    main()
