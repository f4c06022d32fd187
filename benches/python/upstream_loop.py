"""PyTorch's fastrnns loop, which collects garbage before each phase, against ours: interleaved, on a CPU or a GPU.

    python benches/python/upstream_loop.py --device cuda --fastrnns pytorch/benchmarks/fastrnns

With `--fastrnns`, the folder of a PyTorch source tree, its own `trainbench` times its own models too, with its calls
of the garbage collector and with a function that does nothing in their place.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from paired import in_turn

from fastrnns_rs.problem.problem import PRESETS, Preset, Sizes
from fastrnns_rs.runners.registry import find
from fastrnns_rs.worker import timed_loop
from fastrnns_rs.worker.stopwatch import BACKWARD, FORWARD, stopwatch

ITERATIONS = 20
Medians = tuple[float, float]


def device_mark() -> torch.cuda.Event:
    """Records a new event, as the original does."""
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def device_elapsed_ns(begin: torch.cuda.Event, end: torch.cuda.Event) -> float:
    """Waits for the device, as the original does after each iteration."""
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e6


#: What marks a moment, and what the nanoseconds between two are.
CLOCKS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], float]]] = {
    "cpu": (perf_counter_ns, lambda begin, end: end - begin),
    "cuda": (device_mark, device_elapsed_ns),
}


def by_hand(model: Any, *, collect: bool, device: str) -> Medians:
    """The original's loop on the original's clock, with or without its collections."""
    mark, elapsed_ns = CLOCKS[device]
    params, found = list(model.params), []
    collection: Callable[[], object] = gc.collect if collect else int
    for _ in range(ITERATIONS):
        collection()
        begin = mark()
        output = model.forward(*model.inputs)
        end = mark()
        arguments = output if model.backward_setup is None else model.backward_setup(output)
        collection()
        backward_begin = mark()
        model.backward(*arguments)
        backward_end = mark()
        found.append((elapsed_ns(begin, end), elapsed_ns(backward_begin, backward_end)))
        for param in params:
            param.grad.zero_()
    forwards, backwards = zip(*found, strict=True)
    return statistics.median(forwards), statistics.median(backwards)


def ours(model: Any, device: str) -> Medians:
    watch = stopwatch(device, ITERATIONS, has_backward=True)
    timed_loop.run_exactly(model, watch, ITERATIONS)
    return statistics.median(watch.durations_ns(*FORWARD)), statistics.median(watch.durations_ns(*BACKWARD))


class Fastrnns:
    """The code of PyTorch's benchmark, imported from a folder."""

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder.resolve().parent))
        try:
            self.bench = importlib.import_module(f"{folder.resolve().name}.bench")
        finally:
            sys.path.pop(0)
        self.runner = importlib.import_module(f"{folder.resolve().name}.runner")

    def medians(self, name: str, sizes: Preset, device: str, *, collect: bool) -> Medians:
        """Returns the medians of its `trainbench`, ns."""
        [(_, creator, context)] = self.runner.get_nn_runners(name)
        nothing = SimpleNamespace(collect=int)
        with context(), mock.patch.object(self.bench, "gc", gc if collect else nothing):
            found = self.bench.trainbench(
                name,
                creator,
                nloops=ITERATIONS,
                warmup=2,
                seqLength=sizes.seq_length,
                numLayers=sizes.num_layers,
                inputSize=sizes.input_size,
                hiddenSize=sizes.hidden_size,
                miniBatch=sizes.mini_batch,
                device=device,
                seed=0,
            )
        forward, backward = (statistics.median(times.tolist()) for times in (found.info_fwd, found.info_bwd))
        # Its clock counts seconds on a CPU, and milliseconds on a GPU.
        unit = 1e9 if device == "cpu" else 1e6
        return forward * unit, backward * unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runners", nargs="+", default=["cudnn", "jit", "py"])
    parser.add_argument("--device", default="cpu", choices=CLOCKS)
    parser.add_argument(
        "--fastrnns", type=Path, metavar="FOLDER", help="Folder benchmarks/fastrnns of PyTorch's sources."
    )
    given = parser.parse_args()
    original = Fastrnns(given.fastrnns) if given.fastrnns else None
    device, sizes = given.device, PRESETS["cpu" if given.device == "cpu" else "upstream"]
    for name in given.runners:
        runner = find(name)
        problem = runner.problem(Sizes(), sizes, dtype="float32", device=device, seed=0, allow_tf32=False)
        model = runner.creator(problem)
        timed: dict[str, Callable[[], Any]] = {
            "ours": partial(ours, model, device),
            "by hand": partial(by_hand, model, collect=False, device=device),
            "by hand, collecting": partial(by_hand, model, collect=True, device=device),
        }
        if original is not None:
            timed["fastrnns"] = partial(original.medians, name, sizes, device, collect=True)
            timed["fastrnns, not collecting"] = partial(original.medians, name, sizes, device, collect=False)
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
