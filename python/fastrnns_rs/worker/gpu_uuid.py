"""How the driver calls a device that torch knows."""

from __future__ import annotations

from typing import Any


def gpu_uuid(properties: Any) -> str:
    """Returns the UUID of a GPU, or of a part of one (MIG), with the prefix that the driver has for it.

    Args:
        properties: What `torch.cuda.get_device_properties` gave.
    """
    return f"{'MIG' if ' MIG ' in properties.name else 'GPU'}-{properties.uuid}"
