"""LSTMs with dropout between their layers. Two layers are the default and the least: one has nothing between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.models.custom import multilayer
from fastrnns_rs.models.lstm import nn_lstm
from fastrnns_rs.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem import Problem

PROBABILITY = 0.4


def _where(problem: Problem) -> str:
    return f"dropout {PROBABILITY} between its {problem.num_layers} layers"


@runner(
    "cudnn_dropout", family="lstm", description="nn.LSTM with dropout between layers", layers=(2, None), note=_where
)
def cudnn_dropout(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    return nn_lstm(problem, dropout=PROBABILITY)


@runner(
    "jit_dropout",
    family="lstm",
    description="TorchScript: jit_multilayer with dropout between layers",
    layers=(2, None),
    torchscript=True,
    note=_where,
)
def jit_dropout(problem: Problem) -> ModelDef:
    """Returns y [S, B, H] and (h, c), each [L, B, H]."""
    return multilayer(problem, dropout=PROBABILITY)
