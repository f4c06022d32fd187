"""Memory use of a worker.

On CUDA it is the memory of torch's allocator, on a CPU the resident memory of the process.
"""

from __future__ import annotations

import re
from pathlib import Path


def in_use(device: str) -> int | None:
    """Returns the bytes in use; None if they are unknown."""
    import torch

    if torch.device(device).type == "cuda":
        # The allocator is not queried for a device that was not used.
        return torch.cuda.memory_allocated(device)
    return _resident("VmRSS")


def peak(device: str) -> dict[str, int | None]:
    """Returns the peak memory since the process began.

    The keys are those of a process in a run file.
    """
    import torch

    if torch.device(device).type == "cuda":
        allocated, reserved = torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device)
        return {"peak_memory_bytes": allocated, "peak_reserved_bytes": reserved}
    return {"peak_memory_bytes": _resident("VmHWM"), "peak_reserved_bytes": None}


def _resident(key: str) -> int | None:
    # The value of getrusage would start with the memory of the parent of this process.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        # Some containers have no /proc.
        return None
    # gVisor does not report the peak.
    kibibytes = re.search(rf"^{key}:\s*(\d+) kB", status, re.MULTILINE)
    return None if kibibytes is None else int(kibibytes[1]) * 1024
