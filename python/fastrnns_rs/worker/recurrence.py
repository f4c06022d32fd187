"""Time loops of a cell, for plain Python and TorchScript.

Every layer takes x [S, B, I] and its state, and returns (y [S, B, H], the state after all steps). The state of an LSTM
is (h, c), each [1, B, H]; that of a GRU or a plain network is h. The loops use the subset of Python that TorchScript
supports. They close over functions only, so that each signature of a cell has its own loop. They have no `zip` of
lists, and empty lists are annotated.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from fastrnns_rs.worker.cells import (
    flat_lstm_cell,
    gru_cell,
    layer_norm,
    layer_norm_decomposed,
    lstm_cell,
    milstm_cell,
    premul_lstm_cell,
    premul_lstm_cell_no_bias,
    projected_lstm_cell,
    rnn_relu_cell,
    rnn_tanh_cell,
)


def lstm_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns a layer that multiplies its input step by step."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in x.unbind(0):
        h, c = lstm_cell(step, (h, c), w_ih, w_hh, b_ih, b_hh)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def projected_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor, w_hr: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns the same layer with a projected hidden state: h [1, B, P], y [S, B, P]."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in x.unbind(0):
        h, c = projected_lstm_cell(step, (h, c), w_ih, w_hh, b_ih, b_hh, w_hr)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def premul_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns a layer that multiplies its input for all steps at once."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in torch.matmul(x, w_ih.t()).unbind(0):
        h, c = premul_lstm_cell(step, (h, c), w_hh, b_ih, b_hh)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def premul_bias_layer(
    x: Tensor, state: tuple[Tensor, Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns a layer that multiplies its input for all steps at once.

    It also adds the bias of the input there.
    """
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    # Two dimensions and a view: TorchScript differentiates `mm` well, and a batched product with a bias badly.
    gates = torch.mm(x.reshape(-1, x.size(2)), w_ih.t()) + b_ih
    for step in gates.view(x.size(0), x.size(1), -1).unbind(0):
        h, c = premul_lstm_cell_no_bias(step, (h, c), w_hh, b_hh)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def last_state(
    x: Tensor, h: Tensor, c: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor]:
    """Returns the state (h, c), each [B, H], after all steps.

    It takes no tuples and collects no outputs.
    """
    for step in x.unbind(0):
        h, c = flat_lstm_cell(step, h, c, w_ih, w_hh, b_ih, b_hh)
    return h, c


def bidirectional_layer(
    x: Tensor, state: tuple[Tensor, Tensor], weights: list[Tensor]
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Runs two layers: the second reads the sequence backwards, and y is [S, B, 2H].

    `weights` has four tensors per direction, `state` is two of [2, B, H].
    """
    h, c = state
    forwards, first = lstm_layer(x, (h[:1], c[:1]), weights[0], weights[1], weights[2], weights[3])
    backwards, second = lstm_layer(x.flip(0), (h[1:], c[1:]), weights[4], weights[5], weights[6], weights[7])
    last = (torch.cat([first[0], second[0]]), torch.cat([first[1], second[1]]))
    return torch.cat([forwards, backwards.flip(0)], 2), last


def multilayer(
    x: Tensor, state: tuple[Tensor, Tensor], weights: list[Tensor], dropout: float, directions: int = 1
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Runs a stack of layers in one function.

    `weights` has four tensors per layer and direction, `state` is two of [L D, B, H]. `dropout` is the probability that
    an output between two layers becomes zero. With `directions` D of 2 every layer is a `bidirectional_layer`, and y is
    [S, B, 2H].
    """
    rows = state[0].size(0)
    h_last: list[Tensor] = []
    c_last: list[Tensor] = []
    y = x
    for row in range(0, rows, directions):
        before = (state[0][row : row + directions], state[1][row : row + directions])
        at = 4 * row
        if directions == 1:
            y, last = lstm_layer(y, before, weights[at], weights[at + 1], weights[at + 2], weights[at + 3])
        else:
            y, last = bidirectional_layer(y, before, weights[at : at + 8])
        if dropout > 0.0 and row + directions < rows:
            y = torch.dropout(y, dropout, True)  # noqa: FBT003
        h_last.append(last[0])
        c_last.append(last[1])
    return y, (torch.cat(h_last), torch.cat(c_last))


def layer_norm_layer(
    x: Tensor,
    state: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    norms: list[Tensor],
    decompose: bool,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns a layer whose gates and cell state are normalised.

    Biases of the norms replace those of the gates. `norms` has weight and bias of the norm of the input's gates [4H],
    of the hidden state's [4H] and of c [H].
    """
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in x.unbind(0):
        from_input = torch.mm(step, w_ih.t())
        from_hidden = torch.mm(h, w_hh.t())
        if decompose:
            from_input = layer_norm_decomposed(from_input, norms[0], norms[1])
            from_hidden = layer_norm_decomposed(from_hidden, norms[2], norms[3])
        else:
            from_input = layer_norm(from_input, norms[0], norms[1])
            from_hidden = layer_norm(from_hidden, norms[2], norms[3])
        input_gate, forget_gate, cell_gate, output_gate = (from_input + from_hidden).chunk(4, 1)
        c = torch.sigmoid(forget_gate) * c + torch.sigmoid(input_gate) * torch.tanh(cell_gate)
        c = layer_norm_decomposed(c, norms[4], norms[5]) if decompose else layer_norm(c, norms[4], norms[5])
        h = torch.sigmoid(output_gate) * torch.tanh(c)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def varlen_layers(
    sequences: list[Tensor], state: tuple[Tensor, Tensor], weights: list[Tensor], directions: int = 1
) -> tuple[list[Tensor], tuple[Tensor, Tensor]]:
    """Runs a stack of layers over sequences of many lengths, one after the other.

    It takes B sequences of [length, I] and two states of [L D, B, H], and returns B outputs of [length, D H] and the
    states.
    """
    outputs: list[Tensor] = []
    h_last: list[Tensor] = []
    c_last: list[Tensor] = []
    for index in range(len(sequences)):
        before = (state[0][:, index : index + 1], state[1][:, index : index + 1])
        y, last = multilayer(sequences[index].unsqueeze(1), before, weights, 0.0, directions)
        outputs.append(y.squeeze(1))
        h_last.append(last[0])
        c_last.append(last[1])
    return outputs, (torch.cat(h_last, 1), torch.cat(c_last, 1))


def milstm_layer(
    x: Tensor,
    state: tuple[Tensor, Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    alpha: Tensor,
    beta_i: Tensor,
    beta_h: Tensor,
    bias: Tensor,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Returns a layer of an LSTM with multiplicative integration."""
    h, c = state[0][0], state[1][0]
    outputs: list[Tensor] = []
    for step in x.unbind(0):
        h, c = milstm_cell(step, (h, c), w_ih, w_hh, alpha, beta_i, beta_h, bias)
        outputs.append(h)
    return torch.stack(outputs), (h.unsqueeze(0), c.unsqueeze(0))


def _make_layer(cell: Callable[..., Tensor]) -> Callable[..., tuple[Tensor, Tensor]]:
    """Returns the layer of a cell whose state is h alone, [1, B, H]."""

    def layer(
        x: Tensor, state: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
    ) -> tuple[Tensor, Tensor]:
        h = state[0]
        outputs: list[Tensor] = []
        for step in x.unbind(0):
            h = cell(step, h, w_ih, w_hh, b_ih, b_hh)
            outputs.append(h)
        return torch.stack(outputs), h.unsqueeze(0)

    return layer


gru_layer = _make_layer(gru_cell)
rnn_tanh_layer = _make_layer(rnn_tanh_cell)
rnn_relu_layer = _make_layer(rnn_relu_cell)
