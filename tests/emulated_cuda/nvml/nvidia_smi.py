"""A stand-in for `nvidia-smi`: its questions that this project asks, answered by NVML as the real one does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pynvml

#: The texts of the real program; its exit status is NVML's error.
_WORDS = {
    pynvml.NVML_ERROR_NOT_SUPPORTED: "[N/A]",
    pynvml.NVML_ERROR_NO_PERMISSION: "[Insufficient Permissions]",
    pynvml.NVML_ERROR_GPU_IS_LOST: "[GPU is lost]",
}
_STARTING = {
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "Failed to initialize NVML: Driver/library version mismatch",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: (
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA"
        " driver is installed and running."
    ),
}
_FIELDS: dict[str, Callable[[Any], object]] = {
    "uuid": pynvml.nvmlDeviceGetUUID,
    "name": pynvml.nvmlDeviceGetName,
    "driver_version": lambda _: pynvml.nvmlSystemGetDriverVersion(),
    "clocks.sm": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM),
    "clocks.max.sm": lambda gpu: pynvml.nvmlDeviceGetMaxClockInfo(gpu, pynvml.NVML_CLOCK_SM),
    "persistence_mode": lambda gpu: ("Disabled", "Enabled")[pynvml.nvmlDeviceGetPersistenceMode(gpu)],
    "clocks_event_reasons.active": lambda gpu: f"0x{pynvml.nvmlDeviceGetCurrentClocksEventReasons(gpu):016x}",
    "power.limit": lambda gpu: f"{pynvml.nvmlDeviceGetEnforcedPowerLimit(gpu) / 1000:.2f}",
    "temperature.gpu": lambda gpu: pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU),
    "utilization.gpu": lambda gpu: pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
}


def main(arguments: Sequence[str]) -> int:
    """Answers one question.

    Returns:
        The exit status.
    """
    query, form, *which = arguments
    assert form == "--format=csv,noheader,nounits", form
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        print(_STARTING.get(error.value, f"Failed to initialize NVML: {error}"))
        return int(error.value)
    try:
        gpus = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError as error:
        print(
            f"Unable to determine the device handle for GPU0000:01:00.0: {error}.",
            " Reboot the system to recover this GPU",
        )
        return int(error.value)
    if which:
        [uuid] = (one.removeprefix("--id=") for one in which)
        # It knows no instances of GPUs (MIG) by their UUIDs.
        gpus = [gpu for gpu in gpus if pynvml.nvmlDeviceGetUUID(gpu) == uuid]
    if not gpus:
        print("No devices were found")
        return int(pynvml.NVML_ERROR_NOT_FOUND)
    kind, _, names = query.partition("=")
    if kind == "--query-compute-apps":
        assert names == "pid,name", names
        for gpu in gpus:
            for pid in _processes(gpu):
                print(f"{pid}, {pynvml.nvmlSystemGetProcessName(pid)}")
        return 0
    assert kind == "--query-gpu", kind
    for gpu in gpus:
        print(", ".join(_answer(gpu, name) for name in names.split(",")))
    return 0


def _answer(gpu: Any, field: str) -> str:
    try:
        return str(_FIELDS[field](gpu))
    except pynvml.NVMLError as error:
        return _WORDS.get(error.value, "[Unknown Error]")


def _processes(gpu: Any) -> list[int]:
    """Processes that compute on a GPU and on its instances."""
    count = pynvml.nvmlDeviceGetMaxMigDeviceCount(gpu)
    instances = [pynvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, index) for index in range(count)]
    try:
        return [
            one.pid for device in (gpu, *instances) for one in pynvml.nvmlDeviceGetComputeRunningProcesses_v3(device)
        ]
    except pynvml.NVMLError:
        return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
