"""Runs a runner once in this process, for tests of its mathematics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing import assert_close

from fastrnns_rs.models.inputs import RecurrentInputs
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Problem, Sizes
from fastrnns_rs.runners.plan import PRESETS
from fastrnns_rs.runners.registry import all_runners, find
from fastrnns_rs.worker.timed_loop import build
from fastrnns_rs.worker.torch_settings import driver_warnings_silenced, jit_settings, torchscript_warnings_silenced

#: Every runner of ours; other tests add their own to the registry.
OURS = [name for name, runner in all_runners().items() if runner.source.module.startswith("fastrnns_rs.")]
#: Those that a CPU runs without compiling for long.
QUICK = [name for name in OURS if not find(name).compiles and "cpu" in find(name).devices]
SMALL = {"seq_length": 6, "input_size": 4, "hidden_size": 5, "mini_batch": 3, "image_size": 33}


@dataclass(frozen=True)
class Outcome:
    """One forward and one backward pass."""

    output: Any
    states: Any
    gradients: list[torch.Tensor]


def problem_of(name: str, **changes: Any) -> Problem:
    """A small problem for a runner; `changes` are sizes, modes, dtype, device or seed."""
    settings = {"dtype": "float32", "device": "cpu", "seed": 3, "allow_tf32": False}
    sizes = dict(SMALL)
    modes: dict[str, Any] = {}
    for key, value in changes.items():
        into = settings if key in settings else modes if key in Modes.__slots__ else sizes
        into[key] = value
    return find(name).problem(Sizes(**sizes), PRESETS["quick"], Modes(**modes), **settings)


def run_once(name: str, *, times: int = 1, fuser: str = "te", executor: str | None = None, **changes: Any) -> Outcome:
    """Runs forward and backward `times`, zeroing gradients between, and returns the last outcome."""
    settings = JitSettings(fuser=fuser, executor=executor)
    with torchscript_warnings_silenced(), driver_warnings_silenced(), _projections_allowed(), jit_settings(settings):
        model = build(find(name).creator, problem_of(name, **changes))
        with model.context():
            for _ in range(times):
                for param in model.params:
                    param.grad = None
                result = model.forward(*model.inputs)
                if model.backward is not None:
                    model.backward(*model.backward_setup(result))
    output, states = result if isinstance(result, tuple) else (result, None)
    return Outcome(output, states, [param.grad for param in model.params])


@contextmanager
def _projections_allowed() -> Iterator[None]:
    """Without torch's notice that oneDNN has no LSTM with a projection: a note of the runner says so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="LSTM with projections is not supported with oneDNN")
        yield


def run_module(inputs: RecurrentInputs[Any], seed: int) -> Outcome:
    """What torch's own module makes of a runner's inputs, differentiated as runners are."""
    with driver_warnings_silenced(), _projections_allowed():
        output, states = inputs.module(inputs.x, inputs.hidden)
        output.backward(torch.randn(output.shape, generator=torch.Generator().manual_seed(seed)).to(output))
    return Outcome(output, states, [weight.grad for weight in inputs.flat_weights()])


def assert_same(found: Outcome, expected: Outcome, **tolerances: float) -> None:
    """Output, states and gradients are equal, in shape and number too."""
    assert_close(found.output, expected.output, **tolerances)
    assert_close(found.states, expected.states, **tolerances)
    assert_close(found.gradients, expected.gradients, **tolerances)
