"""`nn.LSTM` in float64 on one sequence after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from fastrnns_rs.worker.verification.references.expected import Expected, wide, wide_module

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem


def one_by_one(problem: Problem) -> Expected:
    """B outputs of [length, H] and (h, c), each [L, B, H]; the gradient enters at the outputs padded with zeros."""
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
    """The same as one output [longest, B, H], padded with zeros."""
    expected = one_by_one(problem)
    return replace(expected, result=(expected.start, expected.result[1]))
