"""The original's loop, which collects garbage before each phase, beside ours: the same models in turn, on a CPU."""

from __future__ import annotations

import argparse
import gc
import statistics
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from paired import in_turn

from fastrnns_rs.problem.problem import PRESETS, Sizes
from fastrnns_rs.runners.registry import find
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.stopwatch import BACKWARD, FORWARD, stopwatch

ITERATIONS = 20
Medians = tuple[float, float]


def by_hand(model: Any, *, collect: bool) -> Medians:
    """The original's loop on a CPU's clock, with or without its collections."""
    params, found = list(model.params), []
    collection: Callable[[], object] = gc.collect if collect else int
    for _ in range(ITERATIONS):
        collection()
        begin = perf_counter_ns()
        output = model.forward(*model.inputs)
        end = perf_counter_ns()
        arguments = output if model.backward_setup is None else model.backward_setup(output)
        collection()
        backward_begin = perf_counter_ns()
        model.backward(*arguments)
        found.append((end - begin, perf_counter_ns() - backward_begin))
        for param in params:
            param.grad.zero_()
    forward, backward = zip(*found, strict=True)
    return statistics.median(forward), statistics.median(backward)


def ours(model: Any) -> Medians:
    watch = stopwatch("cpu", ITERATIONS, has_backward=True)
    timed_loop.run_exactly(model, watch, ITERATIONS)
    return statistics.median(watch.durations_ns(*FORWARD)), statistics.median(watch.durations_ns(*BACKWARD))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runners", nargs="+", default=["cudnn", "jit", "py"])
    given = parser.parse_args()
    for name in given.runners:
        runner = find(name)
        problem = runner.problem(Sizes(), PRESETS["cpu"], dtype="float32", device="cpu", seed=0, allow_tf32=False)
        model = runner.creator(problem)
        timed: dict[str, Callable[[], Any]] = {
            "ours": lambda model=model: ours(model),
            "by hand": lambda model=model: by_hand(model, collect=False),
            "by hand, collecting": lambda model=model: by_hand(model, collect=True),
        }
        for call in timed.values():
            call()
        found = in_turn(given.rounds, **timed)
        for peer in timed:
            for place, phase in enumerate(("forward", "backward")):
                times = [one[place] for one in found[peer]]
                ratios = [one[place] / our[place] for one, our in zip(found[peer], found["ours"], strict=True)]
                time, ratio = statistics.median(times) / 1e6, statistics.median(ratios)
                print(f"{name} {phase}, {peer}: {time:.2f} ms, {ratio:.3f} of ours")


if __name__ == "__main__":
    main()
