"""Settings of torch that hold for a block and are then as before."""

from __future__ import annotations

import pytest
import torch

from fastrnns_rs.context import cudnn_disabled, tf32_allowed


def allowed_now() -> tuple[bool, bool]:
    return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32


@pytest.mark.parametrize("allowed", [True, False])
def test_tf32_holds_for_products_and_cudnn_alike(allowed: bool) -> None:
    before = allowed_now()
    with pytest.raises(KeyError), tf32_allowed(allowed):
        assert allowed_now() == (allowed, allowed)
        raise KeyError
    assert allowed_now() == before


def test_cudnn_is_switched_off_and_on_again() -> None:
    with pytest.raises(KeyError), cudnn_disabled():
        assert not torch.backends.cudnn.enabled
        raise KeyError
    assert torch.backends.cudnn.enabled
