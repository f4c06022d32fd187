"""Child process of the first step: software and devices, as JSON in a file.

It uses torch alone, so that it answers where the package does not.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any


def collect() -> dict[str, Any]:
    """Returns facts about Python, torch, its libraries and each device."""
    import torch

    found: dict[str, Any] = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "fastrnns_rs": _version("fastrnns-rs"),
        "triton": _version("triton"),
        "available": torch.cuda.is_available(),
        "devices": [],
    }
    if not found["available"]:
        return found
    # A device that does not work raises here, with CUDA's own message.
    torch.ones(1, device="cuda").item()
    found["cudnn"] = str(torch.backends.cudnn.version())
    found["architectures"] = torch.cuda.get_arch_list()
    found["devices"] = [_device(torch.cuda.get_device_properties(index)) for index in range(torch.cuda.device_count())]
    return found


def _device(properties: Any) -> dict[str, Any]:
    return {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "memory_mib": properties.total_memory >> 20,
        "multiprocessors": properties.multi_processor_count,
        # In kilohertz; missing in some versions of torch.
        "clock_mhz": getattr(properties, "clock_rate", 0) // 1000 or None,
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(collect()), encoding="utf-8")
