"""Settings of torch that hold for a block and are then as before."""

from __future__ import annotations

import pytest
import torch

from fastrnns_rs.worker.torch_settings import cudnn_disabled, tf32_allowed


def precisions() -> list[str]:
    cudnn = torch.backends.cudnn
    return [torch.backends.cuda.matmul.fp32_precision, cudnn.conv.fp32_precision, cudnn.rnn.fp32_precision]


@pytest.mark.parametrize(("allowed", "precision"), [(True, "tf32"), (False, "ieee")])
def test_tf32_holds_for_products_convolutions_and_recurrent_layers(allowed: bool, precision: str) -> None:
    before = precisions()
    with pytest.raises(KeyError), tf32_allowed(allowed):
        assert precisions() == [precision] * 3
        raise KeyError
    assert precisions() == before


def test_cudnn_is_switched_off_and_on_again() -> None:
    with pytest.raises(KeyError), cudnn_disabled():
        assert not torch.backends.cudnn.enabled
        raise KeyError
    assert torch.backends.cudnn.enabled
