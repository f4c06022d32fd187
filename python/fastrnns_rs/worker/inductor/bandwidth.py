"""Data that a kernel reads and writes, and the memory bandwidth of its device."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch

from fastrnns_rs.worker.gpu_uuid import gpu_uuid

#: Start of the names of arguments that a kernel both reads and writes.
_READ_AND_WRITTEN = "in_out_ptr"
#: All memory of GPUs moves data at both edges of its clock.
_TRANSFERS_PER_CLOCK = 2


def num_gb(inductor_meta: Mapping[str, Any], names: Sequence[str], arguments: Sequence[Any]) -> float:
    """Returns the gigabytes (10⁹ bytes) that a kernel reads and writes.

    The number is Inductor's, or else the size of the arguments.

    Args:
        inductor_meta: Inductor's facts about the kernel.
        names: Names of its parameters.
        arguments: Arguments for the first of these parameters.
    """
    counted = inductor_meta.get("kernel_num_gb")
    return num_bytes(names, arguments) / 1e9 if counted is None else float(counted)


def num_bytes(names: Sequence[str], arguments: Sequence[Any]) -> int:
    """Returns the bytes of the tensors among a kernel's arguments.

    Tensors that are both read and written count twice, at any position.
    """
    both = {index for index, name in enumerate(names) if name.startswith(_READ_AND_WRITTEN)}
    return sum(
        one.numel() * one.element_size() * (2 if index in both else 1)
        for index, one in enumerate(arguments)
        if isinstance(one, torch.Tensor)
    )


@cache
def device_gb_per_s(device: torch.device) -> float | None:
    """Returns the memory bandwidth of a device, from its clock and width.

    Returns:
        Bandwidth in GB/s; None where neither torch nor the driver reports it.
    """
    if torch.version.hip is not None:
        # The clock of ROCm is not the data clock: on some devices it gives half of the bandwidth.
        return None
    properties = torch.cuda.get_device_properties(device)
    clock_khz, bits = getattr(properties, "memory_clock_rate", 0), getattr(properties, "memory_bus_width", 0)
    if not (clock_khz > 0 and bits > 0):
        clock_khz, bits = _query_driver(gpu_uuid(properties))
    if not (clock_khz > 0 and bits > 0):
        return None
    return clock_khz * 1e3 * _TRANSFERS_PER_CLOCK * bits / 8 / 1e9


def _query_driver(uuid: str) -> tuple[int, int]:
    """Returns the clock in kHz and the width in bits; zeros where unknown."""
    try:
        nvml = importlib.import_module("pynvml")
        nvml.nvmlInit()
    except Exception:  # noqa: BLE001  # times do not need the driver's library
        return 0, 0
    try:
        handle = nvml.nvmlDeviceGetHandleByUUID(uuid)
        megahertz = nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM)
        return megahertz * 1000, nvml.nvmlDeviceGetMemoryBusWidth(handle)
    except nvml.NVMLError:
        return 0, 0
    finally:
        nvml.nvmlShutdown()


def create_bandwidth_info_str(
    ms: float,
    num_gb: float,
    gb_per_s: float,
    prefix: str = "",
    suffix: str = "",
    color: bool = True,  # noqa: ARG001  # upstream's signature
) -> str:
    """Returns upstream's line about a kernel.

    Args:
        ms: Time of the kernel, in milliseconds.
        num_gb: Gigabytes that it moves.
        gb_per_s: Gigabytes per second.
        prefix: Text before the line.
        suffix: Text after the line.
        color: Ignored. Upstream colours lines red by two limits of one GPU model. Here the share of the device's
            bandwidth shows slow kernels.
    """
    return f"{prefix}{ms:.3f}ms    \t{num_gb:.3f} GB \t {gb_per_s:7.2f}GB/s{suffix}"
