"""Facts about torch and the device.

A child process collects them, so that the parent does not import torch.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import warnings
from contextlib import ExitStack
from importlib import metadata
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.facts import PACKAGE
from fastrnns_rs.problem.problem import resolve
from fastrnns_rs.worker.gpu_uuid import gpu_uuid
from fastrnns_rs.worker.torch_settings import usual_modes

if TYPE_CHECKING:
    from fastrnns_rs.worker.channel import Channel, Progress

#: Larger than CUDA's structure of properties, which has about a kilobyte and grows with versions.
_LARGEST_PROPERTIES = 1 << 14


def answer(job: dict[str, Any], _channel: Channel, _progress: Progress) -> dict[str, Any]:
    """Returns facts about the software and the devices.

    The job's `device` is `auto`, `cpu`, `cuda` or `cuda:N`.
    """
    facts = probe(job["device"], job["dtype"], job.get("local_rank"))
    return {"status": "ok", "package": os.fspath(PACKAGE), "facts": facts}


def probe(device: str, dtype: str, local_rank: int | None = None) -> dict[str, Any]:
    """Returns facts about torch, its devices and whether `dtype` works on `device`.

    Args:
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        dtype: Name of a torch dtype.
        local_rank: Number of the calling rank on this machine. Where any CUDA device is allowed, the rank uses the
            device of this number, and touches no other.

    Returns:
        Keys of `fastrnns_rs.machine.facts.Facts`.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        available = torch.cuda.is_available()
        count = torch.cuda.device_count() if available else 0
    chosen = resolve(device, count)
    if local_rank is not None and chosen == "cuda" and local_rank < count:
        chosen = f"cuda:{local_rank}"
    gpus = [_gpu(index) for index in range(count)]
    broken = None if chosen is None else _start_problem(count) or device_problem(chosen)
    works = chosen is not None and broken is None
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
        "no_cuda_reason": None if available else _no_cuda_reason([str(one.message) for one in caught]),
        "device_problem": broken,
        "dtype_problem": dtype_problem(chosen, dtype) if chosen is not None and works else None,
        "tf32_problem": _tf32_problem(chosen) if chosen is not None and works else None,
        "gpus": gpus,
    }


def device_problem(device: str) -> str | None:
    """Returns why a device computes nothing, or None.

    A full device may compute later.
    """
    if not device.startswith("cuda"):
        return None
    try:
        capability, built = torch.cuda.get_device_capability(device), torch.cuda.get_arch_list()
        if not is_covered(capability, built):
            return f"it has compute capability {_dotted(capability)}, and torch is built for {', '.join(built)}"
        torch.ones(1, device=device).item()
    except torch.OutOfMemoryError:
        return None
    except (RuntimeError, AssertionError) as error:
        return first_line(error)
    return None


def is_covered(capability: tuple[int, int], built: list[str]) -> bool:
    """Returns True if torch has code for a compute capability.

    Machine code (`sm_86`) runs on later minor versions of its major one, as does all code for a family (`sm_100f`).
    Intermediate code (`compute_90`) is compiled for any later version. Code for one version alone (`sm_90a`,
    `compute_90a`) runs on that.
    """
    if torch.version.hip is not None or not built:
        return True
    number = 10 * capability[0] + capability[1]
    for name in built:
        kind, _, version = name.partition("_")
        digits = version.rstrip("af")
        if not digits.isdecimal():
            continue
        known = int(digits)
        if version.endswith("a"):
            runs = known == number
        else:
            is_forward = kind == "compute" and version == digits
            runs = known <= number and (is_forward or known // 10 == capability[0])
        if runs:
            return True
    return False


def dtype_problem(device: str, dtype: str) -> str | None:
    """Returns why LSTM or convolution fail in `dtype` on `device`, or None."""
    where = {"device": device, "dtype": getattr(torch, dtype)}
    with ExitStack() as stack:
        # `profile` has loaded the files of runners in this process.
        stack.enter_context(usual_modes(device))
        if device.startswith("cuda"):
            # Some of torch's functions report about the current device only.
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
        # A full device is no evidence about the dtype. The runners will report it.
        return None
    except (RuntimeError, TypeError) as error:
        return first_line(error)
    return None


def first_line(error: BaseException) -> str:
    """Returns the first line of an error's text."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


def _tf32_problem(device: str) -> str | None:
    first_with_tf32 = (8, 0)
    if not device.startswith("cuda"):
        return "TF32 is a mode of CUDA devices"
    if torch.version.hip is not None:
        return "TF32 is a mode of NVIDIA's GPUs, and this torch is built for ROCm"
    # This variable overrides all settings of torch, because cuBLAS and cuDNN read it.
    if os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        return "the environment variable NVIDIA_TF32_OVERRIDE=0 switches TF32 off"
    capability = torch.cuda.get_device_capability(device)
    if capability < first_with_tf32:
        return f"TF32 needs compute capability 8.0; {device} has {_dotted(capability)}"
    return None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cudnn_version() -> str | None:
    # The version is read only where a device could use it, because reading it loads the library.
    if not torch.cuda.is_available():
        return None
    try:
        version = torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
    except Exception:  # noqa: BLE001  # as in `_start_errors`; `_start_problem` reports the error
        return None
    return None if version is None else str(version)


def _no_cuda_reason(caught: list[str]) -> str:
    """Returns the reason why torch has no CUDA device.

    Torch's own text is a warning and differs by version.
    """
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without CUDA"
    if not nvidia.has_device():
        # This is checked first: if a package installed an old driver library, torch blames the driver.
        return "the NVIDIA driver finds no GPU" if nvidia.is_loaded() else "no NVIDIA driver is loaded"
    messages = [*caught, *_start_errors()]
    if any("driver" in text and "old" in text for text in messages):
        return (
            f"the NVIDIA driver is too old for torch {torch.__version__}, which is built for CUDA {torch.version.cuda}"
        )
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if nvidia.is_hidden() or (visible is not None and any("No CUDA GPUs" in text for text in messages)):
        return f"CUDA_VISIBLE_DEVICES={visible} hides all GPUs"
    why = next((text.strip().splitlines()[0] for text in reversed(messages) if text.strip()), "torch reports no reason")
    return f"torch cannot use the NVIDIA GPU: {why}"


def _start_errors() -> list[str]:
    """Returns torch's messages when it cannot start CUDA."""
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001  # torch has an exception of its own for this
        return [str(error)]
    return []


def _start_problem(count: int) -> str | None:
    """Returns why torch uses no device although the machine has devices.

    One device that does not work blocks all devices.
    """
    if not count:
        return None
    messages = _start_errors()
    faults = _silent_devices(count) if messages else {}
    if not messages:
        try:
            torch.backends.cudnn.version()  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            messages, faults = [str(error)], _old_devices(count)
    if not messages:
        return None
    others = ",".join(str(index) for index in range(count) if index not in faults)
    if not faults or not others:
        return first_line(RuntimeError(messages[0]))
    why = "; ".join(f"cuda:{index}: {text}" for index, text in faults.items())
    return f"torch refuses all GPUs because of one ({why}); hide that with CUDA_VISIBLE_DEVICES={others}"


def _old_devices(count: int) -> dict[int, str]:
    """Returns the compute capability of each device that is older than the newest."""
    known = {index: torch.cuda.get_device_capability(index) for index in range(count)}
    return {index: f"compute capability {_dotted(one)}" for index, one in known.items() if one < max(known.values())}


def _silent_devices(count: int) -> dict[int, str]:
    """Returns CUDA's error for each device whose properties it does not report."""
    runtime = ctypes.CDLL(None)
    ask = getattr(runtime, "cudaGetDeviceProperties_v2", None) or getattr(runtime, "cudaGetDeviceProperties", None)
    if ask is None:
        return {}
    runtime.cudaGetErrorString.restype = ctypes.c_char_p
    properties = ctypes.create_string_buffer(_LARGEST_PROPERTIES)
    codes = {index: ask(properties, index) for index in range(count)}
    return {index: runtime.cudaGetErrorString(code).decode() for index, code in codes.items() if code}


def _gpu(index: int) -> dict[str, Any]:
    try:
        properties = torch.cuda.get_device_properties(index)
    except Exception as error:  # noqa: BLE001  # as above
        nothing = dict.fromkeys(("uuid", "compute_capability", "memory_total_bytes"))
        return {"index": index, "name": f"does not work: {first_line(error)}", **nothing}
    return {
        "index": index,
        "name": properties.name,
        "uuid": gpu_uuid(properties),
        "compute_capability": f"{properties.major}.{properties.minor}",
        "memory_total_bytes": properties.total_memory,
    }
