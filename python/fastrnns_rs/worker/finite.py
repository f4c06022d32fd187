"""Check that outputs and gradients are finite."""

from __future__ import annotations

import dataclasses
from collections.abc import Coroutine, Generator, Iterator, Mapping
from typing import Any

import torch

from fastrnns_rs.errors import RunnerError


def check_finite(name: str, value: Any) -> None:
    """Rejects NaN and infinities in nested values.

    Tuples, lists, mappings and dataclasses are searched for tensors. Values of a device are checked on the host,
    because the check needs memory, which would count as the model's.

    Raises:
        RunnerError: If there is such a value, or work that did not run; the message names its place.
    """
    for path, found_there in _tensors(name, value):
        tensor = _on_host(found_there)
        wrong = ~torch.isfinite(tensor)
        count = int(wrong.sum())
        if count:
            index = tuple(wrong.nonzero()[0].tolist())
            found = tensor[index].item()
            raise RunnerError(f"{path} holds {count} values that are not finite, the first {found} at {list(index)}")


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
