"""`nn.LSTM` as torch runs it, with cuDNN and without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.definition import ModelDef, sequence_model
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    from fastrnns_rs.models.inputs import RecurrentInputs
    from fastrnns_rs.problem.problem import Problem


def autocast_on_cudnn(problem: Problem) -> str | None:
    """Returns a note on the dtype that autocast gives cuDNN's recurrent networks.

    It is float16, whatever dtype is requested.
    """
    if problem.amp and problem.device.startswith("cuda"):
        return "torch's autocast runs cuDNN's recurrent networks in float16, not bfloat16"
    return None


def with_autocast(note: Callable[[Problem], str | None]) -> Callable[[Problem], str | None]:
    """Returns a runner's own note, followed by the note on autocast."""

    def both(problem: Problem) -> str | None:
        return "; ".join(filter(None, [note(problem), autocast_on_cudnn(problem)])) or None

    return both


def _same_on_cpu(problem: Problem) -> str | None:
    if problem.device != "cpu":
        return None
    return f"cudnn and aten are the same code path on a CPU ({_cpu_path(problem)})"


def _cpu_path(problem: Problem) -> str:
    """Returns the code that torch runs, as `use_mkldnn` in its RNN.cpp chooses."""
    if problem.proj_size is not None:
        return "torch's own: oneDNN has no projection"
    if problem.dtype == "float32":
        return "oneDNN"
    if problem.dtype == "float16" and problem.training:
        return "torch's own: oneDNN trains no LSTM in float16"
    if problem.dtype in {"float16", "bfloat16"}:
        # Only torch knows, and this process does not import torch.
        return f"oneDNN if it supports {problem.dtype} on this CPU, otherwise torch's own"
    return f"torch's own: oneDNN has no LSTM in {problem.dtype}"


def make_module_model(problem: Problem, inputs: RecurrentInputs[Any]) -> ModelDef:
    """Returns the module of `inputs` as a model."""
    return sequence_model(problem, [inputs.x, inputs.hidden], inputs.flat_weights(), inputs.module)


def nn_lstm(problem: Problem, *, dropout: float = 0.0) -> ModelDef:
    """Returns the module `nn.LSTM`, with dropout between its layers."""
    from fastrnns_rs.models.inputs import lstm_inputs

    return make_module_model(problem, lstm_inputs(problem, dropout=dropout))


_lstm = partial(
    runner,
    family="lstm",
    group="rnns",
    honours=("bidirectional", "proj_size"),
    reference="LSTM equations",
)


@_lstm(
    "cudnn",
    description="nn.LSTM (cuDNN on CUDA; oneDNN on a CPU, at least in float32)",
    note=with_autocast(_same_on_cpu),
)
def cudnn(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H].

    With a projection, P replaces H in y and h.
    """
    return nn_lstm(problem)


@_lstm("aten", description="nn.LSTM with cuDNN disabled", note=_same_on_cpu)
def aten(problem: Problem) -> ModelDef:
    """Returns y [S, B, D H] and (h, c), each [L D, B, H].

    With a projection, P replaces H in y and h.
    """
    from fastrnns_rs.worker.torch_settings import cudnn_disabled

    return replace(nn_lstm(problem), context=cudnn_disabled)
