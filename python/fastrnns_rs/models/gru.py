"""GRUs: torch's module, and Python code with and without TorchScript."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.models.custom import script, stacked_model
from fastrnns_rs.models.lstm import autocast_on_cudnn, make_module_model
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem


_gru = partial(runner, family="gru", honours=("bidirectional",))


@_gru(
    "gru_cudnn",
    description="nn.GRU (cuDNN on CUDA)",
    reference="GRU equations",
    note=autocast_on_cudnn,
)
def gru_cudnn(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and h [L D, B, H]."""
    from fastrnns_rs.models.inputs import rnn_inputs

    return make_module_model(problem, rnn_inputs(problem, "gru"))


@_gru("gru_jit", description="TorchScript GRU, loop over time steps", torchscript=True, reference="nn.GRU")
def gru_jit(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and h [L D, B, H]."""
    from fastrnns_rs.models.inputs import rnn_inputs
    from fastrnns_rs.worker.recurrence import gru_layer

    return stacked_model(problem, rnn_inputs(problem, "gru"), script(gru_layer))


@_gru("gru_py", description="eager Python GRU, loop over time steps", reference="nn.GRU")
def gru_py(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and h [L D, B, H]."""
    from fastrnns_rs.models.inputs import rnn_inputs
    from fastrnns_rs.worker.recurrence import gru_layer

    return stacked_model(problem, rnn_inputs(problem, "gru"), gru_layer)
