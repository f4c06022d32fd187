"""An LSTM with dropout between its layers, under the mask that the runner drew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.models.dropout import PROBABILITY
from fastrnns_rs.worker.verification.references import equations
from fastrnns_rs.worker.verification.references.expected import MASKS, Expected, wide

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem

_UNSEEN = "the mask cannot be drawn again on CUDA: checked with dropout 0"


def lstm(problem: Problem) -> Expected:
    """The LSTM's equations. On a CPU the mask comes from torch's generator, and can be drawn again by its seed.

    What CUDA draws depends on the kernel that draws it: there the model is checked with a dropout probability of 0.
    """
    from fastrnns_rs.models.inputs import lstm_inputs

    x, hidden, module = lstm_inputs(problem)
    on_cpu = problem.device == "cpu"
    dtype = torch.bfloat16 if problem.amp else getattr(torch, problem.dtype)

    def between(y: torch.Tensor) -> torch.Tensor:
        if not (on_cpu and problem.training):
            return y
        return y * wide(torch.dropout(torch.ones(y.shape, dtype=dtype), PROBABILITY, True))  # noqa: FBT003

    torch.manual_seed(MASKS)
    expected = equations.of_module(problem, equations.lstm_step, x, hidden, module, between)
    if on_cpu or not problem.training:
        return expected
    return replace(expected, note=_UNSEEN, adapt=_without_dropout)


def _without_dropout(model: Any) -> Any:
    """A model whose dropout is 0, be it its module's or one of its inputs."""
    if isinstance(model.forward, torch.nn.RNNBase):
        model.forward.dropout = 0.0
    return replace(model, inputs=[0.0 if isinstance(one, float) else one for one in model.inputs])
