"""Arguments of a Triton kernel that are the same before each call, whatever the kernel writes to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner


class Arguments:
    """Copies of what a kernel changes and reads, and all else as it was given.

    Attributes:
        values: What to call it with.
    """

    def __init__(self, kernel: CachingAutotuner, given: tuple[Any, ...]) -> None:
        self._kernel = kernel
        self.values: list[Any] = kernel.clone_args(*given)[0]
        pairs = zip(self.values, given, strict=True)
        self._changed = [(_whole(copy), _whole(one)) for copy, one in pairs if copy is not one]

    def restore(self) -> None:
        """Undoes what a call did."""
        for copy, one in self._changed:
            copy.copy_(one)
        self._kernel.reset_to_zero_args(*self.values)  # type: ignore[no-untyped-call]


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """All of the memory that a tensor lies in, in one piece: elements of the tensor may share theirs."""
    if tensor.numel() == 0:
        return tensor
    length = 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    return tensor.as_strided((length,), (1,))
