"""LSTMs with multiplicative integration, with and without TorchScript.

They are Python code: torch has no module for them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fastrnns_rs.models.custom import script, stacked_model
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.problem.problem import Problem


_milstm = partial(runner, family="milstm", honours=("bidirectional",), reference="MI-LSTM equations")


@_milstm("milstm_jit", description="TorchScript LSTM with multiplicative integration", torchscript=True)
def milstm_jit(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.models.inputs import milstm_inputs
    from fastrnns_rs.worker.recurrence import milstm_layer

    return stacked_model(problem, milstm_inputs(problem), script(milstm_layer))


@_milstm("milstm_py", description="eager Python LSTM with multiplicative integration")
def milstm_py(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.models.inputs import milstm_inputs
    from fastrnns_rs.worker.recurrence import milstm_layer

    return stacked_model(problem, milstm_inputs(problem), milstm_layer)
