"""How much memory a worker uses: what torch's allocator gave on CUDA, what is resident of the process on a CPU."""

from __future__ import annotations

from pathlib import Path


def in_use(device: str) -> int:
    """Bytes that are in use now."""
    import torch

    if torch.device(device).type == "cuda":
        # It asks nothing of a device that nobody has used.
        return torch.cuda.memory_allocated(device)
    return _resident("VmRSS")


def peak(device: str) -> dict[str, int | None]:
    """The most that was in use since the process began, as the keys of a process in a run file."""
    import torch

    if torch.device(device).type == "cuda":
        allocated, reserved = torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device)
        return {"peak_memory_bytes": allocated, "peak_reserved_bytes": reserved}
    return {"peak_memory_bytes": _resident("VmHWM"), "peak_reserved_bytes": None}


def _resident(key: str) -> int:
    # Not getrusage: what that reports begins with the memory of the parent that started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    kibibytes = int(status.split(f"{key}:")[1].split()[0])
    return kibibytes * 1024
