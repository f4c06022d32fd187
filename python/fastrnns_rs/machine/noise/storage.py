"""Storage of noise floors, one file for each device model.

Machines may share a home folder.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.file_names import distinct
from fastrnns_rs.documents.noise_floor import NoiseFloor, NoiseFloorDocument
from fastrnns_rs.documents.user_folder import user_folder
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.run_file import Environment

#: A document has about a thousand bytes; a larger file is not a document and is not read.
_MOST_BYTES = 1 << 16

#: Hint on how to measure the noise floor, in Python and on the command line.
HINTS = ("Measure the noise floor: fastrnns_rs.ab(same=True)", "Run: fastrnns-rs ab --same")


def hints(device: str) -> tuple[str, str]:
    """Returns the hints with a device, which `ab` may not choose by itself."""
    return f"Measure the noise floor: fastrnns_rs.ab(same=True, device={device!r})", f"{HINTS[1]} --device {device}"


def device_name(device: str, known: Environment) -> str | None:
    """Returns the CPU model or the GPU name, which distinguishes machines."""
    if device == "cpu":
        return known.cpu_model
    names = {f"cuda:{gpu.index}": gpu.name for gpu in known.gpus}
    return names.get("cuda:0" if device == "cuda" else device)


def store(floor: NoiseFloor) -> Path:
    """Stores the noise floor of this machine's device, and replaces an earlier one.

    Returns:
        File with the noise floor.

    Raises:
        UsageError: If the file cannot be written.
    """
    path = _path(floor.device, floor.device_name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message, hint = f"cannot write folder: {str(path.parent)!r}", "Set XDG_STATE_HOME to a folder that is writable."
        raise UsageError(message, hint, reason=error.strerror or str(error)) from error
    NoiseFloorDocument(noise_floor=floor).save(path)
    return path


def stored(device: str, known: Environment | None = None) -> NoiseFloor | None:
    """Returns the last noise floor measured on a device of a machine; see `kept`.

    A GPU is identified by its name alone, because its number depends on the visible GPUs.

    Args:
        device: Device, as in a problem: `cpu`, `cuda`, `cuda:1`.
        known: The machine; None for this one, of which only the CPU is known.
    """
    return kept(device, environment.cpu_model() if known is None else device_name(device, known))


def kept(device: str, name: str | None) -> NoiseFloor | None:
    """Returns the last noise floor measured on a device with this name.

    Args:
        device: Device, as in a problem: `cpu`, `cuda`, `cuda:1`.
        name: Name of the device; None if its machine does not report a name.

    Returns:
        Noise floor; None if no such device was measured.

    Raises:
        UsageError: If the file of the noise floor is damaged.
    """
    path = _path(device, name)
    try:
        if path.is_fifo():
            # Reading would wait for its writer.
            raise _damaged(path, "not a file")
        text = reading.text(path, _MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    except UnicodeError as error:
        raise _damaged(path, "the file is not JSON") from error
    try:
        floor = NoiseFloorDocument.from_dict(json.loads(text), str(path)).noise_floor
    except UsageError as error:
        raise _damaged(path, error.message) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "the file is not JSON") from error
    if _path(floor.device, floor.device_name) != path:
        raise _damaged(path, f"the file is for {floor.device_name}")
    return floor


def _path(device: str, name: str | None) -> Path:
    kind = device.partition(":")[0]
    return user_folder("state") / "noise" / f"{kind}-{distinct(name or 'unknown')}.json"


def _damaged(path: Path, why: str) -> UsageError:
    message, (hint, command_hint) = f"damaged noise floor: {str(path)!r}", HINTS
    return UsageError(message, hint, reason=why, value=str(path), command_hint=command_hint)
