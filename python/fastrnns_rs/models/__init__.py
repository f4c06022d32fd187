"""Parts of models, for your own runners and for code of PyTorch's fastrnns.

Each name is loaded when it is first used: importing this package does not load torch. The modules of this package are
the runners of fastrnns-rs; the names below are public, and the modules are not.

>>> from fastrnns_rs import models
>>> models.find("cudnn").family
'lstm'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef, backward, from_sequence, sequence_model
    from fastrnns_rs.models.inputs import lstm_inputs
    from fastrnns_rs.problem.jit_settings import JitSettings
    from fastrnns_rs.runners.registry import find
    from fastrnns_rs.worker.cells import flat_lstm_cell, lstm_cell, premul_lstm_cell, premul_lstm_cell_no_bias
    from fastrnns_rs.worker.torch_settings import cudnn_disabled, jit_settings

__all__ = [
    "JitSettings",
    "ModelDef",
    "backward",
    "cudnn_disabled",
    "find",
    "flat_lstm_cell",
    "from_sequence",
    "jit_settings",
    "lstm_cell",
    "lstm_inputs",
    "premul_lstm_cell",
    "premul_lstm_cell_no_bias",
    "sequence_model",
]

_HOME = {
    "JitSettings": "problem.jit_settings",
    "ModelDef": "models.definition",
    "backward": "models.definition",
    "cudnn_disabled": "worker.torch_settings",
    "find": "runners.registry",
    "flat_lstm_cell": "worker.cells",
    "from_sequence": "models.definition",
    "jit_settings": "worker.torch_settings",
    "lstm_cell": "worker.cells",
    "lstm_inputs": "models.inputs",
    "premul_lstm_cell": "worker.cells",
    "premul_lstm_cell_no_bias": "worker.cells",
    "sequence_model": "models.definition",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"fastrnns_rs.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
