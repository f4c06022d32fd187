"""What torch and the device can do, asked in a child process so that torch stays out of the parent."""

from __future__ import annotations

import platform
import sys
import warnings
from contextlib import ExitStack
from importlib import metadata
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.machine import nvidia
from fastrnns_rs.problem.problem import resolve

if TYPE_CHECKING:
    from fastrnns_rs.worker.channel import Channel, Progress


def answer(job: dict[str, Any], _channel: Channel, _progress: Progress) -> dict[str, Any]:
    """Facts about the software and the devices; `device` of the job is `auto`, `cpu`, `cuda` or `cuda:N`."""
    return {"status": "ok", "facts": probe(job["device"], job["dtype"])}


def probe(device: str, dtype: str) -> dict[str, Any]:
    """Facts about torch, its devices and whether `dtype` works on `device`.

    Args:
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        dtype: Name of a torch dtype.

    Returns:
        The keys of `fastrnns_rs.machine.environment.Facts`.
    """
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        available = torch.cuda.is_available()
        count = torch.cuda.device_count() if available else 0
    chosen = resolve(device, count)
    return {
        "python_executable": sys.executable or None,
        "python_version": platform.python_version(),
        "torch_version": torch.__version__,
        "torchvision_version": _version("torchvision"),
        "cuda_version": torch.version.cuda,
        "cudnn_version": _cudnn_version(),
        "num_threads": torch.get_num_threads(),
        "device": chosen,
        "cuda_device_count": count,
        "no_cuda_reason": None if available else _no_cuda_reason([str(one.message) for one in heard]),
        "dtype_problem": None if chosen is None else dtype_problem(chosen, dtype),
        "tf32_problem": None if chosen is None else _tf32_problem(chosen),
        "gpus": [_gpu(index) for index in range(count)],
    }


def dtype_problem(device: str, dtype: str) -> str | None:
    """Why an LSTM and a convolution do not run in `dtype` on `device`, or None."""
    where = {"device": device, "dtype": getattr(torch, dtype)}
    with ExitStack() as stack:
        if device.startswith("cuda"):
            # Some of torch's questions are about the current device.
            stack.enter_context(torch.cuda.device(device))
        return _try_dtype(dtype, where)


def _try_dtype(dtype: str, where: dict[str, Any]) -> str | None:
    try:
        if (
            dtype == "bfloat16"
            and where["device"].startswith("cuda")
            and not torch.cuda.is_bf16_supported(including_emulation=False)
        ):
            return "the GPU computes bfloat16 by emulation only"
        lstm = torch.nn.LSTM(2, 2, **where)
        lstm(torch.ones(2, 1, 2, **where))[0].sum().backward()
        image = torch.ones(1, 1, 3, 3, **where, requires_grad=True)
        torch.conv2d(image, torch.ones(1, 1, 3, 3, **where)).sum().backward()  # type: ignore[no-untyped-call]
    except torch.OutOfMemoryError:
        # The device is full, which says nothing of the dtype: the runners will say it.
        return None
    except (RuntimeError, TypeError) as error:
        return str(error).splitlines()[0]
    return None


def _tf32_problem(device: str) -> str | None:
    first_with_tf32 = (8, 0)
    if not device.startswith("cuda"):
        return "TF32 is a mode of CUDA devices"
    capability = torch.cuda.get_device_capability(device)
    if capability < first_with_tf32:
        return f"TF32 needs compute capability 8.0; {device} has {capability[0]}.{capability[1]}"
    return None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cudnn_version() -> str | None:
    # Asking loads the library: only where a device could use it.
    if not torch.cuda.is_available():
        return None
    version = torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
    return None if version is None else str(version)


def _no_cuda_reason(heard: list[str]) -> str:
    """Why torch has no CUDA device, in our words; torch's own go to a warning and differ by version."""
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA"
    if not nvidia.has_device():
        # Asked first: where a package brought an old library of the driver, torch blames the driver.
        state = "the driver is loaded, but has no device" if nvidia.is_loaded() else "no driver is loaded"
        return f"no NVIDIA GPU was found: {state}"
    said = [*heard, *_start_errors()]
    if any("driver" in text and "old" in text for text in said):
        return (
            f"the NVIDIA driver is too old for torch {torch.__version__}, which is built for CUDA {torch.version.cuda}"
        )
    if nvidia.is_hidden():
        return "CUDA_VISIBLE_DEVICES hides every GPU"
    why = next((text.strip().splitlines()[0] for text in reversed(said) if text.strip()), "it does not say why")
    return f"there is an NVIDIA GPU, but torch cannot use it: {why}"


def _start_errors() -> list[str]:
    """What torch says when it cannot start CUDA."""
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
    except (RuntimeError, AssertionError) as error:
        return [str(error)]
    return []


def _gpu(index: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    return {
        "index": index,
        "name": properties.name,
        "uuid": f"GPU-{properties.uuid}",
        "compute_capability": f"{properties.major}.{properties.minor}",
        "memory_total_bytes": properties.total_memory,
    }
