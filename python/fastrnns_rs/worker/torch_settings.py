"""Process-wide settings of torch.

Each is set for the length of a block, then restored.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from fastrnns_rs.problem.jit_settings import JitSettings
    from fastrnns_rs.problem.problem import Problem


#: Torch's debug modes of deterministic algorithms: other algorithms raise an error, or only give a warning.
DETERMINISTIC, DETERMINISTIC_WARNING = 2, 1
_OLDER, _NEWER = "allow_tf32", "fp32_precision"


@contextmanager
def jit_settings(settings: JitSettings) -> Iterator[None]:
    """Applies settings of TorchScript inside the block."""
    with ExitStack() as restore:
        for name, value in settings.switches().items():
            read, write = _switch(name)
            restore.callback(write, read())
            write(value)
        for name, number in settings.pointwise().items():
            read_number, write_number = _pointwise(name)
            restore.callback(write_number, read_number())
            write_number(number)
        yield


def keep_jit_settings(settings: JitSettings) -> list[Callable[[], object]]:
    """Returns functions that set settings of TorchScript to what they are now."""
    places: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [_switch(name) for name in settings.switches()]
    places += [_pointwise(name) for name in settings.pointwise()]
    return [partial(write, read()) for read, write in places]


@contextmanager
def _attribute(place: Any, name: str, value: object) -> Iterator[None]:
    """Sets an attribute of one of torch's objects inside the block."""
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


def cudnn_disabled() -> AbstractContextManager[None]:
    """Uses torch's own kernels instead of cuDNN inside the block."""
    import torch

    # `cudnn.flags` is not used, because it also sets other flags, such as TF32.
    return _attribute(torch.backends.cudnn, "enabled", False)  # noqa: FBT003


@contextmanager
def tf32_allowed(allowed: bool) -> Iterator[None]:
    """Allows or forbids TF32 inside the block.

    It applies to float32 matrix products and convolutions, including cuDNN's. Torch has older and newer names for this.
    Readers of the older names raise where only the newer names were set, and setting an older name resets newer names.
    So both are set, the older names first.
    """
    import torch

    matmul, cudnn = torch.backends.cuda.matmul, cast("Any", torch.backends.cudnn)
    places = [(matmul, _OLDER), (cudnn, _OLDER), (matmul, _NEWER), (cudnn.conv, _NEWER), (cudnn.rnn, _NEWER)]
    wanted = {_OLDER: allowed, _NEWER: "tf32" if allowed else "ieee"}
    before = [_readable(place, name) for place, name in places]
    try:
        for place, name in places:
            setattr(place, name, wanted[name])
        yield
    finally:
        for (place, name), earlier in zip(places, before, strict=True):
            if earlier is not None:
                setattr(place, name, earlier)


def tf32_uses() -> dict[str, bool]:
    """Returns the kinds of work, each with True if TF32 is allowed.

    Torch's newer names also report what was set by the older names.
    """
    import torch

    cudnn = cast("Any", torch.backends.cudnn)
    places = {"matrix products": torch.backends.cuda.matmul, "convolutions": cudnn.conv, "recurrent layers": cudnn.rnn}
    return {kind: _readable(place, _NEWER) == "tf32" for kind, place in places.items()}


@contextmanager
def full_precision_on_cpu() -> Iterator[None]:
    """Makes a CPU compute float32 as float32 inside the block.

    The file of a runner may have allowed less, such as bfloat16, with `torch.set_float32_matmul_precision`.
    """
    lower = lower_precisions_on_cpu()
    try:
        for place in lower:
            setattr(place, _NEWER, "ieee")
        yield
    finally:
        for place, earlier in lower.items():
            setattr(place, _NEWER, earlier)


def lower_precisions_on_cpu() -> dict[Any, str]:
    """Returns precisions below float32 that a CPU may use for float32.

    The keys are torch's objects for products, convolutions and recurrent layers.
    """
    import torch

    onednn = cast("Any", torch.backends.mkldnn)
    found = {place: _readable(place, _NEWER) for place in (onednn.matmul, onednn.conv, onednn.rnn)}
    return {place: precision for place, precision in found.items() if precision not in {None, "none", "ieee"}}


def _readable(place: Any, name: str) -> Any:
    """Returns a setting, or None where torch refuses to read it."""
    try:
        return getattr(place, name, None)
    except RuntimeError:
        return None


def count_threads() -> int:
    """Returns torch's number of threads."""
    import torch

    return torch.get_num_threads()


def restore_threads(count: int) -> None:
    """Sets torch's number of threads, if the file of a runner changed it.

    The run would not record the other number.
    """
    import torch

    if torch.get_num_threads() != count:
        torch.set_num_threads(count)


def cudnn_benchmark(enabled: bool) -> AbstractContextManager[None]:
    """Turns the search for cuDNN's fastest algorithms on or off inside the block.

    It applies to convolutions.
    """
    import torch

    return _attribute(torch.backends.cudnn, "benchmark", enabled)


@contextmanager
def deterministic(enabled: bool) -> Iterator[None]:
    """Requires deterministic algorithms inside the block, or does not.

    Algorithms that do not repeat their results then raise an error.
    """
    import torch

    before, wanted = torch.get_deterministic_debug_mode(), DETERMINISTIC if enabled else 0
    # Torch would fill memory that nothing has written: work that is timed, and that no model asks for.
    with _attribute(torch.utils.deterministic, "fill_uninitialized_memory", False):  # noqa: FBT003
        _set_deterministic(wanted)
        try:
            yield
        finally:
            _set_deterministic(before)


def _set_deterministic(mode: int) -> None:
    import torch

    # Torch loads its compiler to set this, even to what it is: seconds, and more memory than most models need.
    if torch.get_deterministic_debug_mode() != mode:
        torch.use_deterministic_algorithms(mode > 0, warn_only=mode == DETERMINISTIC_WARNING)


def prepare_cublas(*, deterministic: bool) -> None:
    """Sets the variable that cuBLAS needs to be deterministic.

    It must be set before the first matrix product of a process, because cuBLAS reads it once.
    """
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def torch_modes(device: str) -> dict[str, tuple[Any, Callable[[], Any], Callable[[Any], Any]]]:
    """Returns modes of torch that no problem sets, by name.

    Each has its usual value, a function that reads it and one that writes it.
    """
    import torch

    kind, cpu = torch.device(device).type, torch.device("cpu")
    return {
        "autograd": (True, torch.is_grad_enabled, torch.set_grad_enabled),
        "autocast": (False, partial(torch.is_autocast_enabled, kind), partial(torch.set_autocast_enabled, kind)),
        "the dtype of autocast": (
            torch.bfloat16 if kind == "cpu" else torch.float16,
            partial(torch.get_autocast_dtype, kind),
            partial(torch.set_autocast_dtype, kind),
        ),
        "the default dtype": (torch.float32, torch.get_default_dtype, torch.set_default_dtype),
        "the default device": (
            cpu,
            torch.get_default_device,
            # A device that is set costs time in each call, even if it is the CPU.
            lambda wanted: torch.set_default_device(None if wanted == cpu else wanted),
        ),
        "anomaly detection": (False, torch.is_anomaly_enabled, torch.set_anomaly_enabled),
    }


@contextmanager
def usual_modes(device: str) -> Iterator[None]:
    """Gives torch's modes their usual values inside the block.

    The file of a runner, or an earlier runner, may have changed them.
    """
    import torch

    with ExitStack() as restore:
        # This ends `no_grad` and inference mode. `autocast` is no context here: inside another, it would keep
        # rounded weights from one iteration to the next.
        restore.enter_context(torch.inference_mode(mode=False))
        for usual, read, write in torch_modes(device).values():
            restore.callback(write, read())
            write(usual)
        yield


@contextmanager
def problem_settings(problem: Problem) -> Iterator[None]:
    """Applies the settings of a problem inside the block.

    They are the device, allowed rounding and allowed algorithms. Other modes of torch have their usual values.
    """
    import torch

    with ExitStack() as stack:
        stack.enter_context(usual_modes(problem.device))
        if torch.device(problem.device).type == "cuda":
            stack.enter_context(torch.cuda.device(problem.device))
            stack.enter_context(tf32_allowed(problem.allow_tf32))
            stack.enter_context(cudnn_benchmark(problem.cudnn_benchmark))
            # The file of a runner may have set cuDNN's own switch, which the other one does not read.
            stack.enter_context(_attribute(torch.backends.cudnn, "deterministic", problem.deterministic))
        else:
            stack.enter_context(full_precision_on_cpu())
        stack.enter_context(deterministic(problem.deterministic))
        yield


@contextmanager
def run_settings(jit: JitSettings, problem: Problem) -> Iterator[None]:
    """Applies the settings for a run inside the block.

    They are those of TorchScript and of the problem. Torch's own warnings are silenced.
    """
    with jit_settings(jit), torchscript_warnings_silenced(), driver_warnings_silenced(), problem_settings(problem):
        yield


@contextmanager
def torchscript_warnings_silenced() -> Iterator[None]:
    """Silences torch's warnings that TorchScript is deprecated.

    A run has one warning of its own.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*torch\.jit\..*")
        yield


@contextmanager
def driver_warnings_silenced() -> Iterator[None]:
    """Silences torch's warning that a driver is too old.

    Torch gives it at its first backward on a CPU too. Users who request a device get an error of this package.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*CUDA initialization.*")
        yield


def cuda_device_count() -> int:
    """Returns the number of CUDA devices that torch can use."""
    import torch

    with driver_warnings_silenced():
        return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _switch(name: str) -> tuple[Callable[[], bool], Callable[[bool], Any]]:
    """Returns functions that read and write one of TorchScript's switches."""
    import torch

    c: Any = torch._C

    def exchanged(exchange: Callable[[bool], bool]) -> Callable[[], bool]:
        # Torch has no reader for these two. Setting one returns its earlier value.
        def read() -> bool:
            before = exchange(True)  # noqa: FBT003
            exchange(before)
            return before

        return read

    return {
        "executor": (exchanged(c._jit_set_profiling_executor), c._jit_set_profiling_executor),
        # Its name says `get`; it sets, and returns what was set before.
        "optimize": (exchanged(c._get_graph_executor_optimize), c._get_graph_executor_optimize),
        "cpu_fusion": (c._jit_can_fuse_on_cpu, c._jit_override_can_fuse_on_cpu),
        "gpu_fusion": (c._jit_can_fuse_on_gpu, c._jit_override_can_fuse_on_gpu),
        "expressions": (c._jit_texpr_fuser_enabled, c._jit_set_texpr_fuser_enabled),
    }[name]


def _pointwise(name: str) -> tuple[Callable[[], int], Callable[[int], Any]]:
    """Returns functions that read and write a setting of the fuser's CUDA kernels."""
    import torch

    c = torch._C
    return getattr(c, f"_jit_get_te_cuda_pointwise_{name}"), getattr(c, f"_jit_set_te_cuda_pointwise_{name}")
