"""Single steps against torch's own cells and against the equations, in plain Python and once TorchScript optimised."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from fastrnns_rs.models.custom import script
from fastrnns_rs.worker import cells

BATCH, FEATURES, HIDDEN, PROJECTED = 3, 4, 5, 2


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


@pytest.fixture(params=["python", "scripted"])
def compiled(request: pytest.FixtureRequest) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A cell as it is, or as TorchScript runs it once it has been profiled and optimised."""
    torch.manual_seed(0)

    def third_call(cell: Callable[..., Any]) -> Callable[..., Any]:
        scripted = script(cell)

        def call(*inputs: Any) -> Any:
            for _ in range(2):
                scripted(*inputs)
            return scripted(*inputs)

        return call

    return third_call if request.param == "scripted" else lambda cell: cell


def state() -> tuple[Tensor, Tensor]:
    return drawn(BATCH, HIDDEN), drawn(BATCH, HIDDEN)


def parameters(cell: torch.nn.RNNCellBase) -> list[Tensor]:
    return [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]


def test_the_four_forms_of_an_lstm_equal_that_of_torch(compiled) -> None:
    cell = torch.nn.LSTMCell(FEATURES, HIDDEN, dtype=torch.float64)
    w_ih, w_hh, b_ih, b_hh = parameters(cell)
    x, before = drawn(BATCH, FEATURES), state()
    expected = cell(x, before)
    product = x @ w_ih.T
    assert_close(compiled(cells.lstm_cell)(x, before, w_ih, w_hh, b_ih, b_hh), expected)
    assert_close(compiled(cells.flat_lstm_cell)(x, *before, w_ih, w_hh, b_ih, b_hh), expected)
    assert_close(compiled(cells.premul_lstm_cell)(product, before, w_hh, b_ih, b_hh), expected)
    assert_close(compiled(cells.premul_lstm_cell_no_bias)(product + b_ih, before, w_hh, b_hh), expected)


def test_a_projection_is_one_step_of_nn_lstm(compiled) -> None:
    module = torch.nn.LSTM(FEATURES, HIDDEN, proj_size=PROJECTED, dtype=torch.float64)
    x, h, c = drawn(1, BATCH, FEATURES), drawn(1, BATCH, PROJECTED), drawn(1, BATCH, HIDDEN)
    _, (h_next, c_next) = module(x, (h, c))
    found = compiled(cells.projected_lstm_cell)(x[0], (h[0], c[0]), *module.all_weights[0])
    assert_close(found, (h_next[0], c_next[0]))


def test_a_gru_equals_that_of_torch(compiled) -> None:
    cell = torch.nn.GRUCell(FEATURES, HIDDEN, dtype=torch.float64)
    x, h = drawn(BATCH, FEATURES), drawn(BATCH, HIDDEN)
    assert_close(compiled(cells.gru_cell)(x, h, *parameters(cell)), cell(x, h))


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_a_plain_network_equals_that_of_torch(nonlinearity: str, compiled) -> None:
    cell = torch.nn.RNNCell(FEATURES, HIDDEN, nonlinearity=nonlinearity, dtype=torch.float64)
    ours = cells.rnn_tanh_cell if nonlinearity == "tanh" else cells.rnn_relu_cell
    x, h = drawn(BATCH, FEATURES), drawn(BATCH, HIDDEN)
    assert_close(compiled(ours)(x, h, *parameters(cell)), cell(x, h))


def test_an_lstm_is_a_special_case_of_multiplicative_integration() -> None:
    torch.manual_seed(0)
    cell = torch.nn.LSTMCell(FEATURES, HIDDEN, dtype=torch.float64)
    w_ih, w_hh, b_ih, b_hh = parameters(cell)
    x, before = drawn(BATCH, FEATURES), state()
    none, one = torch.zeros(4 * HIDDEN).double(), torch.ones(4 * HIDDEN).double()
    assert_close(cells.milstm_cell(x, before, w_ih, w_hh, none, one, one, b_ih + b_hh), cell(x, before))


def test_every_cell_is_tested_here_and_says_what_it_takes() -> None:
    ours = {name: one for name, one in vars(cells).items() if name.endswith(("_cell", "_cell_no_bias"))}
    assert len(ours) == 9
    tests = inspect.getsource(inspect.getmodule(drawn))
    for name, cell in ours.items():
        assert f"cells.{name}" in tests
        assert cell.__doc__
