"""Ranges in a capture: one for each phase of each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import torch

from fastrnns_rs.errors import MissingError


class Marks(Protocol):
    """Phases and iterations of one runner."""

    def phase(self, name: str) -> AbstractContextManager[object]:
        """Marks the block as a phase."""

    def step(self) -> None:
        """Ends an iteration."""


class Annotator(Protocol):
    """Source of the marks of each runner."""

    def profile(self, runner: str) -> AbstractContextManager[Marks]:
        """Marks the block as iterations of a runner."""


class NvtxRanges:
    """NVTX start/end ranges `runner/phase/iteration`, which nsys and nvprof record.

    They cost little without a profiler.

    Raises:
        MissingError: If torch was built without NVTX.
    """

    def __init__(self) -> None:
        # Without this module torch.cuda.nvtx is a stand-in, whose functions fail when called.
        if not hasattr(torch._C, "_nvtx"):  # noqa: SLF001  # it has no public way to ask
            message = f"torch {torch.__version__} cannot mark ranges: it has no NVTX"
            raise MissingError(message, "Use a torch that is built with CUDA, or torch.profiler.")

    @contextmanager
    def profile(self, runner: str) -> Iterator[Marks]:
        """Marks the block as iterations of a runner."""
        yield _NvtxMarks(runner)


class _NvtxMarks:
    def __init__(self, runner: str) -> None:
        self._runner = runner
        self._iteration = 0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        nvtx: Any = torch.cuda.nvtx
        opened = nvtx.range_start(f"{self._runner}/{name}/{self._iteration}")
        try:
            yield
        finally:
            nvtx.range_end(opened)

    def step(self) -> None:
        self._iteration += 1


class Unmarked:
    """Marks that do nothing."""

    @contextmanager
    def profile(self, _runner: str) -> Iterator[Marks]:
        """Marks nothing."""
        yield self

    def phase(self, _name: str) -> AbstractContextManager[object]:
        """Marks nothing."""
        return nullcontext()

    def step(self) -> None:
        """Marks nothing."""


@contextmanager
def capture_window(device: str) -> Iterator[None]:
    """Starts and stops a profiler that waits for the CUDA profiler API, on a GPU."""
    if torch.device(device).type != "cuda":
        yield
        return
    profiler: Any = torch.cuda.profiler
    torch.cuda.synchronize(device)
    profiler.start()
    try:
        yield
    finally:
        torch.cuda.synchronize(device)
        profiler.stop()
