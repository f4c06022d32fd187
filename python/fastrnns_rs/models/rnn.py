"""Plain recurrent networks with tanh and ReLU: torch's module, and Python code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fastrnns_rs.models.custom import script, stacked_model
from fastrnns_rs.models.lstm import autocast_on_cudnn, make_module_model
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef
    from fastrnns_rs.models.inputs import RnnKind
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners.runner import Creator

Way = Literal["cudnn", "jit", "py"]

_NONLINEARITIES: dict[RnnKind, str] = {"rnn_tanh": "tanh", "rnn_relu": "relu"}
_DESCRIPTIONS: dict[Way, str] = {
    "cudnn": "nn.RNN with {} (cuDNN on CUDA)",
    "jit": "TorchScript RNN with {}, loop over time steps",
    "py": "eager Python RNN with {}, loop over time steps",
}


def _creator(kind: RnnKind, way: Way) -> Creator:
    def creator(problem: Problem) -> ModelDef:
        """Returns y [S, B, D H] and h [L D, B, H]."""
        from fastrnns_rs.models.inputs import rnn_inputs
        from fastrnns_rs.worker.recurrence import rnn_relu_layer, rnn_tanh_layer

        inputs = rnn_inputs(problem, kind)
        if way == "cudnn":
            return make_module_model(problem, inputs)
        layer = rnn_tanh_layer if kind == "rnn_tanh" else rnn_relu_layer
        return stacked_model(problem, inputs, script(layer) if way == "jit" else layer)

    return creator


for _kind, _nonlinearity in _NONLINEARITIES.items():
    for _way, _description in _DESCRIPTIONS.items():
        runner(
            f"{_kind}_{_way}",
            family="rnn",
            description=_description.format(_nonlinearity),
            torchscript=_way == "jit",
            note=autocast_on_cudnn if _way == "cudnn" else lambda _problem: None,
            honours=("bidirectional",),
            # The runner that is nn.RNN itself is compared with the equations.
            reference=f"RNN equations ({_nonlinearity})" if _way == "cudnn" else f"nn.RNN ({_nonlinearity})",
        )(_creator(_kind, _way))
