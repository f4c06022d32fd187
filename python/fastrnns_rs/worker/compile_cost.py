"""In a worker: what compiling costs, measured before the loop, and what is compiled in spite of that inside it.

The parent gives the worker a folder for the compiler's files, and ends it when a phase takes too long: a C++ compiler
cannot be interrupted from here.
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
    """The facts of a compiled runner, as they become known.

    Args:
        device: What the model runs on.
        on_phase: Called with `compile` and `compile again`, as each begins.
        shared: Whether the folder of the compiler's files may hold some already.
    """

    def __init__(self, device: str, on_phase: Callable[[str], None], *, shared: bool) -> None:
        # Seconds, which a creator that calls torch.compile would spend in part, and the first call in part.
        import torch._inductor.compile_fx

        self._device = torch.device(device)
        self._on_phase = on_phase
        self._shared = shared
        self._before_loop: int | None = None
        self._cold_ns: int | None = None
        self._warm_ns: int | None = None
        self._graph_breaks: int | None = None

    def ahead(self, model: ModelDef) -> None:
        """Compiles a model: calls it, forgets what was compiled, and calls it again with the files that are left.

        Each time is the whole first iteration, forward and backward; the compiler is loaded before.

        Raises:
            RunnerError: A parameter has no gradient after backward, or the machine has no C++ compiler.
        """
        from torch._inductor import utils

        if self._device.type == "cuda":
            _start_libraries(self._device)
        self._on_phase(COMPILE)
        breaks = _graph_breaks()
        first_ns = self._first_call(model)
        self._graph_breaks = _graph_breaks() - breaks
        # In a folder that others use nobody knows what the first call found.
        self._cold_ns = None if self._shared else first_ns
        # What was compiled goes from memory; its files stay.
        torch.compiler.reset()
        utils.clear_caches()  # type: ignore[no-untyped-call,unused-ignore]
        self._on_phase(COMPILE_AGAIN)
        self._warm_ns = self._first_call(model)
        # The compiler's processes and threads would take time from the loop; they come back when needed.
        from torch._inductor.async_compile import shutdown_compile_workers

        shutdown_compile_workers()  # type: ignore[no-untyped-call,unused-ignore]
        self._before_loop = _compilations()

    def once(self, model: ModelDef) -> None:
        """Compiles a model, whatever that costs.

        Raises:
            RunnerError: A parameter has no gradient after backward, or the machine has no C++ compiler.
        """
        self._on_phase(COMPILE)
        self._first_call(model)

    def facts(self) -> dict[str, int | None]:
        """What is known by now, as the keys of a process in a run file."""
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
    """Has cuBLAS and cuDNN start, forward and backward: once in a process, and no part of compiling."""
    image = torch.ones(1, 1, 3, 3, device=device, requires_grad=True)
    weight = torch.ones(1, 1, 1, 1, device=device, requires_grad=True)
    (torch.conv2d(image, weight).view(3, 3) @ image.view(3, 3)).sum().backward()  # type: ignore[no-untyped-call]
    torch.cuda.synchronize(device)


def _compilations() -> int:
    """How often a function was compiled since what was compiled was last forgotten."""
    from torch._dynamo.convert_frame import FRAME_COMPILE_COUNTER

    # Torch's own counter of frames leaves out those that may have no graph break.
    return sum(FRAME_COMPILE_COUNTER.values())


def _graph_breaks() -> int:
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def _lacks_compiler(error: BaseException) -> bool:
    """Whether the cause is that the machine has no compiler, which Inductor says in several ways."""
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
