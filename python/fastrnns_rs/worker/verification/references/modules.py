"""Torch's own modules in float64.

They are the references of runners that compute the same function in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.worker.verification.references.expected import Expected, wide, wide_module

if TYPE_CHECKING:
    from fastrnns_rs.models.inputs import RnnKind
    from fastrnns_rs.problem.problem import Problem


def lstm(problem: Problem) -> Expected:
    """Computes `nn.LSTM`: y [S, B, D·H] and (h, c), each [L·D, B, H].

    With a projection, P replaces H in y and h.
    """
    from fastrnns_rs.models.inputs import lstm_inputs

    x, hidden, module = lstm_inputs(problem)
    return _compute_module(module, x, hidden)


def last_state(problem: Problem) -> Expected:
    """Computes `nn.LSTM`, of which only the last step is returned and differentiated."""
    whole = lstm(problem)
    y, states = whole.result
    x, h, c = whole.inputs
    last = y[-1:]
    return Expected(result=(last, states), start=last, inputs=[x, h[0], c[0]], parameters=whole.parameters)


def lower_bound(problem: Problem) -> Expected:
    """Computes `nn.LSTM`, whose last cell states are normalised once for each step."""
    whole = lstm(problem)
    y, (h, c) = whole.result
    for _ in range(problem.sizes()[0]):
        centred = c - c.mean(-1, keepdim=True)
        c = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return Expected(result=(y, (h, c)), start=y, inputs=whole.inputs, parameters=whole.parameters)


def gru_or_rnn(kind: RnnKind, problem: Problem) -> Expected:
    """Computes `nn.GRU`, or `nn.RNN` with tanh or ReLU.

    The result is y [S, B, D·H] and h [L·D, B, H].
    """
    from fastrnns_rs.models import inputs

    x, hidden, module = inputs.rnn_inputs(problem, kind)
    return _compute_module(module, x, hidden)


def _compute_module(module: torch.nn.Module, x: Any, hidden: torch.Tensor | Sequence[torch.Tensor]) -> Expected:
    copied = wide_module(module)
    states = wide(hidden) if isinstance(hidden, torch.Tensor) else tuple(wide(one) for one in hidden)
    listed = [hidden] if isinstance(hidden, torch.Tensor) else [*hidden]
    y, last = copied(wide(x), states)
    return Expected(
        result=(y, last),
        start=y,
        inputs=[wide(one) for one in (x, *listed)],
        parameters=dict(copied.named_parameters()),
    )


def one_by_one(problem: Problem) -> Expected:
    """Computes `nn.LSTM` for one sequence after the other.

    The result is B outputs of [length, H] and (h, c), each [L, B, H]. The gradient enters at the outputs padded with
    zeros.
    """
    from fastrnns_rs.models.inputs import varlen_inputs

    sequences, hidden, module = varlen_inputs(problem)
    copied = wide_module(module)
    starts = [wide(one) for one in hidden]
    outputs, ends = [], []
    for index, sequence in enumerate(sequences):
        h, c = (one[:, index : index + 1].contiguous() for one in starts)
        y, end = copied(wide(sequence).unsqueeze(1), (h, c))
        outputs.append(y[:, 0])
        ends.append(end)
    longest = max(len(y) for y in outputs)
    padded = torch.stack([torch.cat([y, y.new_zeros(longest - len(y), y.shape[1])]) for y in outputs], dim=1)
    states = tuple(torch.cat([end[part] for end in ends], dim=1) for part in range(2))
    return Expected(
        result=(outputs, states),
        start=padded,
        inputs=[*(wide(one) for one in sequences), *starts],
        parameters=dict(copied.named_parameters()),
    )


def padded(problem: Problem) -> Expected:
    """Computes the same as one output [longest, B, H], padded with zeros."""
    expected = one_by_one(problem)
    return replace(expected, result=(expected.start, expected.result[1]))
