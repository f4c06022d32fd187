"""What the harness adds to an iteration, against the same loop written by hand, and against the original's loop."""

from __future__ import annotations

import gc
import statistics
import sys
import time

import torch
from paired import in_turn

from fastrnns_rs.problem.problem import PRESETS, Sizes
from fastrnns_rs.runners.registry import find
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.stopwatch import stopwatch

COUNT = 1000


def main() -> None:
    torch.set_num_threads(1)
    sizes = Sizes(seq_length=2, input_size=4, hidden_size=4, mini_batch=1)
    problem = find("cudnn").problem(sizes, PRESETS["quick"], dtype="float32", device="cpu", seed=0, allow_tf32=False)
    model = find("cudnn").creator(problem)
    forward, inputs, params = model.forward, tuple(model.inputs), list(model.params)
    gradient = torch.ones_like(forward(*inputs)[0])

    def bare(iterations: int) -> None:
        for _ in range(iterations):
            output, _ = forward(*inputs)
            output.backward(gradient)
            torch._foreach_zero_([param.grad for param in params])

    def by_hand() -> float:
        gc.disable()
        begin = time.perf_counter()
        bare(COUNT)
        spent = time.perf_counter() - begin
        gc.enable()
        return spent / COUNT

    def ours() -> float:
        watch = stopwatch("cpu", COUNT, has_backward=True)
        # All of the loop but the collection before it: the marks, the checks of gradients, the first and last outputs.
        gc.collect()
        begin = time.perf_counter()
        gc.collect()
        collection = time.perf_counter() - begin
        begin = time.perf_counter()
        timed_loop.run_exactly(model, watch, COUNT)
        return (time.perf_counter() - begin - collection) / COUNT

    def original() -> float:
        loops = 3
        begin = time.perf_counter()
        for _ in range(loops):
            gc.collect()
            output, _ = forward(*inputs)
            arguments = output, torch.randn_like(output)
            gc.collect()
            arguments[0].backward(arguments[1])
            with torch.no_grad():
                for param in params:
                    param.grad.zero_()
        return (time.perf_counter() - begin) / loops

    bare(100)
    found = in_turn(20, ours=ours, by_hand=by_hand, original=original)
    for name in found:
        print(f"{name}: {statistics.median(found[name]) * 1e6:.1f} us an iteration")
    added = statistics.median(a - b for a, b in zip(found["ours"], found["by_hand"], strict=True)) * 1e6
    print(f"the harness adds {added:.1f} us (promised <= 10 us: {'kept' if added <= 10 else 'NOT KEPT'})")

    watch = stopwatch("cpu", 10_000, has_backward=True)
    gc.collect()
    blocks = sys.getallocatedblocks()
    timed_loop.run_exactly(model, watch, 10_000)
    gc.collect()
    left = (sys.getallocatedblocks() - blocks) / 10_000
    print(f"Python objects left per iteration: {left:.4f} (promised none: {'kept' if left < 0.01 else 'NOT KEPT'})")


if __name__ == "__main__":
    main()
