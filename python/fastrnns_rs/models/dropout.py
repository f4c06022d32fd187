"""LSTMs with dropout between their layers.

The default number of layers is 2, which is also the minimum: one layer has no place for dropout.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.models.custom import multilayer
from fastrnns_rs.models.lstm import nn_lstm, with_autocast
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem

PROBABILITY = 0.4


def _note_dropout(problem: Problem) -> str:
    if not problem.training:
        return "no dropout in inference"
    return f"dropout {PROBABILITY} between {problem.num_layers} layers"


_lstm = partial(runner, family="lstm", layers=(2, None), reference="LSTM under the same dropout mask")


@_lstm(
    "cudnn_dropout",
    description="nn.LSTM with dropout between layers",
    honours=("bidirectional", "proj_size"),
    note=with_autocast(_note_dropout),
)
def cudnn_dropout(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H].

    With a projection, P replaces H in y and h.
    """
    return nn_lstm(problem, dropout=PROBABILITY)


@_lstm(
    "jit_dropout",
    description="jit_multilayer with dropout between layers",
    honours=("bidirectional",),
    note=_note_dropout,
    torchscript=True,
)
def jit_dropout(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    return multilayer(problem, dropout=PROBABILITY)
