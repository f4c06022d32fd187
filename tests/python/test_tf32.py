"""TF32 by both interfaces of torch: no reader of either raises, inside the block and after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch

from fastrnns_rs.worker.torch_settings import tf32_allowed

CUDNN = cast("Any", torch.backends.cudnn)
MATMUL = torch.backends.cuda.matmul


def precisions() -> list[str]:
    return [MATMUL.fp32_precision, CUDNN.conv.fp32_precision, CUDNN.rnn.fp32_precision]


def flags_of_cudnn() -> bool:
    """A model of a user that switches something of cuDNN off saves and restores what may be rounded."""
    with CUDNN.flags(enabled=True, benchmark=False, deterministic=False, allow_tf32=CUDNN.allow_tf32):
        return bool(CUDNN.allow_tf32)


READERS: dict[str, Callable[[], bool]] = {
    "cudnn.allow_tf32": lambda: CUDNN.allow_tf32,
    "cuda.matmul.allow_tf32": lambda: MATMUL.allow_tf32,
    "get_float32_matmul_precision": lambda: torch.get_float32_matmul_precision() != "highest",
    "cudnn.flags": flags_of_cudnn,
    "cuda.matmul.fp32_precision": lambda: MATMUL.fp32_precision == "tf32",
    "cudnn.conv.fp32_precision": lambda: CUDNN.conv.fp32_precision == "tf32",
    "cudnn.rnn.fp32_precision": lambda: CUDNN.rnn.fp32_precision == "tf32",
}


@pytest.mark.parametrize(("allowed", "precision"), [(True, "tf32"), (False, "ieee")])
def test_tf32_holds_for_products_convolutions_and_recurrent_layers(allowed: bool, precision: str) -> None:
    before = precisions()
    with pytest.raises(KeyError), tf32_allowed(allowed):
        assert precisions() == [precision] * 3
        raise KeyError
    assert precisions() == before


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("name", READERS)
def test_every_reader_agrees(name: str, allowed: bool) -> None:
    with tf32_allowed(allowed):
        assert READERS[name]() is allowed
        # One may leave another unreadable.
        assert {reader() for reader in READERS.values()} == {allowed}


@pytest.mark.parametrize("allowed", [True, False])
def test_every_reader_answers_afterwards(allowed: bool) -> None:
    with tf32_allowed(allowed):
        flags_of_cudnn()
    for reader in READERS.values():
        reader()


@pytest.mark.parametrize("allowed", [True, False])
def test_a_model_may_set_it_again(allowed: bool) -> None:
    with tf32_allowed(allowed):
        torch.set_float32_matmul_precision("high")
        assert MATMUL.allow_tf32
        CUDNN.allow_tf32 = not allowed
        flags_of_cudnn()
