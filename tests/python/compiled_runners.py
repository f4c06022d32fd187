"""Runners that call `torch.compile` without Inductor, which would take long. Loaded with `--runner-file`."""

import ctypes
import os
import subprocess
from pathlib import Path

from fastrnns_rs import ModelDef, Problem, runner


def _model(forward):
    import torch

    weight = torch.ones(3, requires_grad=True)

    def setup(output):
        return output, torch.ones_like(output)

    def backward(output, gradient):
        output.backward(gradient)

    return ModelDef(inputs=[weight], params=[weight], forward=forward, backward_setup=setup, backward=backward)


def _eager(function, *, fullgraph=False):
    import torch

    return torch.compile(function, backend="eager", dynamic=False, fullgraph=fullgraph)


@runner("whole", compiles=True)
def whole(_problem: Problem) -> ModelDef:
    """Tells where its compiler would keep files."""
    with Path(os.environ["PLANTED_FOLDERS"]).open("a") as file:
        file.write(f"{os.environ['TORCHINDUCTOR_CACHE_DIR']} {os.environ['TRITON_CACHE_DIR']}\n")
    return _model(_eager(lambda weight: weight * 2, fullgraph=True))


@runner("broken_graph", compiles=True)
def broken_graph(_problem: Problem) -> ModelDef:
    import torch

    def forward(weight):
        doubled = weight * 2
        torch._dynamo.graph_break()
        return doubled + 1

    return _model(_eager(forward))


@runner("compiles_again", compiles=True)
def compiles_again(_problem: Problem) -> ModelDef:
    """Is given 1 in calls 3 to 5, 2 in calls 6 to 8, …: each value is compiled for."""
    calls = []
    times = _eager(lambda weight, factor: weight * factor, fullgraph=True)

    def forward(weight):
        calls.append(1)
        return times(weight, len(calls) // 3)

    return _model(forward)


@runner("never_compiled", compiles=True)
def never_compiled(_problem: Problem) -> ModelDef:
    """Sleeps in C, with the interpreter held, beside a child of its own."""

    def forward(_weight):
        subprocess.Popen(["sleep", os.environ["PLANTED_MARK"]])
        ctypes.PyDLL(None).sleep(1000)

    return _model(forward)


@runner("needs_compiler", compiles=True)
def needs_compiler(_problem: Problem) -> ModelDef:
    import torch

    return _model(torch.compile(lambda weight: weight * 2))
