"""Facts about torch and a device, as a child process reports them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Folder of this package, as this process imported it.
PACKAGE = Path(__file__).absolute().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about torch and the requested device, as found by the child process.

    Attributes:
        device: Device that the name stands for; None if it does not exist.
        no_cuda_reason: Reason why there is no CUDA device; None if there is a CUDA device.
        device_problem: Reason why the device does not compute; None if it computes.
        dtype_problem: Reason why the dtype does not work on the device; None if it works.
        tf32_problem: Reason why the device does not support TF32; None if it supports TF32.
        gpus: Some keys of `results.Gpu` for each CUDA device.
        start_s: Duration of the child process in seconds, mostly for importing torch; None without a child process.
    """

    python_version: str
    torch_version: str
    torchvision_version: str | None = None
    cuda_version: str | None = None
    cudnn_version: str | None = None
    num_threads: int
    device: str | None
    cuda_device_count: int
    no_cuda_reason: str | None = None
    device_problem: str | None = None
    dtype_problem: str | None = None
    tf32_problem: str | None = None
    python_executable: str | None = None
    gpus: list[dict[str, Any]] = field(default_factory=list)
    start_s: float | None = None
