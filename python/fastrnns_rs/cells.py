"""The mathematics of one step of an LSTM, as TorchScript can compile it.

Gates stand in the order input, forget, cell, output. B is the batch, I the input's features, H the hidden state's.
The names of the weights are those of `nn.LSTM`: w_ih [4H, I], w_hh [4H, H], b_ih and b_hh [4H].
"""

import torch
from torch import Tensor


def gates_to_state(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """(h, c) after a step, each [B, H], from the summed gates [B, 4H] and c before it."""
    input_gate, forget_gate, cell_gate, output_gate = gates.chunk(4, 1)
    input_gate = torch.sigmoid(input_gate)
    forget_gate = torch.sigmoid(forget_gate)
    cell_gate = torch.tanh(cell_gate)
    output_gate = torch.sigmoid(output_gate)
    c_next = (forget_gate * c) + (input_gate * cell_gate)
    return output_gate * torch.tanh(c_next), c_next


def lstm_cell(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM on x [B, I]."""
    h, c = state
    return gates_to_state(torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)


def flat_lstm_cell(
    x: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """The same without tuples among its inputs."""
    return gates_to_state(torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)


def premul_lstm_cell(
    input_gates: Tensor, state: tuple[Tensor, Tensor], w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """One step whose product of input and weights is given: `input_gates` [B, 4H]."""
    h, c = state
    return gates_to_state(input_gates + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)


def premul_lstm_cell_no_bias(
    input_gates: Tensor, state: tuple[Tensor, Tensor], w_hh: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """The same where `input_gates` holds the input's bias already."""
    h, c = state
    return gates_to_state(input_gates + torch.mm(h, w_hh.t()) + b_hh, c)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Layer normalisation over the last dimension, torch's own operator."""
    return torch.layer_norm(x, [x.size(-1)], weight, bias, 1e-5)


def layer_norm_decomposed(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The same from elementary operators, for a compiler to fuse."""
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred * torch.rsqrt(variance + 1e-5) * weight + bias
