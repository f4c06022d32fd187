"""Times of single Triton kernels, in the chosen configuration or in every one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.errors import FastrnnsError, first_line
from fastrnns_rs.worker.inductor import cold_cache
from fastrnns_rs.worker.inductor.architectures import Assembler
from fastrnns_rs.worker.inductor.bandwidth import device_gb_per_s, num_gb
from fastrnns_rs.worker.inductor.kernel_categories import get_kernel_category
from fastrnns_rs.worker.inductor.triton_kernels import (
    NO_BENCHMARK,
    benchmarkable,
    get_triton_kernel,
    identity,
    list_custom_kernels,
    load_all_configs,
)

if TYPE_CHECKING:
    from types import ModuleType

    from torch._inductor.runtime.triton_heuristics import CachingAutotuner


class Arguments:
    """Arguments of a kernel, restored before each call.

    Arguments that the kernel changes are copies.

    Attributes:
        values: Arguments of the call.
    """

    def __init__(self, kernel: CachingAutotuner, given: tuple[Any, ...]) -> None:
        self._kernel = kernel
        self.values: list[Any] = kernel.clone_args(*given)[0]
        pairs = zip(self.values, given, strict=True)
        self._changed = [(_whole(copy), _whole(one)) for copy, one in pairs if copy is not one]

    def restore(self) -> None:
        """Undoes the changes of a call."""
        for copy, one in self._changed:
            copy.copy_(one)
        self._kernel.reset_to_zero_args(*self.values)  # type: ignore[no-untyped-call]


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the whole memory of a tensor as one piece.

    Elements of the tensor may share memory.
    """
    if tensor.numel() == 0:
        return tensor
    length = 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    return tensor.as_strided((length,), (1,))


#: Inductor's names of devices that torch.cuda supports.
_TIMED = ("cuda", "hip")
#: Measured figures of a kernel, and figures from the compiler.
_MEASURED = (
    *("timing_mode", "num_gb", "device_gb_per_s", "registers", "spills", "shared_memory_bytes"),
    *("config", "chosen", "reason"),
)
#: Registers that Inductor's autotuner lets a kernel of its own spill, by default.
_SPILLS, _SPILLS_HIP = 16, 32


def measure(device: torch.device, *, all_configs: bool, architectures: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Times the kernels of the loaded modules.

    Args:
        device: Device that the module was generated for.
        all_configs: True times each kernel in all of its configurations, False in the chosen one.
        architectures: Architectures that each kernel is also compiled for.

    Yields:
        Keys of `KernelTiming` with `samples_ns` and `device_gb_per_s`, in place of `time` and the bandwidths. A kernel
        that could not be timed has no samples and a `reason`.

    Raises:
        FastrnnsError: If there is no kernel.
    """
    for mod in benchmarkable(device):
        row = _untimed(mod)
        try:
            kernel = get_triton_kernel(mod)
            row["name"] = kernel.fn.__name__
            where = _find_device(kernel, device)
            with cold_cache.CudaDevice(where) as timed_on:
                row["device_gb_per_s"] = device_gb_per_s(where)
                yield from _Kernel(mod, kernel, row, timed_on, architectures).measured(all_configs=all_configs)
        except Exception as error:  # noqa: BLE001  # a kernel's code can raise anything; the others are timed all the same
            yield {**row, "reason": _why(error)}
    for mod, kernel in list_custom_kernels():
        yield {**_untimed(mod), "name": kernel.fn.__name__, "reason": NO_BENCHMARK}


class _Kernel:
    """Kernel that is called by itself.

    Args:
        mod: Module of the kernel.
        kernel: Inductor's autotuner of the kernel.
        row: Facts that hold for every configuration.
        device: Device of the kernel.
        architectures: Architectures that it is also compiled for.
    """

    def __init__(
        self,
        mod: ModuleType,
        kernel: CachingAutotuner,
        row: dict[str, Any],
        device: cold_cache.CudaDevice,
        architectures: Sequence[str],
    ) -> None:
        self._mod, self._kernel, self._device = mod, kernel, device
        given = tuple(mod.get_args())
        row["num_gb"] = num_gb(kernel.inductor_meta, kernel.fn.arg_names, given)
        self._row = row
        self._arguments = Arguments(kernel, given)
        self._assembler = Assembler(mod, architectures)

    def measured(self, *, all_configs: bool) -> Iterator[dict[str, Any]]:
        """Yields the rows of the kernel.

        The first call chooses a configuration, unless one was chosen when the module ran.
        """
        self._mod.call(self._arguments.values)
        if len(self._kernel.launchers) != 1:
            raise FastrnnsError(f"autotuner did not choose one configuration: {len(self._kernel.launchers)} are left")
        chosen = self._kernel.launchers[0]
        if not all_configs:
            yield self._timed(chosen, chosen=True)
            return
        try:
            copy = load_all_configs(self._mod)
            configs = [*copy.configs]
            copy.precompile()
        except Exception as error:  # noqa: BLE001  # the chosen configuration can be timed without the others
            yield self._timed(chosen, chosen=True)
            yield {**self._row, "reason": f"cannot compile the other configurations: {_why(error)}"}
            return
        yield from self._compared(chosen, copy, configs)

    def _compared(self, chosen: Any, copy: CachingAutotuner, configs: list[Any]) -> Iterator[dict[str, Any]]:
        winner = identity(chosen.config)
        compiled = {identity(one.config): one for one in copy.launchers}
        if winner not in compiled:
            # A search that starts at one of the other configurations found it.
            yield self._timed(chosen, chosen=True)
        for key, launcher in compiled.items():
            spilled = None if key == winner else self._spilled(launcher)
            if spilled is None:
                yield self._timed(launcher, chosen=key == winner)
            else:
                yield {**self._described(launcher, chosen=False), "reason": spilled}
        for config in configs:
            if identity(config) not in compiled and identity(config) != winner:
                reason = "does not compile: needs more than the device has"
                yield {**self._row, "config": str(config), "chosen": False, "reason": reason}

    def _timed(self, launcher: Any, *, chosen: bool) -> dict[str, Any]:
        row = self._described(launcher, chosen=chosen)
        try:
            samples = cold_cache.samples_ns(self._call(launcher), self._device, self._arguments.restore)
        except Exception as error:  # noqa: BLE001  # the other configurations may run
            return {**row, "reason": _why(error)}
        return {**row, "timing_mode": cold_cache.MODE, "samples_ns": samples}

    def _call(self, launcher: Any) -> Callable[[], object]:
        values, stream = self._arguments.values, self._device.stream
        return lambda: launcher(*values, stream=stream)

    def _described(self, launcher: Any, *, chosen: bool) -> dict[str, Any]:
        return {
            **self._row,
            "registers": _count(launcher, "n_regs"),
            "spills": _count(launcher, "n_spills"),
            "shared_memory_bytes": _count(launcher, "shared"),
            "config": str(launcher.config),
            "chosen": chosen,
            "assembled": self._assembler.figures(launcher.config),
        }

    def _spilled(self, launcher: Any) -> str | None:
        """Returns why the autotuner skips a configuration without timing it."""
        spills = _count(launcher, "n_spills")
        most = self._kernel.inductor_meta.get("spill_threshold", _SPILLS_HIP if torch.version.hip else _SPILLS)
        if self._kernel.custom_kernel or spills is None or spills <= most:
            return None
        return f"not timed: {spills} spilled registers, and the autotuner skips configurations with more than {most}"


def _untimed(mod: ModuleType) -> dict[str, Any]:
    """Returns the row of a kernel of which only the module is known."""
    known = {
        "name": mod.__name__,
        "key": mod.key,
        "category": get_kernel_category(mod),
        "samples_ns": [],
        "assembled": [],
    }
    return {**known, **dict.fromkeys(_MEASURED)}


def _find_device(kernel: CachingAutotuner, otherwise: torch.device) -> torch.device:
    """Returns the device of a kernel; `device` if the kernel may run on any."""
    props = kernel.device_props
    if props.type not in _TIMED:
        raise FastrnnsError(f"kernel not on CUDA: {props.type!r}")
    return otherwise if props.index is None else torch.device("cuda", props.index)


def _why(error: Exception) -> str:
    return error.message if isinstance(error, FastrnnsError) else first_line(error)


def _count(launcher: Any, name: str) -> int | None:
    """Returns a figure of a configuration from the compiler.

    Some versions of the compiler do not report every figure.
    """
    value: int | None = getattr(launcher, name, None)
    return value
