"""Where a machine's noise floor is kept: a file for each kind of device, for machines may share a home."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastrnns_rs.documents import reading
from fastrnns_rs.documents.file_names import distinct
from fastrnns_rs.documents.noise_floor import NoiseFloor, NoiseFloorDocument
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.run_file import Environment

#: A document has a thousand bytes; what has more than this is none, and not worth reading.
_MOST_BYTES = 1 << 16


def device_name(device: str, known: Environment) -> str | None:
    """What a device is called, which tells machines apart: the model of the CPU, or the GPU's name."""
    if device == "cpu":
        return known.cpu_model
    index = int(device.partition(":")[2] or 0)
    return next((gpu.name for gpu in known.gpus if gpu.index == index), None)


def store(floor: NoiseFloor) -> Path:
    """Keeps the noise floor of this machine's device, in place of the one before.

    Returns:
        The file that has it.

    Raises:
        UsageError: It cannot be written.
    """
    path = _path(floor.device, floor.device_name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the noise floor cannot be kept in {path.parent}: {error.strerror}"
        raise UsageError(message, "set XDG_STATE_HOME to a folder that you may write to") from error
    NoiseFloorDocument(noise_floor=floor).save(path)
    return path


def stored(device: str, name: str | None = None) -> NoiseFloor | None:
    """The noise floor that was measured last on this machine; see `kept`.

    Args:
        device: As in a problem: `cpu`, `cuda`, `cuda:1`.
        name: What it is called; None for this machine's CPU. A GPU is known by its name alone, for its number depends
            on which of them are visible.
    """
    return kept(device, environment.cpu_model() if name is None and device == "cpu" else name)


def kept(device: str, name: str | None) -> NoiseFloor | None:
    """The noise floor that was measured last on a device of this name.

    Args:
        device: As in a problem: `cpu`, `cuda`, `cuda:1`.
        name: What it is called; None where its machine does not tell.

    Returns:
        It, or None where none was measured on such a device.

    Raises:
        UsageError: The file that should have it is damaged.
    """
    path = _path(device, name)
    try:
        text = reading.text(path, _MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    except UnicodeError as error:
        raise _damaged(path, "it is no JSON") from error
    try:
        floor = NoiseFloorDocument.from_dict(json.loads(text), str(path)).noise_floor
    except UsageError as error:
        raise _damaged(path, error.message) from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "it is no JSON") from error
    if _path(floor.device, floor.device_name) != path:
        raise _damaged(path, f"it is that of {floor.device_name}")
    return floor


def _path(device: str, name: str | None) -> Path:
    import platformdirs

    kind = device.partition(":")[0]
    return platformdirs.user_state_path("fastrnns-rs") / "noise" / f"{kind}-{distinct(name or 'unknown')}.json"


def _damaged(path: Path, why: str) -> UsageError:
    return UsageError(
        f"the noise floor in {path} cannot be read: {why}", "measure it anew: ab --same; or remove the file"
    )
