"""Steps of recurrent networks, which TorchScript can compile.

B is the batch, I the number of input features, H that of the hidden state, P that of its projection. Every cell takes x
[B, I] and the state before the step, and returns the state after it: h [B, H], and c [B, H] for an LSTM. Weights have
the names of torch's modules: w_ih [G H, I], w_hh [G H, H], b_ih and b_hh [G H]. G is 4 for an LSTM, with gates in the
order input, forget, cell, output; 3 for a GRU: reset, update, new; and 1 for a plain network.
"""

import torch
from torch import Tensor


def gates_to_state(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (h, c) after a step, each [B, H].

    It takes the summed gates [B, 4H] and c before the step.
    """
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
    """Computes one step of an LSTM on x [B, I]."""
    h, c = state
    return gates_to_state(torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)


def flat_lstm_cell(
    x: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """Computes the step of `lstm_cell`, without tuples among the arguments."""
    return gates_to_state(torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)


def projected_lstm_cell(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor, w_hr: Tensor
) -> tuple[Tensor, Tensor]:
    """Computes one step of an LSTM with projection by w_hr [P, H].

    Shapes are h [B, P] and w_hh [4H, P].
    """
    h, c = lstm_cell(x, state, w_ih, w_hh, b_ih, b_hh)
    return torch.mm(h, w_hr.t()), c


def premul_lstm_cell(
    input_gates: Tensor, state: tuple[Tensor, Tensor], w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """Computes one step of an LSTM on `input_gates` [B, 4H], input times weights."""
    h, c = state
    return gates_to_state(input_gates + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)


def premul_lstm_cell_no_bias(
    input_gates: Tensor, state: tuple[Tensor, Tensor], w_hh: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """Computes the step of `premul_lstm_cell`; `input_gates` includes b_ih."""
    h, c = state
    return gates_to_state(input_gates + torch.mm(h, w_hh.t()) + b_hh, c)


def milstm_cell(
    x: Tensor,
    state: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    alpha: Tensor,
    beta_i: Tensor,
    beta_h: Tensor,
    bias: Tensor,
) -> tuple[Tensor, Tensor]:
    """Computes one step of an LSTM with multiplicative integration.

    Shapes of alpha, beta_i, beta_h and bias are [4H]. The gates contain the product of the contributions of input and
    hidden state, and each of the two:
    alpha * (W x) * (U h) + beta_i * (W x) + beta_h * (U h) + bias (Wu et al. 2016, arXiv:1606.06630).
    """
    h, c = state
    from_input = torch.mm(x, w_ih.t())
    from_hidden = torch.mm(h, w_hh.t())
    return gates_to_state(alpha * from_input * from_hidden + beta_i * from_input + beta_h * from_hidden + bias, c)


def gru_cell(x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> Tensor:
    """Computes one step of a GRU.

    Its reset gate acts on the product with the hidden state and its bias, as in `nn.GRU`.
    """
    input_reset, input_update, input_new = (torch.mm(x, w_ih.t()) + b_ih).chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = (torch.mm(h, w_hh.t()) + b_hh).chunk(3, 1)
    reset_gate = torch.sigmoid(input_reset + hidden_reset)
    update_gate = torch.sigmoid(input_update + hidden_update)
    new = torch.tanh(input_new + reset_gate * hidden_new)
    return new + update_gate * (h - new)


def rnn_tanh_cell(x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> Tensor:
    """Computes one step of a plain recurrent network with tanh."""
    return torch.tanh(torch.mm(x, w_ih.t()) + b_ih + torch.mm(h, w_hh.t()) + b_hh)


def rnn_relu_cell(x: Tensor, h: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor) -> Tensor:
    """Computes one step of a plain recurrent network with ReLU."""
    return torch.relu(torch.mm(x, w_ih.t()) + b_ih + torch.mm(h, w_hh.t()) + b_hh)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Computes layer normalisation over the last dimension, by torch's operator."""
    return torch.layer_norm(x, [x.size(-1)], weight, bias, 1e-5)


def layer_norm_decomposed(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Computes the same from elementary operators, which a compiler can fuse."""
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred * torch.rsqrt(variance + 1e-5) * weight + bias
