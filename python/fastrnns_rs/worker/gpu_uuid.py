"""UUID by which the driver identifies a device of torch."""

from __future__ import annotations

from typing import Any


def gpu_uuid(properties: Any) -> str:
    """Returns the UUID of a GPU or of a MIG device, with the driver's prefix.

    Args:
        properties: Result of `torch.cuda.get_device_properties`.
    """
    return f"{'MIG' if ' MIG ' in properties.name else 'GPU'}-{properties.uuid}"
