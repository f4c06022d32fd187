"""Switches of torch that a run neither sets nor records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any


def keep_switches() -> list[Callable[[], object]]:
    """Returns functions that set torch's switches to what they are now.

    They turn libraries, kernels of attention and very small numbers on and off.
    """
    import torch

    places = (torch.backends.cudnn, torch.backends.mkldnn)
    found: list[Callable[[], object]] = [partial(setattr, place, "enabled", place.enabled) for place in places]
    return found + [partial(write, read()) for read, write in _functions()]


@contextmanager
def switches_restored() -> Iterator[None]:
    """Restores torch's switches at the end of a block, for the next runner.

    Blocks of autocast that the runner entered and did not leave end too: they would keep rounded weights from one
    iteration to the next.
    """
    import torch

    depth = _count_autocast_blocks()
    with ExitStack() as restore:
        for one in keep_switches():
            restore.callback(one)
        try:
            yield
        finally:
            if _count_autocast_blocks() > depth:
                while torch.autocast_decrement_nesting() > depth:
                    pass
                torch.clear_autocast_cache()


def _functions() -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Returns pairs of functions that read and write a switch."""
    import torch

    cuda = torch.backends.cuda
    return [
        (cuda.flash_sdp_enabled, cuda.enable_flash_sdp),
        (cuda.mem_efficient_sdp_enabled, cuda.enable_mem_efficient_sdp),
        (cuda.math_sdp_enabled, cuda.enable_math_sdp),
        (cuda.cudnn_sdp_enabled, cuda.enable_cudnn_sdp),
        (torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
        (_flushes_denormals, torch.set_flush_denormal),
    ]


def _flushes_denormals() -> bool:
    """Returns True if this thread computes with 0 in place of very small numbers."""
    return sys.float_info.min / 2 == 0


def _count_autocast_blocks() -> int:
    """Returns the number of autocast blocks that were entered and not left."""
    import torch

    # Torch says the number only as it changes it.
    torch.autocast_increment_nesting()
    return torch.autocast_decrement_nesting()
