"""How a profiler tells one phase of one iteration from another. The child process runs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import torch

from fastrnns_rs.errors import MissingError


class Marks(Protocol):
    """The phases and iterations of one runner."""

    def phase(self, name: str) -> AbstractContextManager[object]:
        """Whatever happens in the block is of this phase."""

    def step(self) -> None:
        """The iteration has ended."""


class Annotator(Protocol):
    """Marks what runners do."""

    def profile(self, runner: str) -> AbstractContextManager[Marks]:
        """Whatever happens in the block is of this runner."""


class NvtxRanges:
    """A start/end range `runner/phase/iteration` for each, which nsys and nvprof record. Costs little without them.

    Raises:
        MissingError: This torch has no ranges.
    """

    def __init__(self) -> None:
        # Where this is missing torch.cuda.nvtx is a stand-in, whose functions fail when they are called.
        if not hasattr(torch._C, "_nvtx"):  # noqa: SLF001  # it has no public way to ask
            message = f"torch {torch.__version__} cannot mark ranges: it has no NVTX"
            raise MissingError(message, "use a torch that is built with CUDA, or --torch")

    @contextmanager
    def profile(self, runner: str) -> Iterator[Marks]:
        """Whatever happens in the block is of this runner."""
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
    """For iterations that nobody wants to see."""

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
    """Tells a profiler that waits for it when the iterations begin and end, where there is a GPU."""
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
