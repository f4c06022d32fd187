"""Check that outputs and gradients are finite."""

from __future__ import annotations

import dataclasses
from collections.abc import Coroutine, Generator, Iterator, Mapping
from typing import Any

import torch

from fastrnns_rs.errors import RunnerError

#: Number of elements that are checked at once: on a CPU, the memory of the check counts as the model's.
_PIECE = 1 << 18


def check_finite(name: str, value: Any) -> None:
    """Rejects NaN and infinities in nested values.

    Tuples, lists, mappings and dataclasses are searched for tensors. Values of a device are checked on the host, and
    large tensors in pieces, because the check needs memory, which would count as the model's.

    Raises:
        RunnerError: If there is such a value, or work that did not run; the message names its place.
    """
    for path, found_there in _tensors(name, value):
        tensor = _on_host(found_there)
        if all(bool(torch.isfinite(piece).all()) for piece in _pieces(tensor)):
            continue
        wrong = ~torch.isfinite(tensor)
        index = tuple(wrong.nonzero()[0].tolist())
        found, count = tensor[index].item(), int(wrong.sum())
        raise RunnerError(f"{path} holds {count} values that are not finite, the first {found} at {list(index)}")


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yields views of all elements of a tensor, each with `_PIECE` elements at most."""
    if tensor.numel() <= _PIECE:
        yield tensor
        return
    # A piece is then as contiguous as the tensor.
    outermost = max((one for one in range(tensor.dim()) if tensor.size(one) > 1), key=tensor.stride)
    for half in tensor.chunk(2, outermost):
        yield from _pieces(half)


def _on_host(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor's values on the host, without memory of the device.

    Torch gathers elements with gaps between them on the device before it copies them: all memory between the first and
    the last element is copied instead.
    """
    if not tensor.is_cuda or not tensor.numel():
        return tensor.cpu()
    size, stride = tensor.size(), tensor.stride()
    length = 1 + sum((count - 1) * step for count, step in zip(size, stride, strict=True))
    return tensor.as_strided((length,), (1,)).cpu().as_strided(size, stride)


def _tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields every floating-point or complex tensor in a value, with its path."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() or value.is_complex():
            yield from _strided(name, value.detach())
    elif isinstance(value, (Generator, Coroutine)):
        # The timed phase only created the object.
        raise RunnerError(f"{name} is a {type(value).__name__}, whose work did not run")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _tensors(f"{name}[{index}]", item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors(f"{name}[{key!r}]", item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _tensors(f"{name}.{field.name}", getattr(value, field.name))


def _strided(name: str, tensor: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the values of a tensor of any layout, as tensors with strides."""
    if tensor.is_nested:
        for index, part in enumerate(tensor.unbind()):
            yield f"{name}[{index}]", part
    elif tensor.layout is torch.sparse_coo:
        yield f"{name}.values", tensor._values()  # noqa: SLF001  # the public method needs a coalesced tensor
    elif tensor.layout in {torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}:
        yield f"{name}.values", tensor.values()
    else:
        yield name, tensor.to_dense() if tensor.is_mkldnn else tensor
