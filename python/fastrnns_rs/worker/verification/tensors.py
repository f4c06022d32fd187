"""Pairs of a model's tensors and the expected tensors.

No tensor is left out on either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import zip_longest
from typing import Any

import torch

#: Replaces a tensor that one side does not have.
MISSING = object()


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the numbers of a tensor that may be sparse, as gradients of embeddings."""
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Yields every tensor in nested lists, tuples, mappings and dataclasses."""
    value = _listed(value)
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from tensors(item)


def results(found: Any, expected: Any) -> Iterator[tuple[str, Any, Any]]:
    """Returns a model's result as named pairs of found and expected tensors.

    By convention a result is (output, states), or an output.
    """
    if not _is_pair(expected):
        yield from pairs("output", found, expected)
    elif _is_pair(found):
        yield from pairs("output", found[0], expected[0])
        yield from pairs("state", found[1], expected[1])
    elif isinstance(found, (list, tuple)):
        # Values after the states, or without states, each have a name.
        for index, (one, other) in enumerate(zip_longest(found, expected, fillvalue=MISSING)):
            yield from pairs(("output", "state")[index] if index < 2 else f"result[{index}]", one, other)  # noqa: PLR2004
    else:
        yield from pairs("output", found, expected[0])
        yield from pairs("state", MISSING, expected[1])


def pairs(name: str, found: Any, expected: Any) -> Iterator[tuple[str, Any, Any]]:
    """Returns named pairs of found and expected tensors.

    A tensor without a partner is paired with `MISSING`. None stands for no tensor. Values of mappings are paired by
    their keys.
    """
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in {**expected, **found}:
            yield from pairs(f"{name}[{key}]", found.get(key, MISSING), expected.get(key, MISSING))
        return
    found, expected = _listed(found), _listed(expected)
    if isinstance(expected, list) and (isinstance(found, list) or found is MISSING):
        others = found if isinstance(found, list) else []
        for index, (one, other) in enumerate(zip_longest(others, expected, fillvalue=MISSING)):
            yield from pairs(f"{name}[{index}]", one, other)
    elif isinstance(found, list) and expected is MISSING:
        for index, one in enumerate(found):
            yield from pairs(f"{name}[{index}]", one, MISSING)
    elif found is not MISSING or expected is not MISSING:
        yield name, found, expected


def _listed(value: Any) -> Any:
    if value is None:
        return MISSING
    if isinstance(value, Mapping):
        return list(value.values())
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, one.name) for one in fields(value)]
    return list(value) if isinstance(value, tuple) else value


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2  # noqa: PLR2004
