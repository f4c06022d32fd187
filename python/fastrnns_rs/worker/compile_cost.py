"""Cost of compiling before the loop, and compilations inside the loop.

The parent gives the worker a folder for the compiler's files, and ends it when a phase takes too long, because the
worker cannot interrupt a C++ compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.processes.phases import COMPILE, COMPILE_AGAIN
from fastrnns_rs.worker.gradients import Gradients

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef


class Compiling:
    """Facts about a compiled runner so far.

    Args:
        device: Device of the model.
        on_phase: Called with `compile` and `compile again`, as each begins.
        shared: True if the folder of the compiler's files may contain files already.
    """

    def __init__(self, device: str, on_phase: Callable[[str], None], *, shared: bool) -> None:
        # The import takes seconds, which would otherwise be divided between the creator and the first iteration.
        import torch._inductor.compile_fx

        self._device = torch.device(device)
        self._on_phase = on_phase
        self._shared = shared
        self._before_loop: int | None = None
        self._cold_ns: int | None = None
        self._warm_ns: int | None = None
        self._graph_breaks: int | None = None

    def compile_model(self, model: ModelDef) -> None:
        """Compiles a model twice: without files, and with the files of the first time.

        Compiled code is dropped from memory in between. Each time is that of the whole first iteration, forward and
        backward. The compiler is loaded before.

        Raises:
            RunnerError: If a parameter has no gradient after backward, or the machine has no C++ compiler.
        """
        from torch._inductor import utils

        if self._device.type == "cuda":
            _start_libraries(self._device)
        self._on_phase(COMPILE)
        breaks = _graph_breaks()
        first_ns = self._first_call(model)
        self._graph_breaks = _graph_breaks() - breaks
        # In a shared folder the files that the first iteration found are unknown.
        self._cold_ns = None if self._shared else first_ns
        # Compiled code is dropped from memory; its files stay.
        torch.compiler.reset()
        utils.clear_caches()  # type: ignore[no-untyped-call,unused-ignore]
        self._on_phase(COMPILE_AGAIN)
        self._warm_ns = self._first_call(model)
        # The compiler's processes and threads would take time from the loop; they come back when needed.
        from torch._inductor.async_compile import shutdown_compile_workers

        shutdown_compile_workers()  # type: ignore[no-untyped-call,unused-ignore]
        self._before_loop = _compilations()

    def once(self, model: ModelDef) -> None:
        """Compiles a model without measuring the cost.

        Raises:
            RunnerError: If a parameter has no gradient after backward, or the machine has no C++ compiler.
        """
        self._on_phase(COMPILE)
        self._first_call(model)

    def facts(self) -> dict[str, int | None]:
        """Returns the facts so far, as keys of a process in a run file."""
        return {
            "cold_ns": self._cold_ns,
            "warm_ns": self._warm_ns,
            "graph_breaks": self._graph_breaks,
            "recompilations": None if self._before_loop is None else max(0, _compilations() - self._before_loop),
        }

    def _first_call(self, model: ModelDef) -> int:
        gradients = Gradients(model.params if model.backward is not None else ())
        begin = time.perf_counter_ns()
        try:
            output = model.forward(*model.inputs)
            if model.backward is not None:
                model.backward(*((output,) if model.backward_setup is None else model.backward_setup(output)))
        except Exception as error:
            if _lacks_compiler(error):
                what = "a C++ compiler, such as g++" if self._device.type == "cpu" else "a C compiler, such as gcc"
                raise RunnerError(f"torch.compile needs {what}, and none was found") from error
            raise
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        spent = time.perf_counter_ns() - begin
        if model.backward is not None:
            gradients.zero()
        return spent


def _start_libraries(device: torch.device) -> None:
    """Starts cuBLAS and cuDNN, forward and backward.

    A process does this once, and it is no part of compiling.
    """
    image = torch.ones(1, 1, 3, 3, device=device, requires_grad=True)
    weight = torch.ones(1, 1, 1, 1, device=device, requires_grad=True)
    (torch.conv2d(image, weight).view(3, 3) @ image.view(3, 3)).sum().backward()  # type: ignore[no-untyped-call]
    torch.cuda.synchronize(device)


def _compilations() -> int:
    """Returns the number of compilations since compiled code was last dropped."""
    from torch._dynamo.convert_frame import FRAME_COMPILE_COUNTER

    # Torch's own counter of frames leaves out those that may have no graph break.
    return sum(FRAME_COMPILE_COUNTER.values())


def _graph_breaks() -> int:
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def _lacks_compiler(error: BaseException) -> bool:
    """Returns True if the cause of an error is a missing compiler.

    Inductor reports it in several ways.
    """
    return any(
        type(one).__name__ == "InvalidCxxCompiler" or "Failed to find C compiler" in str(one) for one in _causes(error)
    )


def _causes(error: Any) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        # Torch keeps what its backend raised in an attribute.
        error = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
