"""Runs a runner once in this process, for tests of its mathematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from fastrnns_rs.context import JitSettings, jit_settings, torchscript_warnings_silenced
from fastrnns_rs.planning import PRESETS
from fastrnns_rs.problem import Problem, Sizes
from fastrnns_rs.registry import all_runners, find

#: Every runner of ours; other tests add their own to the registry.
OURS = [name for name, runner in all_runners().items() if runner.source.module.startswith("fastrnns_rs.")]
SMALL = {"seq_length": 6, "input_size": 4, "hidden_size": 5, "mini_batch": 3, "image_size": 33}


@dataclass(frozen=True)
class Outcome:
    """One forward and one backward pass."""

    output: Any
    states: Any
    gradients: list[torch.Tensor]


def problem_of(name: str, **changes: Any) -> Problem:
    """A small problem for a runner; `changes` are sizes, dtype, device or seed."""
    settings = {"dtype": "float32", "device": "cpu", "seed": 3, "allow_tf32": False}
    sizes = dict(SMALL)
    for key, value in changes.items():
        (settings if key in settings else sizes)[key] = value
    return find(name).problem(Sizes(**sizes), PRESETS["quick"], **settings)


def run_once(name: str, *, times: int = 1, fuser: str = "te", executor: str | None = None, **changes: Any) -> Outcome:
    """Runs forward and backward `times`, zeroing gradients between, and returns the last outcome."""
    with torchscript_warnings_silenced(), jit_settings(JitSettings(fuser=fuser, executor=executor)):
        model = find(name).creator(problem_of(name, **changes))
        with model.context():
            for _ in range(times):
                for param in model.params:
                    param.grad = None
                result = model.forward(*model.inputs)
                if model.backward is not None:
                    model.backward(*model.backward_setup(result))
    output, states = result if isinstance(result, tuple) else (result, None)
    return Outcome(output, states, [param.grad for param in model.params])
