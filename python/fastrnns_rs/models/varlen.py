"""LSTMs over sequences of many lengths: packed for cuDNN, or one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from fastrnns_rs.models.custom import script
from fastrnns_rs.models.definition import ModelDef, backward, from_tensor, sequence_model
from fastrnns_rs.models.lstm import with_autocast
from fastrnns_rs.runners.registry import runner

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.problem.problem import Problem


def _lengths(problem: Problem) -> str:
    if problem.seq_length in {1, 2}:
        return "all sequences have length 1"
    return f"sequence lengths vary, all below {problem.seq_length} (--seq-length)"


_lstm = partial(runner, family="vl_lstm", group="vl_rnns")
_one_after_the_other = partial(_lstm, note=_lengths, honours=("bidirectional",), reference="nn.LSTM per sequence")


@_lstm(
    "vl_cudnn",
    description="nn.LSTM on packed sequences of different lengths",
    note=with_autocast(_lengths),
    honours=("bidirectional", "proj_size"),
    reference="nn.LSTM per sequence, padded",
)
def vl_cudnn(problem: Problem) -> ModelDef:
    """Returns y [longest, B, D H], padded with zeros, and (h, c), each [L D, B, H].

    With a projection, P replaces H in y and h.
    """
    from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

    from fastrnns_rs.models.inputs import varlen_inputs

    inputs = varlen_inputs(problem)

    def forward(
        sequences: list[torch.Tensor], hidden: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        packed, states = inputs.module(pack_sequence(sequences, enforce_sorted=False), hidden)
        # The output stays padded: separating the sequences again doubles the time of backward.
        return pad_packed_sequence(packed)[0], states

    return sequence_model(problem, [inputs.x, inputs.hidden], inputs.flat_weights(), forward)


@_one_after_the_other(
    "vl_jit", description="TorchScript LSTM, sequences of different lengths one by one", torchscript=True
)
def vl_jit(problem: Problem) -> ModelDef:
    """Returns B outputs of [length, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import varlen_layers

    return _one_by_one(problem, script(varlen_layers))


@_one_after_the_other("vl_py", description="eager Python LSTM, sequences of different lengths one by one")
def vl_py(problem: Problem) -> ModelDef:
    """Returns B outputs of [length, D H] and (h, c), each [L D, B, H]."""
    from fastrnns_rs.worker.recurrence import varlen_layers

    return _one_by_one(problem, varlen_layers)


def _one_by_one(problem: Problem, forward: Callable[..., Any]) -> ModelDef:
    from torch.nn.utils.rnn import pad_sequence

    from fastrnns_rs.models.inputs import varlen_inputs

    inputs = varlen_inputs(problem)
    setup = from_tensor(problem.seed)
    return ModelDef(
        inputs=[inputs.x, inputs.hidden, inputs.flat_weights(), problem.directions],
        params=inputs.flat_weights(),
        forward=forward,
        # The gradient enters at the padded outputs, so that it equals the gradient of `vl_cudnn`.
        backward_setup=lambda result: setup(pad_sequence(result[0])),
        backward=backward,
    )
